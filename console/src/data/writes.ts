// Changes of rows: the operation, what it says before it is sent, and the operation that undoes it.
//
// A change of a cell names the old value in its condition, so it does nothing where somebody else was first.

import { ask } from '../server/requests';
import type { Table } from './catalog';
import { spelled, spelledFilter } from './convention';
import type { Operation, Row } from './page-query';

export interface Change {
  title: string;
  operation: Operation;
  /** Columns with the value before and after, where there are such. */
  differences: { column: string; before?: unknown; after?: unknown }[];
  /** The name that has to be written before it is sent. */
  asksName?: string;
  /** Rows that it has to change; fewer mean that somebody else was first. */
  expected: number;
  /** The changes that take it back, made from the answer; none where that cannot be. */
  undo: (data: unknown) => Change[];
}

export interface Outcome {
  affected: number;
  undo: Change[];
}

/** Parts of a condition that the server takes; the rows of larger changes go in several. */
const CONDITIONS_MAX = 900;

/** The rows in groups, of which each has a condition that the server takes. */
function grouped(table: Table, rows: Row[]): Row[][] {
  const size = table.dialect === 'native' ? rows.length : Math.max(1, Math.floor(CONDITIONS_MAX / (table.columns.length + table.key.length + 1)));
  return Array.from({ length: Math.ceil(rows.length / Math.max(1, size)) }, (_, at) => rows.slice(at * size, (at + 1) * size));
}

/** A condition for a column that has this value. */
function has(column: string, value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return { [column]: { _is_null: true } };
  return { [column]: { _eq: value } };
}

/** Types that a condition can compare. */
const isComparable = (table: Table, name: string) => {
  const column = table.columns.find(it => it.name === name);
  return column !== undefined && !column.isList && !/^(jsonb?|JSON|xml|geometry|geography|bytea)$/.test(column.type);
};

/** True if the key names this row alone: SQLite takes any number of rows whose key has a null. */
export const hasKey = (table: Table, row: Row) =>
  table.key.length > 0 && table.key.every(it => row[it] !== null && row[it] !== undefined);

function keyCondition(table: Table, rows: Row[]): Record<string, unknown> {
  if (!rows.every(it => hasKey(table, it))) throw new Error('A row whose key has a null cannot be told from others.');
  if (table.dialect === 'native') return { [table.key[0]!]: rows.map(it => it[table.key[0]!]) };
  const each = rows.map(row => {
    const parts = table.key.map(it => has(it, row[it]));
    return parts.length === 1 ? parts[0]! : { _and: parts };
  });
  return each.length === 1 ? each[0]! : { _or: each };
}

/** A condition for each row: its key, and the values that are shown of it. */
function asSeen(table: Table, rows: Row[]): Record<string, unknown> {
  const each = rows.map(row => {
    const shown = Object.keys(row).filter(it => !table.key.includes(it) && isComparable(table, it));
    return { _and: [keyCondition(table, [row]), ...shown.map(it => has(it, row[it]))] };
  });
  return each.length === 1 ? each[0]! : { _or: each };
}

function deletion(table: Table, condition: Record<string, unknown>): Operation {
  const { field } = table.remove!;
  if (table.dialect === 'native') {
    return { query: `mutation Delete($filter: ${table.whereType}!) {\n  change: ${field}(filter: $filter) { numUids }\n}\n`, variables: { filter: condition } };
  }
  const read = table.columns.map(it => it.name).join(' ');
  return { query: `mutation Delete($where: ${table.whereType}!) {\n  change: ${field}(where: $where) { ${spelled(table, 'affected_rows')} returning { ${read} } }\n}\n`, variables: { where: spelledFilter(table, condition) } };
}

function setting(table: Table, condition: Record<string, unknown>, set: Row): Operation {
  const { field, input } = table.update!;
  if (table.dialect === 'native') {
    const entries = Object.entries(set);
    const kept = entries.filter(([, value]) => value !== null);
    const cleared = entries.filter(([, value]) => value === null);
    const variables = {
      filter: condition,
      ...(kept.length ? { set: Object.fromEntries(kept) } : {}),
      ...(cleared.length ? { remove: Object.fromEntries(cleared) } : {}),
    };
    const type = `Update${table.name}Input`;
    return { query: `mutation Update($input: ${type}!) {\n  change: ${field}(input: $input) { numUids }\n}\n`, variables: { input: variables } };
  }
  return {
    query: `mutation Update($where: ${table.whereType}!, $set: ${input}!) {\n  change: ${field}(where: $where, _set: $set) { ${spelled(table, 'affected_rows')} returning { ${Object.keys(set).join(' ')} } }\n}\n`,
    variables: { where: spelledFilter(table, condition), set },
  };
}

