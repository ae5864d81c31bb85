// What the page knows of one table: the operands of its conditions by the names of the database, and its columns.
//
// The API may give columns other names; conditions and lists of columns of a permission have those of the database.

import type { Entry, QualifiedName } from '../data/sources';
import { operandsOf } from '../data/filters';
import type { Operand, Operator } from '../data/filters';
import type { Model } from '../data/model';
import type { Table } from '../data/catalog';
import { findServed, isTable } from './served';
import type { Json, Served } from './served';

export interface TableContext {
  entry: Entry;
  /** Columns by their names in the database. */
  columns: string[];
  operands: Operand[];
  isRelationship: (path: string[]) => boolean;
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

const entryOfTable = (model: Model, source: string, name: string) =>
  model.sources.find(it => it.source === source)?.entries.find(it => it.table.name === name);

export function contextOf(model: Model, served: Served, source: string, entry: Entry): TableContext {
  const known = new Map<string, Map<string, string>>();
  const columnName = (table: Table, name: string) => {
    let names = known.get(table.name);
    if (!names) known.set(table.name, (names = namesOf(served, source, entryOfTable(model, source, table.name))));
    return names.get(name) ?? name;
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
  return { entry, columns, operands, isRelationship: path => path.length > 0 && relationshipAt(entry.table, path) !== undefined };
}

/** The operands of a table that is named in the metadata. */
export function operandsElsewhere(model: Model, served: Served, source: string, table: Json): Operand[] {
  const named = table as string | QualifiedName;
  const entry = model.sources.find(it => it.source === source)?.entries.find(it => it.qualified && isTable(named, it.qualified));
  return entry ? contextOf(model, served, source, entry).operands : [];
}
