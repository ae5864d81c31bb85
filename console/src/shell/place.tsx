// Addresses: each view of the console has one below /console, and Back and Forward lead through them.

import { useSyncExternalStore } from 'react';
import type { AnchorHTMLAttributes, MouseEvent } from 'react';

const ROOT = '/console';

export interface Place {
  /** Parts of the path below /console, decoded. */
  path: string[];
  search: URLSearchParams;
}

const listeners = new Set<() => void>();

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function read(): Place {
  const parts = location.pathname.slice(ROOT.length).split('/').filter(Boolean).map(decode);
  return { path: parts, search: new URLSearchParams(location.search) };
}

let current: Place = read();
addEventListener('popstate', () => {
  current = read();
  listeners.forEach(told => told());
});

export const place = () => current;

export function usePlace(): Place {
  return useSyncExternalStore(
    told => (listeners.add(told), () => void listeners.delete(told)),
    place,
  );
}

/** The address of a view. Empty parameters are left out. */
export function addressOf(path: string[], search: Record<string, string> = {}): string {
  const kept = Object.entries(search).filter(([, value]) => value !== '');
  const query = new URLSearchParams(kept).toString();
  return [ROOT, ...path.map(encodeURIComponent)].join('/') + (query && `?${query}`);
}

/** Opens a view; `replace` leaves no entry to go back to. */
export function go(address: string, options: { replace?: boolean } = {}) {
  if (options.replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  current = read();
  listeners.forEach(told => told());
}

/** A link within the console. With a key held it opens a window, as links do. */
export function Link({ to, onClick, ...others }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement> & { 'data-first'?: boolean }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return <a href={to} onClick={follow} {...others} />;
}
