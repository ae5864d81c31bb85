// Saved operations: REST endpoints, and collections with the roles that may run them.

import { useEffect, useRef, useState } from 'react';
import { handOver } from '../editor/hand-over';
import type { MetadataChange } from '../metadata/change';
import { NoMetadata } from '../metadata/no-metadata';
import { ReviewChange } from '../metadata/review-change';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { dropEndpoint, dropQuery, endpointsOf } from './changes';
import { SaveForm } from './save-form';
import { loadSaved } from './saved';
import type { Saved, ServedCollection, ServedEndpoint } from './saved';
import { TryForm } from './try-form';

const ORIGINS = { metadata: 'metadata', settings: 'weir.yaml', file: 'file of documents' };

export function openInEditor(query: string) {
  handOver(query, {});
  go(addressOf(['api']));
}

function Endpoint({ saved, endpoint, isOpen, onChange }: { saved: Saved; endpoint: ServedEndpoint; isOpen: boolean; onChange: (change: MetadataChange) => void }) {
  const own = saved.metadata.rest_endpoints.find(it => it.name === endpoint.name);
  const mayBeDropped = own !== undefined && endpoint.origin === 'metadata';
  return (
    <li>
      <div className="weir-line">
        <Link to={addressOf(['api', 'saved'], isOpen ? {} : { try: endpoint.name })} aria-expanded={isOpen} className="weir-line-name">{endpoint.name}</Link>
        <code>{endpoint.methods.join(' ')} /api/rest/{endpoint.url}</code>
        <span className="weir-note">{ORIGINS[endpoint.origin]}{endpoint.comment ? `: ${endpoint.comment}` : ''}</span>
        <span className="weir-space" />
        <button type="button" className="weir-button" onClick={() => openInEditor(endpoint.query)} aria-label={`Open ${endpoint.name} in the editor`}>Editor</button>
        {mayBeDropped && <button type="button" className="weir-button" onClick={() => onChange(dropEndpoint(saved, own))} aria-label={`Delete ${endpoint.name}`}>Delete</button>}
      </div>
      {isOpen && <TryForm endpoint={endpoint} />}
    </li>
  );
}

const allowedWords = ({ allowed }: ServedCollection, isOn: boolean) => {
  if (!isOn) return 'the allow list is off';
  if (allowed === null) return 'not in the allow list';
  return allowed.global ? 'every role' : allowed.roles.length === 0 ? 'no role' : `roles ${allowed.roles.join(', ')}`;
};

function Collection({ saved, collection, onChange }: { saved: Saved; collection: ServedCollection; onChange: (change: MetadataChange) => void }) {
  const own = collection.origin === 'metadata' ? saved.metadata.query_collections.find(it => it.name === collection.name) : undefined;
  return (
    <section className="weir-part" aria-label={collection.name}>
      <div className="weir-part-head">
        <h3>{collection.name}</h3>
        <span className="weir-note">{ORIGINS[collection.origin]}{collection.file ? ` ${collection.file}` : ''}, {allowedWords(collection, saved.page.allow_list)}</span>
      </div>
      {own ? (
        <ul className="weir-list">
          {own.definition.queries.map(query => {
            const users = endpointsOf(saved, own.name, query.name);
            return (
              <li key={query.name} className="weir-line">
                <span className="weir-line-name">{query.name}</span>
                {users.length > 0 && <span className="weir-note">REST endpoint {users.map(it => it.name).join(', ')}</span>}
                <span className="weir-space" />
                <button type="button" className="weir-button" onClick={() => openInEditor(query.query)} aria-label={`Open ${query.name} in the editor`}>Editor</button>
                {users.length === 0 && <button type="button" className="weir-button" onClick={() => onChange(dropQuery(saved, own, query))} aria-label={`Delete ${query.name} of ${own.name}`}>Delete</button>}
              </li>
            );
          })}
        </ul>
      ) : (
        <p><Link to={addressOf(['api', 'documents'], { search: '' })}>{collection.documents.toLocaleString('en')} {collection.documents === 1 ? 'document' : 'documents'}</Link></p>
      )}
    </section>
  );
}

