// What a source has, tracked or not: the tables and functions of a database, or the types of a native store.

import { askOperator } from '../server/requests';
import type { QualifiedName } from '../data/sources';
import { isTable, tableName } from '../metadata/served';
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
  return { ...NOTHING, ...found, ...(found.sdl ? { tables: readTypes(found.sdl) } : {}) };
}

const isUsual = (schema: string | undefined) => schema === undefined || schema === '' || schema === 'public' || schema === 'main';

/** The name of a table in addresses and lists. */
export const shownName = (it: string | QualifiedName) =>
  (typeof it === 'string' || isUsual(it.schema) ? tableName(it) : `${it.schema}.${it.name}`);

export const qualifiedName = ({ schema, name }: { schema: string; name: string }): QualifiedName => ({ schema, name });

/** The name of a new entry of the metadata: SQLite has no schemas. */
export const metadataName = (it: QualifiedName): string | QualifiedName => (isUsual(it.schema) && it.schema !== 'public' ? it.name : { schema: it.schema!, name: it.name });

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
