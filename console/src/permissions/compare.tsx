// Two roles side by side: what one may do and the other may not, or otherwise.

import type { SourceEntries } from '../data/sources';
import { Link } from '../shell/place';
import { yamlOf } from '../metadata/change';
import { cellAddress } from './matrix';
import { findServed, isSame } from '../metadata/served';
import { heldBy, grantedTo, KINDS, parentsWith } from './granted';
import type { Json, Served, ServedTable } from '../metadata/served';
import type { Kind } from './granted';

interface Props {
  served: Served;
  sources: SourceEntries[];
  roles: [string, string];
}

function textOf(served: Served, table: ServedTable | undefined, kind: Kind, role: string): Json {
  const own = heldBy(table, kind, role);
  if (own) return own.permission;
  const parents = parentsWith(served, table, kind, role);
  return parents.length === 0 ? null : Object.fromEntries(parents.map(it => [it.role, it.permission]));
}

export function Compare({ served, sources, roles }: Props) {
  const rows = sources.flatMap(({ source, entries }) => entries.filter(it => it.qualified !== null).flatMap(entry => {
    const table = findServed(served, source, entry.qualified!);
    return KINDS.flatMap(kind => {
      const [one, other] = roles.map(role => textOf(served, table, kind, role)) as [Json, Json];
      const count = entry.table.columns.length;
      return isSame(one, other) ? [] : [{ source, entry, kind, sides: roles.map((role, at) => ({ role, json: at === 0 ? one : other, granted: grantedTo(served, table, kind, role, count) })) }];
    });
  }));
  if (rows.length === 0) return <p role="status">{roles[0]} and {roles[1]} may do the same.</p>;
  return (
    <div className="weir-wide weir-matrix" tabIndex={0} role="region" aria-label={`${roles[0]} and ${roles[1]}`}>
      <table>
        <thead><tr><th scope="col">Table</th><th scope="col">Right</th>{roles.map((it, at) => <th key={at} scope="col">{it}</th>)}</tr></thead>
        <tbody>
          {rows.map(({ source, entry, kind, sides }) => (
            <tr key={`${source} ${entry.table.name} ${kind}`}>
              <th scope="row">{entry.table.name}</th>
              <td>{kind}</td>
              {sides.map(({ role, json, granted }, at) => (
                <td key={at}>
                  <Link to={cellAddress(source, entry.table.name, role, kind)}>{granted.level}</Link>
                  {granted.from.length > 0 && <span className="weir-note"> inherited from {granted.from.join(', ')}</span>}
                  {json !== null && <pre className="weir-lines">{yamlOf(json)}</pre>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
