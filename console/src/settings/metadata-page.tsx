// Export of the metadata, and import with the difference first.

import { useEffect, useRef, useState } from 'react';
import { yamlOf } from '../metadata/change';
import type { MetadataChange } from '../metadata/change';
import { NoMetadata } from '../metadata/no-metadata';
import { ReviewChange } from '../metadata/review-change';
import { isSame } from '../metadata/served';
import type { Json } from '../metadata/served';
import { jsonOf } from '../editor/code/snippet';
import { command } from '../server/requests';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { adviceFor } from './server-facts';
import { exportMetadata, FILE_MAX, importChange, readDocument, tryDocument } from './import';
import type { Exported, Trial } from './import';

/** Characters of the metadata that are shown. */
const SHOWN_MAX = 100_000;

function save(text: string, name: string) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

function Export({ exported }: { exported: Exported }) {
  const [isShown, setIsShown] = useState(false);
  const text = isShown ? yamlOf(exported.metadata) : '';
  return (
    <section aria-label="Export">
      <h2>Export</h2>
      <p className="weir-note">What tables, permissions, events and operations the metadata says. Values that it takes from the environment stay names; addresses and headers that are written out stand in it as they are. Settings of weir.yaml are not among it.</p>
      {exported.unread_files && <p role="alert" className="weir-bad">It lacks what these files hold, which cannot be read: {exported.unread_files.join('; ')}</p>}
      <p className="weir-actions">
        <button type="button" className="weir-button" onClick={() => save(`${jsonOf(exported.metadata, 2)}\n`, 'metadata.json')}>Save as metadata.json</button>
        <button type="button" className="weir-button" aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>Show</button>
      </p>
      {isShown && <pre className="weir-code" tabIndex={0} aria-label="Metadata" data-testid="metadata">{text.slice(0, SHOWN_MAX)}{text.length > SHOWN_MAX && `\n… ${(text.length - SHOWN_MAX).toLocaleString('en')} more characters`}</pre>}
    </section>
  );
}

function Tried({ trial }: { trial: Trial }) {
  const { inconsistent_objects: objects, warnings = [] } = trial;
  return (
    <div data-testid="trial">
      {objects.length === 0 ? <p role="status">All of it would be served.</p> : <p role="alert" className="weir-bad">The server would leave out:</p>}
      {objects.length > 0 && <ul className="weir-list">{objects.map((it, at) => <li key={at}><b>{it.name}</b>: {it.reason}. {adviceFor(it)}</li>)}</ul>}
      {warnings.length > 0 && <><p>It would not honour:</p><ul className="weir-list">{warnings.map(it => <li key={it.message}>{it.message}</li>)}</ul></>}
    </div>
  );
}

function Import({ exported, onChange }: { exported: Exported; onChange: (change: MetadataChange) => void }) {
  const [text, setText] = useState('');
  const [trial, setTrial] = useState<{ of: string; it: Trial } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isTrying, setIsTrying] = useState(false);
  const { document: read, fault } = text.trim() === '' ? { document: null, fault: null } : readDocument(text);
  const isEqual = read !== null && isSame(read, exported.metadata);
  const tried = trial?.of === text ? trial.it : null;
  const choose = (file: File | undefined) => {
    if (!file) return;
    if (file.size > FILE_MAX) return setFailure(`The file has more than ${FILE_MAX >> 20} MiB.`);
    void file.text().then(it => (setText(it), setFailure(null)));
  };
  const tryIt = (it: Json) => {
    setIsTrying(true);
    setFailure(null);
    tryDocument(it).then(found => setTrial({ of: text, it: found }), error => setFailure(String(error.message ?? error))).finally(() => setIsTrying(false));
  };
  return (
    <section aria-label="Import">
      <h2>Import</h2>
      <p className="weir-note">It takes the place of all that the metadata says now. <b>Try</b> asks the server what it would leave out; what differs is shown before it is sent.</p>
      {exported.unread_files && <p role="alert" className="weir-bad">It also removes these files, which cannot be read: {exported.unread_files.join('; ')}</p>}
      <label>File, JSON<input type="file" accept=".json,application/json" onChange={event => choose(event.target.files?.[0])} /></label>
      <label>Or its text<textarea className="weir-field" rows={6} spellCheck={false} value={text} onChange={event => (setText(event.target.value), setFailure(null))} /></label>
      {fault !== null && <p role="alert" className="weir-bad">{fault}</p>}
      {isEqual && <p role="status">It says what the server has: nothing differs.</p>}
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {tried && <Tried trial={tried} />}
      <p className="weir-actions">
        <button type="button" className="weir-button" disabled={read === null || isTrying} onClick={() => read !== null && tryIt(read)}>Try</button>
        <button
          type="button" className="weir-button weir-first" disabled={read === null || isEqual}
          onClick={() => read !== null && onChange(importChange(exported, read, (tried?.inconsistent_objects.length ?? 0) > 0))}
        >
          Review the change
        </button>
      </p>
    </section>
  );
}

interface Look {
  exported: Exported;
  file: string | null;
}

/** Nothing where this address has no metadata API. */
async function look(): Promise<Look | null> {
  const state = await command<{ served: { metadata: string | null } }>('dump_internal_state', {});
  return state ? { exported: await exportMetadata(), file: state.served.metadata } : null;
}

export function MetadataPage({ onLocked }: PageProps) {
  const [round, setRound] = useState(0);
  const [imports, setImports] = useState(0);
  const [change, setChange] = useState<MetadataChange | null>(null);
  const [words, setWords] = useState('');
  const pending = useRef('');
  const { value: found, failure } = useLoaded(async () => ({ look: await look() }), [round], onLocked);
  useEffect(() => {
    if (pending.current === '') return;
    setWords(pending.current);
    pending.current = '';
  }, [found]);
  const again = () => setRound(it => it + 1);
  if (failure !== null) return <><p role="alert" className="weir-bad">{failure}</p><button type="button" className="weir-button" onClick={again}>Try again</button></>;
  if (!found) return <p className="weir-note">Reading the metadata …</p>;
  if (!found.look) return <NoMetadata />;
  const { exported, file } = found.look;
  return (
    <>
      <p role="status" className="weir-told">{words}</p>
      <p>{file === null ? 'This server writes no metadata: `metadata` in weir.yaml, or --metadata, names a file or folder.' : <>Changes are written to <code>{file}</code>.</>}</p>
      <Export exported={exported} />
      <Import key={imports} exported={exported} onChange={setChange} />
      {change && (
        <ReviewChange
          change={change} file={file} onStale={again} onClose={() => setChange(null)}
          onDone={it => {
            setChange(null);
            setImports(imports + 1);
            pending.current = it;
            again();
          }}
        />
      )}
    </>
  );
}