/** Rows that an answer returns. */
const returned = (data: unknown) => (data as { change: { returning?: Row[]; rows?: Row[] } }).change.returning ?? [];

/** Sets one cell. */
export function editCell(table: Table, row: Row, column: string, value: unknown): Change {
  const before = row[column] ?? null;
  const isLocked = table.dialect === 'relational' && isComparable(table, column);
  const key = keyCondition(table, [row]);
  const condition = isLocked ? { _and: [key, has(column, before)] } : key;
  return {
    title: `Change ${column} of a row of ${table.name}`,
    operation: setting(table, condition, { [column]: value }),
    differences: [{ column, before, after: value }],
    expected: 1,
    // The database may have rounded or trimmed what was written.
    undo: data => [editCell(table, { ...row, [column]: value, ...returned(data)[0] }, column, before)],
  };
}

const plural = (count: number, table: Table) => (count === 1 ? `a row of ${table.name}` : `${count.toLocaleString('en')} rows of ${table.name}`);

/** Deletes rows, in as many changes as their conditions need; each is undone by inserting what may be inserted of them. */
export const deleteRows = (table: Table, rows: Row[]): Change[] => grouped(table, rows).map(it => deleteGroup(table, it));

function deleteGroup(table: Table, rows: Row[]): Change {
  const [first] = rows;
  return {
    title: `Delete ${plural(rows.length, table)}`,
    // A row that somebody else changed since it was read stays.
    operation: deletion(table, table.dialect === 'native' ? keyCondition(table, rows) : asSeen(table, rows)),
    differences: rows.length === 1 && first ? Object.entries(first).map(([column, before]) => ({ column, before })) : [],
    asksName: table.name,
    expected: rows.length,
    undo: data => {
      if (!table.insert) return [];
      const names = new Set(table.insert.columns.map(it => it.name));
      const gone = table.dialect === 'native' ? rows : returned(data);
      if (gone.length === 0) return [];
      return [insertRows(table, gone.map(row => Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name)))))];
    },
  };
}

/** Inserts rows; it is undone by deleting those that still have these values. */
export function insertRows(table: Table, rows: Row[]): Change {
  const { field, input } = table.insert!;
  const read = table.columns.map(it => it.name).join(' ');
  const isNative = table.dialect === 'native';
  const inner = table.name.charAt(0).toLowerCase() + table.name.slice(1);
  const selected = isNative ? `numUids rows: ${inner} { ${read} }` : `${spelled(table, 'affected_rows')} returning { ${read} }`;
  const argument = isNative ? 'input' : 'objects';
  return {
    title: `Insert ${plural(rows.length, table)}`,
    operation: {
      query: `mutation Insert($rows: [${input}!]!) {\n  change: ${field}(${argument}: $rows) { ${selected} }\n}\n`,
      variables: { rows },
    },
    differences: rows.length === 1 ? Object.entries(rows[0]!).map(([column, after]) => ({ column, after })) : [],
    expected: rows.length,
    undo: data => {
      const change = (data as { change: { returning?: Row[]; rows?: Row[] } }).change;
      const made = change.returning ?? change.rows ?? [];
      if (!table.remove || made.length === 0 || table.key.length === 0) return [];
      // A value that no condition compares may be somebody else's by now.
      const isUnsure = (row: Row) => Object.keys(row).some(it => row[it] !== null && !isComparable(table, it));
      if (!made.every(it => hasKey(table, it)) || (!isNative && made.some(isUnsure))) return [];
      return grouped(table, made).map(it => uninsertGroup(table, it));
    },
  };
}

/** Deletes rows that were inserted, if they still have these values. */
function uninsertGroup(table: Table, made: Row[]): Change {
  const condition = table.dialect === 'native'
    ? keyCondition(table, made)
    : { _or: made.map(row => ({ _and: Object.keys(row).map(it => has(it, row[it])) })) };
  return {
    title: `Delete ${plural(made.length, table)}, which was inserted`,
    operation: deletion(table, condition),
    differences: [],
    expected: made.length,
    undo: () => [],
  };
}

/** Sends a change. */
export async function send(change: Change): Promise<Outcome> {
  const data = await ask<{ change: { affected_rows?: number; affectedRows?: number; numUids?: number } | null }>(change.operation.query, change.operation.variables);
  const affected = data.change?.affected_rows ?? data.change?.affectedRows ?? data.change?.numUids ?? 0;
  return { affected, undo: affected > 0 ? change.undo(data) : [] };
}
