// One event trigger: what it does, its events by their state, and one of them opened.

import { useState } from 'react';
import { NoMetadata } from '../metadata/no-metadata';
import { ReviewCommand } from '../metadata/review-command';
import type { Command } from '../metadata/review-command';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { useLoaded, useWatched } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { Calls, Code } from './calls';
import { addressWords, headerWords, listensTo, loadEvent, loadEvents, loadTriggers, PAGE_ROWS, stateOf, STATUSES, timeText } from './event-log';
import type { Call, LoggedEvent, Status, Trigger } from './event-log';

const PAUSE_MS = 2000;

interface At {
  source: string;
  name: string;
}

const redelivery = ({ source }: At, { id }: LoggedEvent): Command => ({
  title: 'Deliver the event again',
  words: 'The event is pending again, with all its tries; the webhook is called with the same id.',
  request: { type: 'redeliver_event', args: { source, event_id: id } },
});

function About({ trigger: { source, table, entry } }: { trigger: Trigger }) {
  const { num_retries, interval_sec, timeout_sec } = entry.retry_conf;
  const rows = [
    ['table', `${source} ${table}`],
    ['listens to', listensTo(entry)],
    ['webhook', addressWords(entry)],
    ['headers', headerWords(entry.headers) || 'none'],
    ['tries', `${num_retries + 1}, ${interval_sec} s apart, each up to ${timeout_sec ?? 60} s${entry.ordered ? '; events of a row one after the other' : ''}`],
  ];
  return <table className="weir-facts"><tbody>{rows.map(([name, words]) => <tr key={name}><th scope="row">{name}</th><td className="weir-words">{words}</td></tr>)}</tbody></table>;
}

function OpenedEvent({ at, id, onCommand, onLocked }: { at: At; id: string; onCommand: (command: Command) => void } & PageProps) {
  const [found, setFound] = useState<{ event: LoggedEvent; invocations: Call[] } | null>(null);
  const failure = useWatched(() => loadEvent(at.source, id), PAUSE_MS, onLocked, setFound);
  if (failure !== null) return <p role="alert" className="weir-bad">{failure}</p>;
  if (!found) return <p className="weir-note">Reading the event …</p>;
  const { event, invocations } = found;
  const state = stateOf(event);
  return (
    <section aria-label="Event" className="weir-part" data-testid="event">
      <div className="weir-part-head">
        <h2>Event <code>{event.id}</code></h2>
        <button type="button" className="weir-button" disabled={event.archived} onClick={() => onCommand(redelivery(at, event))}>Deliver again</button>
      </div>
      <p><span className={state.isBad ? 'weir-bad' : undefined}>{state.words}</span> <span className="weir-note">logged {timeText(event.created_at)} UTC</span></p>
      <h3>Payload</h3>
      <Code label="Payload" value={event.payload} />
      <Calls calls={invocations} />
    </section>
  );
}

function Events({ at, events, status, after, opened }: { at: At; events: LoggedEvent[]; status: Status; after: number; opened: string | null }) {
  const address = (search: Record<string, string>) => addressOf(['events', 'trigger', at.source, at.name], { status, after: after === 0 ? '' : String(after), ...search });
  const shown = events.slice(0, PAGE_ROWS);
  if (shown.length === 0) return <p>{after > 0 ? 'There are no more events.' : status === '' ? 'There is no event yet: change a row of the table.' : `No event is ${status}.`}</p>;
  return (
    <>
      <Wide label="Events">
        <table className="weir-facts" data-testid="events">
          <thead><tr><th>logged, UTC</th><th>operation</th><th>state</th><th>id</th></tr></thead>
          <tbody>
            {shown.map(event => {
              const state = stateOf(event);
              return (
                <tr key={event.id}>
                  <th scope="row"><Link to={address({ event: event.id })} aria-current={event.id === opened || undefined}>{timeText(event.created_at)}</Link></th>
                  <td>{event.payload?.op?.toLowerCase() ?? '–'}</td>
                  <td className={state.isBad ? 'weir-bad' : undefined}>{state.words}</td>
                  <td><code>{event.id}</code></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Wide>
      <p className="weir-actions">
        {after > 0 && <Link className="weir-button" to={address({ after: after > PAGE_ROWS ? String(after - PAGE_ROWS) : '' })}>Newer</Link>}
        {events.length > PAGE_ROWS && <Link className="weir-button" to={address({ after: String(after + PAGE_ROWS) })}>Older</Link>}
      </p>
    </>
  );
}

const isStatus = (text: string): text is Status => text === '' || STATUSES.some(it => it === text);

function Log({ at, onLocked }: { at: At } & PageProps) {
  const { search } = usePlace();
  const asked = search.get('status') ?? '';
  const status = isStatus(asked) ? asked : '';
  const after = Math.max(0, Math.trunc(Number(search.get('after'))) || 0);
  const opened = search.get('event');
  const [round, setRound] = useState(0);
  const [command, setCommand] = useState<Command | null>(null);
  const [words, setWords] = useState('');
  const { value: events, failure } = useLoaded(() => loadEvents(at.source, at.name, status, after), [status, after, round], onLocked);
  const choose = (it: string) => go(addressOf(['events', 'trigger', at.source, at.name], { status: it }));
  return (
    <>
      <p role="status" className="weir-told">{words}</p>
      {opened !== null && <OpenedEvent key={opened} at={at} id={opened} onCommand={setCommand} onLocked={onLocked} />}
      <section aria-label="Events">
        <h2>Events</h2>
        <p className="weir-actions">
          <label>Show <select className="weir-choice" aria-label="State" value={status} onChange={event => choose(event.target.value)}><option value="">all</option>{STATUSES.map(it => <option key={it}>{it}</option>)}</select></label>
          <button type="button" className="weir-button" onClick={() => setRound(round + 1)}>Look again</button>
        </p>
        {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
        {failure === null && !events && <p className="weir-note">Reading the log …</p>}
        {failure === null && events && <Events at={at} events={events} status={status} after={after} opened={opened} />}
      </section>
      {command && <ReviewCommand command={command} onClose={() => setCommand(null)} onDone={it => (setCommand(null), setWords(it), setRound(round + 1))} />}
    </>
  );
}

export function TriggerPage({ source, name, onLocked }: At & PageProps) {
  const { value: found, failure } = useLoaded(async () => ({ triggers: await loadTriggers() }), [source, name], onLocked);
  const trigger = found?.triggers?.find(it => it.source === source && it.entry.name === name);
  return (
    <>
      <h1>{name}</h1>
      <p><Link to={addressOf(['events'])}>All event triggers</Link></p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {!found && failure === null && <p className="weir-note">Asking the server …</p>}
      {found && !found.triggers && <NoMetadata />}
      {found?.triggers && !trigger && <p role="alert">Source {source} has no event trigger {name}.</p>}
      {trigger && <><About trigger={trigger} /><Log at={{ source, name }} onLocked={onLocked} /></>}
    </>
  );
}
