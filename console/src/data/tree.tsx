// Sources with their tables and types, searched by a part of a name, with the number of their rows.

import { useEffect, useMemo, useState } from 'react';
import { ask } from '../server/requests';
import { addressOf, Link } from '../shell/place';
import type { Table } from './catalog';
import { useModel } from './model';
import { COUNTED_MAX, countIn, countOperation, countWords } from './page-query';

/** Tables that are counted by one request. */
const COUNTED_TOGETHER = 10;

/** Counts of rows, as they come. A table that cannot be counted has none. */
function useCounts(tables: Table[]): Map<Table, number> {
  const [counts, setCounts] = useState(new Map<Table, number>());
  useEffect(() => {
    let isCurrent = true;
    const countAll = async () => {
      const countable = tables.filter(it => it.aggregate !== null);
      for (let at = 0; at < countable.length && isCurrent; at += COUNTED_TOGETHER) {
        const part = countable.slice(at, at + COUNTED_TOGETHER);
        const operation = countOperation(part);
        const data = await ask(operation.query, operation.variables).catch(() => null);
        if (!isCurrent || !data) continue;
        setCounts(before => new Map([...before, ...part.flatMap((table, place) => {
          const count = countIn(data, place);
          return count === null ? [] : [[table, count] as const];
        })]));
      }
    };
    void countAll();
    return () => void (isCurrent = false);
  }, [tables]);
  return counts;
}

export function Tree({ open, onOpen }: { open: Table | null; onOpen: () => void }) {
  const { sources, tables } = useModel();
  const [text, setText] = useState('');
  const all = useMemo(() => [...tables.values()], [tables]);
  const counts = useCounts(all);
  const wanted = text.trim().toLowerCase();
  const shown = sources.map(it => ({ ...it, entries: it.entries.filter(({ table }) => table.name.toLowerCase().includes(wanted)) }));
  return (
    <nav className="weir-tree" aria-label="Tables">
      <input className="weir-field" type="search" aria-label="Search tables" placeholder="Search tables" value={text} onChange={event => setText(event.target.value)} />
      {shown.every(it => it.entries.length === 0) && <p className="weir-note">No table has this in its name.</p>}
      {shown.filter(it => it.entries.length > 0).map(({ source, entries }) => (
        <section key={source}>
          <h2>{source}</h2>
          <ul>
            {entries.map(({ table, qualified }) => {
              const count = counts.get(table);
              return (
                <li key={table.name}>
                  <Link to={addressOf(['data', source, table.name])} aria-current={table === open ? 'page' : undefined} onClick={onOpen} title={qualified?.schema ? `${qualified.schema}.${qualified.name}` : table.name}>
                    <span>{table.name}</span>
                    {count !== undefined && <span className="weir-count" title={count > COUNTED_MAX ? `Rows are counted up to ${COUNTED_MAX.toLocaleString('en')}` : 'rows'}>{count > COUNTED_MAX ? `${COUNTED_MAX / 1000}k+` : countWords(count)}</span>}
                  </Link>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}
