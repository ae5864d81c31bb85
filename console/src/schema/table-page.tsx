// One table: what its database has, and what is tracked of it.

import { useState } from 'react';
import { addressOf, Link } from '../shell/place';
import { entryOfTable, isServed, isTrackable, qualifiedName } from './catalog';
import type { CatalogTable } from './catalog';
import { trackTables, untrackTable } from './changes';
import { DatabaseFacts } from './columns';
import { apiTable } from './context';
import type { SchemaContext } from './context';
import { ComputedFields } from './functions';
import { Relationships } from './relationships';
import { metadataName, shownName } from '../metadata/table-name';

function Tracking({ context, table }: { context: SchemaContext; table: CatalogTable }) {
  const { base, source, onChange } = context;
  const entry = entryOfTable(source, table);
  const [cascades, setCascades] = useState(false);
  if (!source.tracked_only) return null;
  if (!entry && !isTrackable(table)) return <span className="weir-note">The server cannot serve it.</span>;
  if (!entry) return <button type="button" className="weir-button weir-first" onClick={() => onChange(trackTables(base, [metadataName(qualifiedName(table))]))}>Track</button>;
  return (
    <>
      <button type="button" className="weir-button" onClick={() => onChange(untrackTable(base, entry, cascades))}>Untrack</button>
      <label className="weir-inline"><input type="checkbox" checked={cascades} onChange={event => setCascades(event.target.checked)} /> with what depends on it</label>
    </>
  );
}

export function TablePage({ context, table }: { context: SchemaContext; table: CatalogTable }) {
  const { catalog, source } = context;
  const api = apiTable(context, qualifiedName(table));
  const isNative = catalog.kind === 'native';
  const served = isNative || isServed(source, table);
  return (
    <>
      <h1>{shownName(table)}</h1>
      <p className="weir-note">{table.kind} of {source.name}{served ? '' : ', not tracked: the API does not have it'}</p>
      {table.comment !== null && <p>{table.comment}</p>}
      <div className="weir-tools">
        {api && <Link className="weir-button" to={addressOf(['data', source.name, api.name])}>Rows</Link>}
        {api && <Link className="weir-button" to={addressOf(['permissions', source.name, api.name])}>Permissions</Link>}
        <Link className="weir-button" to={addressOf(['schema', source.name], { view: 'diagram', table: shownName(table) })}>Diagram</Link>
        {!isNative && <Tracking context={context} table={table} />}
        {isNative && <Link className="weir-button" to={addressOf(['schema', source.name])}>Change the types</Link>}
      </div>
      {!isNative && served && (
        <>
          <Relationships context={context} table={table} />
          <ComputedFields context={context} table={table} />
        </>
      )}
      <DatabaseFacts source={source.name} catalog={catalog} table={table} />
      {table.definition !== null && (
        <section className="weir-part" aria-label="Statement">
          <h2>{isNative ? 'Definition' : 'Statement'}</h2>
          <pre className="weir-code" tabIndex={0} aria-label={isNative ? 'Definition of the type' : 'Statement of the database'}>{table.definition}</pre>
        </section>
      )}
    </>
  );
}
