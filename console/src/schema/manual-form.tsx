// A relationship by hand: its name, the table it leads to, and the columns that have to be equal.

import { useState } from 'react';
import { Modal } from '../shell/modal';
import type { ServedTable } from '../metadata/served';
import { entryOfTable, isServed, qualifiedName } from './catalog';
import type { CatalogTable } from './catalog';
import type { SchemaContext } from './context';
import type { NewRelationship } from './suggestions';
import { metadataName, shownName } from '../metadata/table-name';

interface Props {
  context: SchemaContext;
  table: CatalogTable;
  entry: ServedTable;
  onReview: (added: NewRelationship) => void;
  onClose: () => void;
}

export function ManualForm({ context: { catalog, source }, table, entry, onReview, onClose }: Props) {
  const targets = catalog.tables.filter(it => isServed(source, it));
  const [kind, setKind] = useState<'object' | 'array'>('array');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(shownName(targets.find(it => it !== table) ?? table));
  const [pairs, setPairs] = useState<[own: string, other: string][]>([['', '']]);
  const target = targets.find(it => shownName(it) === chosen) ?? table;
  const isName = /^[_A-Za-z]\w*$/.test(name);
  const isTaken = table.columns.some(it => it.name === name) || [...(entry.object_relationships ?? []), ...(entry.array_relationships ?? [])].some(it => it.name === name);
  const isWhole = pairs.every(([own, other]) => own !== '' && other !== '') && new Set(pairs.map(it => it[0])).size === pairs.length;
  const setPair = (at: number, next: [string, string]) => setPairs(pairs.map((it, index) => (index === at ? next : it)));
  const select = (label: string, columns: string[], value: string, set: (next: string) => void) => (
    <select className="weir-field" aria-label={label} value={value} onChange={event => set(event.target.value)}>
      <option value="">column …</option>
      {columns.map(it => <option key={it}>{it}</option>)}
    </select>
  );
  const submit = () => {
    const remote = entryOfTable(source, target)?.table ?? metadataName(qualifiedName(target));
    const using = { manual_configuration: { remote_table: remote, column_mapping: Object.fromEntries(pairs), insertion_order: null } };
    onReview({ entry, kind, target: chosen, relationship: { name, using } });
  };
  return (
    <Modal title={`New relationship of ${shownName(table)}`} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (isName && !isTaken && isWhole) submit();
        }}
      >
        <label>Name <input className="weir-field" data-first autoComplete="off" value={name} onChange={event => setName(event.target.value)} /></label>
        {name !== '' && !isName && <p role="alert" className="weir-bad">A name has letters, digits and _, and begins with no digit.</p>}
        {isTaken && <p role="alert" className="weir-bad">The table has this name for something else.</p>}
        <label>It leads to
          <select className="weir-field" value={kind} onChange={event => setKind(event.target.value as 'object' | 'array')}>
            <option value="array">many rows</option>
            <option value="object">one row</option>
          </select>
        </label>
        <label>Of the table
          <select
            className="weir-field" value={chosen}
            onChange={event => {
              setChosen(event.target.value);
              setPairs(pairs.map(([own]) => [own, '']));
            }}
          >
            {targets.map(it => <option key={shownName(it)}>{shownName(it)}</option>)}
          </select>
        </label>
        <fieldset className="weir-part">
          <legend>Columns that have to be equal</legend>
          {pairs.map(([own, other], at) => (
            <p key={at} className="weir-pair">
              {select(`Column ${at + 1} of ${shownName(table)}`, table.columns.map(it => it.name), own, next => setPair(at, [next, other]))}
              <span aria-hidden="true">=</span>
              {select(`Column ${at + 1} of ${chosen}`, target.columns.map(it => it.name), other, next => setPair(at, [own, next]))}
              {pairs.length > 1 && <button type="button" className="weir-button" aria-label={`Remove pair ${at + 1}`} onClick={() => setPairs(pairs.filter((_, index) => index !== at))}>✕</button>}
            </p>
          ))}
          <button type="button" className="weir-button" onClick={() => setPairs([...pairs, ['', '']])}>+ Pair</button>
        </fieldset>
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first" disabled={!isName || isTaken || !isWhole}>Review the change</button>
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Modal>
  );
}
