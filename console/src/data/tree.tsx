// Sources with their tables and types, searched by a part of a name, with the number of their rows.

import { useEffect, useMemo, useState } from 'react';
import { ask } from '../server/requests';
import { addressOf, Link } from '../shell/place';
import type { Table } from './catalog';
import { useModel } from './model';
import { loadEstimates } from './sources';
import type { SourceEntries } from './sources';
import { COUNTED_MAX, countIn, countOperation, countWords } from './page-query';

/** Tables that are counted by one request. */
const COUNTED_TOGETHER = 10;

interface Counts {
  /** Rows, counted up to the limit. A table that cannot be counted has none. */
  counted: Map<Table, number>;
  /** About how many rows there are beyond the limit. */
  estimated: Map<Table, number>;
}

/** Counts of rows, as they come. */
function useCounts(sources: SourceEntries[], tables: Table[]): Counts {
  const [counts, setCounts] = useState(new Map<Table, number>());
  const [estimated, setEstimated] = useState(new Map<Table, number>());
  useEffect(() => {
    let isCurrent = true;
    const countAll = async () => {
      const countable = tables.filter(it => it.aggregate !== null);
      const big = new Set<Table>();
      for (let at = 0; at < countable.length && isCurrent; at += COUNTED_TOGETHER) {
        const part = countable.slice(at, at + COUNTED_TOGETHER);
        const operation = countOperation(part);
        const data = await ask(operation.query, operation.variables).catch(() => null);
        if (!isCurrent || !data) continue;
        const read = part.flatMap((table, place) => {
          const count = countIn(data, place);
          return count === null ? [] : [[table, count] as const];
        });
        read.filter(it => it[1] > COUNTED_MAX).forEach(it => big.add(it[0]));
        setCounts(before => new Map([...before, ...read]));
      }
      const found = await loadEstimates(sources, it => big.has(it));
      if (isCurrent) setEstimated(found);
    };
    void countAll();
    return () => void (isCurrent = false);
  }, [tables]);
  return { counted: counts, estimated };
}

/** `275`, `≈ 10M` by the database's estimate, or `10k+` where nobody tells more. */
function Count({ count, estimate }: { count: number; estimate: number | undefined }) {
  if (count <= COUNTED_MAX) return <span className="weir-count" title="rows">{countWords(count)}</span>;
  if (estimate !== undefined && estimate > COUNTED_MAX) {
    const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(estimate);
    return <span className="weir-count" title={`About ${estimate.toLocaleString('en')} rows, as the database estimates`}>≈ {short}</span>;
  }
  return <span className="weir-count" title={`Rows are counted up to ${COUNTED_MAX.toLocaleString('en')}`}>{COUNTED_MAX / 1000}k+</span>;
}

export function Tree({ open, onOpen }: { open: Table | null; onOpen: () => void }) {
  const { sources, tables } = useModel();
  const [text, setText] = useState('');
  const all = useMemo(() => [...tables.values()], [tables]);
  const { counted, estimated } = useCounts(sources, all);
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
              const count = counted.get(table);
              return (
                <li key={table.name}>
                  <Link to={addressOf(['data', source, table.name])} aria-current={table === open ? 'page' : undefined} onClick={onOpen} title={qualified?.schema ? `${qualified.schema}.${qualified.name}` : table.name}>
                    <span>{table.name}</span>
                    {count !== undefined && <Count count={count} estimate={estimated.get(table)} />}
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
