// A row expanded in place: the rows of its relationships.

import { useEffect, useState } from 'react';
import { ask } from '../server/requests';
import { Link } from '../shell/place';
import type { Relationship, Table } from './catalog';
import { CellValue } from './cells';
import { equalConditions, findEntry, sourceOf, tableAddress, useModel } from './model';
import type { Model } from './model';
import type { Row } from './page-query';
import { loadFacts } from './sources';

/** Rows and columns of a relationship that are shown. */
const ROWS_MAX = 5;
const COLUMNS_MAX = 4;

function detailQuery(table: Table, tables: Model['tables']): string {
  const parts = table.relationships.flatMap(it => {
    const target = tables.get(it.table);
    if (!target) return [];
    const limit = it.isList ? (target.dialect === 'native' ? `(first: ${ROWS_MAX})` : `(limit: ${ROWS_MAX})`) : '';
    const columns = [...new Set([...target.key, ...target.columns.slice(0, COLUMNS_MAX).map(column => column.name)])];
    return [`    ${it.name}${limit} { ${columns.join(' ')} }`];
  });
  const argument = table.dialect === 'native' ? 'filter' : 'where';
  return `query Detail($where: ${table.whereType}!) {\n  ${table.list}(${argument}: $where) {\n${parts.join('\n')}\n  }\n}`;
}

/** The address of all rows of a list, if exactly one foreign key of theirs leads here. */
async function addressOfAll(model: Model, table: Table, row: Row, target: Table): Promise<string | null> {
  const source = sourceOf(model, target);
  const entry = findEntry(model, source, target.name);
  const facts = entry && await loadFacts(model.sources, source, entry);
  const keys = [...facts?.foreignKeys ?? []].filter(([, it]) => it.table === table);
  const [key] = keys;
  return keys.length === 1 && key ? tableAddress(model, target, equalConditions(target, [[key[0], row[key[1].column]]])) : null;
}

function Related({ table, row, relationship, found }: { table: Table; row: Row; relationship: Relationship; found: Row[] }) {
  const model = useModel();
  const target = model.tables.get(relationship.table)!;
  const [all, setAll] = useState<string | null>(null);
  const only = found[0];
  useEffect(() => {
    if (relationship.isList) void addressOfAll(model, table, row, target).then(setAll);
    else if (only && target.key.length > 0) setAll(tableAddress(model, target, equalConditions(target, target.key.map(it => [it, only[it]]))));
  }, [relationship, row]);
  const columns = target.columns.filter((it, at) => at < COLUMNS_MAX || target.key.includes(it.name));
  return (
    <section>
      <h2>{relationship.name} {all && <Link to={all}>{relationship.isList ? 'all' : 'open'}<span className="weir-hidden"> in {target.name}</span></Link>}</h2>
      {found.length === 0 ? <p className="weir-note">none</p> : (
        <table className="weir-diff">
          <thead><tr>{columns.map(it => <th key={it.name}>{it.name}</th>)}</tr></thead>
          <tbody>{found.map((it, at) => <tr key={at}>{columns.map(column => <td key={column.name}><CellValue column={column} value={it[column.name]} /></td>)}</tr>)}</tbody>
        </table>
      )}
      {relationship.isList && found.length === ROWS_MAX && <p className="weir-note">The first {ROWS_MAX}.</p>}
    </section>
  );
}

export function RowDetail({ table, row }: { table: Table; row: Row }) {
  const { tables } = useModel();
  const [found, setFound] = useState<Row | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const where = table.dialect === 'native'
    ? { [table.key[0]!]: [row[table.key[0]!]] }
    : { _and: table.key.map(it => ({ [it]: { _eq: row[it] } })) };
  const key = JSON.stringify(where);
  useEffect(() => {
    if (table.relationships.length === 0) return;
    let isCurrent = true;
    ask<Record<string, Row[]>>(detailQuery(table, tables), { where }).then(
      data => isCurrent && setFound(data[table.list]?.[0] ?? {}),
      error => isCurrent && setFailure(String(error.message ?? error)),
    );
    return () => void (isCurrent = false);
  }, [key]);
  if (table.relationships.length === 0) return <p className="weir-note">This table has no relationships.</p>;
  if (failure) return <p role="alert" className="weir-bad">{failure}</p>;
  if (!found) return <p className="weir-note">Reading …</p>;
  return (
    <div className="weir-related">
      {table.relationships.map(it => {
        const value = found[it.name];
        const rows = Array.isArray(value) ? value as Row[] : value ? [value as Row] : [];
        return <Related key={it.name} table={table} row={row} relationship={it} found={rows} />;
      })}
    </div>
  );
}
