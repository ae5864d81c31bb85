// First, previous, next and last page, and how many rows there are.

import { countWords, cursorAt } from './page-query';
import type { Cursor, PageWish, Row } from './page-query';

interface Props {
  wish: PageWish;
  rows: Row[];
  /** Rows beyond these in the direction that was read. */
  hasMore: boolean;
  count: number | null;
  isPaged: boolean;
  onGo: (cursor: Cursor) => void;
}

interface Ways {
  first: Cursor | null;
  previous: Cursor | null;
  next: Cursor | null;
  last: Cursor | null;
}

function waysOf({ wish, rows, hasMore }: Props): Ways {
  const { cursor } = wish;
  const [top, bottom] = [rows[0], rows.at(-1)];
  if (cursor.at === 'offset') {
    const back = Math.max(0, cursor.offset - wish.rows);
    return {
      first: cursor.offset > 0 ? { at: 'offset', offset: 0 } : null,
      previous: cursor.offset > 0 ? { at: 'offset', offset: back } : null,
      next: hasMore ? { at: 'offset', offset: cursor.offset + wish.rows } : null,
      last: null,
    };
  }
  const isStart = cursor.at === 'first' || ((cursor.at === 'before' || cursor.at === 'last') && !hasMore);
  const isEnd = cursor.at === 'last' || ((cursor.at === 'first' || cursor.at === 'after') && !hasMore);
  return {
    first: cursor.at === 'first' ? null : { at: 'first' },
    previous: !isStart && top ? cursorAt(wish, top, 'before') : null,
    next: !isEnd && bottom ? cursorAt(wish, bottom, 'after') : null,
    last: isEnd ? null : { at: 'last' },
  };
}

export function Pager(props: Props) {
  const { rows, count, isPaged, onGo } = props;
  const ways = waysOf(props);
  const button = (label: string, cursor: Cursor | null) => (
    <button type="button" className="weir-button" disabled={cursor === null} onClick={() => cursor && onGo(cursor)}>{label}</button>
  );
  return (
    <footer className="weir-pager">
      {isPaged && (
        <nav aria-label="Pages of rows">
          {button('First', ways.first)}
          {button('Previous', ways.previous)}
          {button('Next', ways.next)}
          {button('Last', ways.last)}
        </nav>
      )}
      <span data-testid="count">{rows.length.toLocaleString('en')} {rows.length === 1 ? 'row' : 'rows'}{count !== null && ` of ${countWords(count)}`}</span>
    </footer>
  );
}
