// What the page asks of the server: GraphQL itself, and the plan behind a request.
//
// The admin secret lives in this tab's session only; it is sent to the server that served the page and to no one
// else. Stage times come from the answer's Server-Timing header.

import type { FetcherParams } from '@graphiql/toolkit';
import { callerHeaders, callerOf, currentCaller } from './caller';
import type { Caller } from './caller';
import { parseExact } from './exact-number';

const SECRET_KEY = 'weir.admin-secret';

/** The last request that ran, for the plan panel. */
export interface LastRequest {
  params: FetcherParams;
  /** Milliseconds per stage as the server measured them, in its order. */
  stages: { name: string; ms: number }[];
  /** Bytes of the answer. */
  bytes: number;
  caller: Caller;
}

/** What the server would ask its sources. */
export interface Explanation {
  plan: string;
  steps: { source: string; text: string }[];
}

/** The server wants the admin secret, or another one; in its own words. */
export class SecretNeeded extends Error {}

/** What the server sends. */
export interface Answer {
  data?: unknown;
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string } }[];
}

/** The server's words on an operation, and the field that they are about. */
export class Refused extends Error {
  constructor(words: string, readonly field: string | null) {
    super(words);
  }
}

/** The first error of an answer with its code: `your requested role is not in allowed roles (ACCESS_DENIED)`. */
export function wordsOf(answer: Answer): string | null {
  const error = answer.errors?.[0];
  if (!error) return null;
  return error.extensions?.code ? `${error.message} (${error.extensions.code})` : error.message;
}

/** The secret that goes with every request of this tab, if one was given. */
export function sentSecret(): string | null {
  return sessionStorage.getItem(SECRET_KEY);
}

export function setSecret(secret: string) {
  sessionStorage.setItem(SECRET_KEY, secret);
}

export function forgetSecret() {
  sessionStorage.removeItem(SECRET_KEY);
}

function secretHeaders(): Record<string, string> {
  const secret = sentSecret();
  return secret && !currentCaller().token ? { 'x-weir-admin-secret': secret } : {};
}

/** The headers that say who runs an operation; those of the headers editor come last. */
export function sentHeaders(extra?: Record<string, string>): Record<string, string> {
  return { ...secretHeaders(), ...callerHeaders(), ...extra };
}

/** Headers of the operator's own requests: who tries a role or a token stays the admin there. */
function headers(extra?: Record<string, string>): Record<string, string> {
  const secret = sentSecret();
  return {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json;q=0.9',
    ...(secret && !extra?.authorization ? { 'x-weir-admin-secret': secret } : {}),
    ...extra,
  };
}

/** `a;dur=0.1, b;dur=2` as a list. Source: W3C Server Timing. */
export function stagesOf(header: string | null): { name: string; ms: number }[] {
  return (header ?? '').split(',').flatMap(entry => {
    const [name, ...parameters] = entry.trim().split(';');
    const duration = parameters.map(it => it.trim()).find(it => it.startsWith('dur='));
    return name && duration ? [{ name, ms: Number(duration.slice(4)) }] : [];
  });
}

async function post(path: string, body: unknown, extra?: Record<string, string>, parse: (text: string) => any = JSON.parse) {
  const response = await fetch(new URL(path, location.origin), {
    method: 'POST',
    headers: headers(extra),
    body: JSON.stringify(body),
  });
  const bytes = await response.arrayBuffer();
  const text = new TextDecoder().decode(bytes);
  let answer;
  try {
    answer = parse(text);
  } catch {
    throw new Error(`The server answered ${response.status} ${response.statusText}: ${text.slice(0, 200)}`);
  }
  // A secret of the headers editor is for this request alone: its refusal is an answer like any other.
  const ownSecret = Object.keys(extra ?? {}).some(it => /^x-(weir|hasura)-admin-secret$/i.test(it));
  if (response.status === 401 && !ownSecret && !extra?.authorization) throw new SecretNeeded(wordsOf(answer) ?? 'The secret was refused.');
  return { response, answer, bytes: bytes.byteLength };
}

/** Runs an operation. */
export async function run(params: FetcherParams, extra?: Record<string, string>, parse?: (text: string) => unknown) {
  const sent = { ...callerHeaders(), ...extra };
  const { response, answer, bytes } = await post('/graphql', params, sent, parse);
  const last: LastRequest = {
    params,
    stages: stagesOf(response.headers.get('server-timing')),
    bytes,
    caller: callerOf(sent),
  };
  return { answer, last };
}

/** True if the server has an admin secret and answers callers without one, too: the page shows what they see. */
export async function servesGuests(): Promise<boolean> {
  const isRefused = (path: string) => post(path, { query: '{ __typename }' }).then(
    () => false,
    error => error instanceof SecretNeeded,
  );
  return (await isRefused('/v1/explain')) && !(await isRefused('/graphql'));
}

/** Counts of executions. Times are in microseconds. */
export interface OperationCounts {
  count: number;
  errors: number;
  planned: number;
  mean_us: number;
  overhead_mean_us: number;
  cpu_mean_us: number;
  fetches: number;
  p50_us: number;
  p95_us: number;
  p99_us: number;
  answers_hit: number;
  answers_joined: number;
  answers_made: number;
}

