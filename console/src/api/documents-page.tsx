// Persisted documents as the server has them, page by page, with the identifiers by which clients name them.

import { useEffect, useState } from 'react';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { openInEditor } from './saved-page';
import { loadDocuments } from './saved';
import type { DocumentsPage as Page, StoredDocument } from './saved';

function Document({ document }: { document: StoredDocument }) {
  const ids = [...document.ids, `sha256:${document.hash}`];
  return (
    <li>
      <details>
        <summary><b>{document.name}</b> <span className="weir-note">{document.collection}</span> <code>{document.ids[0] ?? `sha256:${document.hash.slice(0, 16)}…`}</code></summary>
        <ul className="weir-list" aria-label={`Identifiers of ${document.name}`}>{ids.map(it => <li key={it}><code>{it}</code></li>)}</ul>
        <pre className="weir-code" tabIndex={0} aria-label={`Text of ${document.name}`}>{document.text}</pre>
        <p className="weir-actions"><button type="button" className="weir-button" onClick={() => openInEditor(document.text)}>Open in editor</button></p>
      </details>
    </li>
  );
}

function Settings({ page }: { page: Page }) {
  return (
    <p className="weir-note">
      {page.require_id ? 'Texts are refused: clients send identifiers alone.' : 'Texts are taken, too.'}{' '}
      {page.automatic ? 'Clients may store texts by their hash (automatic persisted queries); those are not listed.' : 'Clients store nothing by themselves.'}
    </p>
  );
}

const EXAMPLE = `operations:
  persisted:
    files:
      - {path: web/persisted-query-manifest.json, collection: web}`;

export function DocumentsPage({ onLocked }: PageProps) {
  const { search } = usePlace();
  const wanted = search.get('search') ?? '';
  const after = Math.max(0, Math.trunc(Number(search.get('after'))) || 0);
  const [text, setText] = useState(wanted);
  useEffect(() => setText(wanted), [wanted]);
  const [round, setRound] = useState(0);
  const { value: page, failure } = useLoaded(() => loadDocuments(after, wanted.replace(/^sha256:/i, '')), [wanted, after, round], onLocked);
  if (failure !== null) return <><p role="alert" className="weir-bad">{failure}</p><button type="button" className="weir-button" onClick={() => setRound(round + 1)}>Try again</button></>;
  if (!page) return <p className="weir-note">Reading the documents …</p>;
  const isEmpty = page.total === 0 && wanted === '';
  return (
    <>
      <Settings page={page} />
      {isEmpty ? (
        <div className="weir-empty">
          <p><b>No document is stored.</b></p>
          <p>Name the file that your build tool writes in weir.yaml, or <Link to={addressOf(['api', 'saved'], { save: 'allow' })}>save an operation</Link>:</p>
          <pre className="weir-code" tabIndex={0} aria-label="Example">{EXAMPLE}</pre>
        </div>
      ) : (
        <>
          <form role="search" className="weir-actions" onSubmit={event => (event.preventDefault(), go(addressOf(['api', 'documents'], { search: text.trim() })))}>
            <input type="search" aria-label="Search documents" placeholder="Name, identifier or text" value={text} onChange={event => setText(event.target.value)} />
            <button type="submit" className="weir-button">Search</button>
          </form>
          <p role="status" className="weir-note" data-testid="documents-count">{page.total === 0 ? `No document has “${wanted}” in it.` : page.documents.length === 0 ? `There are only ${page.total.toLocaleString('en')}.` : `${after + 1} to ${after + page.documents.length} of ${page.total.toLocaleString('en')}`}</p>
          <ul className="weir-list" data-testid="documents">{page.documents.map(it => <Document key={`${it.collection} ${it.name}`} document={it} />)}</ul>
          <p className="weir-actions">
            {after > 0 && <Link className="weir-button" to={addressOf(['api', 'documents'], { search: wanted, after: String(Math.max(0, after - 100)) })}>Back</Link>}
            {page.next !== null && <Link className="weir-button" to={addressOf(['api', 'documents'], { search: wanted, after: String(page.next) })}>Next</Link>}
          </p>
        </>
      )}
    </>
  );
}
