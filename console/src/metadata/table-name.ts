// Names of tables and functions: as a database has them, as the metadata says them, and as pages show them.
//
// PostgreSQL may have a schema called `main`, and the server gives this name to the tables of SQLite, which has no schemas.
// Names of SQLite are kept here without a schema, so that no text of a name decides on its kind.

import { readBySql } from '../server/requests';

export interface QualifiedName {
  /** Absent or empty: the database has no schemas. */
  schema?: string;
  name: string;
}

/** False for SQLite, whose tables all seem to be in a schema called `main`. */
export async function hasSchemas(source: string, tables: QualifiedName[]): Promise<boolean> {
  if (!tables.every(it => it.schema === 'main')) return true;
  // PostgreSQL has truth values and writes `t`; SQLite has numbers for them.
  const [row] = await readBySql(source, 'SELECT true');
  return row?.[0] !== '1';
}

export const tableName = (table: string | QualifiedName) => (typeof table === 'string' ? table : table.name);

/** True if a name in the metadata is that of a table; where schemas exist, a name without one is in `public`. */
export function isTable(named: string | QualifiedName, qualified: QualifiedName): boolean {
  if (tableName(named) !== qualified.name) return false;
  const schema = (typeof named === 'string' ? undefined : named.schema) ?? '';
  return qualified.schema ? (schema || 'public') === qualified.schema : ['', 'main', 'public'].includes(schema);
}

/** The name of a new entry of the metadata. */
export const metadataName = ({ schema, name }: QualifiedName): string | QualifiedName => (schema ? { schema, name } : name);

const quoted = (part: string) => (/[."]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part);

/** The name of a table in addresses and lists: no two tables have one. */
export function shownName(it: string | QualifiedName): string {
  const schema = typeof it === 'string' ? undefined : it.schema;
  return schema && schema !== 'public' ? `${quoted(schema)}.${quoted(tableName(it))}` : quoted(tableName(it));
}

/** A name of GraphQL that the server makes of one of the database; null if no letter and no digit of it can stand. */
export function graphqlName(name: string): string | null {
  if (/^[A-Za-z_]\w*$/.test(name) && !name.startsWith('__')) return name;
  const letters = name.normalize('NFD').replace(/\p{Mn}/gu, '').replace(/[æœøđħłßÆŒØĐĦŁẞðþıŧŦÞÐ]/g, it => LETTERS[it]!);
  const made = letters.replace(/^\W+|\W+$/g, '').replace(/\W+/g, '_');
  const rest = made.replace(/^_+/, '');
  if (rest === '') return null;
  return rest.length < made.length || /^\d/.test(rest) ? `_${rest}` : rest;
}

/** Letters that are no plain ones with an accent. */
const LETTERS: Record<string, string> = {
  æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ħ: 'h', ł: 'l', ß: 'ss', ð: 'd', þ: 'th', Æ: 'AE', Œ: 'OE', Ø: 'O', Đ: 'D', Ħ: 'H', Ł: 'L', ẞ: 'SS', ı: 'i', ŧ: 't', Ŧ: 'T', Þ: 'TH', Ð: 'D',
};
