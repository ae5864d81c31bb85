// The page of live queries: who subscribes to what, what was pushed and why, and what each source tells of changes.

import { useState } from 'react';
import { liveQueries } from '../server/requests';
import { addressOf, Link, usePlace, go } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useWatched } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { duration } from '../operations/units';
import { causeText, operationWords, polledWords, refreshWords, toldWords } from './overview';
import type { LiveGroup, LiveOverview, LivePush } from './overview';
import '../api/api.css';
import './live.css';

const PAUSE_MS = 2000;

const number = (value: number) => value.toLocaleString('en');
const operationAddress = ({ operation }: { operation: LiveGroup['operation'] }) => addressOf(['operations'], { open: `${operation.hash ?? ''} ${operation.name ?? ''}` });

function OperationName({ of }: { of: LiveGroup | LivePush }) {
  if (of.operation.hash === null) return <i>{operationWords(of.operation)}</i>;
  return <Link to={operationAddress(of)}>{operationWords(of.operation)}</Link>;
}

function Groups({ groups }: { groups: LiveGroup[] }) {
  return (
    <table className="weir-facts" data-testid="groups">
      <thead>
        <tr>
          <th>operation</th><th>role</th>
          <th title="Clients that subscribe" className="weir-ms">subscribers</th>
          <th title="Subscriptions with equal values are one member, which is read once" className="weir-ms">members</th>
          <th title="Members of one cohort share a plan, and PostgreSQL reads them by one statement" className="weir-ms">cohorts</th>
          <th className="weir-ms">reads</th><th title="Results that differed from the one before" className="weir-ms">pushes</th>
          <th title="Why it is read again">read again</th><th>depends on</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(it => (
          <tr key={`${it.operation.hash} ${it.operation.name} ${it.role}`}>
            <th scope="row"><OperationName of={it} /></th>
            <td>{it.role}</td>
            <td className="weir-ms">{number(it.subscriptions)}</td><td className="weir-ms">{number(it.members)}</td><td className="weir-ms">{number(it.cohorts)}</td>
            <td className="weir-ms">{number(it.reads)}</td><td className="weir-ms">{number(it.results)}</td>
            <td>{refreshWords(it)}{it.streams > 0 && ', streams'}</td>
            <td>{it.tables.join(', ') || it.sources.join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pushes({ pushes }: { pushes: LivePush[] }) {
  return (
    <table className="weir-facts" data-testid="live-pushes">
      <thead>
        <tr><th>operation</th><th>role</th><th>when</th><th title="Why the server read the data again">cause</th><th title="Time from the cause to the result, in the server" className="weir-ms">delay</th><th className="weir-ms">subscribers</th><th className="weir-ms">bytes</th></tr>
      </thead>
      <tbody>
        {pushes.map((it, at) => (
          <tr key={at}>
            <th scope="row"><OperationName of={it} /></th>
            <td>{it.role}</td>
            <td>{it.age_ms < 1000 ? 'now' : `${duration(it.age_ms * 1000)} ago`}</td>
            <td className={it.has_errors ? 'weir-bad' : undefined}>{causeText(it)}{it.has_errors && ', with errors'}</td>
            <td className="weir-ms">{duration(it.took_us)}</td>
            <td className="weir-ms">{number(it.subscriptions)}</td><td className="weir-ms">{number(it.bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sources({ overview }: { overview: LiveOverview }) {
  return (
    <table className="weir-facts" data-testid="live-sources">
      <thead><tr><th>source</th><th className="weir-ms">members</th><th>tells</th><th>polled</th></tr></thead>
      <tbody>
        {overview.sources.map(it => (
          <tr key={it.name}>
            <th scope="row">{it.name}</th><td className="weir-ms">{number(it.members)}</td><td className="weir-words">{toldWords(it)}</td><td className="weir-words">{polledWords(it, overview.poll_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Overview({ overview }: { overview: LiveOverview }) {
  const { search } = usePlace();
  const wanted = search.get('search') ?? '';
  const has = (it: LiveGroup | LivePush) => `${operationWords(it.operation)} ${it.role} ${it.operation.hash}`.toLowerCase().includes(wanted.toLowerCase());
  const groups = overview.groups.filter(has);
  const pushes = overview.pushes.filter(has);
  const subscribers = overview.groups.reduce((sum, it) => sum + it.subscriptions, 0) + overview.event_streams;
  const isEmpty = overview.groups.length === 0;
  return (
    <>
      <p data-testid="live-count">
        <b>{number(subscribers)}</b> of {number(overview.subscriptions_max)} subscriptions{overview.event_streams > 0 && `, ${number(overview.event_streams)} of them to events`}.{' '}
        <span className="weir-note">One operation is read at most every {overview.floor_ms} ms.</span>
      </p>
      {isEmpty ? (
        <div className="weir-empty">
          <p><b>Nobody subscribes now.</b></p>
          <p>Run a <code>subscription</code> in the <Link to={addressOf(['api'])}>editor</Link>, or switch <i>Live</i> on at a table of <Link to={addressOf(['data'])}>Data</Link>; it is shown here within two seconds.</p>
        </div>
      ) : (
        <>
          <input type="search" aria-label="Filter by operation or role" placeholder="Filter: operation or role" value={wanted} onChange={event => go(addressOf(['live'], { search: event.target.value }), { replace: true })} />
          <section aria-label="Subscriptions">
            <h2>Subscriptions</h2>
            {groups.length === 0 ? <p className="weir-note">No operation or role has “{wanted}” in it.</p> : <Wide label="Subscriptions"><Groups groups={groups} /></Wide>}
            {overview.groups_left_out > 0 && <p className="weir-note">{number(overview.groups_left_out)} operations with fewer subscribers are not shown.</p>}
          </section>
          <section aria-label="Last pushes">
            <h2>Last pushes</h2>
            <p className="weir-note">The newest result of each member. A change by another program counts from when the server noticed it.</p>
            {pushes.length === 0 ? <p className="weir-note">There is none yet.</p> : <Wide label="Last pushes"><Pushes pushes={pushes} /></Wide>}
          </section>
        </>
      )}
      <section aria-label="Sources">
        <h2>What sources tell</h2>
        {overview.sources.length === 0 ? <p className="weir-note">The server has no source.</p> : <Wide label="Sources"><Sources overview={overview} /></Wide>}
      </section>
    </>
  );
}

export default function LivePage({ onLocked }: PageProps) {
  const [overview, setOverview] = useState<LiveOverview | null>(null);
  const failure = useWatched(() => liveQueries<LiveOverview>(), PAUSE_MS, onLocked, setOverview);
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api weir-watch">
      <h1>Live</h1>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {overview === null && failure === null && <p className="weir-note">Asking the server …</p>}
      {overview && <Overview overview={overview} />}
    </main>
  );
}
