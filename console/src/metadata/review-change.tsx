// A change of the metadata before it is made: what differs, the request, and what to do where the server writes no file.

import { useMemo, useState } from 'react';
import { change as sendChange, VersionConflict } from '../server/requests';
import { Modal } from '../shell/modal';
import { AskName } from './ask-name';
import { diffOf, foldLines } from './change';
import type { MetadataChange } from './change';
import { isSame } from './served';

/** Characters of a request that are shown; an import can have megabytes. */
const SHOWN_MAX = 20_000;

/** Lines of a difference that are shown. */
const LINES_MAX = 5000;

interface Props {
  change: MetadataChange;
  /** Where changes are written; null: the server has no such place. */
  file: string | null;
  onDone: (words: string) => void;
  /** The metadata was changed by somebody else: the page reads it again. */
  onStale: () => void;
  onClose: () => void;
}

function Copy({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setIsCopied(true), () => setIsCopied(false));
  return <button type="button" className="weir-button" onClick={copy}>{isCopied ? 'Copied' : 'Copy YAML'}</button>;
}

function ByHand({ change, why }: { change: MetadataChange; why: string }) {
  return (
    <>
      <p role="status" className="weir-told">{why}</p>
      <h3>YAML</h3>
      <p>Write this {change.place}:</p>
      <pre tabIndex={0} aria-label="YAML" data-testid="yaml">{change.yaml}</pre>
      <p className="weir-actions"><Copy text={change.yaml} /></p>
      <p className="weir-note">The server reads its files again by <code>POST /v1/reload</code>, by the signal HUP, or when it is started.</p>
    </>
  );
}

export function ReviewChange({ change, file, onDone, onStale, onClose }: Props) {
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isStale, setIsStale] = useState(false);
  const mayBeSent = !isSending && !isStale && (change.asksName === undefined || name === change.asksName);
  // An import can have megabytes, and each key in the field below would compare them anew.
  const { isNothing, request, lines } = useMemo(() => ({
    isNothing: isSame(change.before, change.after),
    request: JSON.stringify(change.request, null, 2),
    lines: foldLines(diffOf(change.before, change.after)),
  }), [change]);
  const submit = () => {
    if (!mayBeSent) return;
    setIsSending(true);
    sendChange(change.request).then(
      () => onDone(`${change.title}: done.`),
      error => {
        setFailure(String(error.message ?? error));
        setIsSending(false);
        // The same request would be refused again, and what it is based on may be another by now.
        if (!(error instanceof VersionConflict)) return;
        setIsStale(true);
        onStale();
      },
    );
  };
  return (
    <Modal title={change.title} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault();
          submit();
        }}
      >
        {change.warning !== undefined && <p role="alert" className="weir-bad" data-testid="warning">{change.warning}</p>}
        <h3>Difference</h3>
        {isNothing && <p>Nothing differs.</p>}
        <pre tabIndex={0} aria-label="Difference" data-testid="difference" className="weir-lines">
          {lines.slice(0, LINES_MAX).map((it, at) => {
            const line = `${it.sign} ${it.text}`;
            if (it.sign === '+') return <ins key={at}>{line}</ins>;
            return it.sign === '-' ? <del key={at}>{line}</del> : <span key={at}>{line}</span>;
          })}
        </pre>
        {lines.length > LINES_MAX && <p>{(lines.length - LINES_MAX).toLocaleString('en')} more lines differ or stand beside them.</p>}
        {file === null ? (
          <ByHand change={change} why="This server has no file of metadata that it may write: `metadata` in weir.yaml, or --metadata, names one. Until then its own files are changed by hand." />
        ) : (
          <>
            <h3>Request to /v1/metadata</h3>
            <pre tabIndex={0} aria-label="Request" data-testid="request">{request.slice(0, SHOWN_MAX)}{request.length > SHOWN_MAX && `\n… ${(request.length - SHOWN_MAX).toLocaleString('en')} more characters`}</pre>
            <p className="weir-note">It is written to {file}; comments in its files are lost.</p>
            {change.asksName !== undefined && <AskName name={change.asksName} written={name} onWrite={setName} />}
            {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
            {isStale && <p role="status" className="weir-told">The metadata was changed meanwhile and has been read again. Cancel, look at what is there now, and review the change again.</p>}
            {failure !== null && /not-supported|cannot be written|read-only/i.test(failure) && <ByHand change={change} why="Write the change by hand:" />}
            <p className="weir-actions">
              <button type="submit" className="weir-button weir-first" data-first={change.asksName === undefined || undefined} disabled={!mayBeSent || isNothing}>Send</button>
              <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
            </p>
          </>
        )}
      </form>
    </Modal>
  );
}
