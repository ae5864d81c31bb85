// Cron triggers and one-off events, as the server tells them.

import type { ServedHeader } from '../metadata/served';
import { command, readCommand } from '../server/requests';
import { PAGE_ROWS } from './event-log';
import type { Call } from './event-log';

/** Times that are shown of a trigger; the server stores 100 ahead. */
const NEXT_TIMES = 3;
/** Triggers that one request asks about. */
const TRIGGERS_MAX = 50;
const CALLS_MAX = 20;

export interface CronTrigger {
  name: string;
  webhook: string;
  schedule: string;
  headers?: ServedHeader[];
  payload: unknown;
  comment: string | null;
  retry_conf: { num_retries: number; retry_interval_seconds: number; timeout_seconds: number; tolerance_seconds: number };
}

export interface ScheduledEvent {
  id: string;
  scheduled_time: string;
  status: 'scheduled' | 'locked' | 'delivered' | 'error' | 'dead';
  tries: number;
  created_at: string;
  next_retry_at: string | null;
  /** Of one-off events alone. */
  webhook_conf?: unknown;
  payload?: unknown;
  header_conf?: ServedHeader[];
  comment?: string | null;
}

/** The stored times of a trigger, and how many events have failed; null where the server told neither. */
export interface Times {
  next: string[];
  failed: number;
}

export interface Kind {
  type: 'cron' | 'one_off';
  trigger_name?: string;
}

interface Page {
  events: ScheduledEvent[];
  count?: number;
}

interface Refusal {
  error: string;
}

const isPage = (it: Page | Refusal | undefined): it is Page => it !== undefined && 'events' in it;

/** Nothing where this address has no metadata API. */
export async function loadCronTriggers(): Promise<CronTrigger[] | null> {
  return (await command<{ cron_triggers: CronTrigger[] }>('get_cron_triggers', {}))?.cron_triggers ?? null;
}

/** The next times of triggers, and the reason where the server tells none. */
export async function loadTimes(names: string[]): Promise<{ times: Map<string, Times>; fault: string | null }> {
  const times = new Map<string, Times>();
  let fault: string | null = null;
  for (let at = 0; at < names.length; at += TRIGGERS_MAX) {
    const part = names.slice(at, at + TRIGGERS_MAX);
    const ask = (trigger_name: string, args: object) => ({ type: 'get_scheduled_events', args: { type: 'cron', trigger_name, ...args } });
    const questions = part.flatMap(it => [ask(it, { status: ['scheduled'], limit: NEXT_TIMES }), ask(it, { status: ['error', 'dead'], limit: 1, get_rows_count: true })]);
    const answers = await readCommand<(Page | Refusal)[]>('bulk_keep_going', questions);
    part.forEach((name, place) => {
      const [next, failed] = answers.slice(2 * place, 2 * place + 2);
      if (isPage(next) && isPage(failed)) times.set(name, { next: next.events.map(it => it.scheduled_time), failed: failed.count ?? 0 });
      else if (next && 'error' in next) fault = next.error;
    });
  }
  return { times, fault };
}

export const SCHEDULED_STATUSES = ['scheduled', 'locked', 'delivered', 'error', 'dead'] as const;

/** A page of events by their times, and their number. */
export const loadScheduled = (kind: Kind, status: string, offset: number) =>
  readCommand<Page>('get_scheduled_events', { ...kind, limit: PAGE_ROWS, offset, get_rows_count: true, ...(status ? { status: [status] } : {}) });

export const loadScheduledCalls = (kind: Kind, id: string) =>
  readCommand<{ invocations: Call[] }>('get_scheduled_event_invocations', { ...kind, event_id: id, limit: CALLS_MAX });
