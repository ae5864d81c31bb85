// The frame of every page: bar, caller, secret dialog, and the page that the address names.

import { Component, Suspense, lazy, useCallback, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { callerWords, useCaller } from '../server/caller';
import { forgetSecret, sentSecret, servesGuests, setSecret } from '../server/requests';
import type { SecretNeeded } from '../server/requests';
import { Link, addressOf, go, usePlace } from './place';
import { RunAs } from './run-as';
import { SecretDialog } from './secret-dialog';
import logo from '../weir.svg';

const DataPage = lazy(() => import('../data/data-page'));
const SchemaPage = lazy(() => import('../schema/schema-page'));
const PermissionsPage = lazy(() => import('../permissions/permissions-page'));
const ApiPage = lazy(() => import('../api/api-page'));
const LivePage = lazy(() => import('../live/live-page'));
const OperationsPage = lazy(() => import('../operations/operations-page'));
const EventsPage = lazy(() => import('../events/events-page'));
const ServicesPage = lazy(() => import('../services/services-page'));
const SettingsPage = lazy(() => import('../settings/settings-page'));

export interface PageProps {
  /** The server wants the secret, or another one. */
  onLocked: (error: SecretNeeded) => void;
}

const PAGES = [
  { part: 'data', title: 'Data', page: DataPage },
  { part: 'schema', title: 'Schema', page: SchemaPage },
  { part: 'permissions', title: 'Permissions', page: PermissionsPage },
  { part: 'api', title: 'API', page: ApiPage },
  { part: 'live', title: 'Live', page: LivePage },
  { part: 'operations', title: 'Operations', page: OperationsPage },
  { part: 'services', title: 'Services', page: ServicesPage },
  { part: 'events', title: 'Events', page: EventsPage },
  { part: 'settings', title: 'Settings', page: SettingsPage },
];

/** A page that fails is told in its place; the bar stays. */
class Guard extends Component<{ children: ReactNode }, { failure: string | null }> {
  state = { failure: null };
  static getDerivedStateFromError(error: unknown) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
  render() {
    if (this.state.failure === null) return this.props.children;
    return (
      <main id="page" className="weir-page">
        <h1>This page failed</h1>
        <p role="alert">{this.state.failure}</p>
        <p><button type="button" className="weir-button" onClick={() => location.reload()}>Load it again</button></p>
      </main>
    );
  }
}

function Nowhere() {
  return (
    <main id="page" className="weir-page">
      <h1>Nothing has this address</h1>
      <p>Go to <Link to={addressOf(['data'])}>Data</Link> to look at rows, or to <Link to={addressOf(['api'])}>API</Link> to write a query.</p>
    </main>
  );
}

function Bar({ current, canUnlock, onUnlock }: { current: string; canUnlock: boolean; onUnlock: () => void }) {
  return (
    <header className="weir-bar-top">
      <span className="weir-brand"><img src={logo} alt="" width="20" height="20" /> Weir</span>
      <nav aria-label="Pages">
        {PAGES.map(({ part, title }) => (
          <Link key={part} to={addressOf([part])} aria-current={part === current ? 'page' : undefined}>{title}</Link>
        ))}
      </nav>
      <span className="weir-space" />
      {canUnlock && <button type="button" className="weir-button" onClick={onUnlock}>Admin secret</button>}
      <RunAs />
    </header>
  );
}

/** The first view, and the address that earlier versions had for the operations. */
function useStart(part: string | undefined) {
  useEffect(() => {
    if (part === undefined) go(addressOf([location.hash === '#operations' ? 'operations' : 'data']), { replace: true });
  }, [part]);
}

export function Shell() {
  const { path } = usePlace();
  const caller = useCaller();
  const [lock, setLock] = useState<{ refusal: string | null } | null>(null);
  // The page was opened as a role for callers without a secret: it goes on as that role, or with the secret.
  const [isGuest, setIsGuest] = useState(false);
  const [round, setRound] = useState(0);
  const locked = useCallback((error: SecretNeeded) => setLock({ refusal: sentSecret() ? error.message : null }), []);
  useStart(path[0]);
  useEffect(() => {
    let isCurrent = true;
    // Once a secret was sent, the answer of before holds.
    if (!sentSecret()) void servesGuests().then(it => isCurrent && setIsGuest(it));
    return () => void (isCurrent = false);
  }, [round]);
  const found = PAGES.find(it => it.part === path[0]);
  useEffect(() => {
    document.title = [...(['data', 'schema', 'permissions'].includes(path[0] ?? '') ? path.slice(2) : []), found?.title ?? '', 'Weir'].filter(Boolean).join(' · ');
  }, [path, found]);
  if (lock) {
    const again = () => (setLock(null), setRound(round + 1));
    return (
      <SecretDialog
        refusal={lock.refusal}
        onSecret={secret => (setSecret(secret), again())}
        onCancel={isGuest ? () => (forgetSecret(), again()) : undefined}
      />
    );
  }
  const Page = found?.page;
  return (
    <div className="weir-shell">
      <a className="weir-skip" href="#page" onClick={event => (event.preventDefault(), document.getElementById('page')?.focus())}>Skip to the page</a>
      <Bar current={path[0] ?? ''} canUnlock={isGuest && !sentSecret()} onUnlock={() => setLock({ refusal: null })} />
      <p className="weir-hidden" role="status">{callerWords(caller) === 'admin' ? '' : `Requests run as ${callerWords(caller)}.`}</p>
      <Guard key={`${path[0]} ${round}`}>
        <Suspense fallback={<main id="page" className="weir-page"><p className="weir-note">Opening …</p></main>}>
          {Page ? <Page onLocked={locked} /> : path.length > 0 && <Nowhere />}
        </Suspense>
      </Guard>
    </div>
  );
}
