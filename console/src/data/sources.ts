// Sources with their tables, as the operator's commands tell them, joined with what the caller's schema has.
//
// Commands may be missing, where the address has none or the caller is no operator: then all tables stand in one group
// and nothing is known of foreign keys.

import { command, readBySql } from '../server/requests';
import { graphqlName, hasSchemas, isTable, metadataName } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';
import type { ServedSource, ServedTable } from '../metadata/served';
import type { Table, Tables } from './catalog';
import { camelName } from './convention';

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

interface ExportedMetadata {
  metadata?: { sources?: { name: string; customization?: { root_fields?: { prefix?: string; suffix?: string } } }[] };
}

/** Root fields that a table can have, the likeliest first: a name that an entry gives stands in place of the database's. */
function rootNames({ schema, name }: QualifiedName, entry: ServedTable | undefined, around: { prefix?: string; suffix?: string } | undefined): string[] {
  const { custom_name: custom, custom_root_fields: roots } = entry?.configuration ?? {};
  const select = typeof roots?.select === 'object' ? roots.select.name : roots?.select;
  if (select) return around ? [`${around.prefix ?? ''}${select}${around.suffix ?? ''}`, select] : [select];
  const base = custom ?? graphqlName(baseName({ schema, name }));
  const plain = base === null ? [] : [base, camelName(base)];
  return around ? [...plain.map(it => `${around.prefix ?? ''}${it}${around.suffix ?? ''}`), ...plain] : plain;
}

/** The name that the server gives a table which no entry names. */
const baseName = ({ schema, name }: QualifiedName) => (schema && schema !== 'public' && schema !== 'main' ? `${schema}_${name}` : name);

/** The entry of a table among `listed`; one without a schema is also that of a table whose name no other schema has. */
function entryOf(source: ServedSource | undefined, table: QualifiedName, listed: QualifiedName[]): ServedTable | undefined {
  const exact = source?.tables.find(it => isTable(it.table, table));
  if (exact || listed.some(it => it !== table && it.name === table.name)) return exact;
  return source?.tables.find(it => it.table === table.name);
}

/** What the operator's commands tell before the schema is there. */
export interface OperatorFacts {
  names: string[];
  served: ServedSource[];
  exported: ExportedMetadata | null;
}

export async function loadOperatorFacts(): Promise<OperatorFacts> {
  const [state, exported] = await Promise.all([
    command<{ sources: string[]; served?: { sources: ServedSource[] } | null }>('dump_internal_state', {}).catch(() => null),
    command<ExportedMetadata>('export_metadata', {}).catch(() => null),
  ]);
  const wrapped = exported && ('metadata' in exported ? exported : { metadata: exported as ExportedMetadata['metadata'] });
  return { names: state?.sources ?? [], served: state?.served?.sources ?? [], exported: wrapped as ExportedMetadata | null };
}

interface Claim {
  source: string;
  qualified: QualifiedName;
  root: string;
  /** The root field has the table's own name, or the one that its entry gives. */
  isExact: boolean;
}

/** The tables of a database that seem to be in the API, with their root fields. */
async function claimsOf(source: string, { served, exported }: OperatorFacts, roots: Set<string>): Promise<Claim[]> {
  const named = await command<QualifiedName[]>('pg_get_source_tables', { source }).catch(() => null) ?? [];
  const hasThem = await hasSchemas(source, named).catch(() => true);
  const listed: QualifiedName[] = hasThem ? named : named.map(({ name }) => ({ name }));
  const known = served.find(it => it.name === source);
  const around = exported?.metadata?.sources?.find(it => it.name === source)?.customization?.root_fields;
  return listed.flatMap(qualified => {
    const entry = entryOf(known, qualified, listed);
    if (known?.tracked_only && !entry) return [];
    const root = rootNames(qualified, entry, around).find(it => roots.has(it));
    const isExact = entry?.configuration?.custom_name !== undefined || graphqlName(qualified.name) === qualified.name;
    return root === undefined ? [] : [{ source, qualified, root, isExact }];
  });
}

/** The claims on root fields that one table alone has; a name that the server had to make gives way to one that is right as it is. */
function settleClaims(claims: Claim[]): Map<string, Claim> {
  const settled = new Map<string, Claim>();
  for (const root of new Set(claims.map(it => it.root))) {
    const all = claims.filter(it => it.root === root);
    const exact = all.filter(it => it.isExact);
    const [only, ...others] = exact.length > 0 ? exact : all;
    // Which of several tables the field is of cannot be known, so none is shown as its table.
    if (only && others.length === 0) settled.set(root, only);
  }
  return settled;
}

/** The tables of all sources; those that no source claims stand below the only source, or below "graph". */
export async function loadSources(tables: Tables, facts: OperatorFacts): Promise<SourceEntries[]> {
  const byRoot = new Map([...tables.values()].map(it => [it.list, it]));
  // Services and native types have no tables of a database: their command is refused, and nothing is asked of them.
  const isNative = facts.names.length === 1 && [...byRoot.values()].some(it => it.dialect === 'native');
  const roots = new Set(byRoot.keys());
  const claims = isNative ? [] : (await Promise.all(facts.names.map(source => claimsOf(source, facts, roots)))).flat();
  const settled = settleClaims(claims);
  const found: SourceEntries[] = facts.names.map(source => ({
    source,
    entries: [...settled.values()].filter(it => it.source === source).map(({ qualified, root }) => ({ table: byRoot.get(root)!, qualified })),
  }));
  const rest = [...byRoot.values()].filter(it => !settled.has(it.list)).map(table => ({ table, qualified: null }));
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

/** About how many rows the big tables have, where their database tells it. SQLite, which has no schemas, does not. */
export async function loadEstimates(sources: SourceEntries[], isBig: (table: Table) => boolean): Promise<Map<Table, number>> {
  const found = new Map<Table, number>();
  for (const { source, entries } of sources) {
    const big = entries.filter(it => it.qualified?.schema !== undefined && isBig(it.table));
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
  const info = await command<TableInfo>('pg_get_table_info', { source, table: metadataName(entry.qualified) }).catch(() => null);
  const siblings = sources.find(it => it.source === source)?.entries ?? [];
  for (const key of Object.values(info?.foreign_keys ?? {})) {
    const pairs = Object.entries(key.column_mapping);
    const target = siblings.find(it => it.qualified && isTable(key.foreign_table, it.qualified));
    const [pair] = pairs;
    if (pairs.length === 1 && pair && target) foreignKeys.set(pair[0], { table: target.table, column: pair[1] });
  }
  return { foreignKeys, isView: info?.type.includes('view') ?? false, isLoaded: true };
}
