// The caller of the requests of this page: the admin, a role with session variables, or whoever a token names.
//
// It lasts until the page is loaded again; the secret lasts as long as the tab.

import { useSyncExternalStore } from 'react';

/** Whom a request is run as; without a role and a token it is the admin. */
export interface Caller {
  role: string;
  /** Session variables by their names in lower case, `x-hasura-…`. */
  variables: Record<string, string>;
  /** A token of a user, which is sent in place of the secret. */
  token?: string;
}

export const ADMIN: Caller = { role: '', variables: {} };

let caller: Caller = ADMIN;
const listeners = new Set<() => void>();

export const currentCaller = () => caller;

export function setCaller(next: Caller) {
  caller = next;
  listeners.forEach(told => told());
}

export function useCaller(): Caller {
  return useSyncExternalStore(
    told => (listeners.add(told), () => void listeners.delete(told)),
    currentCaller,
  );
}

/** Words for a caller: `sailor`, `a token`. */
export function callerWords({ role, token }: Caller): string {
  if (role) return role;
  return token ? 'a token' : 'admin';
}

/** A secret is no session variable: those are shown in code. */
const isSecret = (name: string) => /-(admin-secret|access-key)$/.test(name);

/** `user-id: ann`, a variable per line, as session variables. A line without a colon is none, and neither is a secret. */
export function variablesOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap(line => {
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const lower = name.toLowerCase();
    const full = /^x-(hasura|weir)-/.test(lower) ? lower : `x-hasura-${lower}`;
    return isSecret(full) ? [] : [[full, value] as const];
  });
  return Object.fromEntries(pairs);
}

export function callerHeaders({ role, token, variables }: Caller = caller): Record<string, string> {
  return {
    ...variables,
    ...(role ? { 'x-hasura-role': role } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };
}

/** The caller that these headers name. */
export function callerOf(sent: Record<string, string>): Caller {
  const found: Caller = { role: '', variables: {} };
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    if (/^x-(hasura|weir)-role$/.test(lower)) found.role = value;
    else if (/^x-(hasura|weir)-/.test(lower) && !isSecret(lower)) found.variables[lower] = value;
  }
  return found;
}
