// The view of a table in its address: filter, order, columns, place, and the row that is expanded.

import { parseExact } from '../server/exact-number';
import { addressOf, go } from '../shell/place';
import { findColumn } from './catalog';
import type { Table } from './catalog';
import { readConditions, writeConditions } from './filters';
import type { Condition } from './filters';
import type { Cursor, Sort } from './page-query';

export interface ViewState {
  conditions: Condition[];
  sort: Sort | null;
  cursor: Cursor;
  /** Columns that are shown; all where nothing is said. */
  columns: string[] | null;
  expanded: string | null;
}

function readSort(text: string | null, table: Table): Sort | null {
  const [column, way] = (text ?? '').split(':');
  return column && findColumn(table, column)?.isSortable ? { column, isDescending: way === 'desc' } : null;
}

function readCursor(text: string | null, table: Table, sort: Sort | null): Cursor {
  const first: Cursor = table.dialect === 'native' ? { at: 'offset', offset: 0 } : { at: 'first' };
  if (text === 'last' && table.dialect === 'relational') return { at: 'last' };
  const [, at, rest] = /^(after|before|offset):(.*)$/s.exec(text ?? '') ?? [];
  if (at === undefined || rest === undefined) return first;
  if (at === 'offset') return /^\d{1,9}$/.test(rest) ? { at, offset: Number(rest) } : first;
  try {
    const values = parseExact(rest);
    const count = table.key.length + (sort && !table.key.includes(sort.column) ? 1 : 0);
    return Array.isArray(values) && values.length === count ? { at: at as 'after' | 'before', values } : first;
  } catch {
    return first;
  }
}

function writeCursor(cursor: Cursor): string {
  switch (cursor.at) {
    case 'first': return '';
    case 'last': return 'last';
    case 'offset': return cursor.offset === 0 ? '' : `offset:${cursor.offset}`;
    case 'after': case 'before': return `${cursor.at}:${JSON.stringify(cursor.values)}`;
  }
}

const columnsKey = (source: string, table: Table) => `weir.columns.${source}.${table.name}`;

/** The state of an address; columns are remembered by the browser where the address names none. */
export function readState(search: URLSearchParams, source: string, table: Table): ViewState {
  const sort = readSort(search.get('order'), table);
  const names = (search.get('columns') ?? localStorage.getItem(columnsKey(source, table)))?.split(',');
  const columns = names?.filter(name => findColumn(table, name));
  return {
    conditions: readConditions(search.get('filter')),
    sort,
    cursor: readCursor(search.get('at'), table, sort),
    columns: columns && columns.length > 0 ? columns : null,
    expanded: search.get('row'),
  };
}

export function openState(source: string, table: Table, state: ViewState) {
  go(addressOf(['data', source, table.name], {
    filter: writeConditions(state.conditions),
    order: state.sort ? `${state.sort.column}:${state.sort.isDescending ? 'desc' : 'asc'}` : '',
    at: writeCursor(state.cursor),
    columns: state.columns?.join(',') ?? '',
    row: state.expanded ?? '',
  }));
}

export function rememberColumns(source: string, table: Table, columns: string[] | null) {
  if (columns) localStorage.setItem(columnsKey(source, table), columns.join(','));
  else localStorage.removeItem(columnsKey(source, table));
}
