// Runs subscriptions over a WebSocket (graphql-transport-ws) and keeps what the push panel shows of them.
//
// One socket per subscription: it is opened as the caller of the page, and closed with the subscription. A lost connection is opened again by
// the library. The server tells causes of pushes to operators alone, in the member `weirPush` of a result's extensions.

import { createClient } from 'graphql-ws';
import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import type { FetcherParams, Observable } from '@graphiql/toolkit';
import { callerOf } from './caller';
import type { Caller } from './caller';
import { exactNumber } from './exact-number';
import { sentHeaders } from './requests';

/** Pushes that are kept, the newest last. */
const PUSHES_MAX = 200;

/** The server's words on one push. */
interface ToldCause {
  cause: 'first' | 'change' | 'poll' | 'expiry' | 'batch' | 'settings';
  /** What was changed, if somebody named it: everything with a tag, one row of it, or something in a source. */
  changed?: { tag?: string; key?: string[]; source?: string };
  /** Milliseconds from the cause, as far as the server knows of it, to the push. */
  ms?: number;
  bytes: number;
}

/** One result of a subscription. */
export interface Push {
  number: number;
  at: Date;
  /** Milliseconds since the push before. */
  since: number | null;
  bytes: number;
  told: ToldCause | null;
  hasErrors: boolean;
}

/** The last subscription of this page. */
export interface LiveRun {
  name: string | null;
  caller: Caller;
  state: 'connecting' | 'running' | 'connecting again' | 'ended' | 'stopped';
  pushes: Push[];
}

let current: LiveRun | null = null;
const listeners = new Set<() => void>();

export function listen(told: () => void): () => void {
  listeners.add(told);
  return () => void listeners.delete(told);
}

export const liveRun = () => current;

function show(next: LiveRun) {
  current = next;
  listeners.forEach(told => told());
}

/** Words for a cause: `public.pet, key 1`. */
export function causeWords({ told }: Push): string {
  if (!told) return '–';
  switch (told.cause) {
    case 'first': return 'first result';
    case 'settings': return 'settings changed';
    case 'poll': return 'poll';
    case 'expiry': return 'end of its lifetime';
    case 'batch': return 'next batch';
    case 'change': {
      const { tag, key, source } = told.changed ?? {};
      if (source !== undefined) return `source ${source}`;
      if (tag === undefined) return 'a change';
      return key ? `${tag}, key ${key.join(', ')}` : tag;
    }
  }
}

/** The result as other clients get it, and what the server told of it. */
function parted(result: FormattedExecutionResult): { shown: FormattedExecutionResult; told: ToldCause | null } {
  const { weirPush, ...others } = (result.extensions ?? {}) as { weirPush?: ToldCause };
  const { extensions: _, ...rest } = result;
  const shown = Object.keys(others).length ? { ...rest, extensions: others } : rest;
  return { shown, told: weirPush ?? null };
}

function pushOf(before: LiveRun, shown: FormattedExecutionResult, told: ToldCause | null): Push {
  const last = before.pushes.at(-1);
  const at = new Date();
  return {
    number: (last?.number ?? 0) + 1,
    at,
    since: last ? at.getTime() - last.at.getTime() : null,
    bytes: told?.bytes ?? new TextEncoder().encode(JSON.stringify(shown)).length,
    told,
    hasErrors: Boolean(shown.errors?.length),
  };
}

/** The error of a connection in words, or the errors of the operation as they are. */
function failure(error: unknown): unknown {
  if (error instanceof CloseEvent) return new Error(`The server closed the socket: ${error.code} ${error.reason}`);
  return error instanceof Event ? new Error('The socket cannot be opened.') : error;
}

/** The editor, which shows the results. */
interface Observer {
  next(result: FormattedExecutionResult): void;
  error(error: unknown): void;
  complete(): void;
}

/** Runs a subscription; its results as they come. */
export function subscribe(params: FetcherParams, extra?: Record<string, string>): Observable<ExecutionResult> {
  const begun = { subscribe: (observer: Observer) => begin(params, sentHeaders(extra), observer) };
  return begun as unknown as Observable<ExecutionResult>;
}

function begin({ query, operationName, variables }: FetcherParams, headers: Record<string, string>, observer: Observer) {
  let run: LiveRun = { name: operationName ?? null, caller: callerOf(headers), state: 'connecting', pushes: [] };
  // A run that is not the last any more is shown no longer.
  const change = (next: Partial<LiveRun>) => {
    const isShown = current === run;
    run = { ...run, ...next };
    if (isShown) show(run);
  };
  show(run);
  const client = createClient({
    url: new URL('/graphql', location.origin).href.replace(/^http/, 'ws'),
    connectionParams: { headers },
    // A refused login does not get better by itself.
    shouldRetry: error => !(error instanceof CloseEvent && error.code === 4403),
    on: {
      connected: () => change({ state: 'running' }),
      closed: () => run.state === 'running' && change({ state: 'connecting again' }),
    },
  });
  const end = client.subscribe<Record<string, unknown>, Record<string, unknown>>(
    { query, operationName, variables, extensions: { weirPush: true } },
    {
      next(result) {
        const { shown, told } = parted(result);
        change({ pushes: [...run.pushes, pushOf(run, shown, told)].slice(-PUSHES_MAX) });
        observer.next(shown);
      },
      error(error) {
        change({ state: 'ended' });
        observer.error(failure(error));
      },
      complete() {
        if (run.state !== 'stopped') change({ state: 'ended' });
        observer.complete();
      },
    },
  );
  const unsubscribe = () => {
    change({ state: 'stopped' });
    end();
    void client.dispose();
  };
  return { unsubscribe };
}

/** Watches an operation without the panel: each result as it comes, until the function that is returned is called. */
export function watch(query: string, variables: Record<string, unknown>, onData: (data: unknown) => void, onEnd: (error: Error) => void): () => void {
  const client = createClient({
    url: new URL('/graphql', location.origin).href.replace(/^http/, 'ws'),
    connectionParams: { headers: sentHeaders() },
    jsonMessageReviver: exactNumber,
    shouldRetry: error => !(error instanceof CloseEvent && error.code === 4403),
  });
  let isOpen = true;
  const end = client.subscribe({ query, variables }, {
    next: result => void (isOpen && (result.errors?.[0] ? onEnd(new Error(result.errors[0].message)) : onData(result.data))),
    error: error => {
      const cause = Array.isArray(error) ? new Error(error[0]?.message) : failure(error);
      if (isOpen) onEnd(cause instanceof Error ? cause : new Error('The subscription ended.'));
    },
    complete: () => undefined,
  });
  return () => {
    isOpen = false;
    end();
    void client.dispose();
  };
}
