// What a role may do by the permissions that are served.

import type { Json, Permission, PermissionEntry, Served, ServedTable } from '../metadata/served';
import { isSame } from '../metadata/served';

export const KINDS = ['select', 'insert', 'update', 'delete'] as const;
export type Kind = (typeof KINDS)[number];

export const entriesOf = (table: ServedTable | undefined, kind: Kind): PermissionEntry[] => table?.[`${kind}_permissions`] ?? [];

/** The entry of a role, also one that the server left out. */
export const entryOf = (table: ServedTable | undefined, kind: Kind, role: string) => entriesOf(table, kind).find(it => it.role === role);

/** The permission that a role has by an entry of its own. */
export function heldBy(table: ServedTable | undefined, kind: Kind, role: string): PermissionEntry | undefined {
  const entry = entryOf(table, kind, role);
  return entry?.fault === undefined ? entry : undefined;
}

/** The roles that a role is made of, by whatever way, that have a permission of their own. */
export function parentsWith(served: Served, table: ServedTable | undefined, kind: Kind, role: string): PermissionEntry[] {
  const found = new Map<string, PermissionEntry>();
  const seen = new Set<string>();
  const open = [...(served.inherited_roles.find(it => it.role_name === role)?.role_set ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const name = next;
    const own = heldBy(table, kind, name);
    if (own) found.set(name, own);
    else open.push(...(served.inherited_roles.find(it => it.role_name === name)?.role_set ?? []));
  }
  return [...found.values()];
}

export function rolesOf(served: Served): string[] {
  const named = served.sources.flatMap(source => source.tables.flatMap(table => KINDS.flatMap(kind => entriesOf(table, kind).map(it => it.role))));
  return [...new Set([...named, ...served.inherited_roles.map(it => it.role_name)])].sort();
}

export type Level = 'none' | 'partial' | 'full';

const isEmpty = (value: Json | undefined) => typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

/** How far a permission goes; `columns` are those that the table has. */
function levelOfOne(kind: Kind, permission: Permission, columns: number): Level {
  const listed = permission.columns;
  const hasAll = kind === 'delete' || listed === '*' || (kind === 'insert' && listed === undefined) || (Array.isArray(listed) && columns > 0 && listed.length >= columns);
  const rows = kind === 'insert' ? permission.check : permission.filter;
  const isBound = permission.backend_only === true || typeof permission.limit === 'number'
    || (kind === 'update' && permission.check !== undefined && permission.check !== null && !isEmpty(permission.check));
  return hasAll && isEmpty(rows) && !isBound ? 'full' : 'partial';
}

export interface Granted {
  level: Level;
  /** The roles that it comes from, if it is inherited. */
  from: string[];
  /** Roles that would grant it, if they agreed. */
  conflict: string[];
  /** Why the entry of the role itself is left out. */
  fault: string | undefined;
}

/** What a role may do: its own permission, or what it inherits: reads are united, writes have to be the same. */
export function grantedTo(served: Served, table: ServedTable | undefined, kind: Kind, role: string, columns: number): Granted {
  const fault = entryOf(table, kind, role)?.fault;
  const own = heldBy(table, kind, role);
  if (own) return { level: levelOfOne(kind, own.permission, columns), from: [], conflict: [], fault };
  const parents = parentsWith(served, table, kind, role);
  const [first] = parents;
  if (!first) return { level: 'none', from: [], conflict: [], fault };
  const from = parents.map(it => it.role).sort();
  if (kind !== 'select' && parents.some(it => !isSame(it.permission, first.permission))) return { level: 'none', from: [], conflict: from, fault };
  const isFull = parents.some(it => levelOfOne(kind, it.permission, columns) === 'full');
  return { level: isFull ? 'full' : 'partial', from, conflict: [], fault };
}

/** Names of session variables in a condition or in presets, in lower case. */
export function variablesIn(value: Json | undefined, found = new Set<string>()): Set<string> {
  if (typeof value === 'string' && /^x-hasura-\S+$/i.test(value)) found.add(value.toLowerCase());
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(it => variablesIn(it, found));
  return found;
}
