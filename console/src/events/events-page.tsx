// The page of events: event triggers with their deliveries, and schedules; each view has an address.

import { addressOf, Link, usePlace } from '../shell/place';
import { Parts } from '../shell/parts';
import type { PageProps } from '../shell/shell';
import { SchedulesPage } from './schedules-page';
import { TriggerPage } from './trigger-page';
import { TriggersPage } from './triggers-page';
import '../data/data.css';
import '../metadata/metadata.css';
import '../schema/schema.css';
import '../api/api.css';
import '../live/live.css';

const PARTS = [{ part: '', title: 'Event triggers' }, { part: 'schedules', title: 'Schedules' }];

export default function EventsPage({ onLocked }: PageProps) {
  const { path } = usePlace();
  const [, part = '', source, name] = path;
  const isTrigger = part === 'trigger' && source !== undefined && name !== undefined;
  const isKnown = isTrigger || PARTS.some(it => it.part === part);
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api weir-watch">
      <Parts page="events" label="Parts of Events" parts={PARTS} current={isTrigger ? '' : part} />
      {isTrigger && <TriggerPage key={`${source} ${name}`} source={source} name={name} onLocked={onLocked} />}
      {part === '' && <TriggersPage onLocked={onLocked} />}
      {part === 'schedules' && <SchedulesPage onLocked={onLocked} />}
      {!isKnown && <><h1>Events</h1><p role="alert">Nothing has this address. <Link to={addressOf(['events'])}>Event triggers</Link></p></>}
    </main>
  );
}
