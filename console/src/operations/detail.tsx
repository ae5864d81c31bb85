// Samples of one operation: its text without values, kinds of errors, its slowest execution; and ways into the editor.

import { handOver } from '../editor/hand-over';
import { variablesFor } from '../editor/variables';
import { askOperator } from '../server/requests';
import type { CountedOperation } from '../server/requests';
import { addressOf, go, Link } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { duration } from './units';

interface ErrorSample {
  code: string;
  path: string | null;
  count: number;
  at_ms: number;
}

interface Slowest {
  total_us: number;
  at_ms: number;
  role: string;
  planned: boolean;
  stages: Record<string, number>;
  fetches: number;
  steps: { source: string; text: string }[];
}

interface Samples {
  text: string | null;
  errors: ErrorSample[];
  slowest: Slowest | null;
}

/** A time of today by its clock, another with its date. */
function when(ms: number): string {
  const at = new Date(ms);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? at.toLocaleTimeString('en-GB') : at.toLocaleString('en-GB');
}

function Errors({ errors }: { errors: ErrorSample[] }) {
  return (
    <table className="weir-facts" data-testid="error-samples">
      <thead><tr><th>code</th><th>field</th><th className="weir-ms">executions</th><th>last</th></tr></thead>
      <tbody>
        {errors.map(it => (
          <tr key={`${it.code} ${it.path}`}><th scope="row" className="weir-bad">{it.code || '(no code)'}</th><td><code>{it.path ?? '–'}</code></td><td className="weir-ms">{it.count.toLocaleString('en')}</td><td>{when(it.at_ms)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function SlowestView({ slowest }: { slowest: Slowest }) {
  return (
    <>
      <p data-testid="slowest">
        {duration(slowest.total_us)} at {when(slowest.at_ms)}, as {slowest.role}, {slowest.fetches} {slowest.fetches === 1 ? 'fetch' : 'fetches'}{slowest.planned ? ', planned for it' : ''}:{' '}
        {Object.entries(slowest.stages).filter(it => it[1] > 0).map(([name, us]) => `${name} ${duration(us)}`).join(', ')}
      </p>
      {slowest.steps.map((it, at) => <div key={at}><h4>Asked of {it.source}</h4><pre className="weir-code" tabIndex={0} aria-label={`Asked of ${it.source}`}>{it.text}</pre></div>)}
    </>
  );
}

type Shown = Pick<CountedOperation, 'name' | 'hash' | 'kind' | 'errors' | 'fields'>;

export function Detail({ operation, onLocked }: { operation: Shown } & PageProps) {
  const { name, hash } = operation;
  const load = () => askOperator<Samples>('/admin/operations/samples', { hash, ...(name === null ? {} : { name }) });
  const { value: samples, failure } = useLoaded(load, [name, hash, operation.errors], onLocked);
  const open = (text: string) => {
    handOver(text, variablesFor(text));
    go(addressOf(['api']));
  };
  return (
    <div className="weir-operation-detail" data-testid="detail">
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {samples && (
        <>
          <h3>Errors</h3>
          {samples.errors.length === 0 && operation.kind === 'subscription' ? <p className="weir-note">Results of subscriptions are not sampled: Live tells which have errors.</p> : samples.errors.length === 0 ? <p className="weir-note">None since the operation is counted.</p> : <Errors errors={samples.errors} />}
          <h3>Slowest execution</h3>
          {samples.slowest ? <SlowestView slowest={samples.slowest} /> : <p className="weir-note">{operation.kind === 'subscription' ? 'Results of subscriptions are not sampled: Live tells their delays.' : 'None took much longer than a millisecond.'}</p>}
          <h3>Text without values</h3>
          {samples.text === null ? <p className="weir-note">The text is too long to be kept.</p> : (
            <>
              <pre className="weir-code" tabIndex={0} aria-label="Text without values">{samples.text}</pre>
              <p className="weir-actions">
                <button type="button" className="weir-button" onClick={() => open(samples.text!)}>Open in editor</button>
                {operation.kind === 'subscription' && <Link className="weir-button" to={addressOf(['live'], { search: name ?? hash })}>Its subscribers</Link>}
              </p>
            </>
          )}
        </>
      )}
      {operation.fields.length > 0 && <><h3>Fields</h3><p className="weir-field-names"><code>{operation.fields.join('  ')}</code></p></>}
    </div>
  );
}
