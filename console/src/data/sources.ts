// Sources with their tables, as the operator's commands tell them, joined with what the caller's schema has.
//
// Commands may be missing, where the address has none or the caller is no operator: then all tables stand in one group
// and nothing is known of foreign keys.

import { command, readBySql } from '../server/requests';
import type { Table, Tables } from './catalog';
import { camelName } from './convention';

export interface QualifiedName {
  schema?: string;
  name: string;
}

export interface Entry {
  table: Table;
  qualified: QualifiedName | null;
}

export interface SourceEntries {
  source: string;
  entries: Entry[];
}

/** Foreign keys by the column that holds one; keys of several columns are left to relationships. */
export type ForeignKeys = Map<string, { table: Table; column: string }>;

export interface TableFacts {
  foreignKeys: ForeignKeys;
  isView: boolean;
  /** Whether the database was asked already. */
  isLoaded: boolean;
}

interface TableMetadata {
  table: string | QualifiedName;
  configuration?: { custom_name?: string; custom_root_fields?: { select?: string | { name?: string } } };
}

interface ExportedMetadata {
  metadata?: { sources?: { name: string; tables?: TableMetadata[]; customization?: { root_fields?: { prefix?: string; suffix?: string } } }[] };
}

const nameOf = (table: string | QualifiedName) => (typeof table === 'string' ? table : table.name);
const schemaOf = (table: string | QualifiedName) => (typeof table === 'string' ? undefined : table.schema);

/** Root fields that a table can have, the likeliest first. */
function rootNames(name: QualifiedName, source: string, exported: ExportedMetadata | null): string[] {
  const known = exported?.metadata?.sources?.find(it => it.name === source);
  const entry = known?.tables?.find(it => nameOf(it.table) === name.name && (schemaOf(it.table) ?? name.schema) === name.schema);
  const { custom_name: custom, custom_root_fields: roots } = entry?.configuration ?? {};
  const around = known?.customization?.root_fields;
  const select = typeof roots?.select === 'object' ? roots.select.name : roots?.select;
  const usual = [name.name, `${name.schema}_${name.name}`];
  const plain = [select, custom, ...usual, ...usual.map(camelName)].filter(it => it !== undefined);
  return around ? [...plain.map(it => `${around.prefix ?? ''}${it}${around.suffix ?? ''}`), ...plain] : plain;
}

/** What the operator's commands tell before the schema is there. */
export interface OperatorFacts {
  names: string[];
  exported: ExportedMetadata | null;
}

export async function loadOperatorFacts(): Promise<OperatorFacts> {
  const [state, exported] = await Promise.all([
    command<{ sources: string[] }>('dump_internal_state', {}).catch(() => null),
    command<ExportedMetadata>('export_metadata', {}).catch(() => null),
  ]);
  const wrapped = exported && ('metadata' in exported ? exported : { metadata: exported as ExportedMetadata['metadata'] });
  return { names: state?.sources ?? [], exported: wrapped as ExportedMetadata | null };
}

/** The tables of all sources; those that no source claims stand below the only source, or below "graph". */
export async function loadSources(tables: Tables, { names, exported }: OperatorFacts): Promise<SourceEntries[]> {
  const open = new Map([...tables.values()].map(it => [it.list, it]));
  const found: SourceEntries[] = [];
  // Services and native types have no tables of a database: their command is refused, and nothing is asked of them.
  const isNative = names.length === 1 && [...open.values()].some(it => it.dialect === 'native');
  const lists = await Promise.all(names.map(source =>
    (isNative ? null : command<QualifiedName[]>('pg_get_source_tables', { source }).catch(() => null))));
  for (const [at, source] of names.entries()) {
    const entries = (lists[at] ?? []).flatMap(qualified => {
      const root = rootNames(qualified, source, exported).find(it => open.has(it));
      const table = root === undefined ? undefined : open.get(root);
      if (!root || !table) return [];
      open.delete(root);
      return [{ table, qualified }];
    });
    found.push({ source, entries });
  }
  const rest = [...open.values()].map(table => ({ table, qualified: null }));
  if (rest.length > 0) {
    const only = found.length === 1 ? found[0] : undefined;
    if (only) only.entries.push(...rest);
    else found.push({ source: 'graph', entries: rest });
  }
  return found.filter(it => it.entries.length > 0);
}

/** PostgreSQL's estimates, which ANALYZE and autovacuum make. */
const ESTIMATES = `SELECT n.nspname, c.relname, c.reltuples::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'm') AND c.reltuples > 0`;

/** About how many rows the big tables have, where their database tells it. SQLite, whose schema is `main`, does not. */
export async function loadEstimates(sources: SourceEntries[], isBig: (table: Table) => boolean): Promise<Map<Table, number>> {
  const found = new Map<Table, number>();
  for (const { source, entries } of sources) {
    const big = entries.filter(it => it.qualified?.schema !== undefined && it.qualified.schema !== 'main' && isBig(it.table));
    if (big.length === 0) continue;
    for (const [schema, name, count] of await readBySql(source, ESTIMATES).catch(() => [])) {
      const entry = big.find(it => it.qualified?.schema === schema && it.qualified?.name === name);
      if (entry) found.set(entry.table, Number(count));
    }
  }
  return found;
}

interface TableInfo {
  type: string;
  foreign_keys?: Record<string, { foreign_table: QualifiedName; column_mapping: Record<string, string> }>;
}

/** What the database says of a table. */
export async function loadFacts(sources: SourceEntries[], source: string, entry: Entry): Promise<TableFacts> {
  const foreignKeys: ForeignKeys = new Map();
  if (!entry.qualified) return { foreignKeys, isView: false, isLoaded: true };
  const info = await command<TableInfo>('pg_get_table_info', { source, table: entry.qualified }).catch(() => null);
  const siblings = sources.find(it => it.source === source)?.entries ?? [];
  for (const key of Object.values(info?.foreign_keys ?? {})) {
    const pairs = Object.entries(key.column_mapping);
    const target = siblings.find(it => it.qualified?.name === key.foreign_table.name && it.qualified.schema === key.foreign_table.schema);
    const [pair] = pairs;
    if (pairs.length === 1 && pair && target) foreignKeys.set(pair[0], { table: target.table, column: pair[1] });
  }
  return { foreignKeys, isView: info?.type.includes('view') ?? false, isLoaded: true };
}
