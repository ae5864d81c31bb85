// One cell of the matrix: the permission of a role on a table, and the rows that it sees.

import { useEffect, useMemo, useState } from 'react';
import { useCaller, variablesOf } from '../server/caller';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { Model } from '../data/model';
import type { Entry } from '../data/sources';
import { yamlOf } from '../metadata/change';
import { dropPermission, setPermission } from './changes';
import type { MetadataChange } from '../metadata/change';
import type { PermissionPlace } from './changes';
import { cellAddress } from './matrix';
import { PermissionForm } from './permission-form';
import { Preview } from './preview';
import type { Verb } from './reason';
import { findServed } from '../metadata/served';
import { entryOf, grantedTo, heldBy, KINDS, parentsWith, variablesIn } from './granted';
import type { Json, Served } from '../metadata/served';
import type { Kind } from './granted';
import { contextOf, loadStoredColumns } from './table-context';
import type { StoredColumns } from './table-context';
import { metadataName } from '../metadata/table-name';
interface Props {
  model: Model;
  served: Served;
  source: string;
  entry: Entry;
  role: string;
  kind: Kind;
  round: number;
  onChange: (change: MetadataChange) => void;
}

/** Claims of a token, a line each. */
const claimsOfToken = (text: string): Record<string, string> =>
  Object.fromEntries(text.split('\n').flatMap(line => {
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  }));

interface ClaimsProps {
  names: string[];
  isNative: boolean;
  value: Record<string, string>;
  onChange: (next: Record<string, string>) => void;
}

/** Fields for the session variables that the permissions read, and for others. */
function Claims({ names, isNative, value, onChange }: ClaimsProps) {
  const others = Object.keys(value).filter(it => !names.includes(it));
  const [more, setMore] = useState(others.map(it => `${it}: ${value[it]}`).join('\n'));
  const [drafts, setDrafts] = useState(value);
  const apply = () => onChange({ ...(isNative ? claimsOfToken(more) : variablesOf(more)), ...Object.fromEntries(names.flatMap(it => (drafts[it] ? [[it, drafts[it]!]] : []))) });
  return (
    <form
      className="weir-claims" aria-label="Session variables"
      onSubmit={event => {
        event.preventDefault();
        apply();
      }}
    >
      {names.map(name => (
        <label key={name}>{name} <input className="weir-field" autoComplete="off" value={drafts[name] ?? ''} onChange={event => setDrafts({ ...drafts, [name]: event.target.value })} /></label>
      ))}
      <label>{isNative ? 'Claims of the token' : 'Other variables'} <textarea className="weir-field" rows={2} spellCheck={false} placeholder="user-id: ann" value={more} onChange={event => setMore(event.target.value)} /></label>
      <button type="submit" className="weir-button">Show rows</button>
    </form>
  );
}

function Inherited({ served, source, entry, role, kind }: Pick<Props, 'served' | 'source' | 'entry' | 'role' | 'kind'>) {
  const table = entry.qualified ? findServed(served, source, entry.qualified) : undefined;
  const parents = parentsWith(served, table, kind, role);
  const { level, conflict } = grantedTo(served, table, kind, role, entry.table.columns.length);
  if (parents.length === 0) return null;
  return (
    <section className="weir-part" aria-label="Inherited">
      <h2>Inherited</h2>
      <p className="weir-note">
        {conflict.length > 0 ? `${conflict.join(' and ')} differ, so ${role} may not ${kind}.` : `${role} has what it inherits (${level}). A permission of its own would stand in its place.`}
      </p>
      {parents.map(it => (
        <div key={it.role}>
          <h3><Link to={cellAddress(source, entry.table.name, it.role, kind)}>{it.role}</Link></h3>
          <pre tabIndex={0} className="weir-lines" aria-label={`Permission of ${it.role}`}>{yamlOf(it.permission)}</pre>
        </div>
      ))}
    </section>
  );
}

/** Session variables of a caller whose role the cell is about, or of the address. */
function useClaims(role: string): [Record<string, string>, (next: Record<string, string>) => void] {
  const { search, path } = usePlace();
  const caller = useCaller();
  const text = search.get('claims');
  let claims: Record<string, string> = caller.role === role ? caller.variables : {};
  try {
    const read: unknown = text === null ? null : JSON.parse(text);
    if (typeof read === 'object' && read !== null) claims = Object.fromEntries(Object.entries(read).filter(it => typeof it[1] === 'string'));
  } catch {
    claims = {};
  }
  const set = (next: Record<string, string>) => go(addressOf(path, { ...Object.fromEntries(search), claims: JSON.stringify(next) }));
  return [claims, set];
}

/** The columns that the database has; null until they were read. */
function useStoredColumns(model: Model, source: string): StoredColumns | null {
  const [stored, setStored] = useState<StoredColumns | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void loadStoredColumns(model, source).then(it => isCurrent && setStored(it));
    return () => void (isCurrent = false);
  }, [model, source]);
  return stored;
}

/** What rows are judged for: an insert has none, so it shows what the role sees. */
const VERBS: Record<Kind, Verb> = {
  select: { yes: 'sees', no: 'does not see', states: { seen: 'seen', hidden: 'hidden', unknown: 'unknown' } },
  insert: { yes: 'sees', no: 'does not see', states: { seen: 'seen', hidden: 'hidden', unknown: 'unknown' } },
  update: { yes: 'may update', no: 'may not update', states: { seen: 'open', hidden: 'closed', unknown: 'unknown' } },
  delete: { yes: 'may delete', no: 'may not delete', states: { seen: 'open', hidden: 'closed', unknown: 'unknown' } },
};

