// Live queries as the server tells them, and words for them.

export interface LiveOperation {
  name: string | null;
  hash: string | null;
}

export interface LiveGroup {
  operation: LiveOperation;
  role: string;
  subscriptions: number;
  members: number;
  cohorts: number;
  streams: number;
  reads: number;
  results: number;
  polled: number;
  expiring: number;
  tables: string[];
  sources: string[];
}

export interface LivePush {
  operation: LiveOperation;
  role: string;
  subscriptions: number;
  cause: 'first' | 'change' | 'poll' | 'expiry' | 'batch' | 'event';
  changed: { tag?: string; row?: true; source?: string } | null;
  took_us: number;
  age_ms: number;
  bytes: number;
  has_errors: boolean;
}

export interface LiveSource {
  name: string;
  members: number;
  tells: 'reported' | 'polled' | 'lifetimes' | 'passed_through' | 'constant';
  words: string;
  covers: 'nothing' | 'everything' | 'except';
  except: string[];
}

export interface LiveOverview {
  groups: LiveGroup[];
  groups_left_out: number;
  pushes: LivePush[];
  sources: LiveSource[];
  event_streams: number;
  poll_ms: number;
  floor_ms: number;
  subscriptions_max: number;
}

export const operationWords = ({ name, hash }: LiveOperation) => name ?? (hash === null ? 'an operation that is not counted' : '(without a name)');

/** Why a result was read: `pet, one row`. */
export function causeText({ cause, changed }: LivePush): string {
  switch (cause) {
    case 'first': return 'first result';
    case 'poll': return 'poll';
    case 'expiry': return 'end of its lifetime';
    case 'batch': return 'next batch';
    case 'event': return 'event';
    case 'change': {
      if (changed?.source !== undefined) return `source ${changed.source}`;
      if (changed?.tag === undefined) return 'a change';
      return changed.row ? `${changed.tag}, one row` : changed.tag;
    }
  }
}

const listWords = (names: string[]) => (names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', '));

/** What a source tells of changes that others make in it. */
export function toldWords(source: LiveSource): string {
  switch (source.tells) {
    case 'polled': return 'It tells nothing of what others change.';
    case 'lifetimes': return 'Its answers have lifetimes.';
    case 'passed_through': return 'Subscriptions are those of the server itself.';
    case 'constant': return 'Nothing changes what it answers.';
    case 'reported': {
      if (source.members === 0) return `It tells changes while somebody subscribes: ${source.words}.`;
      if (source.covers === 'everything') return `It tells every change: ${source.words}.`;
      if (source.covers === 'except') return source.except.length === 0 ? `It tells changes of its tables: ${source.words}.` : `It tells changes, but none of ${listWords(source.except)}: ${source.words}.`;
      return `It tells nothing yet, or cannot, and the log says why: ${source.words}.`;
    }
  }
}

/** What is read again at intervals, and why. */
export function polledWords(source: LiveSource, pollMs: number): string {
  const every = `every ${pollMs >= 1000 ? `${pollMs / 1000} s` : `${pollMs} ms`}`;
  switch (source.tells) {
    case 'polled': return `All of it ${every}, because no feed tells changes; ${source.words}.`;
    case 'lifetimes': return `At the end of a lifetime; ${every} what has none.`;
    case 'passed_through':
    case 'constant': return 'Nothing.';
    case 'reported': {
      if (source.members > 0 && source.covers === 'nothing') return `All of it ${every}, until its changes are told.`;
      if (source.covers === 'except' && source.except.length > 0) return `What reads ${listWords(source.except)}, ${every}, because their changes are not told.`;
      return 'Nothing.';
    }
  }
}

/** How an operation learns of changes. */
export function refreshWords({ polled, expiring, members }: LiveGroup): string {
  const words = [polled > 0 ? `${polled === members ? 'polled' : `${polled} polled`}` : '', expiring > 0 ? `${expiring === members ? 'by lifetime' : `${expiring} by lifetime`}` : ''].filter(Boolean);
  return words.length === 0 ? 'by changes' : words.join(', ');
}
