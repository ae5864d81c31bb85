// Events of a cron trigger, or one-off events: their times and states; one of them opens to its calls.

import { addressOf, go, Link, usePlace } from '../shell/place';
import type { Command } from '../metadata/review-command';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { Calls, Code } from './calls';
import { headerWords, PAGE_ROWS, timeText } from './event-log';
import { loadScheduled, loadScheduledCalls, SCHEDULED_STATUSES } from './schedules';
import type { Kind, ScheduledEvent } from './schedules';

const WORDS: Record<ScheduledEvent['status'], string> = { scheduled: 'scheduled', locked: 'in work', delivered: 'delivered', error: 'failed', dead: 'dead: it came too late' };

const isBad = ({ status }: ScheduledEvent) => status === 'error' || status === 'dead';

function stateWords(event: ScheduledEvent): string {
  const tries = event.tries === 0 ? '' : event.tries === 1 ? ', 1 try' : `, ${event.tries} tries`;
  return `${WORDS[event.status]}${tries}${event.status === 'scheduled' && event.next_retry_at !== null ? `, again at ${timeText(event.next_retry_at)}` : ''}`;
}

const deletion = (kind: Kind, { id }: ScheduledEvent): Command => ({
  title: 'Delete the event',
  words: 'The event and the log of its calls are removed; it is not delivered.',
  request: { type: 'delete_scheduled_event', args: { type: kind.type, event_id: id } },
  asksName: 'delete',
});

function OpenedEvent({ kind, event, round, onCommand, onLocked }: { kind: Kind; event: ScheduledEvent; round: number; onCommand: (command: Command) => void } & PageProps) {
  const { value, failure } = useLoaded(() => loadScheduledCalls(kind, event.id), [event.id, round], onLocked);
  return (
    <section aria-label="Event" className="weir-part" data-testid="scheduled-event">
      <div className="weir-part-head">
        <h2>Event <code>{event.id}</code></h2>
        <button type="button" className="weir-button" onClick={() => onCommand(deletion(kind, event))}>Delete</button>
      </div>
      <p><span className={isBad(event) ? 'weir-bad' : undefined}>{stateWords(event)}</span> <span className="weir-note">for {timeText(event.scheduled_time)} UTC</span></p>
      {kind.type === 'one_off' && (
        <>
          <p className="weir-note">Webhook: {String(event.webhook_conf)}; headers: {headerWords(event.header_conf ?? []) || 'none'}{event.comment ? `; ${event.comment}` : ''}</p>
          <h3>Payload</h3>
          <Code label="Payload" value={event.payload} />
        </>
      )}
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {value && <Calls calls={value.invocations} />}
    </section>
  );
}

interface Props {
  kind: Kind;
  /** Another number: something was changed. */
  round: number;
  onCommand: (command: Command) => void;
}

export function ScheduledEvents({ kind, round, onCommand, onLocked }: Props & PageProps) {
  const { search } = usePlace();
  const asked = search.get('status') ?? '';
  const status = SCHEDULED_STATUSES.some(it => it === asked) ? asked : '';
  const after = Math.max(0, Math.trunc(Number(search.get('after'))) || 0);
  const of = kind.trigger_name ?? '';
  const address = (more: Record<string, string>) => addressOf(['events', 'schedules'], { of, status, after: after === 0 ? '' : String(after), ...more });
  const { value: page, failure } = useLoaded(() => loadScheduled(kind, status, after), [status, after, round], onLocked);
  const opened = page?.events.find(it => it.id === search.get('event'));
  const title = of === '' ? 'One-off events' : `Events of ${of}`;
  const count = page?.count ?? 0;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {opened && <OpenedEvent key={opened.id} kind={kind} event={opened} round={round} onCommand={onCommand} onLocked={onLocked} />}
      <p className="weir-actions">
        <label>Show <select className="weir-choice" aria-label="State" value={status} onChange={event => go(addressOf(['events', 'schedules'], { of, status: event.target.value }))}><option value="">all</option>{SCHEDULED_STATUSES.map(it => <option key={it}>{it}</option>)}</select></label>
        {page && <span className="weir-note" data-testid="scheduled-count">{count.toLocaleString('en')} {count === 1 ? 'event' : 'events'}</span>}
      </p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {failure === null && !page && <p className="weir-note">Reading the events …</p>}
      {failure === null && page && page.events.length === 0 && <p className="weir-note">{of === '' ? 'There is none; a one-off event calls a webhook once, at its time.' : 'There is none: the server stores events where it delivers them.'}</p>}
      {failure === null && page && page.events.length > 0 && (
        <>
          <Wide label={title}>
            <table className="weir-facts" data-testid="scheduled">
              <thead><tr><th>time, UTC</th><th>state</th><th>{of === '' ? 'webhook' : 'id'}</th></tr></thead>
              <tbody>
                {page.events.map(it => (
                  <tr key={it.id}>
                    <th scope="row"><Link to={address({ event: it.id })} aria-current={it === opened || undefined}>{timeText(it.scheduled_time)}</Link></th>
                    <td className={isBad(it) ? 'weir-bad' : undefined}>{stateWords(it)}</td>
                    <td>{of === '' ? String(it.webhook_conf) : <code>{it.id}</code>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
          <p className="weir-actions">
            {after > 0 && <Link className="weir-button" to={address({ after: after > PAGE_ROWS ? String(after - PAGE_ROWS) : '' })}>Back</Link>}
            {after + PAGE_ROWS < count && <Link className="weir-button" to={address({ after: String(after + PAGE_ROWS) })}>Next</Link>}
          </p>
        </>
      )}
    </section>
  );
}
