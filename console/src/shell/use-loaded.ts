// Loads the data of a page, once per set of keys or at intervals; a failure becomes a message.

import { useEffect, useState } from 'react';
import { SecretNeeded } from '../server/requests';
import type { PageProps } from './shell';

export interface Loaded<T> {
  value: T | null;
  failure: string | null;
}

/** The result of `load`, which runs again when one of `keys` changes; the earlier value stays until then. */
export function useLoaded<T>(load: () => Promise<T>, keys: unknown[], onLocked: PageProps['onLocked']): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: null, failure: null });
  useEffect(() => {
    let isCurrent = true;
    load().then(
      value => isCurrent && setState({ value, failure: null }),
      error => {
        if (!isCurrent) return;
        if (error instanceof SecretNeeded) onLocked(error);
        else setState({ value: null, failure: String(error.message ?? error) });
      },
    );
    return () => void (isCurrent = false);
  }, keys);
  return state;
}

/** Looks again and again: the newest value, and the failure of the last look. */
export function useWatched<T>(load: () => Promise<T>, pauseMs: number, onLocked: PageProps['onLocked'], onValue: (value: T) => void): string | null {
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let isOpen = true;
    let timer = 0;
    const again = () => {
      load().then(
        value => isOpen && (onValue(value), setFailure(null)),
        error => {
          if (!isOpen) return;
          if (error instanceof SecretNeeded) onLocked(error);
          else setFailure(String(error.message ?? error));
        },
      ).finally(() => {
        if (isOpen) timer = window.setTimeout(again, pauseMs);
      });
    };
    again();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [onLocked]);
  return failure;
}
