// A short tour of the first visit. One click ends it for ever.

import { useState } from 'react';

const KEY = 'weir.tour';

export function Tour() {
  const [isOver, setIsOver] = useState(() => localStorage.getItem(KEY) === 'over');
  if (isOver) return null;
  const end = () => {
    localStorage.setItem(KEY, 'over');
    setIsOver(true);
  };
  return (
    <aside className="weir-tour" aria-label="Tour">
      <p>
        <b>Rows</b> are here: click a header to sort, <b>+ Filter</b> to search, ▸ to see what belongs to a row, a cell twice to change it.
        Nothing is sent before you have seen its request.{' '}
        <b>API</b> has the editor with the plan of each query, <b>Operations</b> what was asked and how long it took.
        With <b>Run as</b> you see it all as another role does.
      </p>
      <button type="button" className="weir-button" onClick={end}>Got it</button>
    </aside>
  );
}
