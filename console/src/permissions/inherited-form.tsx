// A role that is made of others.

import { useState } from 'react';
import { Modal } from '../shell/modal';
import type { InheritedRole } from '../metadata/served';

interface Props {
  /** The role that is changed; null: a new one. */
  role: InheritedRole | null;
  roles: string[];
  onReview: (role: InheritedRole) => void;
  onRemove: (role: InheritedRole) => void;
  onClose: () => void;
}

export function InheritedForm({ role, roles, onReview, onRemove, onClose }: Props) {
  const [name, setName] = useState(role?.role_name ?? '');
  const [chosen, setChosen] = useState<string[]>(role?.role_set ?? []);
  const open = roles.filter(it => it !== name);
  const isNew = role === null;
  const isTaken = isNew && roles.includes(name.trim());
  return (
    <Modal title={isNew ? 'New inherited role' : `Role ${role.role_name}`} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault();
          onReview({ role_name: name.trim(), role_set: chosen });
        }}
      >
        <p>It sees each row and cell that one of its parents sees, and writes where all of them have the same permission.</p>
        <label>Name <input className="weir-field" data-first autoComplete="off" readOnly={!isNew} value={name} onChange={event => setName(event.target.value)} /></label>
        {isTaken && <p role="alert" className="weir-bad">There is a role of this name.</p>}
        <fieldset className="weir-part">
          <legend>Parents</legend>
          <div className="weir-names">
            {open.map(it => (
              <label key={it}><input type="checkbox" checked={chosen.includes(it)} onChange={() => setChosen(chosen.includes(it) ? chosen.filter(old => old !== it) : [...chosen, it])} /> {it}</label>
            ))}
          </div>
        </fieldset>
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first" disabled={name.trim() === '' || isTaken || chosen.length === 0}>Review the change</button>
          {role && <button type="button" className="weir-button" onClick={() => onRemove(role)}>Remove the role</button>}
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
    </Modal>
  );
}
