// A cell opened in its place: its whole value, and a field to change it.

import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { isScalar } from '../server/exact-number';
import type { Column, Table } from './catalog';
import { bytesOf, GeometryDrawing, isGeometry, JsonTree, sizeWords, valueText } from './cells';
import type { Row } from './page-query';
import { RowPicker } from './row-dialogs';
import type { TableFacts } from './sources';
import { draftOf, draftValue, ValueField } from './value-field';
import { editCell, hasKey } from './writes';
import type { Change } from './writes';

interface Props {
  table: Table;
  row: Row;
  column: Column;
  facts: TableFacts;
  /** The cell, beside which the panel stands. */
  cell: HTMLElement;
  onChange: (change: Change) => void;
  onFilter: (column: string, value: unknown) => void;
  onPeek: () => void;
  onClose: () => void;
}

/** Why a cell cannot be changed; nothing where it can. */
function obstacle(table: Table, column: Column, row: Row): string | null {
  if (table.key.length > 0 && !hasKey(table, row)) return 'The key of this row has a null, so it cannot be told from others.';
  if (!table.update) return table.key.length === 0 ? 'Rows without a key cannot be changed one by one.' : 'This caller may not change rows of this table.';
  return table.update.columns.some(it => it.name === column.name) ? null : 'This column cannot be changed.';
}

function Download({ column, value }: { column: Column; value: unknown }) {
  const [url, setUrl] = useState('');
  const bytes = bytesOf(column, value);
  useEffect(() => {
    if (!bytes) return;
    const made = URL.createObjectURL(new Blob([bytes]));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [value]);
  return bytes && <a className="weir-button" href={url} download={`${column.name}.bin`}>Download {sizeWords(bytes.length)}</a>;
}

function Whole({ column, value }: { column: Column; value: unknown }) {
  if (value === null || value === undefined) return null;
  if (isGeometry(column)) return <GeometryDrawing value={value} size={160} />;
  if (!isScalar(value)) return <div className="weir-tree-box" tabIndex={0} role="group" aria-label="Value as a tree"><JsonTree value={value} /></div>;
  return <Download column={column} value={value} />;
}

/** Leads the focus from the end of the panel to its beginning, and back: below it lies the grid. */
function keepFocus(event: KeyboardEvent, panel: HTMLElement) {
  const all = [...panel.querySelectorAll<HTMLElement>('input, textarea, select, button, a[href], [tabindex="0"]')].filter(it => !it.matches(':disabled'));
  const [first, last] = [all[0], all.at(-1)];
  if (document.activeElement !== (event.shiftKey ? first : last)) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

export function CellPanel({ table, row, column, facts, cell, onChange, onFilter, onPeek, onClose }: Props) {
  const value = row[column.name];
  const [draft, setDraft] = useState(() => draftOf(column, value));
  const [isPicking, setIsPicking] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: 0, top: 0 });
  const target = facts.foreignKeys.get(column.name);
  const reason = obstacle(table, column, row);
  const read = draftValue(column, draft, value);
  const error = read && 'error' in read ? read.error : undefined;
  const isSame = read !== null && 'value' in read && JSON.stringify(read.value) === JSON.stringify(value ?? null);
  useLayoutEffect(() => {
    const box = cell.getBoundingClientRect();
    const own = panel.current!.getBoundingClientRect();
    setPlace({
      left: Math.max(8, Math.min(box.left, innerWidth - own.width - 8)),
      top: Math.max(8, Math.min(box.top, innerHeight - own.height - 8)),
    });
    panel.current!.querySelector<HTMLElement>('input, textarea, select, button')?.focus();
  }, [cell]);
  const close = () => {
    onClose();
    if (cell.isConnected) cell.focus();
  };
  return (
    <>
      <div className="weir-shade" onClick={close} />
      <div
        ref={panel}
        className="weir-cell-panel"
        role="dialog"
        aria-label={`${column.name} of a row of ${table.name}`}
        style={place}
        onKeyDown={event => {
          if (event.key === 'Escape') close();
          if (event.key === 'Tab') keepFocus(event, panel.current!);
          // Enter in a field of several lines is a line; with Ctrl it shows the request.
          if (event.key === 'Enter' && event.ctrlKey) panel.current?.querySelector('form')?.requestSubmit();
        }}
      >
      <form
        onSubmit={event => {
          event.preventDefault();
          if (read && 'value' in read && !isSame) onChange(editCell(table, row, column.name, read.value));
        }}
      >
        <Whole column={column} value={value} />
        {reason === null ? (
          <ValueField
            column={column} draft={draft} modes={column.isNullable ? ['value', 'null'] : ['value']} error={error} onChange={setDraft}
            onPick={target ? () => setIsPicking(true) : undefined}
          />
        ) : (
          <>
            <p><b>{column.name}</b> <span className="weir-note">{column.type}</span></p>
            {isScalar(value) && <pre tabIndex={0} aria-label="Value">{valueText(value)}</pre>}
            <p className="weir-note">{reason}</p>
          </>
        )}
        <p className="weir-actions">
          {reason === null && <button type="submit" className="weir-button weir-first" disabled={isSame || error !== undefined}>Show the request</button>}
          {target && value !== null && value !== undefined && <button type="button" className="weir-button" onClick={onPeek}>Show the {target.table.name}</button>}
          <button type="button" className="weir-button" onClick={() => onFilter(column.name, value)}>Filter by it</button>
          <button type="button" className="weir-button" onClick={close}>Cancel</button>
        </p>
      </form>
      </div>
      {isPicking && target && (
        <RowPicker
          table={target.table} column={target.column}
          onPick={picked => (setDraft({ mode: 'value', text: valueText(picked) }), setIsPicking(false))}
          onClose={() => setIsPicking(false)}
        />
      )}
    </>
  );
}
