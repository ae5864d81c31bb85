// Rows of the page that is open: read once, read again after a change, or followed live.

import { useCallback, useEffect, useRef, useState } from 'react';
import { ask, Refused } from '../server/requests';
import { watch } from '../server/subscriptions';
import { pageOperation, rowsOf } from './page-query';
import type { PageWish, Row } from './page-query';

/** A changed cell is marked for so long. */
const FLASH_MS = 1500;

/** Why there are no rows, and the column whose value cannot be read, if it is one. */
export interface Failure {
  words: string;
  column: string | null;
}

export interface Rows {
  rows: Row[] | null;
  hasMore: boolean;
  failure: Failure | null;
  /** Cells that changed since the rows before: `key column`. */
  flashed: Set<string>;
  reload: () => void;
}

/** Cells of rows with one key that differ. */
function differences(before: Row[], after: Row[], keyOf: (row: Row) => string): Set<string> {
  const known = new Map(before.map(it => [keyOf(it), it]));
  return new Set(after.flatMap(row => {
    const key = keyOf(row);
    const old = known.get(key);
    const changed = Object.keys(row).filter(it => !old || JSON.stringify(old[it]) !== JSON.stringify(row[it]));
    return changed.map(it => `${key} ${it}`);
  }));
}

/** Follows the page of `wish`; with a fault there are no rows. */
export function useRows(wish: PageWish, fault: string | null, isLive: boolean, keyOf: (row: Row) => string, onLiveEnd: (error: Error) => void): Rows {
  const [found, setFound] = useState<{ key: string; rows: Row[]; hasMore: boolean } | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [flashed, setFlashed] = useState(new Set<string>());
  const [round, setRound] = useState(0);
  const shown = useRef<Row[]>([]);
  const operation = pageOperation(wish, isLive ? 'subscription' : 'query');
  const key = JSON.stringify(operation);
  useEffect(() => {
    if (fault !== null) {
      setFound(null);
      setFailure({ words: fault, column: null });
      return;
    }
    let isCurrent = true;
    let isFirst = true;
    const take = (data: unknown) => {
      if (!isCurrent) return;
      const next = rowsOf(data, wish);
      if (!isFirst) setFlashed(differences(shown.current, next.rows, keyOf));
      isFirst = false;
      shown.current = next.rows;
      setFound({ key, ...next });
      setFailure(null);
    };
    if (isLive) {
      const stop = watch(operation.query, operation.variables, take, error => isCurrent && onLiveEnd(error));
      return () => {
        isCurrent = false;
        stop();
      };
    }
    ask(operation.query, operation.variables).then(
      take,
      error => isCurrent && setFailure({ words: String(error.message ?? error), column: error instanceof Refused ? error.field : null }),
    );
    return () => void (isCurrent = false);
  }, [key, fault, round]);
  useEffect(() => {
    if (flashed.size === 0) return;
    const timer = setTimeout(() => setFlashed(new Set()), FLASH_MS);
    return () => clearTimeout(timer);
  }, [flashed]);
  const reload = useCallback(() => setRound(it => it + 1), []);
  return { rows: found?.rows ?? null, hasMore: found?.hasMore ?? false, failure, flashed, reload };
}
