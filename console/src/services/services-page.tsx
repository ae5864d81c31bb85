// The page of services: calls, statuses, latency, breaker and cache of each; its connectors, one of which can be tried.

import { useState } from 'react';
import { bytes, duration, number } from '../operations/units';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useWatched } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { cacheWords, countsOf, isBadOutcome, loadServices } from './services';
import type { Counts, Look, Service } from './services';
import { TryConnector } from './try-connector';
import '../data/data.css';
import '../metadata/metadata.css';
import '../schema/schema.css';
import '../api/api.css';
import '../live/live.css';

const PAUSE_MS = 2000;
/** Connectors that are shown of one service; the search finds the others. */
const CONNECTORS_MAX = 200;

const EXAMPLE = `sources:
  - name: match-centre
    file: services.graphql`;

function Outcomes({ outcomes }: Counts) {
  if (outcomes.length === 0) return <>–</>;
  return <>{outcomes.map(([name, count], at) => <span key={name} className={isBadOutcome(name) ? 'weir-bad' : undefined}>{at > 0 && ', '}{name} {number(count)}</span>)}</>;
}

const time = (us: number | null) => (us === null ? '–' : duration(us));

/** Cells that a service and a connector have alike. */
function CountCells({ counts }: { counts: Counts }) {
  return (
    <>
      <td className="weir-ms">{number(counts.calls)}</td><td><Outcomes {...counts} /></td>
      <td className="weir-ms">{time(counts.mean_us)}</td><td className="weir-ms">{counts.p95_us === null ? '–' : `≤ ${duration(counts.p95_us)}`}</td>
      <td className="weir-ms">{number(counts.retries)}</td><td className="weir-ms">{number(counts.hedges)}</td>
    </>
  );
}

const HEADS = (
  <>
    <th className="weir-ms">calls</th><th title="Classes of statuses, or codes of errors without an answer">answers</th><th className="weir-ms">mean</th>
    <th title="95 of 100 calls took at most this" className="weir-ms">p95</th><th className="weir-ms">retries</th><th title="Second attempts beside one that took long" className="weir-ms">hedges</th>
  </>
);

const keyOf = (it: Service) => `${it.source} ${it.name}`;
const breakerWords = ({ breaker_open }: Service) => (breaker_open === null ? 'none' : breaker_open ? 'open' : 'closed');

function Services({ look }: { look: Look }) {
  return (
    <table className="weir-facts" data-testid="services">
      <thead><tr><th>service</th><th>source</th>{HEADS}<th title="It leaves a service alone where too many calls failed">breaker</th><th className="weir-ms">under way</th><th className="weir-ms">waiting</th></tr></thead>
      <tbody>
        {look.services.map(it => (
          <tr key={keyOf(it)}>
            <th scope="row"><Link to={addressOf(['services', it.source, it.name])}>{it.name}</Link></th><td>{it.source}</td>
            <CountCells counts={countsOf(look.metrics, { source: it.source, service: it.name })} />
            <td className={it.breaker_open ? 'weir-bad' : undefined}>{breakerWords(it)}</td><td className="weir-ms">{number(it.in_flight)}</td><td className="weir-ms">{number(it.waiting)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Connectors({ look, service, tried }: { look: Look; service: Service; tried: string | null }) {
  const { search } = usePlace();
  const wanted = search.get('search') ?? '';
  const address = (more: Record<string, string>) => addressOf(['services', service.source, service.name], { search: wanted, ...more });
  const found = service.connectors.filter(it => it.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <section aria-label="Connectors">
      <h2>Connectors</h2>
      <input type="search" aria-label="Filter connectors" placeholder="Filter: type or field" value={wanted} onChange={event => go(address({ search: event.target.value, try: tried ?? '' }), { replace: true })} />
      {found.length === 0 ? <p className="weir-note">No connector has “{wanted}” in it.</p> : (
        <Wide label="Connectors">
          <table className="weir-facts" data-testid="connectors">
            <thead><tr><th>connector</th>{HEADS}<th title="How answers were come by">cache</th></tr></thead>
            <tbody>
              {found.slice(0, CONNECTORS_MAX).map(it => (
                <tr key={it}>
                  <th scope="row"><Link to={address({ try: it })} aria-current={it === tried || undefined}>{it}</Link></th>
                  <CountCells counts={countsOf(look.metrics, { source: service.source, service: service.name, connector: it })} />
                  <td>{cacheWords(look.metrics, service.name, it) || '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      {found.length > CONNECTORS_MAX && <p className="weir-note">{number(found.length - CONNECTORS_MAX)} more: filter.</p>}
    </section>
  );
}

function Overview({ look }: { look: Look }) {
  const [entries, size] = [look.metrics.sum('weir_cache_entries'), look.metrics.sum('weir_cache_bytes')];
  if (look.services.length === 0) {
    return (
      <div className="weir-empty">
        <p><b>The server has no services.</b></p>
        <p>A file of GraphQL types with <code>@source</code> and <code>@connect</code> makes REST a part of the graph; <code>weir import openapi</code> writes one. Name it in weir.yaml:</p>
        <pre className="weir-code" tabIndex={0} aria-label="Example">{EXAMPLE}</pre>
      </div>
    );
  }
  return (
    <>
      <p className="weir-note">Counts since the start. {entries !== null && `The cache holds ${number(entries)} answers, ${bytes(size ?? 0)}.`}</p>
      <Wide label="Services"><Services look={look} /></Wide>
    </>
  );
}

export default function ServicesPage({ onLocked }: PageProps) {
  const { path, search } = usePlace();
  const [look, setLook] = useState<Look | null>(null);
  const failure = useWatched(loadServices, PAUSE_MS, onLocked, setLook);
  const [, source, name] = path;
  const service = look?.services.find(it => it.source === source && it.name === name);
  const tried = search.get('try');
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api weir-watch">
      <h1>{service?.name ?? 'Services'}</h1>
      {source !== undefined && <p><Link to={addressOf(['services'])}>All services</Link></p>}
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {!look && failure === null && <p className="weir-note">Asking the server …</p>}
      {look && source === undefined && <Overview look={look} />}
      {look && source !== undefined && !service && <p role="alert">There is no service {name} of source {source}.</p>}
      {look && service && (
        <>
          <p>Source {service.source}; breaker {breakerWords(service)}; {number(service.in_flight)} calls under way, {number(service.waiting)} waiting.</p>
          {tried !== null && (service.connectors.includes(tried) ? <TryConnector key={tried} service={service} connector={tried} onLocked={onLocked} /> : <p role="alert">The service has no connector {tried}.</p>)}
          <Connectors look={look} service={service} tried={tried} />
        </>
      )}
    </main>
  );
}
