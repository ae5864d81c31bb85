// The request of a change, shown before it is sent.

import { useState } from 'react';
import { AskName } from '../metadata/ask-name';
import { Modal } from '../shell/modal';
import { Shown } from './shown';
import { send } from './writes';
import type { Change, Outcome } from './writes';

/** Characters of variables that are shown; an import can have megabytes. */
const SHOWN_MAX = 20_000;

function Differences({ change }: { change: Change }) {
  const isUpdate = change.differences.some(it => 'before' in it && 'after' in it);
  return (
    <table className="weir-diff">
      <thead><tr><th>column</th>{isUpdate && <th>before</th>}<th>{isUpdate ? 'after' : 'value'}</th></tr></thead>
      <tbody>
        {change.differences.map(it => (
          <tr key={it.column}>
            <th scope="row">{it.column}</th>
            {isUpdate && <td><del><Shown value={it.before} /></del></td>}
            <td>{'after' in it ? <ins><Shown value={it.after} /></ins> : <del><Shown value={it.before} /></del>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Props {
  change: Change;
  /** Requests of the same form that follow this one. */
  restCount: number;
  onSent: (outcome: Outcome, change: Change) => void;
  onClose: () => void;
}

export function Review({ change, restCount, onSent, onClose }: Props) {
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const mayBeSent = change.asksName === undefined || name === change.asksName;
  const variables = JSON.stringify(change.operation.variables, null, 2);
  const submit = () => {
    if (!mayBeSent || isSending) return;
    setIsSending(true);
    send(change).then(
      outcome => onSent(outcome, change),
      error => (setFailure(String(error.message ?? error)), setIsSending(false)),
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
        {change.differences.length > 0 && <Differences change={change} />}
        {restCount > 0 && <p>{restCount.toLocaleString('en')} more {restCount === 1 ? 'request' : 'requests'} of this form {restCount === 1 ? 'follows' : 'follow'} with the other rows.</p>}
        <h3>Request</h3>
        <pre tabIndex={0} aria-label="Request" data-testid="request">{change.operation.query}</pre>
        <h3>Variables</h3>
        <pre tabIndex={0} aria-label="Variables" data-testid="variables">
          {variables.slice(0, SHOWN_MAX)}{variables.length > SHOWN_MAX && `\n… ${(variables.length - SHOWN_MAX).toLocaleString('en')} more characters`}
        </pre>
        {change.asksName !== undefined && <AskName name={change.asksName} written={name} onWrite={setName} />}
        {failure && <p role="alert" className="weir-bad">{failure}</p>}
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first" data-first={change.asksName === undefined || undefined} disabled={!mayBeSent || isSending}>Send</button>
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Modal>
  );
}
