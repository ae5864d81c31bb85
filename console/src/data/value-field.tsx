// A field for a value of a type, and the choice between a value, null, and the default of the database.

import { useId } from 'react';
import type { Column } from './catalog';
import { valueOf, valuesOf } from './filters';
import { valueText } from './cells';

export type Mode = 'default' | 'null' | 'value';

export interface Draft {
  mode: Mode;
  text: string;
}

/** A value as it is written in a field. */
export function draftOf(column: Column, value: unknown): Draft {
  if (value === null || value === undefined) return { mode: 'null', text: '' };
  const isJson = column.isList || /^(json|jsonb|JSON|geometry|geography)$/.test(column.type);
  return { mode: 'value', text: isJson ? JSON.stringify(value, null, 2) : valueText(value) };
}

/** True if all lines of a text end as on Windows. A field of several lines has the other ends, and gives them back. */
const hasWindowsLines = (before: unknown) => typeof before === 'string' && /\r\n/.test(before) && !/(^|[^\r])\n/.test(before);

/** The value of a draft that was `before`; of the default there is none. */
export function draftValue(column: Column, draft: Draft, before?: unknown): { value: unknown } | { error: string } | null {
  if (draft.mode === 'default') return null;
  if (draft.mode === 'null') return { value: null };
  const text = hasWindowsLines(before) ? draft.text.replace(/\r?\n/g, '\r\n') : draft.text;
  return column.isList ? valuesOf(text, column.type) : valueOf(text, column.type);
}

interface Props {
  column: Column;
  draft: Draft;
  modes: Mode[];
  error?: string | undefined;
  isFirst?: boolean;
  onChange: (next: Draft) => void;
  /** Opens a choice among the rows of the table that the column leads to. */
  onPick?: (() => void) | undefined;
}

/** Lists, JSON and long texts have several lines. */
const isLong = (column: Column, text: string) => column.isList || /json|geometry|geography/i.test(column.type) || text.length > 60 || text.includes('\n');

export function ValueField({ column, draft, modes, error, isFirst, onChange, onPick }: Props) {
  const id = useId();
  const write = (text: string) => onChange({ mode: 'value', text });
  const placeholder = draft.mode === 'value' ? 'empty text' : draft.mode;
  const shared = { id, 'data-first': isFirst || undefined, 'aria-invalid': error ? true : undefined, 'aria-describedby': error ? `${id}-error` : undefined };
  const choices = column.values ?? (column.type === 'Boolean' ? ['true', 'false'] : null);
  return (
    <div className="weir-value">
      <label htmlFor={id}><b>{column.name}</b> <span className="weir-note">{column.isList ? `list of ${column.type}` : column.type}</span></label>
      <div className="weir-value-line">
        {choices && !column.isList ? (
          <select {...shared} className="weir-field" value={draft.mode === 'value' ? draft.text : ''} onChange={event => write(event.target.value)}>
            <option value="" disabled>{draft.mode}</option>
            {choices.map(it => <option key={it}>{it}</option>)}
          </select>
        ) : isLong(column, draft.text) ? (
          <textarea {...shared} className="weir-field" rows={5} spellCheck={false} placeholder={placeholder} value={draft.mode === 'value' ? draft.text : ''} onChange={event => write(event.target.value)} />
        ) : (
          <input {...shared} className="weir-field" autoComplete="off" placeholder={placeholder} value={draft.mode === 'value' ? draft.text : ''} onChange={event => write(event.target.value)} />
        )}
        {onPick && <button type="button" className="weir-button" aria-label={`Pick ${column.name}`} onClick={onPick}>Pick …</button>}
        {modes.length > 1 && (
          <select className="weir-field weir-mode" aria-label={`${column.name} is`} value={draft.mode} onChange={event => onChange({ ...draft, mode: event.target.value as Mode })}>
            {modes.map(it => <option key={it} value={it}>{it}</option>)}
          </select>
        )}
      </div>
      {error && <p id={`${id}-error`} className="weir-bad">{error}</p>}
    </div>
  );
}
