// What a source has, tracked or not: the tables and functions of a database, or the types of a native store.

import { askOperator, command } from '../server/requests';
import { hasSchemas, isTable, shownName } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';
import type { Served, ServedSource, ServedTable } from '../metadata/served';
import { readTypes } from './native-types';

export interface CatalogColumn {
  name: string;
  type: string;
  nullable: boolean;
  default: string | null;
  /** The expression, or on SQLite whether the value is stored. */
  generated: string | null;
  identity: string | null;
  comment: string | null;
}

export interface CatalogKey {
  name: string | null;
  columns: string[];
  table: QualifiedName;
  targetColumns: string[];
  definition: string;
}

export interface CatalogTable {
  schema: string;
  name: string;
  kind: string;
  /** Whether the server can serve it, where it tells that. */
  isServable?: boolean;
  comment: string | null;
  /** The statement of a view, and on SQLite that of a table. */
  definition: string | null;
  columns: CatalogColumn[];
  indexes: { name: string; definition: string; unique: boolean; primary: boolean }[];
  constraints: { name: string | null; kind: string; definition: string; columns: string[] | null }[];
  foreignKeys: CatalogKey[];
  triggers: { name: string; definition: string; enabled: boolean }[];
}

export interface CatalogFunction {
  schema: string;
  name: string;
  arguments: string;
  returns: string;
  isSet: boolean;
  volatility: string;
  comment: string | null;
  returnsTable: QualifiedName | null;
  argumentTables: QualifiedName[] | null;
}

export interface Catalog {
  kind: 'database' | 'native' | 'services';
  tables: CatalogTable[];
  functions: CatalogFunction[];
  /** Parts that the database did not tell, and why. */
  unread: string[];
  /** The types of a native source, their file, and their store. */
  sdl: string | null;
  file: string | null;
  store: string | null;
}

const NOTHING = { tables: [], functions: [], unread: [], sdl: null, file: null, store: null };

export async function loadCatalog(source: string): Promise<Catalog> {
  const found = await askOperator<Partial<Catalog> & Pick<Catalog, 'kind'>>('/admin/catalog', { source });
  const catalog: Catalog = { ...NOTHING, ...found, ...(found.sdl ? { tables: readTypes(found.sdl) } : {}) };
  return catalog.kind !== 'database' || (await hasSchemas(source, catalog.tables)) ? catalog : withoutSchemas(source, catalog);
}

/** What SQLite has: tables without a schema, of which the server may be unable to serve some. */
async function withoutSchemas(source: string, catalog: Catalog): Promise<Catalog> {
  const listed = await command<QualifiedName[]>('pg_get_source_tables', { source });
  const names = listed && new Set(listed.map(it => it.name));
  return {
    ...catalog,
    tables: catalog.tables.map(table => ({
      ...table,
      schema: '',
      isServable: names === null || names.has(table.name),
      foreignKeys: table.foreignKeys.map(key => ({ ...key, table: { schema: '', name: key.table.name } })),
    })),
  };
}

/** False for virtual tables, views whose statement fails, and tables without columns: the server refuses to track them. */
export const isTrackable = (table: CatalogTable) => table.isServable ?? table.columns.length > 0;

export const qualifiedName = ({ schema, name }: { schema: string; name: string }): QualifiedName => ({ schema, name });

export const findTable = (catalog: Catalog, name: string): CatalogTable | undefined => catalog.tables.find(it => shownName(it) === name);

export const findByName = (catalog: Catalog, name: string | QualifiedName): CatalogTable | undefined => catalog.tables.find(it => isTable(name, it));

export const entryOfTable = (source: ServedSource, table: QualifiedName): ServedTable | undefined => source.tables.find(it => isTable(it.table, table));

/** True if the API has the table: by an entry, or because everything is served. */
export const isServed = (source: ServedSource, table: QualifiedName) => !source.tracked_only || entryOfTable(source, table) !== undefined;

export const sourceCalled = (served: Served, name: string): ServedSource | undefined => served.sources.find(it => it.name === name);

/** True if no two rows have the same values in these columns. */
export function isUniqueKey(table: CatalogTable, columns: string[]): boolean {
  const isSame = (other: string[] | null) => other !== null && other.length === columns.length && other.every(it => columns.includes(it));
  return table.constraints.some(it => (it.kind === 'primary key' || it.kind === 'unique') && isSame(it.columns));
}

/** Foreign keys of other tables that lead to this one. */
export const keysTo = (catalog: Catalog, target: CatalogTable): { table: CatalogTable; key: CatalogKey }[] =>
  catalog.tables.flatMap(table => table.foreignKeys.filter(it => isTable(it.table, target)).map(key => ({ table, key })));
