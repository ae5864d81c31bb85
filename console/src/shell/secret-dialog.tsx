// Asks for the admin secret when the server wants one.

import { useState } from 'react';

interface Props {
  /** Why the last secret was refused. */
  refusal: string | null;
  onSecret: (secret: string) => void;
  /** Goes back without a secret, where the server answers callers who have none. */
  onCancel?: (() => void) | undefined;
}

export function SecretDialog({ refusal, onSecret, onCancel }: Props) {
  const [secret, setSecret] = useState('');
  return (
    <main className="weir-veil">
      <form
        className="weir-dialog"
        onSubmit={event => {
          event.preventDefault();
          onSecret(secret);
        }}
      >
        <h1>Admin secret</h1>
        {refusal ? <p role="alert">{refusal}</p> : <p>This server asks for its admin secret.</p>}
        <input
          type="password"
          aria-label="Admin secret"
          autoComplete="off"
          autoFocus
          value={secret}
          onChange={event => setSecret(event.target.value)}
        />
        <button type="submit">Open the console</button>
        {onCancel && <button type="button" onClick={onCancel}>Go on without it</button>}
        <p className="weir-note">It stays in this tab and is forgotten when the tab closes.</p>
      </form>
    </main>
  );
}
