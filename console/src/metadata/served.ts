// Tables with their relationships and permissions, and functions, as the server has them, whichever file says so.

import type { ExactNumber } from '../server/exact-number';
import { command } from '../server/requests';
import { isTable } from './table-name';
import type { QualifiedName } from './table-name';

export type Json = null | boolean | number | ExactNumber | string | Json[] | { [key: string]: Json };
export type Permission = { [key: string]: Json };

export interface PermissionEntry {
  role: string;
  permission: Permission;
  comment?: string;
  /** Why the server left it out: it does not fit the database, so nobody has it. */
  fault?: string;
}

export interface ServedRelationship {
  name: string;
  using: {
    foreign_key_constraint_on?: string | string[] | { table: string | QualifiedName; column?: string | string[]; columns?: string | string[] };
    manual_configuration?: { remote_table?: string | QualifiedName; remote_native_query?: string; column_mapping: Record<string, string> };
  };
  comment?: string;
}

export interface ServedComputedField {
  name: string;
  definition: { function: string | QualifiedName; table_argument?: string; session_argument?: string };
  comment?: string;
}

export interface ServedHeader {
  name: string;
  value?: string;
  value_from_env?: string;
}

export interface ServedEventTrigger {
  name: string;
  definition: { [key in 'insert' | 'update' | 'delete']?: { columns: '*' | string[]; payload?: '*' | string[] } | null } & { enable_manual?: boolean };
  retry_conf: { num_retries: number; interval_sec: number; timeout_sec?: number };
  webhook?: string;
  webhook_from_env?: string;
  headers?: ServedHeader[];
  ordered?: boolean;
}

export interface ServedFunction {
  function: string | QualifiedName;
  configuration?: { [key: string]: Json };
}

export interface ServedTable {
  table: string | QualifiedName;
  configuration?: {
    custom_name?: string;
    custom_root_fields?: { select?: string | { name?: string } };
    column_config?: Record<string, { custom_name?: string }>;
    custom_column_names?: Record<string, string>;
  };
  object_relationships?: ServedRelationship[];
  array_relationships?: ServedRelationship[];
  computed_fields?: ServedComputedField[];
  event_triggers?: ServedEventTrigger[];
  remote_relationships?: { name: string; definition: { [key: string]: Json } }[];
  select_permissions?: PermissionEntry[];
  insert_permissions?: PermissionEntry[];
  update_permissions?: PermissionEntry[];
  delete_permissions?: PermissionEntry[];
}

export interface ServedSource {
  name: string;
  native: boolean;
  /** Tables without an entry are not served. */
  tracked_only: boolean;
  tables: ServedTable[];
  functions: ServedFunction[];
}

export interface InheritedRole {
  role_name: string;
  role_set: string[];
}

export interface Served {
  /** The file or folder that changes are written to; null: there is none. */
  metadata: string | null;
  sources: ServedSource[];
  inherited_roles: InheritedRole[];
  /** The version that a change is based on, so that one of somebody else is not overwritten. */
  version: number | null;
}

interface State {
  served?: Omit<Served, 'version'>;
  inconsistent_objects?: { type: string; name: string; reason: string }[];
}

export const PERMISSIONS = ['select_permissions', 'insert_permissions', 'update_permissions', 'delete_permissions'] as const;

/** Tables whose permissions have the reason for which they are left out, found by the names of inconsistent objects. */
function withFaults(sources: ServedSource[], inconsistent: NonNullable<State['inconsistent_objects']>): ServedSource[] {
  const faults = new Map(inconsistent.map(it => [it.name, it.reason]));
  if (faults.size === 0) return sources;
  const reasonOf = (kind: string, role: string, table: ServedTable['table'], source: string) => {
    const names = typeof table === 'string' ? [table] : [table.name, `${table.schema}.${table.name}`];
    return names.flatMap(it => faults.get(`${kind.slice(0, -1)} ${role} in table ${it} in source ${source}`) ?? faults.get(`table ${it} in source ${source}`) ?? [])[0];
  };
  return sources.map(source => ({
    ...source,
    tables: source.tables.map(table => {
      const marked = { ...table };
      for (const kind of PERMISSIONS) {
        const entries = table[kind];
        if (entries) marked[kind] = entries.map(it => {
          const fault = reasonOf(kind, it.role, table.table, source.name);
          return fault === undefined ? it : { ...it, fault };
        });
      }
      return marked;
    }),
  }));
}

/** Nothing where this address has no metadata API. */
export async function loadServed(): Promise<Served | null> {
  const [state, exported] = await Promise.all([
    command<State>('dump_internal_state', {}),
    command<{ resource_version?: number }>('export_metadata', {}, 2),
  ]);
  if (!state?.served) return null;
  const sources = withFaults(state.served.sources, state.inconsistent_objects ?? []);
  return { ...state.served, sources, version: exported?.resource_version ?? null };
}

export const findServed = (served: Served, source: string, qualified: QualifiedName): ServedTable | undefined =>
  served.sources.find(it => it.name === source)?.tables.find(it => isTable(it.table, qualified));

/** The same keys and values, whatever their order. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  const sorted = (value: Json | undefined): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, it]) => [key, sorted(it)]));
  };
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
