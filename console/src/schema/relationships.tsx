// Relationships of a table: those that are tracked, what foreign keys suggest, and a form for one by hand.

import { useState } from 'react';
import { Modal } from '../shell/modal';
import { Link } from '../shell/place';
import type { ServedRelationship, ServedTable } from '../metadata/served';
import { entryOfTable, findByName, qualifiedName } from './catalog';
import type { Catalog, CatalogTable } from './catalog';
import type { QualifiedName } from '../metadata/table-name';
import { addRelationships, dropRelationship, renameRelationship } from './changes';
import { apiTable, schemaAddress } from './context';
import type { SchemaContext } from './context';
import { ManualForm } from './manual-form';
import { keyOf, relationshipsOf, suggestionsOf } from './suggestions';
import type { NewRelationship } from './suggestions';
import { metadataName, shownName } from '../metadata/table-name';

/** What a relationship follows, in words; and the table that it leads to, where the entry says it. */
function wayOf(it: ServedRelationship, table: CatalogTable, catalog: Catalog): { words: string; target: string | null } {
  const key = keyOf(it);
  const shown = (named: string | QualifiedName) => shownName(findByName(catalog, named) ?? named);
  if (key) {
    const own = table.foreignKeys.find(at => at.columns.length === key.columns.length && at.columns.every(column => key.columns.includes(column)));
    if (key.remote !== null) return { words: `${shown(key.remote)} (${key.columns.join(', ')})`, target: shown(key.remote) };
    return { words: `foreign key (${key.columns.join(', ')})`, target: own ? shownName(own.table) : null };
  }
  const manual = it.using.manual_configuration;
  const pairs = Object.entries(manual?.column_mapping ?? {}).map(([own, other]) => `${own} = ${other}`).join(', ');
  return { words: `by hand: ${pairs}`, target: manual?.remote_table === undefined ? null : shown(manual.remote_table) };
}

function RenameForm({ name, onRename, onClose }: { name: string; onRename: (next: string) => void; onClose: () => void }) {
  const [next, setNext] = useState(name);
  const isName = /^[_A-Za-z]\w*$/.test(next);
  return (
    <Modal title={`Rename ${name}`} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (isName && next !== name) onRename(next);
        }}
      >
        <label>New name <input className="weir-field" data-first autoComplete="off" value={next} onChange={event => setNext(event.target.value)} /></label>
        {!isName && <p role="alert" className="weir-bad">A name has letters, digits and _, and begins with no digit.</p>}
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first" disabled={!isName || next === name}>Review the change</button>
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Modal>
  );
}

export function Suggestions({ suggested, onAdd, of }: { suggested: NewRelationship[]; onAdd: (added: NewRelationship[]) => void; of: string }) {
  if (suggested.length === 0) return null;
  return (
    <section className="weir-part" aria-label="Suggestions">
      <div className="weir-part-head">
        <h2>Suggestions</h2>
        {suggested.length > 1 && <button type="button" className="weir-button" onClick={() => onAdd(suggested)}>Track all {suggested.length}</button>}
      </div>
      <p className="weir-note">Foreign keys {of} that no relationship follows yet.</p>
      <ul className="weir-list" data-testid="suggestions">
        {suggested.map((it, at) => (
          <li key={at}>
            <button type="button" className="weir-button" aria-label={`Track ${shownName(it.entry.table)}.${it.relationship.name}`} onClick={() => onAdd([it])}>Track</button>
            {' '}<b>{shownName(it.entry.table)}.{it.relationship.name}</b> to {it.kind === 'array' ? 'many' : 'one'} {it.target}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Relationships that the server makes of foreign keys, where every table is served. */
function Automatic({ context, table, entry }: { context: SchemaContext; table: CatalogTable; entry: ServedTable | undefined }) {
  const named = new Set(entry ? relationshipsOf(entry).map(it => it.name) : []);
  const automatic = (apiTable(context, table)?.relationships ?? []).filter(it => !named.has(it.name));
  if (context.source.tracked_only || automatic.length === 0) return null;
  return (
    <>
      <p className="weir-note">Every table of this source is served, with a relationship for each foreign key:</p>
      <ul className="weir-list" data-testid="automatic">
        {automatic.map(it => <li key={it.name}><b>{it.name}</b> to {it.isList ? 'many' : 'one'} {it.table}</li>)}
      </ul>
    </>
  );
}

export function Relationships({ context, table }: { context: SchemaContext; table: CatalogTable }) {
  const { base, catalog, source, onChange } = context;
  const entry = entryOfTable(source, table);
  const [renamed, setRenamed] = useState<ServedRelationship | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  const all = entry ? relationshipsOf(entry) : [];
  const isList = (it: ServedRelationship) => entry?.array_relationships?.includes(it) ?? false;
  const suggested = source.tracked_only ? suggestionsOf(catalog, source, table) : [];
  const ownEntry = entry ?? { table: metadataName(qualifiedName(table)) };
  return (
    <>
      <section className="weir-part" aria-label="Relationships">
        <div className="weir-part-head">
          <h2>Relationships</h2>
          <button type="button" className="weir-button" onClick={() => setIsAdding(true)}>Add by hand</button>
        </div>
        {all.length === 0 && source.tracked_only && <p className="weir-note">No relationship is tracked.</p>}
        <ul className="weir-list" data-testid="relationships">
          {all.map(it => {
            const { words, target } = wayOf(it, table, catalog);
            return (
              <li key={it.name}>
                <b>{it.name}</b> to {isList(it) ? 'many' : 'one'} {target !== null && <Link to={schemaAddress(source.name, target)}>{target}</Link>} <span className="weir-note">{words}</span>{' '}
                <button type="button" className="weir-button" aria-label={`Rename ${it.name}`} onClick={() => setRenamed(it)}>Rename</button>{' '}
                <button type="button" className="weir-button" aria-label={`Remove ${it.name}`} onClick={() => onChange(dropRelationship(base, entry!, it))}>Remove</button>
              </li>
            );
          })}
          {(entry?.remote_relationships ?? []).map(it => (
            <li key={it.name}><b>{it.name}</b> <span className="weir-note">to another source or a remote schema</span> <code>{JSON.stringify(it.definition)}</code></li>
          ))}
        </ul>
        <Automatic context={context} table={table} entry={entry} />
      </section>
      <Suggestions suggested={suggested} of="of this table and to it" onAdd={it => onChange(addRelationships(base, it))} />
      {renamed && entry && (
        <RenameForm
          name={renamed.name} onClose={() => setRenamed(null)}
          onRename={name => {
            setRenamed(null);
            onChange(renameRelationship(base, entry, renamed, name));
          }}
        />
      )}
      {isAdding && (
        <ManualForm
          context={context} table={table} entry={ownEntry} onClose={() => setIsAdding(false)}
          onReview={it => {
            setIsAdding(false);
            onChange(addRelationships(base, [it]));
          }}
        />
      )}
    </>
  );
}
