// All event triggers with what waits and what has failed.

import { useState } from 'react';
import { NoMetadata } from '../metadata/no-metadata';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { addressWords, countEvents, listensTo, loadTriggers } from './event-log';
import type { Counts, Trigger } from './event-log';

interface Look {
  triggers: Trigger[] | null;
  /** By source; null where events cannot be counted. */
  counts: Map<string, Map<string, Counts> | null>;
}

async function look(): Promise<Look> {
  const triggers = await loadTriggers();
  const sources = [...new Set((triggers ?? []).map(it => it.source))];
  return { triggers, counts: new Map(await Promise.all(sources.map(async it => [it, await countEvents(it)] as const))) };
}

const EXAMPLE = `sources:
  - name: shop
    url: sqlite:shop.db
    tables:
      - table: orders
        event_triggers:
          - name: order_paid
            definition: {insert: {columns: '*'}, update: {columns: [status]}}
            webhook: http://127.0.0.1:9000/paid`;

export const triggerAddress = ({ source, entry }: Trigger, search: Record<string, string> = {}) => addressOf(['events', 'trigger', source, entry.name], search);

function Count({ trigger, counts, kind }: { trigger: Trigger; counts: Map<string, Counts> | null; kind: 'pending' | 'failed' }) {
  if (!counts) return <td className="weir-ms" title="They cannot be counted">–</td>;
  const count = counts.get(trigger.entry.name)?.[kind] ?? 0;
  const words = count.toLocaleString('en');
  return (
    <td className="weir-ms">
      {count === 0 ? words : <Link to={triggerAddress(trigger, { status: kind })} className={kind === 'failed' ? 'weir-bad' : undefined} aria-label={`${words} ${kind} of ${trigger.entry.name}`}>{words}</Link>}
    </td>
  );
}

function Triggers({ triggers, counts }: { triggers: Trigger[]; counts: Look['counts'] }) {
  return (
    <table className="weir-facts" data-testid="triggers">
      <thead><tr><th>trigger</th><th>table</th><th>listens to</th><th className="weir-ms">pending</th><th className="weir-ms">failed</th><th>webhook</th></tr></thead>
      <tbody>
        {triggers.map(it => (
          <tr key={`${it.source} ${it.entry.name}`}>
            <th scope="row"><Link to={triggerAddress(it)}>{it.entry.name}</Link></th>
            <td>{it.source} {it.table}</td>
            <td>{listensTo(it.entry)}</td>
            <Count trigger={it} counts={counts.get(it.source) ?? null} kind="pending" />
            <Count trigger={it} counts={counts.get(it.source) ?? null} kind="failed" />
            <td>{addressWords(it.entry)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Found({ triggers, counts }: { triggers: Trigger[]; counts: Look['counts'] }) {
  const { search } = usePlace();
  const wanted = search.get('search') ?? '';
  const found = triggers.filter(it => `${it.entry.name} ${it.source} ${it.table}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      <input type="search" aria-label="Filter by trigger, source or table" placeholder="Filter: trigger, source or table" value={wanted} onChange={event => go(addressOf(['events'], { search: event.target.value }), { replace: true })} />
      {found.length === 0 ? <p className="weir-note">No trigger has “{wanted}” in it.</p> : <Wide label="Event triggers"><Triggers triggers={found} counts={counts} /></Wide>}
    </>
  );
}

export function TriggersPage({ onLocked }: PageProps) {
  const [round, setRound] = useState(0);
  const { value, failure } = useLoaded(look, [round], onLocked);
  return (
    <>
      <h1>Event triggers</h1>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {value === null && failure === null && <p className="weir-note">Asking the server …</p>}
      {value && !value.triggers && <NoMetadata />}
      {value?.triggers?.length === 0 && (
        <div className="weir-empty">
          <p><b>There is no event trigger.</b></p>
          <p>An event trigger tells a webhook of changes of a table’s rows. Write one in weir.yaml, or make one by <code>pg_create_event_trigger</code>:</p>
          <pre className="weir-code" tabIndex={0} aria-label="Example">{EXAMPLE}</pre>
        </div>
      )}
      {value?.triggers && value.triggers.length > 0 && <Found triggers={value.triggers} counts={value.counts} />}
      <p className="weir-actions"><button type="button" className="weir-button" onClick={() => setRound(round + 1)}>Look again</button></p>
    </>
  );
}
