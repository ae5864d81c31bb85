// A place for a table that is wider than the window: it scrolls sideways, by the keyboard too.

import type { ReactNode } from 'react';

export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return <div className="weir-wide" tabIndex={0} role="region" aria-label={`${label}, scrolls sideways`}>{children}</div>;
}
