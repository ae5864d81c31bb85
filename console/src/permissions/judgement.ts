// The server's judgement of one row: whether a role sees it, and the truth of each condition.

import { askOperator } from '../server/requests';
import type { Row } from '../data/page-query';
import type { Table } from '../data/catalog';
import type { Json } from '../metadata/served';

export interface Condition {
  kind: 'all' | 'any' | 'not' | 'exists' | 'test';
  text: string;
  /** The role that it comes from, if the role inherits. */
  role: string | null;
  truth: 'true' | 'false' | 'unknown' | 'unasked';
  missing: string[];
  parts: Condition[];
}

export interface Judgement {
  exists: boolean;
  visible: boolean;
  /** Whether the role may read the table at all. */
  granted: boolean;
  missing: string[];
  condition: Condition;
  /** Whether there are more conditions than are shown. */
  cut: boolean;
  columns: { name: string; granted: boolean; shownIf: Condition | null }[];
  limit: number | null;
}

export interface Asker {
  source: string;
  table: string;
  role: string;
  claims: Record<string, string>;
  /** A condition on rows that is not saved yet. */
  filter?: Json;
}

export const judge = ({ source, table, role, claims, filter }: Asker, key: Record<string, unknown>) =>
  askOperator<Judgement>('/v1/explain/row', { source, table, role, claims, key, ...(filter === undefined ? {} : { filter }) });

/** The key of a row by the names of the database. */
export const keyOf = (table: Table, row: Row, inDatabase: (column: string) => string): Record<string, unknown> =>
  Object.fromEntries(table.key.map(it => [inDatabase(it), row[it]]));

/** Rows that are judged at once. */
const AT_ONCE = 4;

/** The judgements of rows in their order; a row that cannot be judged has words. */
export async function judgeAll(asker: Asker, keys: Record<string, unknown>[]): Promise<(Judgement | string)[]> {
  const found: (Judgement | string)[] = [];
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const part = keys.slice(at, at + AT_ONCE).map(key => judge(asker, key).catch(error => String(error.message ?? error)));
    found.push(...await Promise.all(part));
  }
  return found;
}
