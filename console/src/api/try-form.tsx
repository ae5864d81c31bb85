// A form that tries a REST endpoint: its variables from path, query or body, and the answer. The request stands there before it is sent.

import { useState } from 'react';
import { parseExact } from '../server/exact-number';
import { sentHeaders } from '../server/requests';
import { jsonOf } from '../editor/code/snippet';
import type { Declared, ServedEndpoint } from './saved';

export interface RestRequest {
  method: string;
  path: string;
  body: string | null;
}

/** A value as JSON where it is one of its type: texts stay texts, so that `7` of a String is a text. */
function valueOf(variable: Declared, written: string): unknown {
  if (/^(String|ID|uuid|text|varchar|bpchar|citext)$/.test(variable.type) && !variable.list) return written;
  try {
    return parseExact(written);
  } catch {
    return written;
  }
}

/** The request that values make; empty ones are left out. */
export function requestOf(endpoint: ServedEndpoint, method: string, values: Record<string, string>): RestRequest {
  const parts = endpoint.url.split('/');
  const path = parts.map(it => (it.startsWith(':') ? encodeURIComponent(values[it.slice(1)] ?? '') : encodeURIComponent(it))).join('/');
  const others = endpoint.variables.filter(it => !parts.includes(`:${it.name}`) && (values[it.name] ?? '') !== '');
  const base = `/api/rest/${path}`;
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams(others.map(it => [it.name, values[it.name]!])).toString();
    return { method, path: query ? `${base}?${query}` : base, body: null };
  }
  return { method, path: base, body: others.length === 0 ? null : jsonOf(Object.fromEntries(others.map(it => [it.name, valueOf(it, values[it.name]!)])), 2) };
}

interface Outcome {
  status: string;
  isGood: boolean;
  ms: number;
  text: string;
}

async function send({ method, path, body }: RestRequest): Promise<Outcome> {
  const began = performance.now();
  const response = await fetch(new URL(path, location.origin), { method, headers: { ...sentHeaders(), ...(body === null ? {} : { 'content-type': 'application/json' }) }, ...(body === null ? {} : { body }) });
  const text = await response.text();
  let shown = text;
  try {
    shown = jsonOf(parseExact(text), 2);
  } catch {
    // An answer that is no JSON is shown as it is.
  }
  return { status: `${response.status} ${response.statusText}`.trim(), isGood: response.ok, ms: performance.now() - began, text: shown };
}

const typeWords = (it: Declared) => `${it.list ? `[${it.type}]` : it.type}${it.nullable ? '' : '!'}${it.default === null ? '' : ` = ${it.default}`}`;

export function TryForm({ endpoint }: { endpoint: ServedEndpoint }) {
  const [method, setMethod] = useState(endpoint.methods[0] ?? 'GET');
  const [values, setValues] = useState<Record<string, string>>({});
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const request = requestOf(endpoint, method, values);
  const inPath = endpoint.url.split('/').filter(it => it.startsWith(':')).map(it => it.slice(1));
  const missing = inPath.find(it => (values[it] ?? '') === '');
  const submit = () => {
    setIsAsking(true);
    setFailure(null);
    send(request).then(setOutcome, error => (setOutcome(null), setFailure(String(error.message ?? error)))).finally(() => setIsAsking(false));
  };
  return (
    <form className="weir-part" aria-label={`Try ${endpoint.name}`} onSubmit={event => (event.preventDefault(), missing === undefined && submit())}>
      <div className="weir-fields-beside">
        <label>
          Method
          <select className="weir-field" value={method} onChange={event => setMethod(event.target.value)}>{endpoint.methods.map(it => <option key={it}>{it}</option>)}</select>
        </label>
        {endpoint.variables.map(it => (
          <label key={it.name}>
            {it.name} <span className="weir-note">{typeWords(it)}{inPath.includes(it.name) ? ', in the path' : ''}</span>
            <input className="weir-field" autoComplete="off" spellCheck={false} value={values[it.name] ?? ''} onChange={event => setValues({ ...values, [it.name]: event.target.value })} />
          </label>
        ))}
      </div>
      <pre className="weir-code" tabIndex={0} aria-label="Request" data-testid="rest-request">{`${request.method} ${request.path}${request.body === null ? '' : `\n\n${request.body}`}`}</pre>
      <p className="weir-actions">
        <button type="submit" className="weir-button weir-first" disabled={isAsking || missing !== undefined}>{isAsking ? 'Asking …' : 'Send'}</button>
        {missing !== undefined && <span className="weir-note">The path needs {missing}.</span>}
      </p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {outcome && (
        <>
          <p role="status" className={outcome.isGood ? undefined : 'weir-bad'} data-testid="rest-status">{outcome.status}, {outcome.ms.toFixed(0)} ms</p>
          <pre className="weir-code" tabIndex={0} aria-label="Answer" data-testid="rest-answer">{outcome.text}</pre>
        </>
      )}
    </form>
  );
}
