// A command that changes no metadata, such as one more delivery: its request is shown before it is sent.

import { useState } from 'react';
import { jsonOf } from '../editor/code/snippet';
import { change as sendCommand } from '../server/requests';
import { Modal } from '../shell/modal';
import { AskName } from './ask-name';

export interface Command {
  title: string;
  /** What the server does then. */
  words: string;
  /** What is sent to /v1/metadata. */
  request: { type: string; args: object };
  /** A text that has to be written before it is sent. */
  asksName?: string;
}

interface Props {
  command: Command;
  onDone: (words: string) => void;
  onClose: () => void;
}

export function ReviewCommand({ command, onDone, onClose }: Props) {
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const mayBeSent = !isSending && (command.asksName === undefined || name === command.asksName);
  const submit = () => {
    if (!mayBeSent) return;
    setIsSending(true);
    sendCommand(command.request).then(
      () => onDone(`${command.title}: done.`),
      error => (setFailure(String(error.message ?? error)), setIsSending(false)),
    );
  };
  return (
    <Modal title={command.title} onClose={onClose}>
      <form onSubmit={event => (event.preventDefault(), submit())}>
        <p>{command.words}</p>
        <h3>Request to /v1/metadata</h3>
        <pre tabIndex={0} aria-label="Request" data-testid="request">{jsonOf(command.request, 2)}</pre>
        {command.asksName !== undefined && <AskName name={command.asksName} written={name} onWrite={setName} />}
        {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first" data-first={command.asksName === undefined || undefined} disabled={!mayBeSent}>Send</button>
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Modal>
  );
}
