// Buttons above the rows. What the caller may not do has none.

import { useState } from 'react';
import type { Table } from './catalog';
import type { Format } from './transfer';

interface Props {
  table: Table;
  columns: string[];
  selectedCount: number;
  isLive: boolean;
  undoTitle: string | null;
  exported: number | null;
  onInsert: () => void;
  onDuplicate: () => void;
  onDelete: () => void;
  onUndo: () => void;
  onImport: () => void;
  onExport: (format: Format) => void;
  onStopExport: () => void;
  onColumns: (columns: string[] | null) => void;
  onLive: () => void;
  onEditor: () => void;
  onReload: () => void;
}

function Columns({ table, columns, onColumns }: Pick<Props, 'table' | 'columns' | 'onColumns'>) {
  const [isOpen, setIsOpen] = useState(false);
  const toggle = (name: string) => {
    const next = [...table.columns, ...table.counts].map(it => it.name).filter(it => (it === name ? !columns.includes(it) : columns.includes(it)));
    const isPlain = next.join() === table.columns.map(it => it.name).join();
    if (next.length > 0) onColumns(isPlain ? null : next);
  };
  return (
    <span className="weir-run-as" onKeyDown={event => event.key === 'Escape' && setIsOpen(false)}>
      <button type="button" className="weir-button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Columns{columns.length < table.columns.length && ` ${columns.length} of ${table.columns.length}`}
      </button>
      {isOpen && (
        <span className="weir-pop weir-columns" role="group" aria-label="Columns">
          {table.columns.map(it => (
            <label key={it.name}><input type="checkbox" checked={columns.includes(it.name)} onChange={() => toggle(it.name)} /> {it.name} <span className="weir-note">{it.type}</span></label>
          ))}
          {table.counts.map(it => (
            <label key={it.name}><input type="checkbox" checked={columns.includes(it.name)} onChange={() => toggle(it.name)} /> number of {it.counts}</label>
          ))}
          <button type="button" className="weir-button" onClick={() => onColumns(null)}>All columns</button>
        </span>
      )}
    </span>
  );
}

export function Toolbar(props: Props) {
  const { table, selectedCount } = props;
  return (
    <div className="weir-tools" role="toolbar" aria-label="Rows">
      {table.insert && <button type="button" className="weir-button weir-first" onClick={props.onInsert}>Insert</button>}
      {table.insert && selectedCount === 1 && <button type="button" className="weir-button" onClick={props.onDuplicate}>Duplicate</button>}
      {table.remove && selectedCount > 0 && <button type="button" className="weir-button" onClick={props.onDelete}>Delete {selectedCount}</button>}
      {props.undoTitle !== null && <button type="button" className="weir-button" title={props.undoTitle} onClick={props.onUndo}>Undo</button>}
      <Columns table={table} columns={props.columns} onColumns={props.onColumns} />
      {props.exported === null ? (
        <>
          <button type="button" className="weir-button" onClick={() => props.onExport('csv')}>Export CSV</button>
          <button type="button" className="weir-button" onClick={() => props.onExport('ndjson')}>Export NDJSON</button>
        </>
      ) : (
        <button type="button" className="weir-button" onClick={props.onStopExport}>Stop the export at {props.exported.toLocaleString('en')} rows</button>
      )}
      {table.insert && <button type="button" className="weir-button" onClick={props.onImport}>Import CSV</button>}
      {table.isLive && <button type="button" className="weir-button" aria-pressed={props.isLive} onClick={props.onLive}>Live</button>}
      <button type="button" className="weir-button" onClick={props.onEditor}>Open in editor</button>
      <button type="button" className="weir-button" onClick={props.onReload}>Reload</button>
    </div>
  );
}
