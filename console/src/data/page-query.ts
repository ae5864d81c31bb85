// The query of a page of rows, by key: rows after or before the values of one row, never by offset.
//
// Order is that of the columns asked for, then of the key, so it is total. Null counts as the largest value. Native
// stores have no conditions that compare keys; their pages have an offset.

import { findColumn } from './catalog';
import type { Table } from './catalog';
import { spelled, spelledFilter, spelledWay } from './convention';

export type Row = Record<string, unknown>;

export interface Sort {
  column: string;
  isDescending: boolean;
}

/** A place in the order: the values of its columns. `offset` is of native stores. */
export type Cursor =
  | { at: 'first' }
  | { at: 'last' }
  | { at: 'after' | 'before'; values: unknown[] }
  | { at: 'offset'; offset: number };

export interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

export const PAGE_ROWS = 200;
/** Rows that are counted at most; more are told as "more than". */
export const COUNTED_MAX = 10_000;

/** The whole order: what was asked for, then the key. */
export function sortsOf(table: Table, sort: Sort | null): Sort[] {
  const rest = table.key.filter(it => it !== sort?.column).map(column => ({ column, isDescending: false }));
  return sort ? [sort, ...rest] : rest;
}

/** A comparison of a column, or of a number of related rows. */
function compare(table: Table, column: string, comparison: Record<string, unknown>): Record<string, unknown> {
  return { [column]: findColumn(table, column)?.counts === undefined ? comparison : { count: { predicate: comparison } } };
}

const isNullableIn = (table: Table, name: string) => findColumn(table, name)?.isNullable ?? true;

/** The condition for rows after `values`. */
export function beyond(table: Table, sorts: Sort[], values: unknown[]): Record<string, unknown> {
  const [sort, ...rest] = sorts;
  if (!sort) return { _or: [] };
  const { column, isDescending } = sort;
  const value = values[0] ?? null;
  const isNullable = isNullableIn(table, column);
  const parts: Record<string, unknown>[] = [];
  if (value === null) {
    if (isDescending) parts.push(compare(table, column, { _is_null: false }));
  } else {
    parts.push(compare(table, column, { [isDescending ? '_lt' : '_gt']: value }));
    if (!isDescending && isNullable) parts.push(compare(table, column, { _is_null: true }));
  }
  if (rest.length > 0) {
    const same = value === null ? { _is_null: true } : { _eq: value };
    parts.push({ _and: [compare(table, column, same), beyond(table, rest, values.slice(1))] });
  }
  const any = parts.length === 1 ? parts[0]! : { _or: parts };
  // The bound lets the database begin in its index; databases do not find it in an alternative.
  const needsBound = rest.length > 0 && value !== null && (isDescending || !isNullable);
  return needsBound ? { _and: [compare(table, column, { [isDescending ? '_lte' : '_gte']: value }), any] } : any;
}

const flipped = (sorts: Sort[]) => sorts.map(it => ({ ...it, isDescending: !it.isDescending }));

export const isBackward = (cursor: Cursor) => cursor.at === 'last' || cursor.at === 'before';

export const canPage = (table: Table) => table.dialect === 'relational' && table.key.length > 0;

function joined(filter: Record<string, unknown> | null, more: Record<string, unknown> | null) {
  if (filter && more) return { _and: [filter, more] };
  return filter ?? more;
}

/** Parts of a call: declarations of variables and arguments. */
function callOf(parts: [argument: string, type: string, variable: string][]) {
  return {
    declared: parts.map(([, type, variable]) => `$${variable}: ${type}`).join(', '),
    given: parts.map(([argument, , variable]) => `${argument}: $${variable}`).join(', '),
  };
}

export interface PageWish {
  table: Table;
  /** What is read of each row. */
  columns: string[];
  filter: Record<string, unknown> | null;
  sort: Sort | null;
  cursor: Cursor;
  rows: number;
}

const parenthesized = (text: string) => (text ? `(${text})` : '');

