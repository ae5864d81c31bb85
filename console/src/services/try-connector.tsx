// Tries one connector: arguments, the calls that they make, and the answer with its mapping. Nothing is sent before it was shown.

import { useState } from 'react';
import { jsonOf } from '../editor/code/snippet';
import { handOver } from '../editor/hand-over';
import { callerWords, useCaller } from '../server/caller';
import type { Caller } from '../server/caller';
import { parseExact } from '../server/exact-number';
import { explain, run } from '../server/requests';
import type { Explanation } from '../server/requests';
import { addressOf, go } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { cacheWords, countsOf, isBadOutcome, loadServices } from './services';
import type { Service } from './services';
import { loadField, operationOf } from './trial';
import type { Field, Operation } from './trial';

/** The call as a text: counts of before and after tell what the service answered. */
interface Outcome {
  answer: string;
  isGood: boolean;
  /** Outcomes of calls that were made meanwhile; null: the counts could not be read afterwards. */
  calls: [string, number][] | null;
  cache: string;
  ms: number;
}

const labelsOf = ({ source, name }: Service, connector: string) => ({ source, service: name, connector });

async function send(service: Service, connector: string, { query, variables }: Operation): Promise<Outcome> {
  const labels = labelsOf(service, connector);
  const before = (await loadServices()).metrics;
  const began = performance.now();
  const { answer } = await run({ query, variables }, undefined, parseExact);
  const ms = performance.now() - began;
  // The answer of a mutation is not lost with the counts behind it.
  const after = await loadServices().then(it => it.metrics, () => null);
  const own = { answer: jsonOf(answer, 2), isGood: answer.errors === undefined, ms };
  if (!after) return { ...own, calls: null, cache: '' };
  const earlier = new Map(countsOf(before, labels).outcomes);
  const calls = countsOf(after, labels).outcomes.map(([name, count]): [string, number] => [name, count - (earlier.get(name) ?? 0)]);
  const [cached, known] = [cacheWords(after, service.name, connector), cacheWords(before, service.name, connector)];
  return { ...own, calls: calls.filter(it => it[1] > 0), cache: cached === known ? '' : cached };
}

function Code({ label, text }: { label: string; text: string }) {
  return <pre className="weir-code" tabIndex={0} aria-label={label}>{text}</pre>;
}

function Shown({ operation, explanation, caller, onSend, isSending }: { operation: Operation; explanation: Explanation; caller: Caller; onSend: () => void; isSending: boolean }) {
  return (
    <>
      <h3>Request</h3>
      <Code label="Operation" text={operation.query} />
      <Code label="Variables" text={jsonOf(operation.variables, 2)} />
      <h3>Calls that it makes</h3>
      {explanation.steps.map((it, at) => <Code key={at} label={`Asked of ${it.source}`} text={it.text} />)}
      <h3>Mapping</h3>
      <Code label="Mapping" text={explanation.plan} />
      {operation.query.startsWith('mutation') && <p role="alert" className="weir-bad">This connector may change data of the service.</p>}
      <p className="weir-actions">
        <button type="button" className="weir-button weir-first" disabled={isSending} onClick={onSend}>Send as {callerWords(caller)}</button>
        <button type="button" className="weir-button" onClick={() => (handOver(operation.query, operation.variables), go(addressOf(['api'])))}>Open in editor</button>
      </p>
    </>
  );
}

function OutcomeView({ outcome }: { outcome: Outcome }) {
  return (
    <section aria-label="Answer" data-testid="outcome">
      <h3>Answer</h3>
      <p>
        {outcome.calls === null && 'The counts could not be read afterwards: whether the service was called is not known.'}
        {outcome.calls?.length === 0 && 'The service was not called.'}
        {outcome.calls?.map(([name, count]) => <span key={name} className={isBadOutcome(name) ? 'weir-bad' : undefined}>{name}{count > 1 && `, ${count} calls`} </span>)}
        {' '}<span className="weir-note">{Math.round(outcome.ms)} ms with the way to the page{outcome.cache && `; answers until now: ${outcome.cache}`}</span>
      </p>
      <Code label="Answer" text={outcome.answer} />
    </section>
  );
}

interface Props {
  service: Service;
  connector: string;
}

function Form({ service, connector, field }: Props & { field: Field }) {
  const caller = useCaller();
  const [values, setValues] = useState<Record<string, string>>({});
  const [shown, setShown] = useState<{ operation: Operation; explanation: Explanation } | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const { operation, fault } = operationOf(field, values);
  const tell = (error: Error) => setFailure(String(error.message ?? error));
  const begin = () => {
    setFailure(null);
    setOutcome(null);
    setIsBusy(true);
  };
  const show = () => {
    if (!operation) return;
    begin();
    explain({ params: { query: operation.query, variables: operation.variables }, stages: [], bytes: 0, caller })
      .then(explanation => setShown({ operation, explanation }), tell)
      .finally(() => setIsBusy(false));
  };
  const write = (name: string, text: string) => {
    setValues({ ...values, [name]: text });
    setShown(null);
    setOutcome(null);
  };
  return (
    <form aria-label={`Try ${connector}`} onSubmit={event => (event.preventDefault(), show())}>
      {field.args.length === 0 && <p className="weir-note">It has no arguments.</p>}
      <div className="weir-fields-beside">
        {field.args.map(it => <label key={it.name}>{it.name} {it.type}<input className="weir-field" autoComplete="off" spellCheck={false} value={values[it.name] ?? ''} onChange={event => write(it.name, event.target.value)} /></label>)}
      </div>
      {fault !== null && <p className="weir-note">{fault}</p>}
      <p className="weir-actions"><button type="submit" className="weir-button" disabled={!operation || isBusy}>Show the request</button></p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {shown && <Shown {...shown} caller={caller} isSending={isBusy} onSend={() => (begin(), send(service, connector, shown.operation).then(setOutcome, tell).finally(() => setIsBusy(false)))} />}
      {outcome && <OutcomeView outcome={outcome} />}
    </form>
  );
}

export function TryConnector({ service, connector, onLocked }: Props & PageProps) {
  const { value, failure } = useLoaded(async () => ({ field: await loadField(connector) }), [connector], onLocked);
  return (
    <section className="weir-part" aria-label={connector} data-testid="try">
      <h2>Try {connector}</h2>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {!value && failure === null && <p className="weir-note">Reading its arguments …</p>}
      {value && !value.field && <p>It is called below another object, or its field has another name in the graph: ask that in <button type="button" className="weir-button" onClick={() => go(addressOf(['api']))}>API</button></p>}
      {value?.field && <Form service={service} connector={connector} field={value.field} />}
    </section>
  );
}
