// Links to the parts of a page, each of which has an address.

import { addressOf, Link } from './place';

export interface Part {
  /** Empty for the part that the page opens with. */
  part: string;
  title: string;
}

export function Parts({ page, label, parts, current }: { page: string; label: string; parts: Part[]; current: string }) {
  return (
    <nav aria-label={label} className="weir-parts">
      {parts.map(it => <Link key={it.part} to={addressOf(it.part ? [page, it.part] : [page])} aria-current={it.part === current ? 'page' : undefined}>{it.title}</Link>)}
    </nav>
  );
}
