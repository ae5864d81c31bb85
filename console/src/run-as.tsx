// Runs requests as a role with session variables: the admin tries what others see.

import { useState } from 'react';
import { useGraphiQLActions } from '@graphiql/react';
import { setCaller, variablesOf } from './requests';

export function RunAs() {
  const { introspect } = useGraphiQLActions();
  const [role, setRole] = useState('');
  const [text, setText] = useState('');
  const [shown, setShown] = useState('');
  const change = (nextRole: string, nextText: string) => {
    setRole(nextRole);
    setText(nextText);
    setCaller({ role: nextRole.trim(), variables: variablesOf(nextText) });
  };
  // The schema is the role's; it is asked for once the role is written.
  const show = () => {
    if (shown === role.trim()) return;
    setShown(role.trim());
    void introspect();
  };
  return (
    <form
      className="weir-run-as"
      onSubmit={event => {
        event.preventDefault();
        show();
      }}
    >
      <label>
        run as{' '}
        <input aria-label="Role" placeholder="admin" size={10} autoComplete="off" value={role}
          onChange={event => change(event.target.value, text)} onBlur={show} />
      </label>
      <textarea aria-label="Session variables" placeholder="user-id: ann" rows={1} cols={16} spellCheck={false} value={text}
        title="Session variables, one per line: user-id: ann is x-hasura-user-id" onChange={event => change(role, event.target.value)} />
    </form>
  );
}
