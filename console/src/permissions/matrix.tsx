// Roles and tables: how far each may read, insert, update and delete.

import { Fragment } from 'react';
import { Link, addressOf } from '../shell/place';
import type { Entry, SourceEntries } from '../data/sources';
import { findServed } from '../metadata/served';
import { grantedTo, KINDS } from './granted';
import type { Served } from '../metadata/served';
import type { Granted, Kind } from './granted';

export const cellAddress = (source: string, table: string, role: string, kind: Kind, more: Record<string, string> = {}) =>
  addressOf(['permissions', source, table], { role, kind, ...more });

const MARKS = { none: '–', partial: '◐', full: '●' };

function Cell({ source, entry, role, kind, granted }: { source: string; entry: Entry; role: string; kind: Kind; granted: Granted }) {
  const inherited = granted.from.length > 0 ? `, inherited from ${granted.from.join(' and ')}` : '';
  const conflict = granted.conflict.length > 0 ? `, because ${granted.conflict.join(' and ')} differ` : '';
  const words = `${role} ${kind} ${entry.table.name}: ${granted.level}${inherited}${conflict}`;
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

interface Props {
  served: Served;
  sources: SourceEntries[];
  roles: string[];
}

export function Matrix({ served, sources, roles }: Props) {
  const isNative = (name: string) => served.sources.find(it => it.name === name)?.native ?? false;
  return (
    <div className="weir-wide weir-matrix" tabIndex={0} role="region" aria-label="Matrix of roles and tables">
      <table>
        <caption className="weir-hidden">What each role may do with each table</caption>
        <thead>
          <tr>
            <th scope="col">Table</th>
            {roles.map(role => <th key={role} scope="col">{role}{served.inherited_roles.some(it => it.role_name === role) && <span className="weir-note"> inherits</span>}</th>)}
          </tr>
        </thead>
        <tbody>
          {sources.map(({ source, entries }) => (
            <Fragment key={source}>
              <tr className="weir-source"><th scope="colgroup" colSpan={roles.length + 1}>{source}</th></tr>
              {isNative(source) ? (
                <tr><td colSpan={roles.length + 1}>
                  Types have rules, <code>@auth</code>, in their file. Open a type to see who sees its objects, and why: {entries.map((it, at) => (
                    <Fragment key={it.table.name}>{at > 0 && ', '}<Link to={cellAddress(source, it.table.name, 'user', 'select')}>{it.table.name}</Link></Fragment>
                  ))}
                </td></tr>
              ) : entries.filter(it => it.qualified !== null).map(entry => {
                const table = findServed(served, source, entry.qualified!);
                return (
                  <tr key={entry.table.name}>
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
              })}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}
