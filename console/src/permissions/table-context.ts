// Facts of one table: the operands of its conditions, by the names of the database, and its columns.
//
// The API may give columns other names; conditions and lists of columns of a permission have those of the database.

import type { Entry } from '../data/sources';
import { operandsOf } from '../data/filters';
import type { Operator } from '../data/filters';
import type { Model } from '../data/model';
import type { Table } from '../data/catalog';
import { findServed } from '../metadata/served';
import { findByName, loadCatalog } from '../schema/catalog';
import type { Names, Scope } from './condition-tree';
import type { Json, Served } from '../metadata/served';
import { isTable } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';

export interface TableContext extends Names, Scope {
  entry: Entry;
  /** Columns by their names in the database. */
  columns: string[];
}

const BETWEEN_COLUMNS = ['_ceq', '_cneq', '_cgt', '_cgte', '_clt', '_clte'];

/** By the API's name: the database's. */
function namesOf(served: Served, source: string, entry: Entry | undefined): Map<string, string> {
  const { column_config: config, custom_column_names: old } = (entry?.qualified && findServed(served, source, entry.qualified)?.configuration) || {};
  const pairs = [
    ...Object.entries(old ?? {}),
    ...Object.entries(config ?? {}).flatMap(([name, it]) => (it.custom_name ? [[name, it.custom_name] as const] : [])),
  ];
  return new Map(pairs.map(([name, custom]) => [custom, name]));
}

/** By the name of a table: its columns in the database. */
export type StoredColumns = Map<string, string[]>;

/** The columns of all tables of a source; none where its database does not tell them. */
export async function loadStoredColumns(model: Model, source: string): Promise<StoredColumns> {
  const entries = model.sources.find(it => it.source === source)?.entries.filter(it => it.qualified !== null) ?? [];
  if (entries.length === 0) return new Map();
  const catalog = await loadCatalog(source).catch(() => null);
  return new Map(entries.map(it => [it.table.name, (catalog && findByName(catalog, it.qualified!))?.columns.map(column => column.name) ?? []]));
}

/** A name of the API without what a naming convention changes. */
const plain = (name: string) => name.replaceAll('_', '').toLowerCase();

const entryOfTable = (model: Model, source: string, name: string) =>
  model.sources.find(it => it.source === source)?.entries.find(it => it.table.name === name);

export function contextOf(model: Model, served: Served, source: string, entry: Entry, stored: StoredColumns): TableContext {
  const configured = new Map<string, Map<string, string>>();
  const columnName = (table: Table, name: string) => {
    let names = configured.get(table.name);
    if (!names) configured.set(table.name, (names = namesOf(served, source, entryOfTable(model, source, table.name))));
    const columns = stored.get(table.name) ?? [];
    return names.get(name) ?? (columns.includes(name) ? name : columns.find(it => plain(it) === plain(name))) ?? name;
  };
  const relationshipAt = (table: Table, path: string[]): Table | undefined => {
    let at: Table | undefined = table;
    for (const name of path) {
      const way: string | undefined = at?.relationships.find(it => it.name === name)?.table;
      at = way === undefined ? undefined : model.tables.get(way);
    }
    return at;
  };
  const inDatabase = (path: string[]) => {
    const of = relationshipAt(entry.table, path.slice(0, -1));
    return of ? [...path.slice(0, -1), columnName(of, path.at(-1)!)] : path;
  };
  // Whether a value is null is asked by a constant.
  const withSession = (it: Operator): Operator => (it.name === '_is_null' ? it : { ...it, takesSession: true });
  const between = BETWEEN_COLUMNS.map(name => ({ name, type: 'String', isList: false }));
  const operands = operandsOf(model.schema, model.tables, entry.table)
    .map(it => ({ path: inDatabase(it.path), operators: [...it.operators.map(withSession), ...between] }));
  const columns = entry.table.columns.map(it => columnName(entry.table, it.name));
  const contextFor = (found: Entry | undefined): TableContext | typeof NOTHING => (found ? contextOf(model, served, source, found, stored) : NOTHING);
  const contextIn = (table: Json) => {
    const named = table as string | QualifiedName;
    return contextFor(model.sources.find(it => it.source === source)?.entries.find(it => it.qualified && isTable(named, it.qualified)));
  };
  const contextBelow = (name: string) => {
    const target = entry.table.relationships.find(it => it.name === name)?.table;
    return contextFor(target === undefined ? undefined : entryOfTable(model, source, target));
  };
  const known = new Set(operands.map(it => it.path.join('.')));
  return {
    entry,
    columns,
    operands,
    isRelationship: path => path.length > 0 && relationshipAt(entry.table, path) !== undefined,
    isColumn: path => known.has(path.join('.')),
    namesIn: contextIn,
    namesBelow: contextBelow,
    scopeIn: contextIn,
    scopeBelow: contextBelow,
  };
}

/** Names of a table that nobody knows. */
const NOTHING: Names & Scope = {
  isRelationship: () => false, isColumn: () => false, operands: [],
  namesIn: () => NOTHING, namesBelow: () => NOTHING, scopeIn: () => NOTHING, scopeBelow: () => NOTHING,
};
