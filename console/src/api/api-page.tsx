// The page of the API: the editor, saved operations, persisted documents, tools of agents; each has an address.

import { lazy, Suspense } from 'react';
import { addressOf, Link, usePlace } from '../shell/place';
import { Parts } from '../shell/parts';
import type { PageProps } from '../shell/shell';
import '../data/data.css';
import '../metadata/metadata.css';
import './api.css';

const EditorPage = lazy(() => import('../editor/editor-page'));
const SavedPage = lazy(() => import('./saved-page').then(it => ({ default: it.SavedPage })));
const DocumentsPage = lazy(() => import('./documents-page').then(it => ({ default: it.DocumentsPage })));
const AgentsPage = lazy(() => import('./agents-page').then(it => ({ default: it.AgentsPage })));

const PARTS = [
  { part: '', title: 'Editor' },
  { part: 'saved', title: 'Saved operations' },
  { part: 'documents', title: 'Persisted documents' },
  { part: 'agents', title: 'Agents' },
];

const ApiParts = ({ current }: { current: string }) => <Parts page="api" label="Parts of the API" parts={PARTS} current={current} />;

function Part({ part, onLocked }: { part: string } & PageProps) {
  switch (part) {
    case 'saved': return <SavedPage onLocked={onLocked} />;
    case 'documents': return <DocumentsPage onLocked={onLocked} />;
    case 'agents': return <AgentsPage onLocked={onLocked} />;
    default: return <p role="alert">Nothing has this address. <Link to={addressOf(['api'])}>Editor</Link></p>;
  }
}

export default function ApiPage({ onLocked }: PageProps) {
  const { path } = usePlace();
  const part = path[1] ?? '';
  if (part === '') return <div className="weir-api-editor"><ApiParts current="" /><Suspense fallback={<main id="page" className="weir-page"><p className="weir-note">Opening …</p></main>}><EditorPage onLocked={onLocked} /></Suspense></div>;
  const title = PARTS.find(it => it.part === part)?.title ?? 'API';
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api">
      <ApiParts current={part} />
      <h1>{title}</h1>
      <Suspense fallback={<p className="weir-note">Opening …</p>}><Part part={part} onLocked={onLocked} /></Suspense>
    </main>
  );
}
