// The page of rows: sources and tables at one side, the rows of one table at the other.

import { useEffect, useState } from 'react';
import { useCaller } from '../server/caller';
import type { Caller } from '../server/caller';
import { SecretNeeded } from '../server/requests';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { findEntry, loadModel, ModelProvider } from './model';
import type { Model } from './model';
import { TableView } from './table-view';
import { Tour } from './tour';
import { Tree } from './tree';
import './data.css';

function Empty() {
  return (
    <div className="weir-page">
      <h1>No tables</h1>
      <p>The API has no table or type that this caller may read.</p>
      <ul>
        <li>Serve a database: <code>weir serve shop.db</code>, or <code>weir serve postgres://…</code></li>
        <li>With Hasura's metadata, tables are there once they are tracked, and a role sees those that it has a permission for.</li>
        <li>Services have no rows; ask them in <Link to={addressOf(['api'])}>API</Link>.</li>
      </ul>
    </div>
  );
}

function Unknown({ name }: { name: string }) {
  return (
    <div className="weir-page">
      <h1>No table {name}</h1>
      <p role="alert">This source has no such table, or this caller may not read it. <Link to={addressOf(['data'])}>All tables</Link></p>
    </div>
  );
}

export default function DataPage({ onLocked }: PageProps) {
  const caller = useCaller();
  const { path } = usePlace();
  const [loaded, setLoaded] = useState<{ caller: Caller; model: Model } | null>(null);
  // Nothing of another caller is shown: what the admin saw goes before the role's schema is there.
  const model = loaded?.caller === caller ? loaded.model : null;
  const [failure, setFailure] = useState<string | null>(null);
  // Narrow windows show the tree or the rows.
  const [isTreeOpen, setIsTreeOpen] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    loadModel().then(
      it => isCurrent && (setLoaded({ caller, model: it }), setFailure(null)),
      error => {
        if (!isCurrent) return;
        if (error instanceof SecretNeeded) onLocked(error);
        else setFailure(String(error.message ?? error));
      },
    );
    return () => void (isCurrent = false);
  }, [caller, round]);
  const [, source, name] = path;
  const first = model?.sources[0];
  useEffect(() => {
    if (first && name === undefined) go(addressOf(['data', first.source, first.entries[0]!.table.name]), { replace: true });
  }, [first, name]);
  if (failure) {
    return (
      <main id="page" className="weir-page">
        <h1>Data</h1>
        <p role="alert" className="weir-bad">{failure}</p>
        <button type="button" className="weir-button" onClick={() => setRound(round + 1)}>Try again</button>
      </main>
    );
  }
  if (!model) return <main id="page" className="weir-page"><h1>Data</h1><p className="weir-note">Reading the schema …</p></main>;
  if (model.sources.length === 0) return <main id="page" tabIndex={-1}><Empty /></main>;
  const entry = source !== undefined && name !== undefined ? findEntry(model, source, name) : undefined;
  return (
    <ModelProvider value={model}>
      <main id="page" tabIndex={-1} className={isTreeOpen ? 'weir-data weir-tree-open' : 'weir-data'}>
        <Tree open={entry?.table ?? null} onOpen={() => setIsTreeOpen(false)} />
        <div className="weir-data-main">
          <button type="button" className="weir-button weir-narrow" aria-expanded={isTreeOpen} onClick={() => setIsTreeOpen(!isTreeOpen)}>Tables</button>
          <Tour />
          {entry && source !== undefined
            ? <TableView key={`${source} ${entry.table.name}`} source={source} entry={entry} />
            : name !== undefined && <Unknown name={name} />}
        </div>
      </main>
    </ModelProvider>
  );
}
