// A source as a whole: tables that are not tracked, suggestions, functions; of a native source its types.

import { addressOf, Link } from '../shell/place';
import { entryOfTable, isTrackable, qualifiedName } from './catalog';
import { addRelationships, trackTables } from './changes';
import { schemaAddress } from './context';
import type { SchemaContext } from './context';
import { Functions } from './functions';
import { Suggestions } from './relationships';
import { suggestionsOf } from './suggestions';
import { TypesEditor } from './types-editor';
import { metadataName, shownName } from '../metadata/table-name';

function Untracked({ context }: { context: SchemaContext }) {
  const { base, catalog, source, onChange } = context;
  const untracked = catalog.tables.filter(it => entryOfTable(source, it) === undefined);
  const trackable = untracked.filter(isTrackable);
  if (!source.tracked_only) {
    return <p className="weir-note">Every table is served. With <code>tracked_only: true</code>, or with metadata, only those that are tracked.</p>;
  }
  return (
    <section className="weir-part" aria-label="Tables that are not tracked">
      <div className="weir-part-head">
        <h2>Not tracked</h2>
        {trackable.length > 1 && <button type="button" className="weir-button" onClick={() => onChange(trackTables(base, trackable.map(it => metadataName(qualifiedName(it)))))}>Track all {trackable.length}</button>}
      </div>
      {untracked.length === 0 && <p className="weir-note">The API has all tables and views of the database.</p>}
      <ul className="weir-list" data-testid="untracked">
        {untracked.map(it => (
          <li key={shownName(it)}>
            {isTrackable(it) && <><button type="button" className="weir-button" aria-label={`Track ${shownName(it)}`} onClick={() => onChange(trackTables(base, [metadataName(qualifiedName(it))]))}>Track</button>{' '}</>}
            <Link to={schemaAddress(source.name, shownName(it))}>{shownName(it)}</Link> <span className="weir-note">{it.kind}{isTrackable(it) ? '' : ', which the server cannot serve'}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Tables that the metadata names and the database does not have. */
function Missing({ context: { catalog, source } }: { context: SchemaContext }) {
  const missing = source.tables.filter(entry => !catalog.tables.some(it => entryOfTable({ ...source, tables: [entry] }, it)));
  if (missing.length === 0) return null;
  return <p role="alert" className="weir-bad">The metadata has tables that the database does not have: {missing.map(it => shownName(it.table)).join(', ')}.</p>;
}

export function SourcePage({ context }: { context: SchemaContext }) {
  const { base, catalog, source, onChange } = context;
  if (catalog.kind === 'services') {
    return (
      <>
        <h1>{source.name}</h1>
        <div className="weir-empty">
          <p><b>Services have no tables.</b></p>
          <p>Their fields are in the file of the source; ask them in <Link to={addressOf(['api'])}>API</Link>.</p>
        </div>
      </>
    );
  }
  const suggested = source.tracked_only ? suggestionsOf(catalog, source) : [];
  const words = catalog.kind === 'native' ? 'types' : 'tables and views';
  return (
    <>
      <h1>{source.name}</h1>
      <p className="weir-note">{catalog.tables.length} {words}</p>
      {catalog.unread.map(it => <p key={it} role="alert" className="weir-bad">The database did not tell {it}</p>)}
      <div className="weir-tools">
        <Link className="weir-button" to={addressOf(['schema', source.name], { view: 'diagram' })}>Diagram</Link>
      </div>
      {catalog.tables.length === 0 && (
        <div className="weir-empty">
          <p><b>The database has no tables.</b></p>
          <p>Make some, then read the schema again by <code>POST /v1/reload</code>.</p>
        </div>
      )}
      {catalog.kind === 'native' ? <TypesEditor key={catalog.sdl} source={source.name} catalog={catalog} /> : (
        <>
          <Missing context={context} />
          <Untracked context={context} />
          <Suggestions suggested={suggested} of="between tracked tables" onAdd={it => onChange(addRelationships(base, it))} />
          <Functions context={context} />
        </>
      )}
    </>
  );
}
