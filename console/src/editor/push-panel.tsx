// The panel of a subscription: each push with its time, its cause and the way it took.

import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useGraphiQLActions } from '@graphiql/react';
import type { GraphiQLPlugin } from '@graphiql/react';
import { causeWords, listen, liveRun } from '../server/subscriptions';
import type { Push } from '../server/subscriptions';

const timeOfDay = (at: Date) =>
  `${at.toLocaleTimeString('en-GB')}.${String(at.getMilliseconds()).padStart(3, '0')}`;

function duration(ms: number): string {
  if (ms < 1000) return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

function Row({ push }: { push: Push }) {
  return (
    <tr>
      <td className="weir-ms">{push.number}</td>
      <td>{timeOfDay(push.at)}</td>
      <td className="weir-ms">{push.since === null ? '–' : duration(push.since)}</td>
      <td className={push.hasErrors ? 'weir-bad' : undefined}>{causeWords(push)}{push.hasErrors && ', with errors'}</td>
      <td className="weir-ms">{push.told?.ms === undefined ? '–' : duration(push.told.ms)}</td>
      <td className="weir-ms">{push.bytes.toLocaleString('en')}</td>
    </tr>
  );
}

function PushContent() {
  const run = useSyncExternalStore(listen, liveRun);
  if (!run) {
    return <div className="weir-plan"><h2>Pushes</h2><p>Run a subscription to see each result with its time and its cause.</p></div>;
  }
  const isUntold = run.pushes.some(it => !it.told);
  return (
    <div className="weir-plan">
      <h2>Pushes</h2>
      <p className="weir-note" data-testid="live-state">
        {run.name ?? 'A subscription'}{run.caller.role && ` as ${run.caller.role}`}: {run.state}
      </p>
      <table className="weir-stages weir-pushes" data-testid="pushes">
        <thead>
          <tr>
            <th>#</th>
            <th>time</th>
            <th title="Time since the push before">after</th>
            <th title="Why the server read the data again">cause</th>
            <th title="Time from the cause to the push, in the server. A change by another program counts from when the server noticed it.">delay</th>
            <th title="Bytes of the result">bytes</th>
          </tr>
        </thead>
        <tbody>{[...run.pushes].reverse().map(push => <Row key={push.number} push={push} />)}</tbody>
      </table>
      {isUntold && <p className="weir-note">The server tells causes to the admin alone; without an admin secret, in dev mode.</p>}
    </div>
  );
}

function PushIcon() {
  return (
    <svg viewBox="0 0 24 24" width="1em" height="1em" fill="none" stroke="currentColor" strokeWidth="1.6">
      <path d="M3 13h4l3-8 4 14 3-6h4" />
    </svg>
  );
}

export const pushPlugin: GraphiQLPlugin = { title: 'Pushes', icon: PushIcon, content: PushContent };

/** Opens the panel when a subscription begins, where there is room for it. */
export function ShowPushes({ isNarrow }: { isNarrow: boolean }) {
  const { setVisiblePlugin } = useGraphiQLActions();
  const run = useSyncExternalStore(listen, liveRun);
  const isBegun = useRef(false);
  const isBeginning = run?.state === 'connecting';
  useEffect(() => {
    if (isBeginning && !isBegun.current && !isNarrow) setVisiblePlugin(pushPlugin);
    isBegun.current = isBeginning;
  }, [isBeginning]);
  return null;
}