/** A document that reads rows; one row more than are shown tells whether there is another page. */
export function pageOperation(wish: PageWish, kind: 'query' | 'subscription' = 'query'): Operation {
  const { table, columns, filter, sort, cursor, rows } = wish;
  const names = [...new Set([...table.key, ...columns, ...(sort ? [sort.column] : [])])];
  const fields = names.map(it => (findColumn(table, it)?.counts === undefined ? it : `${it} { aggregate { count } }`));
  const selected = fields.join('\n    ') || '__typename';
  const document = (parts: [string, string, string][]) => {
    const { declared, given } = callOf(parts);
    const name = `${table.name}Rows`;
    return `${kind} ${name}${parenthesized(declared)} {\n  ${table.list}${parenthesized(given)} {\n    ${selected}\n  }\n}\n`;
  };
  if (table.dialect === 'native') {
    const order = sort && table.orderType ? { [sort.isDescending ? 'desc' : 'asc']: sort.column } : null;
    const offset = cursor.at === 'offset' ? cursor.offset : 0;
    return {
      query: document([
        ...(filter ? [['filter', table.whereType!, 'filter'] as [string, string, string]] : []),
        ...(order ? [['order', table.orderType!, 'order'] as [string, string, string]] : []),
        ['first', 'Int', 'first'], ['offset', 'Int', 'offset'],
      ]),
      variables: { ...(filter ? { filter } : {}), ...(order ? { order } : {}), first: rows + 1, offset },
    };
  }
  const forward = sortsOf(table, sort);
  const sorts = isBackward(cursor) ? flipped(forward) : forward;
  const bound = cursor.at === 'after' || cursor.at === 'before' ? beyond(table, sorts, cursor.values) : null;
  const asked = joined(filter, bound);
  const where = asked && spelledFilter(table, asked);
  const order = sorts.map(it => {
    // A column without nulls needs no word on them, and without it every database takes its index.
    const way = spelledWay(table, it.isDescending ? 'desc' : 'asc');
    if (findColumn(table, it.column)?.counts !== undefined) return { [it.column]: { count: way } };
    if (!isNullableIn(table, it.column)) return { [it.column]: way };
    return { [it.column]: spelledWay(table, it.isDescending ? 'desc_nulls_first' : 'asc_nulls_last') };
  });
  return {
    query: document([
      ...(where && table.whereType ? [['where', table.whereType, 'where'] as [string, string, string]] : []),
      ...(sorts.length > 0 && table.orderType ? [[spelled(table, 'order_by'), `[${table.orderType}!]`, 'order'] as [string, string, string]] : []),
      ['limit', 'Int', 'limit'],
    ]),
    variables: { ...(where && table.whereType ? { where } : {}), ...(sorts.length > 0 && table.orderType ? { order } : {}), limit: rows + 1 },
  };
}

/** Rows as they are shown, and whether there are more beyond them in the direction that was read. */
export function rowsOf(data: unknown, wish: PageWish): { rows: Row[]; hasMore: boolean } {
  const all = ((data as Record<string, Row[] | null>)[wish.table.list] ?? []).filter(Boolean);
  const counts = wish.table.counts.map(it => it.name);
  const rows = all.slice(0, wish.rows).map(row => {
    const read = counts.filter(it => it in row).map(it => [it, (row[it] as { aggregate: { count: number } }).aggregate.count]);
    return read.length === 0 ? row : { ...row, ...Object.fromEntries(read) };
  });
  return { rows: isBackward(wish.cursor) ? rows.reverse() : rows, hasMore: all.length > wish.rows };
}

/** The cursor after the last row or before the first. */
export function cursorAt(wish: PageWish, row: Row, at: 'after' | 'before'): Cursor {
  return { at, values: sortsOf(wish.table, wish.sort).map(it => row[it.column] ?? null) };
}

/** A document that counts rows up to the limit, for several tables; `a0` counts the first. */
export function countOperation(tables: Table[], filter: Record<string, unknown> | null = null): Operation {
  const type = filter && tables[0]?.whereType;
  const argument = tables[0]?.dialect === 'native' ? 'filter' : 'where';
  const fields = tables.map((table, at) => {
    const condition = type ? [`${argument}: $filter`] : [];
    if (table.dialect === 'native') return `  a${at}: ${table.aggregate}${parenthesized(condition.join())} { count }`;
    return `  a${at}: ${table.aggregate}(${[...condition, `limit: ${COUNTED_MAX + 1}`].join(', ')}) { aggregate { count } }`;
  });
  const declared = type ? `($filter: ${type})` : '';
  return { query: `query Counts${declared} {\n${fields.join('\n')}\n}`, variables: type ? { filter: spelledFilter(tables[0]!, filter!) } : {} };
}

export function countIn(data: unknown, at: number): number | null {
  const found = (data as Record<string, { count?: number; aggregate?: { count: number } } | null>)[`a${at}`];
  return found?.count ?? found?.aggregate?.count ?? null;
}

/** `275`, or `more than 10,000`. */
export const countWords = (count: number) =>
  count > COUNTED_MAX ? `more than ${COUNTED_MAX.toLocaleString('en')}` : count.toLocaleString('en');
