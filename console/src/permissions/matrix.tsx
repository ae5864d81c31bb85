// Roles and tables: how far each may read, insert, update and delete.
//
// A large matrix makes the rows that are seen; both its sides can be searched.

import { useMemo, useRef, useState } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Link, addressOf } from '../shell/place';
import type { Entry, SourceEntries } from '../data/sources';
import { findServed } from '../metadata/served';
import { grantedTo, KINDS } from './granted';
import type { Served } from '../metadata/served';
import type { Granted, Kind } from './granted';

export const cellAddress = (source: string, table: string, role: string, kind: Kind, more: Record<string, string> = {}) =>
  addressOf(['permissions', source, table], { role, kind, ...more });

const MARKS = { none: '–', partial: '◐', full: '●' };
/** Matrices of fewer rows are made whole. */
const ROWS_MANY = 40;
const ROW_HEIGHT = 38;
/** A search is offered from this number of tables or roles on. */
const SEARCHED_MIN = 8;

function Cell({ source, entry, role, kind, granted }: { source: string; entry: Entry; role: string; kind: Kind; granted: Granted }) {
  const inherited = granted.from.length > 0 ? `, inherited from ${granted.from.join(' and ')}` : '';
  const conflict = granted.conflict.length > 0 ? `, because ${granted.conflict.join(' and ')} differ` : '';
  const fault = granted.fault === undefined ? '' : ', because its entry is left out';
  const words = `${role} ${kind} ${entry.table.name}: ${granted.level}${inherited}${conflict}${fault}`;
  return (
    <Link
      to={cellAddress(source, entry.table.name, role, kind)} title={words}
      className={`weir-right weir-right-${granted.level}${granted.from.length > 0 ? ' weir-right-inherited' : ''}`}
    >
      <span className="weir-hidden">{words}</span>
      <span aria-hidden="true">{kind[0]!.toUpperCase()}{MARKS[granted.level]}</span>
    </Link>
  );
}

type Line =
  | { kind: 'source'; source: string }
  | { kind: 'native'; source: string; entries: Entry[] }
  | { kind: 'table'; source: string; entry: Entry };

function linesOf(served: Served, sources: SourceEntries[], wanted: string): Line[] {
  return sources.flatMap(({ source, entries }): Line[] => {
    const found = entries.filter(it => it.table.name.toLowerCase().includes(wanted));
    if (found.length === 0) return [];
    const head: Line = { kind: 'source', source };
    if (served.sources.find(it => it.name === source)?.native) return [head, { kind: 'native', source, entries: found }];
    return [head, ...found.filter(it => it.qualified !== null).map((entry): Line => ({ kind: 'table', source, entry }))];
  });
}

function Row({ served, line, roles, at }: { served: Served; line: Line; roles: string[]; at: number }) {
  const index = { 'aria-rowindex': at + 2 };
  switch (line.kind) {
    case 'source': return <tr {...index} className="weir-source"><th scope="colgroup" colSpan={roles.length + 1}>{line.source}</th></tr>;
    case 'native': return (
      <tr {...index}><td colSpan={roles.length + 1}>
        Types have rules, <code>@auth</code>, in their file. Open a type to see who sees its objects, and why: {line.entries.map((it, place) => (
          <span key={it.table.name}>{place > 0 && ', '}<Link to={cellAddress(line.source, it.table.name, 'user', 'select')}>{it.table.name}</Link></span>
        ))}
      </td></tr>
    );
    case 'table': {
      const { source, entry } = line;
      const table = findServed(served, source, entry.qualified!);
      return (
        <tr {...index}>
          <th scope="row"><Link to={addressOf(['data', source, entry.table.name])}>{entry.table.name}</Link></th>
          {roles.map(role => (
            <td key={role}>
              <span className="weir-rights">
                {KINDS.map(kind => <Cell key={kind} source={source} entry={entry} role={role} kind={kind} granted={grantedTo(served, table, kind, role, entry.table.columns.length)} />)}
              </span>
            </td>
          ))}
        </tr>
      );
    }
  }
}

interface Props {
  served: Served;
  sources: SourceEntries[];
  roles: string[];
}

function Rows({ served, lines, roles }: { served: Served; lines: Line[]; roles: string[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const isMany = lines.length > ROWS_MANY;
  const virtual = useVirtualizer({ count: isMany ? lines.length : 0, getScrollElement: () => frame.current, estimateSize: () => ROW_HEIGHT, overscan: 8 });
  const items = virtual.getVirtualItems();
  const shown = isMany ? items.map(it => it.index) : lines.map((_, at) => at);
  const before = items[0]?.start ?? 0;
  const after = isMany ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const gap = (height: number) => height > 0 && <tr aria-hidden="true"><td colSpan={roles.length + 1} style={{ height, padding: 0, border: 0 }} /></tr>;
  return (
    <div ref={frame} className={isMany ? 'weir-wide weir-matrix weir-matrix-many' : 'weir-wide weir-matrix'} tabIndex={0} role="region" aria-label="Matrix of roles and tables">
      <table aria-rowcount={lines.length + 1}>
        <caption className="weir-hidden">What each role may do with each table</caption>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Table</th>
            {roles.map(role => <th key={role} scope="col">{role}{served.inherited_roles.some(it => it.role_name === role) && <span className="weir-note"> inherits</span>}</th>)}
          </tr>
        </thead>
        <tbody>
          {gap(before)}
          {shown.map(at => <Row key={at} served={served} line={lines[at]!} roles={roles} at={at} />)}
          {gap(after)}
        </tbody>
      </table>
    </div>
  );
}

export function Matrix({ served, sources, roles }: Props) {
  const [table, setTable] = useState('');
  const [role, setRole] = useState('');
  const lines = useMemo(() => linesOf(served, sources, table.trim().toLowerCase()), [served, sources, table]);
  const shown = roles.filter(it => it.toLowerCase().includes(role.trim().toLowerCase()));
  const isSearched = roles.length >= SEARCHED_MIN || sources.reduce((sum, it) => sum + it.entries.length, 0) >= SEARCHED_MIN;
  return (
    <>
      {isSearched && (
        <div className="weir-tools">
          <input className="weir-field" type="search" aria-label="Search tables" placeholder="search tables" value={table} onChange={event => setTable(event.target.value)} />
          <input className="weir-field" type="search" aria-label="Search roles" placeholder="search roles" value={role} onChange={event => setRole(event.target.value)} />
        </div>
      )}
      {lines.length === 0 && <p className="weir-note">No table has this in its name.</p>}
      {roles.length > 0 && shown.length === 0 && <p className="weir-note">No role has this in its name.</p>}
      <Rows served={served} lines={lines} roles={shown} />
    </>
  );
}
