// Runs requests as a role with session variables, or as the user of a token: the admin sees what others see.

import { useState } from 'react';
import { callerWords, setCaller, useCaller, variablesOf } from '../server/caller';

/** The session variables as they were written, in lines. */
const linesOf = (variables: Record<string, string>) =>
  Object.entries(variables).map(([name, value]) => `${name.replace(/^x-hasura-/, '')}: ${value}`).join('\n');

export function RunAs() {
  const caller = useCaller();
  const [isOpen, setIsOpen] = useState(false);
  const [role, setRole] = useState('');
  const [text, setText] = useState('');
  const [token, setToken] = useState('');
  const open = () => {
    setRole(caller.role);
    setText(linesOf(caller.variables));
    setToken(caller.token ?? '');
    setIsOpen(!isOpen);
  };
  const apply = () => {
    const sent = token.trim().replace(/^bearer\s+/i, '');
    setCaller({ role: role.trim(), variables: variablesOf(text), ...(sent ? { token: sent } : {}) });
    setIsOpen(false);
  };
  const isOther = caller.role !== '' || caller.token !== undefined;
  return (
    <div className="weir-run-as" onKeyDown={event => event.key === 'Escape' && setIsOpen(false)}>
      <button type="button" className={isOther ? 'weir-button weir-marked' : 'weir-button'} aria-expanded={isOpen} onClick={open}>
        Run as {callerWords(caller)}
      </button>
      {isOpen && (
        <form
          className="weir-pop"
          aria-label="Run as"
          onSubmit={event => {
            event.preventDefault();
            apply();
          }}
        >
          <label>Role <input autoFocus placeholder="admin" autoComplete="off" value={role} onChange={event => setRole(event.target.value)} /></label>
          <label>
            Session variables
            <textarea placeholder="user-id: ann" rows={3} spellCheck={false} value={text} onChange={event => setText(event.target.value)} />
          </label>
          <p className="weir-note">One per line: user-id: ann is x-hasura-user-id.</p>
          <label>
            Token
            <textarea placeholder="eyJ… of a user, sent instead of the secret" rows={2} spellCheck={false} value={token} onChange={event => setToken(event.target.value)} />
          </label>
          <p className="weir-actions">
            <button type="submit" className="weir-button weir-first">Apply</button>
            <button
              type="button" className="weir-button"
              onClick={() => (setCaller({ role: '', variables: {} }), setIsOpen(false))}
            >
              Back to admin
            </button>
          </p>
        </form>
      )}
    </div>
  );
}
