// Schedules: cron triggers with their next times, one-off events, and the events of one of them.

import { useState } from 'react';
import { NoMetadata } from '../metadata/no-metadata';
import { ReviewCommand } from '../metadata/review-command';
import type { Command } from '../metadata/review-command';
import { addressOf, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { headerWords, timeText } from './event-log';
import { OneOffForm } from './one-off-form';
import { loadCronTriggers, loadTimes } from './schedules';
import type { CronTrigger, Kind, Times } from './schedules';
import { ScheduledEvents } from './scheduled-events';

interface Look {
  triggers: CronTrigger[] | null;
  times: Map<string, Times>;
  fault: string | null;
}

async function look(): Promise<Look> {
  const triggers = await loadCronTriggers();
  return { triggers, ...(await loadTimes((triggers ?? []).map(it => it.name))) };
}

const ofTrigger = (name: string, status = '') => addressOf(['events', 'schedules'], { of: name, status });

function NextTimes({ times }: { times: Times | undefined }) {
  if (!times) return <td>–</td>;
  if (times.next.length === 0) return <td className="weir-note">none is stored</td>;
  return <td>{times.next.map(it => <div key={it}>{timeText(it).slice(0, 16)}</div>)}</td>;
}

function CronTriggers({ triggers, times }: { triggers: CronTrigger[]; times: Map<string, Times> }) {
  return (
    <table className="weir-facts" data-testid="schedules">
      <thead><tr><th>trigger</th><th>schedule</th><th>next times, UTC</th><th className="weir-ms">failed</th><th>webhook</th><th>headers</th><th>comment</th></tr></thead>
      <tbody>
        {triggers.map(it => {
          const failed = times.get(it.name)?.failed ?? 0;
          return (
            <tr key={it.name}>
              <th scope="row"><Link to={ofTrigger(it.name)}>{it.name}</Link></th>
              <td><code>{it.schedule}</code></td>
              <NextTimes times={times.get(it.name)} />
              <td className="weir-ms">{failed > 0 ? <Link className="weir-bad" to={ofTrigger(it.name, 'error')} aria-label={`${failed} failed of ${it.name}`}>{failed.toLocaleString('en')}</Link> : times.has(it.name) ? 0 : '–'}</td>
              <td>{it.webhook}</td>
              <td>{headerWords(it.headers)}</td>
              <td>{it.comment}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const EXAMPLE = `# cron_triggers.yaml
- name: nightly
  webhook: '{{HOOKS}}/report'
  schedule: 0 3 * * *
  include_in_metadata: true`;

function Triggers({ triggers, times, fault }: { triggers: CronTrigger[]; times: Map<string, Times>; fault: string | null }) {
  return (
    <section aria-label="Cron triggers">
      <h2>Cron triggers</h2>
      {fault !== null && <p role="alert" className="weir-bad">The server tells no times: {fault}</p>}
      {triggers.length > 0 ? <Wide label="Cron triggers"><CronTriggers triggers={triggers} times={times} /></Wide> : (
        <div className="weir-empty">
          <p><b>There is no cron trigger.</b></p>
          <p>A cron trigger calls a webhook at the times of a schedule. Write one into the metadata, or make one by <code>create_cron_trigger</code>:</p>
          <pre className="weir-code" tabIndex={0} aria-label="Example">{EXAMPLE}</pre>
        </div>
      )}
    </section>
  );
}

export function SchedulesPage({ onLocked }: PageProps) {
  const { search } = usePlace();
  const [round, setRound] = useState(0);
  const [command, setCommand] = useState<Command | null>(null);
  const [words, setWords] = useState('');
  const { value, failure } = useLoaded(look, [round], onLocked);
  const name = search.get('of');
  const isNew = search.has('new');
  const kind: Kind = name === null ? { type: 'one_off' } : { type: 'cron', trigger_name: name };
  const isKnown = name === null || value?.triggers?.some(it => it.name === name) === true;
  return (
    <>
      <h1>Schedules</h1>
      <p role="status" className="weir-told">{words}</p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {value === null && failure === null && <p className="weir-note">Asking the server …</p>}
      {value && !value.triggers && <NoMetadata />}
      {value?.triggers && (
        <>
          <p className="weir-actions">
            <button type="button" className="weir-button" onClick={() => setRound(round + 1)}>Look again</button>
            {!isNew && <Link className="weir-button" to={addressOf(['events', 'schedules'], { new: 'one-off' })}>New one-off event</Link>}
          </p>
          {isNew && <OneOffForm onCommand={setCommand} />}
          <Triggers triggers={value.triggers} times={value.times} fault={value.fault} />
          {name !== null && <p><Link to={addressOf(['events', 'schedules'])}>One-off events</Link></p>}
          {isKnown ? <ScheduledEvents key={`${name}`} kind={kind} round={round} onCommand={setCommand} onLocked={onLocked} /> : <p role="alert">There is no cron trigger {name}.</p>}
        </>
      )}
      {command && <ReviewCommand command={command} onClose={() => setCommand(null)} onDone={it => (setCommand(null), setWords(it), setRound(round + 1))} />}
    </>
  );
}
