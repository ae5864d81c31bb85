// The form that saves an operation of the editor: for the allow list, or as a REST endpoint.

import { useState } from 'react';
import { Kind, parse } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import type { MetadataChange } from '../metadata/change';
import { saveAllowed, saveEndpoint } from './changes';
import type { Saved } from './saved';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface Read {
  name: string;
  variables: string[];
  isMutation: boolean;
  /** Why it cannot be saved in this way. */
  fault: string | null;
}

/** What a text is, and whether a REST endpoint may have it. */
export function readOperation(text: string, isRest: boolean): Read {
  const nothing = { name: '', variables: [], isMutation: false };
  if (text.trim() === '') return { ...nothing, fault: 'It needs an operation.' };
  try {
    const { definitions } = parse(text);
    const operations = definitions.filter((it): it is OperationDefinitionNode => it.kind === Kind.OPERATION_DEFINITION);
    const first = operations[0];
    if (!first) return { ...nothing, fault: 'The text has no operation.' };
    const read = { name: first.name?.value ?? '', variables: (first.variableDefinitions ?? []).map(it => it.variable.name.value), isMutation: first.operation === 'mutation' };
    if (!isRest) return { ...read, fault: null };
    if (definitions.length > 1) return { ...read, fault: 'An endpoint has one operation, without fragments that stand apart.' };
    if (first.operation === 'subscription') return { ...read, fault: 'A subscription cannot be a REST endpoint.' };
    if (text.trimStart().startsWith('{')) return { ...read, fault: 'An endpoint’s operation begins with `query` or `mutation`.' };
    return { ...read, fault: null };
  } catch (error) {
    return { ...nothing, fault: (error as Error).message };
  }
}

/** What is wrong with the template of a path; the server says the rest. */
export function templateFault(url: string, variables: string[]): string | null {
  const parts = url.split('/');
  if (parts.some(it => it === '' || it === ':')) return 'No part between two slashes may be empty, and the path begins without one.';
  const named = parts.filter(it => it.startsWith(':')).map(it => it.slice(1));
  if (new Set(named).size < named.length) return 'A variable stands in the path twice.';
  const unknown = named.find(it => !variables.includes(it));
  return unknown === undefined ? null : `The operation declares no variable $${unknown}.`;
}

interface Props {
  saved: Saved;
  kind: 'allow' | 'rest';
  query: string;
  onChange: (change: MetadataChange) => void;
  onClose: () => void;
}

export function SaveForm({ saved, kind, query, onChange, onClose }: Props) {
  const isRest = kind === 'rest';
  const [text, setText] = useState(query);
  const read = readOperation(text, isRest);
  const [name, setName] = useState(read.name);
  const [collection, setCollection] = useState(isRest ? 'rest-endpoints' : 'allowed-queries');
  const [roles, setRoles] = useState('');
  const start = (read.name || 'operation').replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  const [url, setUrl] = useState([start, ...read.variables.map(it => `:${it}`)].join('/'));
  const [methods, setMethods] = useState<string[]>(read.isMutation ? ['POST'] : ['GET']);
  const [comment, setComment] = useState('');
  const fault = read.fault ?? (name.trim() === '' ? 'It needs a name.' : collection.trim() === '' ? 'It needs a collection.' : isRest ? templateFault(url, read.variables) ?? (methods.length === 0 ? 'It needs a method.' : null) : null);
  const isOther = saved.page.collections.some(it => it.name === collection && it.origin !== 'metadata');
  const words = fault ?? (isOther && saved.file !== null ? `The collection ${collection} is written in ${'weir.yaml or in a file of documents'}: choose another name.` : null);
  const review = () => {
    const trimmed = { name: name.trim(), query: text.trim() };
    if (!isRest) return onChange(saveAllowed(saved, collection.trim(), trimmed, roles.split(',').map(it => it.trim()).filter(Boolean)));
    const definition = { query: { collection_name: collection.trim(), query_name: trimmed.name } };
    onChange(saveEndpoint(saved, { name: trimmed.name, url, methods, ...(comment.trim() ? { comment: comment.trim() } : {}), definition }, trimmed.query));
  };
  return (
    <form className="weir-part weir-save" aria-label={isRest ? 'New REST endpoint' : 'New entry of the allow list'} onSubmit={event => (event.preventDefault(), words === null && review())}>
      <h2>{isRest ? 'New REST endpoint' : 'New entry of the allow list'}</h2>
      <label>Operation<textarea className="weir-field" rows={Math.min(14, Math.max(5, text.split('\n').length))} spellCheck={false} value={text} onChange={event => setText(event.target.value)} /></label>
      <div className="weir-fields-beside">
        <label>Name<input className="weir-field" autoComplete="off" value={name} onChange={event => setName(event.target.value)} /></label>
        <label>
          Collection<input className="weir-field" list="weir-collections" autoComplete="off" value={collection} onChange={event => setCollection(event.target.value)} />
        </label>
        <datalist id="weir-collections">{saved.metadata.query_collections.map(it => <option key={it.name} value={it.name} />)}</datalist>
        {!isRest && <label>Roles that may run the collection<input className="weir-field" placeholder="all" autoComplete="off" value={roles} onChange={event => setRoles(event.target.value)} /></label>}
        {isRest && <label>Path below /api/rest/<input className="weir-field" autoComplete="off" spellCheck={false} value={url} onChange={event => setUrl(event.target.value)} /></label>}
        {isRest && <label>Comment<input className="weir-field" autoComplete="off" value={comment} onChange={event => setComment(event.target.value)} /></label>}
      </div>
      {isRest && (
        <fieldset className="weir-methods">
          <legend>Methods</legend>
          {METHODS.map(it => (
            <label key={it}><input type="checkbox" checked={methods.includes(it)} onChange={event => setMethods(event.target.checked ? [...methods, it] : methods.filter(other => other !== it))} /> {it}</label>
          ))}
        </fieldset>
      )}
      {isRest && <p className="weir-note">Variables that are not in the path come from the query of a GET, or from the JSON of a body: {read.variables.filter(it => !url.split('/').includes(`:${it}`)).map(it => `$${it}`).join(', ') || 'there are none'}.</p>}
      {!isRest && !saved.page.allow_list && <p className="weir-note">The allow list is off: <code>operations.allow_list: true</code> in weir.yaml turns it on. Until then every operation may run.</p>}
      {words !== null && <p role="alert" className="weir-bad">{words}</p>}
      <p className="weir-actions">
        <button type="submit" className="weir-button weir-first" disabled={words !== null}>Review the change</button>
        <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
      </p>
    </form>
  );
}
