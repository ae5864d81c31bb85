// The page of settings: health, version and what is inconsistent; export and import of the metadata.

import { addressOf, Link, usePlace } from '../shell/place';
import { Parts } from '../shell/parts';
import type { PageProps } from '../shell/shell';
import { MetadataPage } from './metadata-page';
import { ServerPage } from './server-page';
import '../data/data.css';
import '../metadata/metadata.css';
import '../schema/schema.css';
import '../api/api.css';
import '../live/live.css';

const PARTS = [{ part: '', title: 'Server' }, { part: 'metadata', title: 'Metadata' }];

export default function SettingsPage({ onLocked }: PageProps) {
  const { path } = usePlace();
  const part = path[1] ?? '';
  return (
    <main id="page" tabIndex={-1} className="weir-page weir-api weir-watch">
      <Parts page="settings" label="Parts of Settings" parts={PARTS} current={part} />
      <h1>{PARTS.find(it => it.part === part)?.title ?? 'Settings'}</h1>
      {part === '' && <ServerPage onLocked={onLocked} />}
      {part === 'metadata' && <MetadataPage onLocked={onLocked} />}
      {part !== '' && part !== 'metadata' && <p role="alert">Nothing has this address. <Link to={addressOf(['settings'])}>Server</Link></p>}
    </main>
  );
}