export interface CountedOperation extends OperationCounts {
  name: string | null;
  hash: string;
  kind: 'query' | 'mutation' | 'subscription';
  /** Coordinates of its fields and arguments. */
  fields: string[];
}

/** What the server counts by operation and by field. */
export interface Usage {
  operations: CountedOperation[];
  rest: OperationCounts;
  fields: Record<string, number>;
}

const elsewhere = (path: string) => `This address does not tell it: a server with \`admin_listen\` tells it there, at ${path}.`;

/** Reads a page of operators; fails in the server's words. */
export async function readOperator(path: string): Promise<Response> {
  const response = await fetch(new URL(path, location.origin), { headers: headers() });
  if (response.ok) return response;
  if (response.status === 404) throw new Error(elsewhere(path));
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) throw new SecretNeeded(wordsOf(answer) ?? 'The secret was refused.');
  throw new Error(wordsOf(answer) ?? `The server answered ${response.status}.`);
}

/** The counts since the server started. */
export const operations = async (): Promise<Usage> => (await readOperator('/admin/operations')).json();

/** Live queries at this moment. */
export const liveQueries = async <T>(): Promise<T> => (await readOperator('/admin/live')).json();

/** Memory, caches and queues at this moment. */
export const serverState = async <T>(): Promise<T> => (await readOperator('/admin/state')).json();

/** The state of each source; a server that is not ready tells it with another status. */
export async function readyReport<T>(): Promise<T> {
  const response = await fetch(new URL('/readyz', location.origin));
  if (response.status !== 200 && response.status !== 503) throw new Error(`The server answered ${response.status}.`);
  return response.json();
}

/** What serves, in a word and its reason. */
export const healthText = async (): Promise<string> => (await fetch(new URL('/healthz', location.origin))).text();

/** All metrics as Prometheus reads them. */
export const metricsText = async (): Promise<string> => (await readOperator('/metrics')).text();

/** Asks for the plan of an operation without running it: the admin asks how it is for the caller. */
export async function explain({ params, caller: { role, variables } }: LastRequest): Promise<Explanation> {
  const { response, answer } = await post('/v1/explain', {
    query: params.query,
    operationName: params.operationName,
    variables: params.variables,
    ...(role ? { role, claims: variables } : {}),
  });
  if (!response.ok) throw new Error(wordsOf(answer) ?? `The server answered ${response.status}.`);
  return answer;
}

/** Reads rows of texts by a statement without parts of others, as the operator; nothing where that cannot be. */
export async function readBySql(source: string, sql: string): Promise<string[][]> {
  const { response, answer } = await post('/v2/query', { type: 'run_sql', args: { source, sql, read_only: true } });
  return response.ok ? (answer as { result?: string[][] }).result?.slice(1) ?? [] : [];
}

/** Runs a command of the metadata API as the operator; nothing where this address has none. */
export async function command<T>(type: string, args: unknown, version?: number): Promise<T | null> {
  const { response, answer } = await post('/v1/metadata', { type, args, ...(version ? { version } : {}) }, undefined, parseExact);
  return response.ok ? answer : null;
}

/** Why a command of the metadata API, or a question of the operator, was refused; in the server's words. */
function refusalWords(answer: unknown, status: number): string {
  const { error, code, internal } = answer as { error?: string; code?: string; internal?: unknown };
  // The reason below `internal` names the entry that does not fit.
  const [cause] = Array.isArray(internal) ? (internal as { reason?: string }[]) : [];
  const words = [error, cause?.reason].filter(it => it !== undefined).join(': ');
  if (error) return code ? `${words} (${code})` : words;
  return wordsOf(answer as Answer) ?? `The server answered ${status}.`;
}

/** A change that is based on another version of the metadata than the server has. */
export class VersionConflict extends Error {}

/** Runs a command that changes the metadata; fails in the server's words. */
export async function change(body: object): Promise<void> {
  const { response, answer } = await post('/v1/metadata', body);
  if (response.ok) return;
  const words = refusalWords(answer, response.status);
  throw response.status === 409 ? new VersionConflict(words) : new Error(words);
}

/** Asks an operator's endpoint; fails in the server's words. */
export async function askOperator<T>(path: string, body: object): Promise<T> {
  const { response, answer } = await post(path, body);
  if (!response.ok) throw new Error(refusalWords(answer, response.status));
  return answer as T;
}

/** Runs a command that only reads, with all digits of its numbers; fails in the server's words. */
export async function readCommand<T>(type: string, args: unknown, version?: number): Promise<T> {
  const { response, answer } = await post('/v1/metadata', { type, args, ...(version ? { version } : {}) }, undefined, parseExact);
  if (response.status === 404) throw new Error(elsewhere('/v1/metadata'));
  if (!response.ok) throw new Error(refusalWords(answer, response.status));
  return answer as T;
}

/** Runs an operation with variables, as the caller of the page if none is named; its data, or the server's words as an error. */
export async function ask<T>(query: string, variables: Record<string, unknown> = {}, as: Caller = currentCaller()): Promise<T> {
  const { answer } = await post('/graphql', { query, variables }, callerHeaders(as), parseExact);
  const words = wordsOf(answer);
  const last = answer.errors?.[0]?.path?.at(-1);
  if (words !== null) throw new Refused(words, typeof last === 'string' ? last : null);
  return answer.data as T;
}