function Lists({ saved, tried, onChange }: { saved: Saved; tried: string | null; onChange: (change: MetadataChange) => void }) {
  const { endpoints, collections } = saved.page;
  const isKnown = tried === null || endpoints.some(it => it.name === tried);
  return (
    <>
      {!isKnown && <p role="alert">There is no REST endpoint {tried}. <Link to={addressOf(['api', 'saved'])}>All saved operations</Link></p>}
      {saved.faults.length > 0 && (
        <div role="alert"><p className="weir-bad">The server left out:</p><ul className="weir-list">{saved.faults.map(it => <li key={it.name}><b>{it.name}</b>: {it.reason}</li>)}</ul></div>
      )}
      <section aria-label="REST endpoints">
        <h2>REST endpoints</h2>
        {endpoints.length === 0
          ? <p className="weir-note">None yet. Write an operation in the <Link to={addressOf(['api'])}>editor</Link>, and save it from its panel <i>Code</i>; or <Link to={addressOf(['api', 'saved'], { save: 'rest' })}>write one here</Link>.</p>
          : <ul className="weir-list" data-testid="endpoints">{endpoints.map(it => <Endpoint key={it.name} saved={saved} endpoint={it} isOpen={it.name === tried} onChange={onChange} />)}</ul>}
      </section>
      <section aria-label="Collections">
        <h2>Collections and the allow list</h2>
        <p className="weir-note">{saved.page.allow_list ? 'The allow list is on: other callers than the admin run what stands in a collection that is theirs, and nothing else.' : 'The allow list is off: every operation may run. operations.allow_list in weir.yaml turns it on.'}</p>
        {collections.length === 0 && <p className="weir-note">None yet. <Link to={addressOf(['api', 'saved'], { save: 'allow' })}>Save an operation</Link></p>}
        {collections.map(it => <Collection key={it.name} saved={saved} collection={it} onChange={onChange} />)}
      </section>
    </>
  );
}

export function SavedPage({ onLocked }: PageProps) {
  const { search } = usePlace();
  const [round, setRound] = useState(0);
  const [change, setChange] = useState<MetadataChange | null>(null);
  const [words, setWords] = useState('');
  const pending = useRef('');
  const { value: found, failure } = useLoaded(async () => ({ saved: await loadSaved() }), [round], onLocked);
  useEffect(() => {
    if (pending.current === '') return;
    setWords(pending.current);
    pending.current = '';
  }, [found]);
  const again = () => setRound(it => it + 1);
  if (failure !== null) return <><p role="alert" className="weir-bad">{failure}</p><button type="button" className="weir-button" onClick={again}>Try again</button></>;
  if (!found) return <p className="weir-note">Reading what is saved …</p>;
  if (!found.saved) return <NoMetadata />;
  const { saved } = found;
  const kind = search.get('save');
  return (
    <>
      <p role="status" className="weir-told">{words}</p>
      {kind === 'allow' || kind === 'rest' ? (
        <SaveForm key={kind} saved={saved} kind={kind} query={search.get('query') ?? ''} onChange={setChange} onClose={() => go(addressOf(['api', 'saved']))} />
      ) : (
        <p className="weir-actions">
          <Link className="weir-button" to={addressOf(['api', 'saved'], { save: 'rest' })}>New REST endpoint</Link>
          <Link className="weir-button" to={addressOf(['api', 'saved'], { save: 'allow' })}>New entry of the allow list</Link>
        </p>
      )}
      <Lists saved={saved} tried={search.get('try')} onChange={setChange} />
      {change && (
        <ReviewChange
          change={change} file={saved.file} onStale={again} onClose={() => setChange(null)}
          onDone={it => {
            setChange(null);
            pending.current = it;
            go(addressOf(['api', 'saved']), { replace: true });
            again();
          }}
        />
      )}
    </>
  );
}
