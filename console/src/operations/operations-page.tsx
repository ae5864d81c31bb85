// The operations of the server as they are asked: rates, times, errors, caches; and how often each field and argument is asked for.
//
// The server counts since its start; rates are differences between two looks at its counts.

import { Fragment, useEffect, useState } from 'react';
import { operations, SecretNeeded } from '../server/requests';
import type { CountedOperation, OperationCounts, Usage } from '../server/requests';
import type { PageProps } from '../shell/shell';
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

function duration(us: number): string {
  if (us < 1000) return `${us} µs`;
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms`;
  return `${(us / 1_000_000).toFixed(2)} s`;
}

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });

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

function Operations({ look }: { look: Look }) {
  const [order, setOrder] = useState('count');
  const [open, setOpen] = useState<string | null>(null);
  const column = COLUMNS.find(it => it.name === order) ?? COLUMNS[0]!;
  const sorted = [...look.usage.operations].sort((one, other) => column.of(other) - column.of(one));
  return (
    <table className="weir-operations" data-testid="operations">
      <thead>
        <tr>
          <th>operation</th>
          <th>per second</th>
          {COLUMNS.map(it => (
            <th key={it.name} title={it.title} aria-sort={it.name === order ? 'descending' : 'none'}>
              <button type="button" onClick={() => setOrder(it.name)}>{it.name}</button>
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
                  <button type="button" aria-expanded={open === key} onClick={() => setOpen(open === key ? null : key)}>
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
                <tr><td colSpan={COLUMNS.length + 3}><code>{operation.fields.join('  ')}</code></td></tr>
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

export default function OperationsPage({ onLocked }: PageProps) {
  const [look, setLook] = useState<Look | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let isOpen = true;
    let timer = 0;
    const again = () => {
      operations().then(
        usage => {
          if (!isOpen) return;
          setLook(before => nextLook(before, usage, performance.now()));
          setFailure(null);
        },
        error => {
          if (!isOpen) return;
          if (error instanceof SecretNeeded) onLocked(error);
          else setFailure(String(error.message ?? error));
        },
      ).finally(() => {
        if (isOpen) timer = window.setTimeout(again, PAUSE_MS);
      });
    };
    again();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [onLocked]);
  return (
    <main id="page" tabIndex={-1} className="weir-page">
      <h1>Operations</h1>
      {failure && <p role="alert">{failure}</p>}
      {look && look.usage.operations.length === 0 && <p>Nothing was asked yet. Run an operation in the editor, or send one to /graphql.</p>}
      {look && look.usage.operations.length > 0 && (
        <>
          <div className="weir-wide" tabIndex={0} role="region" aria-label="Operations, scrolls sideways"><Operations look={look} /></div>
          <Fields usage={look.usage} />
        </>
      )}
    </main>
  );
}
