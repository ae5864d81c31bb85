// The matrix with what belongs to it: new roles, inherited roles, two roles compared, and warnings.

import { useMemo, useState } from 'react';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { Model } from '../data/model';
import { accidentsOf } from './accidents';
import { dropInherited, setInherited } from './changes';
import type { MetadataChange } from '../metadata/change';
import { Compare } from './compare';
import { InheritedForm } from './inherited-form';
import { cellAddress, Matrix } from './matrix';
import { rolesOf } from './granted';
import type { InheritedRole, Served } from '../metadata/served';

interface Props {
  model: Model;
  served: Served;
  onChange: (change: MetadataChange) => void;
}

function Chooser({ roles, value, onChange }: { roles: string[]; value: [string, string] | null; onChange: (next: [string, string]) => void }) {
  const [one, setOne] = useState(value?.[0] ?? roles[0]!);
  const [other, setOther] = useState(value?.[1] ?? roles[1] ?? roles[0]!);
  const select = (label: string, chosen: string, set: (next: string) => void) => (
    <select className="weir-field" aria-label={label} value={chosen} onChange={event => set(event.target.value)}>{roles.map(it => <option key={it}>{it}</option>)}</select>
  );
  return (
    <form
      className="weir-tools"
      onSubmit={event => {
        event.preventDefault();
        onChange([one, other]);
      }}
    >
      {select('First role', one, setOne)}
      {select('Second role', other, setOther)}
      <button type="submit" className="weir-button">Compare</button>
    </form>
  );
}

function NewRole({ onAdd }: { onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      className="weir-tools"
      onSubmit={event => {
        event.preventDefault();
        if (name.trim() !== '' && name.trim() !== 'admin') onAdd(name.trim());
        setName('');
      }}
    >
      <input className="weir-field" aria-label="Name of a new role" placeholder="new role" autoComplete="off" value={name} onChange={event => setName(event.target.value)} />
      <button type="submit" className="weir-button" disabled={name.trim() === '' || name.trim() === 'admin'}>Add a role</button>
    </form>
  );
}

export function Overview({ model, served, onChange }: Props) {
  const { search } = usePlace();
  const [added, setAdded] = useState<string[]>([]);
  // `null`: a new role is made.
  const [edited, setEdited] = useState<InheritedRole | null | undefined>(undefined);
  const known = useMemo(() => rolesOf(served), [served]);
  const roles = [...known, ...added.filter(it => !known.includes(it))];
  const accidents = useMemo(() => accidentsOf(served, model.sources, model.tables, known), [served, model, known]);
  const hasNative = served.sources.some(it => it.native);
  const pair = (search.get('compare') ?? '').split(',');
  const compared = pair.length === 2 && pair.every(it => roles.includes(it)) ? (pair as [string, string]) : null;
  const review = (role: InheritedRole) => {
    setEdited(undefined);
    onChange(setInherited(role, served.inherited_roles.find(it => it.role_name === role.role_name), served.version));
  };
  const remove = (role: InheritedRole) => {
    setEdited(undefined);
    onChange(dropInherited(role, served.version));
  };
  return (
    <>
      <h1>Permissions</h1>
      <div className="weir-tools">
        <NewRole onAdd={name => setAdded([...added, name])} />
        {known.length > 0 && <button type="button" className="weir-button" onClick={() => setEdited(null)}>New inherited role</button>}
        {served.inherited_roles.map(it => <button key={it.role_name} type="button" className="weir-button" onClick={() => setEdited(it)}>{it.role_name} = {it.role_set.join(' + ')}</button>)}
      </div>
      {roles.length === 0 && (
        <div className="weir-empty">
          <p><b>No role has a permission.</b></p>
          <p>Only the admin reads and writes. Write the name of a role above, add it, and click what it may do.</p>
        </div>
      )}
      {(roles.length > 0 || hasNative) && (
        <>
          {roles.length > 0 && <p className="weir-note">S select, I insert, U update, D delete: ● full, ◐ partial, – none; in italics what is inherited.</p>}
          <Matrix served={served} sources={model.sources} roles={roles} />
        </>
      )}
      {accidents.length > 0 && (
        <section className="weir-part" aria-label="Perhaps by accident">
          <h2>Perhaps by accident</h2>
          <ul>
            {accidents.map((it, at) => (
              <li key={at}><Link to={cellAddress(it.source, it.table, it.role, it.kind)}>{it.role} on {it.table}</Link>: {it.words}</li>
            ))}
          </ul>
        </section>
      )}
      {roles.length > 1 && (
        <section className="weir-part" aria-label="Compare two roles">
          <h2>Compare two roles</h2>
          <Chooser roles={roles} value={compared} onChange={it => go(addressOf(['permissions'], { compare: it.join(',') }))} />
          {compared && <Compare served={served} sources={model.sources} roles={compared} />}
        </section>
      )}
      {edited !== undefined && <InheritedForm role={edited} roles={roles} onReview={review} onRemove={remove} onClose={() => setEdited(undefined)} />}
    </>
  );
}
