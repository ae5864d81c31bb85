// Rows as the admin has them, each marked by whether the role sees it; a hidden one has its reason.

import { useEffect, useMemo, useState } from 'react';
import { ADMIN } from '../server/caller';
import { ask } from '../server/requests';
import { Shown } from '../data/shown';
import { cursorAt, pageOperation, rowsOf } from '../data/page-query';
import type { Cursor, PageWish, Row } from '../data/page-query';
import type { Entry } from '../data/sources';
import { judgeAll, keyOf } from './judgement';
import type { Asker, Judgement } from './judgement';
import { Reason } from './reason';
import type { Verb } from './reason';

const ROWS = 20;

interface Props {
  asker: Asker;
  verb: Verb;
  entry: Entry;
  /** The database's name of a column. */
  inDatabase: (column: string) => string;
  /** Counts up when permissions have changed. */
  round: number;
}

interface Found {
  rows: Row[];
  hasMore: boolean;
  judgements: (Judgement | string)[];
}

function useJudged(wish: PageWish, asker: Asker, inDatabase: Props['inDatabase'], round: number) {
  const [found, setFound] = useState<Found | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const key = JSON.stringify([wish.cursor, asker]);
  useEffect(() => {
    let isCurrent = true;
    const load = async () => {
      const operation = pageOperation(wish);
      const { rows, hasMore } = rowsOf(await ask(operation.query, operation.variables, ADMIN), wish);
      const judgements = await judgeAll(asker, rows.map(it => keyOf(wish.table, it, inDatabase)));
      if (isCurrent) setFound({ rows, hasMore, judgements });
    };
    setFailure(null);
    load().catch(error => isCurrent && (setFound(null), setFailure(String(error.message ?? error))));
    return () => void (isCurrent = false);
  }, [key, round]);
  return { found, failure };
}

const stateOf = (it: Judgement | string | undefined) => (typeof it === 'object' ? (it.visible ? 'seen' : 'hidden') : 'unknown');

export function Preview({ asker, verb, entry, inDatabase, round }: Props) {
  const { table } = entry;
  const isNative = table.dialect === 'native';
  const first: Cursor = isNative ? { at: 'offset', offset: 0 } : { at: 'first' };
  const [cursor, setCursor] = useState<Cursor>(first);
  const [opened, setOpened] = useState<number | null>(null);
  const wish: PageWish = useMemo(() => ({ table, columns: table.columns.map(it => it.name), filter: null, sort: null, cursor, rows: ROWS }), [table, cursor]);
  const { found, failure } = useJudged(wish, asker, inDatabase, round);
  if (table.key.length === 0) return <p className="weir-note">Rows of {table.name} have no key by which one could be asked for, so there is no preview.</p>;
  if (failure !== null) return <p role="alert" className="weir-bad">{failure}</p>;
  if (!found) return <p className="weir-note">Reading rows …</p>;
  if (found.rows.length === 0) return <p className="weir-note">{table.name} has no rows.</p>;
  const seen = found.judgements.filter(it => stateOf(it) === 'seen').length;
  const fault = found.judgements.find(it => typeof it === 'string') as string | undefined;
  const sample = found.judgements.find(it => typeof it === 'object') as Judgement | undefined;
  const column = (name: string, at: number) => {
    const judged = found.judgements[at];
    const own = typeof judged === 'object' ? judged.columns.find(it => it.name === inDatabase(name)) : undefined;
    return own === undefined || (own.granted && (own.shownIf === null || own.shownIf.truth === 'true'));
  };
  const judged = opened === null ? undefined : found.judgements[opened];
  const last = found.rows.at(-1)!;
  const next: Cursor = cursor.at === 'offset' ? { at: 'offset', offset: cursor.offset + ROWS } : cursorAt(wish, last, 'after');
  const rowName = (row: Row) => `${table.name} ${table.key.map(it => String(row[it])).join(', ')}`;
  return (
    <>
      <p role="status" data-testid="seen">{asker.role} {verb.yes} {seen} of these {found.rows.length} rows{sample && sample.missing.length > 0 ? `; ${sample.missing.join(', ')} is missing` : ''}.</p>
      {fault !== undefined && <p role="alert" className="weir-bad">{fault}</p>}
      <div className="weir-wide weir-preview" tabIndex={0} role="region" aria-label={`Rows of ${table.name} as the admin sees them`}>
        <table>
          <thead><tr><th scope="col">{asker.role}</th>{table.columns.map(it => <th key={it.name} scope="col">{it.name}</th>)}</tr></thead>
          <tbody>
            {found.rows.map((row, at) => {
              const state = stateOf(found.judgements[at]);
              const words = verb.states[state];
              return (
                <tr key={JSON.stringify(table.key.map(it => row[it]))} data-seen={state}>
                  <td>
                    <button type="button" className="weir-button" disabled={state === 'unknown'} aria-label={`Why is ${rowName(row)} ${words}?`} onClick={() => setOpened(at)}>
                      <span aria-hidden="true">{state === 'seen' ? '✓' : '✗'}</span> {words}
                    </button>
                  </td>
                  {table.columns.map(({ name }) => (
                    <td key={name} className={column(name, at) ? undefined : 'weir-unseen'}>
                      <Shown value={row[name]} />{!column(name, at) && <span className="weir-hidden"> (not shown to {asker.role})</span>}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p className="weir-actions">
        <button type="button" className="weir-button" disabled={cursor.at === 'first' || (cursor.at === 'offset' && cursor.offset === 0)} onClick={() => setCursor(first)}>First rows</button>
        <button type="button" className="weir-button" disabled={!found.hasMore} onClick={() => setCursor(next)}>Next rows</button>
        <span className="weir-note">Values with a line through them are not shown to {asker.role}.</span>
      </p>
      {typeof judged === 'object' && <Reason role={asker.role} verb={verb} rowName={rowName(found.rows[opened!]!)} judgement={judged} onClose={() => setOpened(null)} />}
    </>
  );
}
