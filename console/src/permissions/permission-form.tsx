// One permission: rows, columns, presets, check, limit, aggregates.

import { useState } from 'react';
import { isScalar, parseExact } from '../server/exact-number';
import { ConditionField } from './condition-field';
import type { Json, Permission } from '../metadata/served';
import type { Kind } from './granted';
import type { TableContext } from './table-context';

interface Props {
  kind: Kind;
  /** The permission that is changed; null: the role has none. */
  permission: Permission | null;
  context: TableContext;
  tables: Json[];
  onReview: (permission: Permission) => void;
  onRemove: () => void;
  /** Shows what the condition of the draft would let through. */
  onTry: (filter: Json) => void;
}

const EMPTY: Record<Kind, Permission> = {
  select: { columns: [], filter: {} },
  insert: { check: {}, columns: [] },
  // Without a check of its own the filter has to hold for the changed row, too.
  update: { columns: [], filter: {} },
  delete: { filter: {} },
};

function Columns({ context, value, onChange }: { context: TableContext; value: Json | undefined; onChange: (value: Json) => void }) {
  const isAll = value === '*' || value === undefined;
  const chosen = Array.isArray(value) ? (value as string[]) : context.columns;
  const names = [...new Set([...context.columns, ...chosen])];
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter(it => it !== name) : names.filter(it => chosen.includes(it) || it === name));
  return (
    <fieldset className="weir-part">
      <legend>Columns</legend>
      <label><input type="checkbox" checked={isAll} onChange={() => onChange(isAll ? names : '*')} /> all, also those that come later</label>
      {!isAll && (
        <div className="weir-names">
          {names.map(name => <label key={name}><input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /> {name}</label>)}
        </div>
      )}
    </fieldset>
  );
}

/** A preset as it is written: JSON, or a text that is none. */
const presetOf = (text: string): Json => {
  try {
    return parseExact(text) as Json;
  } catch {
    return text;
  }
};

const presetText = (value: Json) => (typeof value === 'string' && typeof presetOf(value) === 'string' ? value : JSON.stringify(value));

function Presets({ context, value, onChange }: { context: TableContext; value: Permission; onChange: (value: Permission) => void }) {
  const [column, setColumn] = useState('');
  const open = context.columns.filter(it => !(it in value));
  return (
    <fieldset className="weir-part">
      <legend>Presets</legend>
      <p className="weir-note">Values that the role cannot give itself: a constant, or a session variable such as X-Hasura-User-Id.</p>
      {Object.entries(value).map(([name, it]) => (
        <div key={name} className="weir-preset">
          <label>{name} <input className="weir-field" defaultValue={presetText(it)} onBlur={event => onChange({ ...value, [name]: presetOf(event.target.value) })} /></label>
          <button type="button" className="weir-button" aria-label={`Remove the preset of ${name}`} onClick={() => onChange(Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)))}>✕</button>
        </div>
      ))}
      {open.length > 0 && (
        <div className="weir-preset">
          <select className="weir-field" aria-label="Column of a new preset" value={column} onChange={event => setColumn(event.target.value)}>
            <option value="">column …</option>
            {open.map(it => <option key={it}>{it}</option>)}
          </select>
          <button type="button" className="weir-button" disabled={column === ''} onClick={() => (onChange({ ...value, [column]: 'X-Hasura-User-Id' }), setColumn(''))}>+ Preset</button>
        </div>
      )}
    </fieldset>
  );
}

export function PermissionForm({ kind, permission, context, tables, onReview, onRemove, onTry }: Props) {
  const [draft, setDraft] = useState<Permission>(permission ?? EMPTY[kind]);
  const [faults, setFaults] = useState<Record<string, string | null>>({});
  const set = (key: string, value: Json | undefined) => setDraft(before => {
    const next = { ...before };
    if (value === undefined) delete next[key];
    else next[key] = value;
    return next;
  });
  const condition = (key: string, title: string, note: string) => (
    <ConditionField
      title={title} note={note} value={draft[key] ?? {}} context={context} tables={tables}
      onChange={(value, fault) => (set(key, value), setFaults(before => ({ ...before, [key]: fault })))}
    />
  );
  const fault = Object.values(faults).find(it => it !== null) ?? null;
  const hasNoColumn = kind === 'select' && Array.isArray(draft.columns) && draft.columns.length === 0;
  const preset: Permission = isScalar(draft.set) || Array.isArray(draft.set) ? {} : (draft.set as Permission);
  const hasCheck = draft.check !== undefined && draft.check !== null;
  return (
    <div className="weir-permission">
      {kind !== 'insert' && condition('filter', 'Rows', kind === 'select' ? 'The role sees the rows that fulfil this.' : `The role may ${kind} the rows that fulfil this; others stay as they are.`)}
      {kind === 'insert' && condition('check', 'Check', 'A row that is inserted has to fulfil this as it is stored.')}
      {kind === 'update' && (
        <>
          <label className="weir-line">
            <input type="checkbox" checked={hasCheck} onChange={() => (set('check', hasCheck ? undefined : {}), setFaults(before => ({ ...before, check: null })))} /> a check of its own for rows as they are afterwards; without it they have to stay in the filter
          </label>
          {hasCheck && condition('check', 'Check', 'A row has to fulfil this after the update.')}
        </>
      )}
      {kind !== 'delete' && <Columns context={context} value={draft.columns} onChange={it => set('columns', it)} />}
      {(kind === 'insert' || kind === 'update') && <Presets context={context} value={preset} onChange={it => set('set', it)} />}
      {kind === 'select' && (
        <fieldset className="weir-part">
          <legend>Lists and aggregates</legend>
          <label className="weir-line">Rows of a list at most <input className="weir-field weir-short" type="number" min="0" value={typeof draft.limit === 'number' ? draft.limit : ''} onChange={event => set('limit', event.target.value === '' ? undefined : Number(event.target.value))} /></label>
          <label className="weir-line"><input type="checkbox" checked={draft.allow_aggregations === true} onChange={event => set('allow_aggregations', event.target.checked)} /> may count and aggregate the rows that it sees</label>
        </fieldset>
      )}
      {kind !== 'select' && <label className="weir-line"><input type="checkbox" checked={draft.backend_only === true} onChange={event => set('backend_only', event.target.checked)} /> for backends alone: callers with the admin secret</label>}
      {hasNoColumn && <p role="status" className="weir-note">No column is chosen: the role sees that there are rows, and nothing of them.</p>}
      <p className="weir-actions">
        <button type="button" className="weir-button weir-first" disabled={fault !== null} onClick={() => onReview(draft)}>Review the change</button>
        {kind !== 'insert' && <button type="button" className="weir-button" disabled={fault !== null} onClick={() => onTry(draft.filter ?? {})}>Try on the rows below</button>}
        {permission !== null && <button type="button" className="weir-button" onClick={onRemove}>Remove the permission</button>}
      </p>
    </div>
  );
}
