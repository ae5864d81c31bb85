// The operations of the server as they are asked: rates, times, errors, caches; and how often each field and argument is asked for.
//
// The server counts since its start; rates are differences between two looks at its counts.

import { Fragment, useState } from 'react';
import { operations } from '../server/requests';
import type { CountedOperation, OperationCounts, Usage } from '../server/requests';
import { addressOf, go, Link, usePlace } from '../shell/place';
import { Parts } from '../shell/parts';
import type { PageProps } from '../shell/shell';
import { useWatched } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { Detail } from './detail';
import { Resources } from './resources';
import { duration, number } from './units';
import '../api/api.css';
import '../live/live.css';
import './operations.css';

/** Pause between two looks, and the looks that a chart shows. */
const PAUSE_MS = 2000;
const LOOKS_MAX = 60;

/** Requests per second between looks, the newest last, by operation. */
type Rates = Map<string, number[]>;

interface Look {
  at: number;
  usage: Usage;
  rates: Rates;
}

const keyOf = (operation: CountedOperation) => `${operation.hash} ${operation.name ?? ''}`;

/** The next look, with the rates since `before`. An operation that is counted anew, after a restart, has no rate yet. */
export function nextLook(before: Look | null, usage: Usage, at: number): Look {
  const counts = new Map(before?.usage.operations.map(it => [keyOf(it), it.count]));
  const seconds = before ? (at - before.at) / 1000 : 0;
  const rates: Rates = new Map();
  for (const operation of usage.operations) {
    const key = keyOf(operation);
    const asked = operation.count - (counts.get(key) ?? 0);
    const rate = before && seconds > 0 ? Math.max(0, asked) / seconds : null;
    const earlier = before?.rates.get(key) ?? [];
    rates.set(key, rate === null ? earlier : [...earlier, rate].slice(-LOOKS_MAX));
  }
  return { at, usage, rates };
}

