// Memory, caches, connections, threads and queues of sources, breakers of services, and refusals by limits.

import { useState } from 'react';
import { metricsText, serverState } from '../server/requests';
import type { PageProps } from '../shell/shell';
import { useWatched } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { Metrics, readMetrics } from './metrics';
import { bytes, duration, number } from './units';

const PAUSE_MS = 2000;

interface Fill {
  entries: number;
  bytes: number;
  bytes_max: number;
}

interface State {
  memory: { resident_bytes: number | null; peak_bytes: number | null; threads: number | null } | null;
  plans: Fill;
  answers: Fill | null;
  sources: { name: string; product: string | null; gauges: { name: string; value: number }[] }[];
}

interface Look {
  state: State;
  metrics: Metrics;
}

async function look(): Promise<Look> {
  const [state, text] = await Promise.all([serverState<State>(), metricsText()]);
  return { state, metrics: new Metrics(readMetrics(text)) };
}

const share = (part: number, whole: number) => (whole > 0 ? `${Math.round((100 * part) / whole)} %` : '–');

function Facts({ label, rows }: { label: string; rows: [string, React.ReactNode][] }) {
  return (
    <section aria-label={label}>
      <h2>{label}</h2>
      {rows.length === 0 ? <p className="weir-note">There is none.</p> : (
        <table className="weir-facts"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table>
      )}
    </section>
  );
}

function memoryRows({ state: { memory }, metrics }: Look): [string, React.ReactNode][] {
  const told = (value: number | null | undefined, words: (it: number) => string) => (value === null || value === undefined ? 'not told by this system' : words(value));
  return [
    ['resident', told(memory?.resident_bytes, bytes)],
    ['at most until now', told(memory?.peak_bytes, bytes)],
    ['threads', told(memory?.threads, number)],
    ['open connections', number(metrics.sum('weir_connections') ?? 0)],
    ['subscriptions', number(metrics.sum('weir_subscriptions') ?? 0)],
  ];
}

function CacheRow({ name, fill, hits, misses }: { name: string; fill: Fill | null; hits: number; misses: number }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="weir-ms">{fill ? number(fill.entries) : '–'}</td>
      <td className="weir-ms">{fill ? bytes(fill.bytes) : 'off'}</td>
      <td className="weir-ms">{fill ? bytes(fill.bytes_max) : '–'}</td>
      <td className="weir-ms">{number(hits)}</td><td className="weir-ms">{number(misses)}</td><td className="weir-ms">{share(hits, hits + misses)}</td>
    </tr>
  );
}

function Caches({ look: { state, metrics } }: { look: Look }) {
  const count = (name: string, result: string) => metrics.sum(name, { result }) ?? 0;
  return (
    <section aria-label="Caches">
      <h2>Caches</h2>
      <Wide label="Caches">
        <table className="weir-facts" data-testid="caches">
          <thead><tr><th>cache</th><th className="weir-ms">entries</th><th className="weir-ms">bytes</th><th className="weir-ms">at most</th><th className="weir-ms">hits</th><th className="weir-ms">misses</th><th className="weir-ms">found</th></tr></thead>
          <tbody>
            <CacheRow name="plans" fill={state.plans} hits={count('weir_plan_cache_total', 'hit')} misses={count('weir_plan_cache_total', 'miss')} />
            <CacheRow name="whole answers" fill={state.answers} hits={count('weir_cache_responses_total', 'hit') + count('weir_cache_responses_total', 'joined')} misses={count('weir_cache_responses_total', 'made')} />
          </tbody>
        </table>
      </Wide>
    </section>
  );
}

function Sources({ look: { state, metrics } }: { look: Look }) {
  const names = state.sources;
  return (
    <section aria-label="Sources">
      <h2>Sources</h2>
      {names.length === 0 && <p className="weir-note">The server has no source.</p>}
      {names.map(source => {
        const of = { source: source.name };
        const fetches = metrics.sum('weir_fetch_duration_seconds_count', of) ?? 0;
        const seconds = metrics.sum('weir_fetch_duration_seconds_sum', of) ?? 0;
        const failures = metrics.all('weir_fetch_failures_total').filter(it => it.labels.source === source.name && it.value > 0);
        return (
          <section key={source.name} aria-label={source.name} data-testid="source-state">
            <h3>{source.name} {source.product && <span className="weir-note">{source.product}</span>}</h3>
            <table className="weir-facts">
              <tbody>
                <tr><th scope="row">fetches</th><td>{number(fetches)}{fetches > 0 && `, ${duration((1e6 * seconds) / fetches)} each`}</td></tr>
                <tr><th scope="row">under way</th><td>{number(metrics.sum('weir_fetches_in_flight', of) ?? 0)}</td></tr>
                {failures.length > 0 && <tr><th scope="row">failed</th><td className="weir-bad">{failures.map(it => `${it.labels.code} ${number(it.value)}`).join(', ')}</td></tr>}
                {source.gauges.map(it => <tr key={it.name}><th scope="row">{it.name}</th><td>{number(it.value)}</td></tr>)}
              </tbody>
            </table>
          </section>
        );
      })}
    </section>
  );
}

/** Breakers and waiting calls of services. */
function breakerRows({ metrics }: Look): [string, React.ReactNode][] {
  const services = metrics.all('weir_service_attempts_in_flight');
  return services.map(({ labels }) => {
    const of = { source: labels.source ?? '', service: labels.service ?? '' };
    const open = metrics.sum('weir_service_breaker_open', of);
    const calls = metrics.sum('weir_service_calls_total', of) ?? 0;
    const words = open === null ? 'no breaker' : open > 0 ? 'open' : 'closed';
    return [`${of.source} ${of.service}`, <><span className={open ? 'weir-bad' : undefined}>{words}</span>, {number(calls)} calls, {number(metrics.sum('weir_service_attempts_in_flight', of) ?? 0)} under way, {number(metrics.sum('weir_service_calls_waiting', of) ?? 0)} waiting</>];
  });
}

function refusalRows({ metrics }: Look): [string, React.ReactNode][] {
  const of = (name: string, label: string) => metrics.all(name).filter(it => it.value > 0).map((it): [string, React.ReactNode] => [it.labels[label] ?? name, number(it.value)]);
  const count = (name: string, words: string): [string, React.ReactNode][] => [[words, number(metrics.sum(name) ?? 0)]];
  return [
    ...count('weir_pool_timeouts_total', 'no capacity of a source left'),
    ...count('weir_connections_evicted_total', 'idle connections closed to make room'),
    ...count('weir_panics_total', 'bugs that were caught'),
    ...of('weir_limit_refusals_total', 'limit'),
    ...of('weir_rate_refusals_total', 'rate'),
  ];
}

export function Resources({ onLocked }: PageProps) {
  const [shown, setShown] = useState<Look | null>(null);
  const failure = useWatched(look, PAUSE_MS, onLocked, setShown);
  if (!shown) return failure === null ? <p className="weir-note">Asking the server …</p> : <p role="alert" className="weir-bad">{failure}</p>;
  return (
    <>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      <div className="weir-resources">
        <Facts label="Process" rows={memoryRows(shown)} />
        <Caches look={shown} />
        <Sources look={shown} />
        <Facts label="Breakers of services" rows={breakerRows(shown)} />
        <Facts label="Refused since the start" rows={refusalRows(shown)} />
      </div>
    </>
  );
}
