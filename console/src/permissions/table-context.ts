// Facts of one table: the operands of its conditions, by the names of the database, and its columns.
//
// The API may give columns other names; conditions and lists of columns of a permission have those of the database.

import { command } from '../server/requests';
import type { Entry, QualifiedName } from '../data/sources';
import { operandsOf } from '../data/filters';
import type { Operand, Operator } from '../data/filters';
import type { Model } from '../data/model';
import type { Table } from '../data/catalog';
import { findServed, isTable } from '../metadata/served';
import type { Names } from './condition-tree';
import type { Json, Served } from '../metadata/served';

export interface TableContext extends Names {
  entry: Entry;
  /** Columns by their names in the database. */
  columns: string[];
  operands: Operand[];
  /** The operands of another table, as the metadata calls it. */
  operandsIn: (table: Json) => Operand[];
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

/** Tables whose columns are read beside those of the open one. */
const RELATED_MAX = 30;

/** The columns of a table and of those that it is related to. */
export async function loadStoredColumns(model: Model, source: string, entry: Entry): Promise<StoredColumns> {
  const related = [...new Set(entry.table.relationships.map(it => it.table))].slice(0, RELATED_MAX);
  const entries = [entry, ...related.flatMap(it => entryOfTable(model, source, it) ?? [])].filter(it => it.qualified !== null);
  const infos = await Promise.all(entries.map(it => command<{ columns?: { name: string }[] }>('pg_get_table_info', { source, table: it.qualified }).catch(() => null)));
  return new Map(entries.map((it, at) => [it.table.name, infos[at]?.columns?.map(column => column.name) ?? []]));
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
  const contextIn = (table: Json): TableContext | null => {
    const named = table as string | QualifiedName;
    const found = model.sources.find(it => it.source === source)?.entries.find(it => it.qualified && isTable(named, it.qualified));
    return found ? contextOf(model, served, source, found, stored) : null;
  };
  const known = new Set(operands.map(it => it.path.join('.')));
  return {
    entry,
    columns,
    operands,
    isRelationship: path => path.length > 0 && relationshipAt(entry.table, path) !== undefined,
    isColumn: path => known.has(path.join('.')),
    namesIn: table => contextIn(table) ?? NOTHING,
    operandsIn: table => contextIn(table)?.operands ?? [],
  };
}

/** Names of a table that nobody knows. */
const NOTHING: Names = { isRelationship: () => false, isColumn: () => false, namesIn: () => NOTHING };
