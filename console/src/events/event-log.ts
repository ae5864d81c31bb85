// Event triggers with their log: events, calls, and how many wait or have failed.

import { loadServed } from '../metadata/served';
import type { ServedEventTrigger } from '../metadata/served';
import { hasSchemas, shownName } from '../metadata/table-name';
import { readBySql, readCommand } from '../server/requests';

/** Rows of one page of a list. */
export const PAGE_ROWS = 50;
/** Calls of one event that are shown. */
const CALLS_MAX = 20;

export interface Counts {
  pending: number;
  failed: number;
}

export interface Trigger {
  source: string;
  table: string;
  entry: ServedEventTrigger;
}

export interface LoggedEvent {
  id: string;
  payload: { op?: string; data?: { old: unknown; new: unknown } } | null;
  delivered: boolean;
  error: boolean;
  tries: number;
  created_at: string | null;
  locked: string | null;
  next_retry_at: string | null;
  archived: boolean;
}

export interface Call {
  id: string;
  http_status?: number | null;
  /** Calls of scheduled events have it under this name. */
  status?: number | null;
  request: { payload?: unknown; headers?: { name: string; value?: string; value_from_env?: string }[] } | null;
  response: { type?: string; data?: { message?: string; status?: number; body?: string } } | null;
  created_at: string | null;
}

/** All triggers, whichever file says so; nothing where this address has no metadata API. */
export async function loadTriggers(): Promise<Trigger[] | null> {
  const served = await loadServed();
  if (!served) return null;
  return served.sources.flatMap(({ name, tables }) => tables.flatMap(({ table, event_triggers = [] }) => event_triggers.map(entry => ({ source: name, table: shownName(table), entry }))));
}

/** The last row says that there is a log. */
const countStatement = (log: string) => `SELECT trigger_name, sum(CASE WHEN error THEN 0 ELSE 1 END), sum(CASE WHEN error THEN 1 ELSE 0 END) FROM ${log} WHERE NOT delivered AND NOT archived GROUP BY trigger_name UNION ALL SELECT '', 0, 0`;

/** Undelivered events of a source by their triggers; null where they cannot be counted. */
export async function countEvents(source: string): Promise<Map<string, Counts> | null> {
  const log = (await hasSchemas(source, [])) ? 'hdb_catalog.event_log' : 'hdb_event_log';
  const rows = await readBySql(source, countStatement(log));
  return rows.length === 0 ? null : new Map(rows.map(([name = '', pending, failed]) => [name, { pending: Number(pending), failed: Number(failed) }]));
}

export const STATUSES = ['failed', 'pending', 'processed'] as const;
export type Status = (typeof STATUSES)[number] | '';

/** A page of events, newest first, with one more row if there is a next page. */
export const loadEvents = (source: string, name: string, status: Status, offset: number) =>
  readCommand<LoggedEvent[]>('get_event_logs', { source, name, limit: PAGE_ROWS + 1, offset, ...(status ? { status } : {}) });

export const loadEvent = (source: string, id: string) =>
  readCommand<{ event: LoggedEvent; invocations: Call[] }>('get_event_by_id', { source, event_id: id, invocation_log_limit: CALLS_MAX });

/** A time in UTC to the second; the server's texts have a zone or are in UTC. */
export function timeText(text: string | null): string {
  if (text === null) return '–';
  const at = new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(text.slice(10)) ? text.replace(/([+-]\d\d)$/, '$1:00') : `${text}Z`);
  return Number.isNaN(at.getTime()) ? text : at.toISOString().slice(0, 19).replace('T', ' ');
}

/** The state of an event, and whether it is a failure. */
export function stateOf(event: LoggedEvent): { words: string; isBad: boolean } {
  const tries = event.tries === 0 ? '' : event.tries === 1 ? ', 1 try' : `, ${event.tries} tries`;
  if (event.error) return { words: `failed${tries}${event.archived ? ', archived' : ''}`, isBad: true };
  if (event.delivered) return { words: `delivered${tries}`, isBad: false };
  if (event.archived) return { words: `archived${tries}: it is not sent any more`, isBad: false };
  if (event.locked !== null) return { words: `in work${tries}`, isBad: false };
  return { words: event.next_retry_at === null ? `pending${tries}` : `pending${tries}, again at ${timeText(event.next_retry_at)}`, isBad: event.tries > 0 };
}

/** The operations and columns that a trigger listens to. */
export function listensTo({ definition }: ServedEventTrigger): string {
  const operation = (name: 'insert' | 'update' | 'delete') => {
    const spec = definition[name];
    if (!spec) return [];
    return [name === 'update' && spec.columns !== '*' ? `update of ${spec.columns.join(', ')}` : name];
  };
  return [...operation('insert'), ...operation('update'), ...operation('delete'), ...(definition.enable_manual ? ['by hand'] : [])].join(', ');
}

/** Header names; values of the environment are named by their variable, others are not shown. */
export const headerWords = (headers: { name: string; value_from_env?: string }[] = []) => headers.map(it => (it.value_from_env === undefined ? it.name : `${it.name} from ${it.value_from_env}`)).join(', ');

export const addressWords = ({ webhook, webhook_from_env }: { webhook?: string; webhook_from_env?: string }) => webhook ?? `the value of ${webhook_from_env}`;
