// The types of a native source as text, and the migration that a change of them would need; nothing is changed here.

import { useRef, useState } from 'react';
import { askOperator } from '../server/requests';
import { diffLines } from '../metadata/change';
import type { Catalog } from './catalog';

interface Plan {
  nothing: boolean;
  changes: string[];
  builds: string[];
  refusals: { what: string; mend: string; allow: string | null }[];
  statements: string[];
  warnings: { line: number; column: number; message: string }[];
}

/** A word of a shell. */
const quoted = (text: string) => (/^[\w./:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** True for a store in PostgreSQL, whose address has a password that is not told. */
const isSecret = (store: string) => store.startsWith('the database `');

/** The store is always named: it need not be beside the types. */
const storeOption = (store: string) => ` --store ${isSecret(store) ? '"$STORE"' : quoted(`sqlite:${store}`)}`;

function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setIsCopied(true), () => setIsCopied(false));
  return <button type="button" className="weir-button" onClick={copy}>{isCopied ? 'Copied' : label}</button>;
}

interface PlanProps {
  plan: Plan;
  allowed: string[];
  before: string;
  after: string;
  file: string;
  store: string;
  onAllow: (names: string[]) => void;
  onPlace: (line: number, column: number) => void;
}

function PlanView({ plan, allowed, before, after, file, store, onAllow, onPlace }: PlanProps) {
  const options = allowed.map(it => ` --allow-data-loss ${quoted(it)}`).join('');
  const commandLine = `weir migrate ${quoted(file)}${storeOption(store)}${options}`;
  return (
    <section className="weir-part" aria-label="Plan of the migration" data-testid="plan">
      <h2>Plan of the migration</h2>
      {plan.nothing && <p role="status">Nothing changes in the store.</p>}
      {plan.refusals.length > 0 && (
        <>
          <p role="alert" className="weir-bad">The data does not allow it as it is.</p>
          <ul className="weir-list">
            {plan.refusals.map(it => (
              <li key={it.what}>
                <b>{it.what}</b>: {it.mend}
                {it.allow !== null && <> <button type="button" className="weir-button" onClick={() => onAllow([...allowed, it.allow!])}>Plan it with the loss of {it.allow}</button></>}
              </li>
            ))}
          </ul>
        </>
      )}
      {allowed.length > 0 && <p className="weir-note">Planned with the loss of {allowed.join(', ')}. <button type="button" className="weir-button" onClick={() => onAllow([])}>Without it</button></p>}
      {plan.changes.length + plan.builds.length > 0 && (
        <ol className="weir-list" data-testid="steps">
          {plan.changes.map(it => <li key={it}>{it}</li>)}
          {plan.builds.map(it => <li key={it}>build index <code>{it}</code> in the background</li>)}
        </ol>
      )}
      {plan.warnings.length > 0 && (
        <>
          <h3>Warnings</h3>
          <ul className="weir-list">
            {plan.warnings.map((it, at) => <li key={at}><button type="button" className="weir-button" onClick={() => onPlace(it.line, it.column)}>{it.line}:{it.column}</button> {it.message}</li>)}
          </ul>
        </>
      )}
      <h3>Difference</h3>
      <pre className="weir-code weir-lines" tabIndex={0} aria-label="Difference of the types">
        {diffLines(before.split(/\r?\n/), after.split(/\r?\n/)).map((it, at) => {
          const line = `${it.sign} ${it.text}`;
          if (it.sign === '+') return <ins key={at}>{line}</ins>;
          return it.sign === '-' ? <del key={at}>{line}</del> : <span key={at}>{line}</span>;
        })}
      </pre>
      {plan.statements.length > 0 && (
        <details>
          <summary>Statements ({plan.statements.length})</summary>
          <pre className="weir-code" tabIndex={0} aria-label="Statements">{plan.statements.map(it => `${it};`).join('\n\n')}</pre>
        </details>
      )}
      {!plan.nothing && (
        <>
          <h3>To make the change</h3>
          <p>Write the text to <code>{file}</code>, then run{isSecret(store) && <>, with the <code>store</code> of this source in weir.yaml for <code>$STORE</code></>}:</p>
          <pre className="weir-code" tabIndex={0} aria-label="Command" data-testid="command">{commandLine}</pre>
          <p className="weir-actions"><Copy text={after} label="Copy the types" /><Copy text={commandLine} label="Copy the command" /></p>
          <p className="weir-note">The server takes the file over by <code>POST /v1/reload</code> or when it is started. This page changes nothing.</p>
        </>
      )}
    </section>
  );
}

/** Where the draft of a source's types is kept while the tab is open. */
const draftKey = (source: string) => `weir.types.${source}`;

/** The draft of types that are still served as they were when it was begun. */
function draftOf(source: string, before: string): string {
  const kept = sessionStorage.getItem(draftKey(source));
  const draft = kept === null ? null : JSON.parse(kept) as { before: string; text: string };
  return draft?.before === before ? draft.text : before;
}

function keepDraft(source: string, before: string, text: string) {
  if (text === before) sessionStorage.removeItem(draftKey(source));
  else sessionStorage.setItem(draftKey(source), JSON.stringify({ before, text }));
}

export function TypesEditor({ source, catalog }: { source: string; catalog: Catalog }) {
  const before = catalog.sdl ?? '';
  const [text, setShown] = useState(() => draftOf(source, before));
  const setText = (next: string) => (setShown(next), keepDraft(source, before, next));
  const [found, setFound] = useState<{ plan: Plan; text: string; allowed: string[] } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const ask = (allowed: string[]) => {
    setIsAsking(true);
    setFailure(null);
    askOperator<Plan>('/admin/schema/plan', { source, sdl: text, allow_data_loss: allowed }).then(
      plan => setFound({ plan, text, allowed }),
      error => (setFound(null), setFailure(String(error.message ?? error))),
    ).finally(() => setIsAsking(false));
  };
  const show = (line: number, column: number) => {
    const at = text.split('\n').slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0) + column - 1;
    area.current?.focus();
    area.current?.setSelectionRange(at, at);
  };
  return (
    <>
      <section className="weir-part" aria-label="Types">
        <h2>Types</h2>
        <p className="weir-note">{catalog.file}, stored in {catalog.store}. A change here shows what its migration would do.</p>
        <textarea
          ref={area} className="weir-field weir-sdl" aria-label="Types in GraphQL's schema language" spellCheck={false} autoComplete="off"
          value={text} onChange={event => setText(event.target.value)}
          rows={Math.min(30, Math.max(10, text.split('\n').length + 1))}
        />
        <p className="weir-actions">
          <button type="button" className="weir-button weir-first" disabled={isAsking || text.trim() === ''} onClick={() => ask([])}>{isAsking ? 'Planning …' : 'Show the plan'}</button>
          <button type="button" className="weir-button" disabled={text === before} onClick={() => (setText(before), setFound(null), setFailure(null))}>Back to what is served</button>
        </p>
        {failure !== null && <pre role="alert" className="weir-code weir-bad" data-testid="mistakes">{failure}</pre>}
      </section>
      {found && found.text !== text && <p role="status" className="weir-note">The text was changed since this plan was made.</p>}
      {found && <PlanView plan={found.plan} allowed={found.allowed} before={before} after={found.text} file={catalog.file ?? ''} store={catalog.store ?? ''} onAllow={ask} onPlace={show} />}
    </>
  );
}
