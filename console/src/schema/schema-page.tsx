// The page of schemas: sources and tables at one side, what the database has and what is tracked of it at the other.

import { lazy, useEffect, useRef, useState } from 'react';
import { ADMIN } from '../server/caller';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { loadModel } from '../data/model';
import type { Model } from '../data/model';
import type { MetadataChange } from '../metadata/change';
import { ReviewChange } from '../metadata/review-change';
import { loadServed } from '../metadata/served';
import type { Served } from '../metadata/served';
import { findTable, loadCatalog, sourceCalled } from './catalog';
import type { Catalog } from './catalog';
import type { SchemaContext } from './context';
import { SchemaTree } from './schema-tree';
import { SourcePage } from './source-page';
import { TablePage } from './table-page';
import '../data/data.css';
import '../metadata/metadata.css';
import './schema.css';

const Diagram = lazy(() => import('./diagram'));

function Words({ children }: { children: React.ReactNode }) {
  return <main id="page" tabIndex={-1} className="weir-page"><h1>Schema</h1>{children}</main>;
}

function Unknown({ name, source }: { name: string; source: string | null }) {
  return (
    <>
      <h1>No {source === null ? 'source' : 'table'} {name}</h1>
      <p role="alert">
        {source === null ? 'The server has no such source.' : 'The database has no such table or view.'}{' '}
        <Link to={addressOf(source === null ? ['schema'] : ['schema', source])}>{source === null ? 'All sources' : `All of ${source}`}</Link>
      </p>
    </>
  );
}

interface Told {
  served: Served | null;
  model: Model;
}

export default function SchemaPage({ onLocked }: PageProps) {
  const { path, search } = usePlace();
  const [round, setRound] = useState(0);
  const [change, setChange] = useState<MetadataChange | null>(null);
  const [words, setWords] = useState('');
  // A change is told once its outcome is read: before, the next one would be based on what was there.
  const pending = useRef('');
  // Narrow windows show the tree or the table.
  const [isTreeOpen, setIsTreeOpen] = useState(false);
  const [, name, table] = path;
  const loadAll = async (): Promise<Told> => {
    const [served, model] = await Promise.all([loadServed(), loadModel(ADMIN)]);
    return { served, model };
  };
  const told = useLoaded(loadAll, [round], onLocked);
  useEffect(() => {
    if (pending.current === '') return;
    setWords(pending.current);
    pending.current = '';
  }, [told.value]);
  const served = told.value?.served ?? null;
  const source = served && name !== undefined ? sourceCalled(served, name) : undefined;
  const catalog = useLoaded<{ name: string; catalog: Catalog } | null>(
    async () => (source ? { name: source.name, catalog: await loadCatalog(source.name) } : null), [source?.name, round], onLocked,
  );
  const first = served?.sources[0];
  useEffect(() => {
    if (first && name === undefined) go(addressOf(['schema', first.name]), { replace: true });
  }, [first, name]);
  const again = () => setRound(it => it + 1);
  if (told.failure !== null) {
    return <Words><p role="alert" className="weir-bad">{told.failure}</p><button type="button" className="weir-button" onClick={again}>Try again</button></Words>;
  }
  if (told.value === null) return <Words><p className="weir-note">Reading the schema …</p></Words>;
  if (served === null) {
    return (
      <Words>
        <p role="alert">This address has no metadata API, so schemas are not told here: a server with <code>admin_listen</code> has it there, and no other caller than the admin may ask it.</p>
      </Words>
    );
  }
  if (!first) return <Words><div className="weir-empty"><p><b>The server has no source.</b></p><p>Serve a database: <code>weir serve shop.db</code>, or <code>weir serve postgres://…</code></p></div></Words>;
  const open = catalog.value !== null && catalog.value.name === name ? catalog.value.catalog : null;
  const content = () => {
    if (name === undefined) return null;
    if (!source) return <Unknown name={name} source={null} />;
    if (catalog.failure !== null) {
      return <><h1>{name}</h1><p role="alert" className="weir-bad">{catalog.failure}</p><button type="button" className="weir-button" onClick={again}>Try again</button></>;
    }
    if (!open) return <><h1>{table ?? name}</h1><p className="weir-note">Reading the catalog …</p></>;
    if (search.get('view') === 'diagram' && table === undefined) return <Diagram source={name} catalog={open} />;
    const context: SchemaContext = { served, source, catalog: open, model: told.value!.model, base: { source: name, version: served.version }, onChange: setChange };
    if (table === undefined) return <SourcePage context={context} />;
    const found = findTable(open, table);
    return found ? <TablePage key={table} context={context} table={found} /> : <Unknown name={table} source={name} />;
  };
  return (
    <main id="page" tabIndex={-1} className={isTreeOpen ? 'weir-data weir-schema weir-tree-open' : 'weir-data weir-schema'}>
      <SchemaTree served={served} source={name ?? ''} catalog={open} table={table} onOpen={() => setIsTreeOpen(false)} />
      <div className="weir-data-main">
        <button type="button" className="weir-button weir-narrow" aria-expanded={isTreeOpen} onClick={() => setIsTreeOpen(!isTreeOpen)}>Tables</button>
        <p role="status" className="weir-told">{words}</p>
        {content()}
      </div>
      {change && (
        <ReviewChange
          change={change} file={served.metadata} onStale={again} onClose={() => setChange(null)}
          onDone={it => {
            setChange(null);
            pending.current = it;
            again();
          }}
        />
      )}
    </main>
  );
}
