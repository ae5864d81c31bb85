// The page of permissions: all roles and tables, or one of them; every change is shown before it is sent.

import { useEffect, useState } from 'react';
import { ADMIN } from '../server/caller';
import { SecretNeeded } from '../server/requests';
import { addressOf, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { findEntry, loadModel } from '../data/model';
import type { Model } from '../data/model';
import { CellView } from './cell-view';
import type { MetadataChange } from '../metadata/change';
import { Overview } from './overview';
import { ReviewChange } from '../metadata/review-change';
import { loadServed } from '../metadata/served';
import { KINDS } from './granted';
import type { Served } from '../metadata/served';
import type { Kind } from './granted';
import '../data/data.css';
import '../metadata/metadata.css';
import './permissions.css';

function Unknown({ name }: { name: string }) {
  return (
    <>
      <h1>No table {name}</h1>
      <p role="alert">This source has no such table. <Link to={addressOf(['permissions'])}>All permissions</Link></p>
    </>
  );
}

function Absent() {
  return (
    <>
      <h1>Permissions</h1>
      <p role="alert">This address has no metadata API, so permissions are not told here: a server with <code>admin_listen</code> has it there, and no other caller than the admin may ask it.</p>
    </>
  );
}

export default function PermissionsPage({ onLocked }: PageProps) {
  const { path, search } = usePlace();
  const [loaded, setLoaded] = useState<{ model: Model; served: Served | null } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const [change, setChange] = useState<MetadataChange | null>(null);
  const [told, setTold] = useState('');
  useEffect(() => {
    let isCurrent = true;
    Promise.all([loadModel(ADMIN), loadServed()]).then(
      ([model, served]) => isCurrent && (setLoaded({ model, served }), setFailure(null)),
      error => {
        if (!isCurrent) return;
        if (error instanceof SecretNeeded) onLocked(error);
        else setFailure(String(error.message ?? error));
      },
    );
    return () => void (isCurrent = false);
  }, [round]);
  const [, source, name] = path;
  const again = () => setRound(it => it + 1);
  // The forms stay as they are filled in.
  const renew = () => void loadServed().then(served => setLoaded(it => it && { ...it, served }), error => setFailure(String(error.message ?? error)));
  const done = (words: string) => {
    setChange(null);
    setTold(words);
    again();
  };
  const content = () => {
    if (failure !== null) {
      return (
        <>
          <h1>Permissions</h1>
          <p role="alert" className="weir-bad">{failure}</p>
          <button type="button" className="weir-button" onClick={again}>Try again</button>
        </>
      );
    }
    if (!loaded) return <><h1>Permissions</h1><p className="weir-note">Reading permissions …</p></>;
    const { model, served } = loaded;
    if (served === null) return <Absent />;
    if (source === undefined || name === undefined) return <Overview model={model} served={served} onChange={setChange} />;
    const entry = findEntry(model, source, name);
    if (!entry) return <Unknown name={name} />;
    const role = search.get('role') || 'user';
    const kind = KINDS.find(it => it === search.get('kind')) ?? ('select' as Kind);
    return <CellView key={`${source} ${name} ${role} ${kind} ${round}`} model={model} served={served} source={source} entry={entry} role={role} kind={kind} round={round} onChange={setChange} />;
  };
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-permissions">
      <p role="status" className="weir-told">{told}</p>
      {content()}
      {change && loaded?.served && <ReviewChange change={change} file={loaded.served.metadata} onDone={done} onStale={renew} onClose={() => setChange(null)} />}
    </main>
  );
}