export function CellView({ model, served, source, entry, role, kind, round, onChange }: Props) {
  const table = entry.qualified ? findServed(served, source, entry.qualified) : undefined;
  const isNative = entry.table.dialect === 'native';
  const stored = useStoredColumns(model, source);
  const context = useMemo(() => contextOf(model, served, source, entry, stored ?? new Map()), [model, served, source, entry, stored]);
  const [claims, setClaims] = useClaims(role);
  const [tried, setTried] = useState<Json | undefined>(undefined);
  const own = entryOf(table, kind, role);
  const place: PermissionPlace = { source, table: table?.table ?? (entry.qualified ? metadataName(entry.qualified) : entry.table.name), kind, role };
  const tables: Json[] = (model.sources.find(it => it.source === source)?.entries ?? []).flatMap(it => (it.qualified ? [(findServed(served, source, it.qualified)?.table ?? metadataName(it.qualified)) as Json] : []));
  const isWrite = kind === 'update' || kind === 'delete';
  const judged: Kind = isWrite ? kind : 'select';
  const ownJudged = heldBy(table, judged, role);
  const reads = (ownJudged ? [ownJudged] : parentsWith(served, table, judged, role)).map(it => it.permission);
  const names = [...new Set([...reads.map(it => it.filter), tried].flatMap(it => [...variablesIn(it)]))].sort();
  const inDatabase = (name: string) => context.columns[entry.table.columns.findIndex(it => it.name === name)] ?? name;
  const [isOpen, setIsOpen] = useState(false);
  const saved = isWrite ? reads[0]?.filter : undefined;
  const filter = tried ?? saved;
  const mayNot = isWrite && tried === undefined && (filter === undefined || grantedTo(served, table, kind, role, 0).conflict.length > 0);
  const isInherited = own === undefined && parentsWith(served, table, kind, role).length > 0;
  if (stored === null) return <><h1>{role} on {entry.table.name}</h1><p className="weir-note">Reading columns …</p></>;
  const shownForm = own !== undefined || isOpen || !isInherited;
  return (
    <>
      <h1>{role} on {entry.table.name}</h1>
      <nav aria-label="Rights" className="weir-tools">
        {!isNative && KINDS.map(it => {
          const { level } = grantedTo(served, table, it, role, entry.table.columns.length);
          return <Link key={it} className="weir-button" to={cellAddress(source, entry.table.name, role, it, claimsIn(claims))} aria-current={it === kind ? 'page' : undefined}>{it}: {level}</Link>;
        })}
        <Link className="weir-button" to={addressOf(['data', source, entry.table.name])}>Rows</Link>
        <Link className="weir-button" to={addressOf(['permissions'])}>All permissions</Link>
      </nav>
      {isNative
        ? <p>The rules of a type are its <code>@auth</code>, in the file of types; a role says nothing there, claims of a token do. Write them below, one per line.</p>
        : (
          <>
            {own?.fault !== undefined && <p role="alert" className="weir-bad">Nobody has this permission, because the server left it out: {own.fault}</p>}
            {isInherited && <Inherited served={served} source={source} entry={entry} role={role} kind={kind} />}
            {isInherited && !isOpen && <p className="weir-actions"><button type="button" className="weir-button" onClick={() => setIsOpen(true)}>Give {role} a permission of its own</button></p>}
            {entry.qualified === null && <p role="alert" className="weir-bad">Which table of the database this is cannot be told for certain, so its permissions are not changed here. A name of its own, <code>custom_name</code>, tells it.</p>}
            {shownForm && entry.qualified !== null && (
              <PermissionForm
                key={`${source} ${entry.table.name} ${role} ${kind} ${round}`} kind={kind} permission={own?.permission ?? null} context={context} tables={tables}
                onReview={permission => onChange(setPermission(place, own, permission, served.version))}
                onTry={setTried}
                onRemove={() => own && onChange(dropPermission(place, own, served.version))}
              />
            )}
          </>
        )}
      <section className="weir-part" aria-label="Preview">
        <h2>What {role} {VERBS[kind].yes}</h2>
        <Claims key={`${role} ${entry.table.name} ${names.join()}`} names={names} isNative={isNative} value={claims} onChange={setClaims} />
        {tried !== undefined && (
          <p className="weir-actions">
            <span>The condition above is tried; it is not saved.</span>
            <button type="button" className="weir-button" onClick={() => setTried(undefined)}>Show what is saved</button>
          </p>
        )}
        {mayNot
          ? <p className="weir-note">{role} {VERBS[kind].no} any row.</p>
          : (
            <Preview
              key={`${source} ${entry.table.name} ${role} ${JSON.stringify(claims)}`} entry={entry} inDatabase={inDatabase} round={round} verb={VERBS[kind]}
              asker={{ source, table: askedName(entry), role, claims, ...(filter === undefined ? {} : { filter }) }}
            />
          )}
      </section>
    </>
  );
}

const claimsIn = (claims: Record<string, string>): Record<string, string> => (Object.keys(claims).length > 0 ? { claims: JSON.stringify(claims) } : {});

const askedName = ({ qualified, table }: Entry) => {
  if (!qualified) return table.name;
  return qualified.schema === undefined ? qualified.name : `${qualified.schema}.${qualified.name}`;
};
