// Export of filtered rows page by page, and the dry run and sending of an import.

import { ask } from '../server/requests';
import type { Table } from './catalog';
import { csvLine } from './csv';
import type { Field } from './csv';
import { valueOf, valuesOf } from './filters';
import { canPage, cursorAt, pageOperation, rowsOf } from './page-query';
import type { PageWish, Row } from './page-query';
import type { ForeignKeys } from './sources';

const EXPORT_ROWS = 1000;
/** Bytes of an export; the browser holds them until they are saved. */
const EXPORT_BYTES_MAX = 1024 ** 3;
/** Rows of one mutation of an import. */
export const IMPORT_ROWS = 500;
/** Rows and bytes of an import. */
export const IMPORT_ROWS_MAX = 100_000;
export const IMPORT_BYTES_MAX = 64 * 1024 ** 2;

export type Format = 'csv' | 'ndjson';

/** Reads all rows of the wish and gives them as a file; `onProgress` may stop it by false. */
export async function exportRows(wish: PageWish, format: Format, onProgress: (rows: number) => boolean): Promise<Blob | null> {
  const parts: Blob[] = [];
  let bytes = 0;
  let count = 0;
  const names = wish.columns;
  let next: PageWish = { ...wish, rows: EXPORT_ROWS, cursor: wish.table.dialect === 'native' ? { at: 'offset', offset: 0 } : { at: 'first' } };
  if (format === 'csv') parts.push(new Blob([csvLine(names)]));
  for (;;) {
    const operation = pageOperation(next);
    const { rows, hasMore } = rowsOf(await ask(operation.query, operation.variables), next);
    const lines = rows.map(row => (format === 'csv'
      ? csvLine(names.map(it => row[it]))
      : `${JSON.stringify(Object.fromEntries(names.map(it => [it, row[it]])))}\n`));
    // Each page is a blob of its own, which the browser may keep on disk.
    const part = new Blob(lines);
    parts.push(part);
    bytes += part.size;
    count += rows.length;
    if (!onProgress(count)) return null;
    const last = rows.at(-1);
    if (!hasMore || !last) return new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
    if (bytes > EXPORT_BYTES_MAX) throw new Error('The export is larger than 1 GiB: filter it, and export in parts.');
    if (wish.table.dialect === 'native') next = { ...next, cursor: { at: 'offset', offset: count } };
    else if (canPage(wish.table)) next = { ...next, cursor: cursorAt(next, last, 'after') };
    else throw new Error(`Rows without a key have no pages: only the first ${EXPORT_ROWS} can be exported; filter them.`);
  }
}

export function saveFile(file: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The download has begun with the click; the address is not needed after it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export interface Fault {
  line: number;
  words: string;
}

export interface Prepared {
  rows: Row[];
  faults: Fault[];
}

/** Rows of fields as values of the table's columns; `columns[i]` is the column of the i-th field, or null where it is left out. */
export function prepareRows(table: Table, lines: { line: number; fields: Field[] }[], columns: (string | null)[]): Prepared {
  const types = new Map(table.insert!.columns.map(it => [it.name, it]));
  const faults: Fault[] = [];
  const rows = lines.map(({ line, fields }) => {
    const row: Row = {};
    if (fields.length !== columns.length) faults.push({ line, words: `${fields.length} fields in place of ${columns.length}` });
    columns.forEach((name, at) => {
      const input = name === null ? undefined : types.get(name);
      if (!input) return;
      const text = fields[at] ?? null;
      const isList = input.type.startsWith('[');
      const type = input.type.replace(/[[\]!]/g, '');
      if (text === null) {
        if (input.isRequired) faults.push({ line, words: `${name} is null` });
        row[input.name] = null;
        return;
      }
      const read = isList ? valuesOf(text, type) : valueOf(text, type);
      if ('error' in read) faults.push({ line, words: `${name}: ${read.error}` });
      else row[input.name] = read.value;
    });
    const isNeeded = (name: string) => table.columns.find(it => it.name === name)?.isNullable === false && name in row && row[name] === null;
    Object.keys(row).filter(isNeeded).forEach(name => faults.push({ line, words: `${name} may not be null` }));
    return row;
  });
  return { rows, faults };
}

/** A value as it is compared: the same UUID is written in upper and in lower case. */
const comparable = (table: Table, column: string, value: unknown) =>
  (/^uuid$/i.test(table.columns.find(it => it.name === column)?.type ?? '') ? String(value).toLowerCase() : String(value));

async function valuesThatExist(table: Table, column: string, values: unknown[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let at = 0; at < values.length; at += IMPORT_ROWS) {
    const part = values.slice(at, at + IMPORT_ROWS);
    const filter = table.dialect === 'native' ? { [column]: part } : { [column]: { _in: part } };
    const operation = pageOperation({ table, columns: [column], filter, sort: null, cursor: { at: 'first' }, rows: IMPORT_ROWS });
    const data = await ask<Record<string, Row[]>>(operation.query, operation.variables);
    (data[table.list] ?? []).forEach(it => found.add(comparable(table, column, it[column])));
  }
  return found;
}

/** The place of the row that has each value of a column. */
function placesOf(table: Table, rows: Row[], column: string): Map<string, number> {
  const places = new Map<string, number>();
  rows.forEach((row, at) => {
    const value = row[column];
    if (value !== null && value !== undefined) places.set(comparable(table, column, value), at);
  });
  return places;
}

/** Asks the server, without a change, which keys exist already and which foreign keys lead nowhere. */
export async function dryRun(table: Table, lines: { line: number }[], prepared: Prepared, foreignKeys: ForeignKeys): Promise<Fault[]> {
  const faults: Fault[] = [];
  const given = (column: string) => [...new Set(prepared.rows.map(it => it[column]).filter(it => it !== null && it !== undefined))];
  const tell = (column: string, isWrong: (value: string, at: number) => boolean, words: string) => prepared.rows.forEach((row, at) => {
    const value = row[column];
    if (value === null || value === undefined || !isWrong(comparable(table, column, value), at)) return;
    faults.push({ line: lines[at]!.line, words: `${column} ${value} ${words}` });
  });
  const [key] = table.key;
  if (table.key.length === 1 && key !== undefined && given(key).length > 0) {
    const found = await valuesThatExist(table, key, given(key));
    tell(key, it => found.has(it), 'exists already');
    const seen = new Set<string>();
    tell(key, it => seen.size === seen.add(it).size, 'is there twice');
  }
  for (const [column, target] of foreignKeys) {
    const values = given(column);
    if (values.length === 0) continue;
    const found = await valuesThatExist(target.table, target.column, values);
    const own = target.table.name === table.name ? placesOf(table, prepared.rows, target.column) : new Map<string, number>();
    const isLater = (it: string, at: number) => (own.get(it) ?? 0) > at;
    tell(column, it => !found.has(it) && !own.has(it), `leads to no row of ${target.table.name}`);
    tell(column, (it, at) => !found.has(it) && isLater(it, at), 'leads to a row that stands further below: put that one first');
  }
  return faults.sort((one, other) => one.line - other.line);
}