/** A line of rates, the highest at the top. */
function Sparkline({ values, label }: { values: number[]; label: string }) {
  const highest = Math.max(...values, 1e-9);
  const step = 100 / Math.max(LOOKS_MAX - 1, 1);
  const from = 100 - step * (values.length - 1);
  const points = values.map((value, at) => `${(from + at * step).toFixed(1)},${(22 - (20 * value) / highest).toFixed(1)}`);
  return (
    <svg className="weir-spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  );
}

/** Marks of p50, p95 and p99 on a logarithmic scale from 10 µs to 10 s. */
function TimeRange({ counts }: { counts: OperationCounts }) {
  const place = (us: number) => Math.min(100, Math.max(0, (100 * Math.log10(Math.max(us, 10) / 10)) / 6));
  const [low, middle, high] = [counts.p50_us, counts.p95_us, counts.p99_us].map(place) as [number, number, number];
  return (
    <svg className="weir-range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect x={low} y="4" width={Math.max(1, high - low)} height="2" />
      {[low, middle, high].map((at, index) => <rect key={index} x={Math.min(at, 98.5)} y="1" width="1.5" height="8" />)}
    </svg>
  );
}

/** Share of the answers that were kept whole or made for another. */
function kept(counts: OperationCounts): string {
  const all = counts.answers_hit + counts.answers_joined + counts.answers_made;
  return all ? `${Math.round((100 * (counts.answers_hit + counts.answers_joined)) / all)} %` : '–';
}

interface Column {
  name: string;
  title: string;
  of: (counts: OperationCounts) => number;
  shown: (counts: OperationCounts) => string;
}

const COLUMNS: Column[] = [
  { name: 'count', title: 'Executions since the server started', of: it => it.count, shown: it => number(it.count) },
  { name: 'errors', title: 'Executions with errors', of: it => it.errors, shown: it => number(it.errors) },
  { name: 'p50', title: 'Half are answered within', of: it => it.p50_us, shown: it => duration(it.p50_us) },
  { name: 'p95', title: '95 of 100 are answered within', of: it => it.p95_us, shown: it => duration(it.p95_us) },
  { name: 'p99', title: '99 of 100 are answered within', of: it => it.p99_us, shown: it => duration(it.p99_us) },
  { name: 'CPU', title: 'CPU time of one execution in Weir', of: it => it.cpu_mean_us, shown: it => duration(it.cpu_mean_us) },
  {
    name: 'calls',
    title: 'Fetches from sources per execution',
    of: it => it.fetches / Math.max(it.count, 1),
    shown: it => number(it.fetches / Math.max(it.count, 1)),
  },
  { name: 'cache', title: 'Answers that were kept whole or made for another', of: it => it.answers_hit + it.answers_joined, shown: kept },
];

/** The address with some of its parts changed. */
function setSearch(search: URLSearchParams, parts: Record<string, string>) {
  go(addressOf(['operations'], { ...Object.fromEntries(search), ...parts }), { replace: true });
}

/** Operations that have the words in name, hash or fields, and are of the kind that is wanted. */
function isWanted(operation: CountedOperation, search: URLSearchParams): boolean {
  const words = (search.get('search') ?? '').toLowerCase();
  const kind = search.get('kind') ?? '';
  if (kind === 'errors' ? operation.errors === 0 : kind !== '' && operation.kind !== kind) return false;
  return [operation.name ?? '', operation.hash, ...operation.fields].some(it => it.toLowerCase().includes(words));
}

function Filter({ search, shown, all }: { search: URLSearchParams; shown: number; all: number }) {
  return (
    <div className="weir-actions" role="search">
      <input type="search" aria-label="Filter operations" placeholder="Filter: name, hash, field" value={search.get('search') ?? ''} onChange={event => setSearch(search, { search: event.target.value })} />
      <select className="weir-button" aria-label="Kind" value={search.get('kind') ?? ''} onChange={event => setSearch(search, { kind: event.target.value })}>
        <option value="">all kinds</option><option value="query">queries</option><option value="mutation">mutations</option><option value="subscription">subscriptions</option><option value="errors">with errors</option>
      </select>
      <span role="status" className="weir-note" data-testid="operations-count">{`${shown === all ? '' : `${number(shown)} of `}${number(all)} ${all === 1 ? 'operation' : 'operations'}`}</span>
    </div>
  );
}

function Operations({ look, onLocked }: { look: Look } & PageProps) {
  const { search } = usePlace();
  const order = search.get('order') ?? 'count';
  const open = search.get('open');
  const column = COLUMNS.find(it => it.name === order) ?? COLUMNS[0]!;
  const sorted = look.usage.operations.filter(it => isWanted(it, search)).sort((one, other) => column.of(other) - column.of(one));
  return (
    <table className="weir-operations" data-testid="operations">
      <thead>
        <tr>
          <th>operation</th>
          <th>per second</th>
          {COLUMNS.map(it => (
            <th key={it.name} title={it.title} aria-sort={it.name === column.name ? 'descending' : 'none'}>
              <button type="button" onClick={() => setSearch(search, { order: it.name })}>{it.name}</button>
            </th>
          ))}
          <th className="weir-range-head" title="p50, p95 and p99 from 10 µs to 10 s">times</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map(operation => {
          const key = keyOf(operation);
          const rates = look.rates.get(key) ?? [];
          const rate = rates.at(-1);
          return (
            <Fragment key={key}>
              <tr>
                <td>
                  <button type="button" aria-expanded={open === key} onClick={() => setSearch(search, { open: open === key ? '' : key })}>
                    <b>{operation.name ?? '(without a name)'}</b> <span>{operation.kind} {operation.hash}</span>
                  </button>
                </td>
                <td>
                  <Sparkline values={rates} label={`requests per second of ${operation.name ?? operation.hash}`} />
                  <span className="weir-ms">{rate === undefined ? '–' : number(rate)}</span>
                </td>
                {COLUMNS.map(it => (
                  <td key={it.name} className={it.name === 'errors' && operation.errors ? 'weir-ms weir-bad' : 'weir-ms'}>{it.shown(operation)}</td>
                ))}
                <td><TimeRange counts={operation} /></td>
              </tr>
              {open === key && (
                <tr><td colSpan={COLUMNS.length + 3}><h2 className="weir-hidden">{operation.name ?? '(without a name)'}</h2><Detail operation={operation} onLocked={onLocked} /></td></tr>
              )}
            </Fragment>
          );
        })}
        {look.usage.rest.count > 0 && (
          <tr>
            <td><i>all others</i></td>
            <td />
            {COLUMNS.map(it => <td key={it.name} className="weir-ms">{it.shown(look.usage.rest)}</td>)}
            <td><TimeRange counts={look.usage.rest} /></td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Fields that are listed at once; the filter finds the others. */
const FIELDS_MAX = 200;

function Fields({ usage }: { usage: Usage }) {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const all = Object.entries(usage.fields).filter(([name]) => name.toLowerCase().includes(wanted));
  const sorted = [...all].sort((one, other) => other[1] - one[1]).slice(0, FIELDS_MAX);
  const most = Math.max(...sorted.map(it => it[1]), 1);
  return (
    <section>
      <h2>Fields and arguments</h2>
      <p className="weir-note">Executions that asked for it. What is not here was not asked for since the server started.</p>
      <input aria-label="Filter fields" placeholder="Filter: Album.Title, (where:)" value={filter} onChange={event => setFilter(event.target.value)} />
      {sorted.length === 0 && <p role="status" className="weir-note">No field or argument has “{filter.trim()}” in it.</p>}
      <table className="weir-fields" data-testid="fields">
        <tbody>
          {sorted.map(([name, count]) => (
            <tr key={name}>
              <td><code>{name}</code></td>
              <td className="weir-ms">{number(count)}</td>
              <td className="weir-bar"><i style={{ width: `${Math.max(1, (100 * count) / most)}%` }} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > FIELDS_MAX && <p className="weir-note">{number(all.length - FIELDS_MAX)} more: use the filter.</p>}
    </section>
  );
}

/** An operation of the address that was not executed: a subscription is read for all of its subscribers, and not counted. */
function Uncounted({ all, onLocked }: { all: CountedOperation[] } & PageProps) {
  const { search } = usePlace();
  const open = search.get('open');
  if (open === null || all.some(it => keyOf(it) === open)) return null;
  const at = open.indexOf(' ');
  const [hash, name] = [open.slice(0, at), open.slice(at + 1) || null];
  return (
    <section aria-label={name ?? hash}>
      <h2>{name ?? '(without a name)'}</h2>
      <Detail operation={{ name, hash, kind: 'subscription', errors: 0, fields: [] }} onLocked={onLocked} />
    </section>
  );
}

const PARTS = [{ part: '', title: 'Operations' }, { part: 'resources', title: 'Resources' }];

function Counts({ onLocked }: PageProps) {
  const { search } = usePlace();
  const [look, setLook] = useState<Look | null>(null);
  const failure = useWatched(operations, PAUSE_MS, onLocked, usage => setLook(before => nextLook(before, usage, performance.now())));
  const all = look?.usage.operations ?? [];
  const shown = all.filter(it => isWanted(it, search)).length;
  return (
    <>
      {failure && <p role="alert">{failure}</p>}
      {!look && !failure && <p className="weir-note">Asking the server …</p>}
      {look && <Uncounted all={all} onLocked={onLocked} />}
      {look && all.length === 0 && <p>Nothing was asked yet. Run an operation in the <Link to={addressOf(['api'])}>editor</Link>, or send one to /graphql.</p>}
      {look && all.length > 0 && (
        <>
          <Filter search={search} shown={shown} all={all.length} />
          {shown === 0 ? <p>No operation is like this. <button type="button" className="weir-button" onClick={() => go(addressOf(['operations']))}>Show all</button></p> : (
            <Wide label="Operations"><Operations look={look} onLocked={onLocked} /></Wide>
          )}
          <Fields usage={look.usage} />
        </>
      )}
    </>
  );
}

export default function OperationsPage({ onLocked }: PageProps) {
  const { path } = usePlace();
  const part = path[1] ?? '';
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api weir-watch">
      <Parts page="operations" label="Parts of Operations" parts={PARTS} current={part} />
      <h1>{PARTS.find(it => it.part === part)?.title ?? 'Operations'}</h1>
      {part === '' && <Counts onLocked={onLocked} />}
      {part === 'resources' && <Resources onLocked={onLocked} />}
      {part !== '' && part !== 'resources' && <p role="alert">Nothing has this address. <Link to={addressOf(['operations'])}>Operations</Link></p>}
    </main>
  );
}
