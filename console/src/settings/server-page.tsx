// The server: health of sources, inconsistent objects with what to do, version, and which secrets are set.

import { useEffect, useRef, useState } from 'react';
import { jsonOf } from '../editor/code/snippet';
import type { MetadataChange } from '../metadata/change';
import { ReviewChange } from '../metadata/review-change';
import type { Json } from '../metadata/served';
import { ReviewCommand } from '../metadata/review-command';
import type { Command } from '../metadata/review-command';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { Wide } from '../shell/wide';
import { exportMetadata } from './import';
import { adviceFor, loadFacts, withoutSecrets } from './server-facts';
import type { Facts, InconsistentObject, Readiness } from './server-facts';

const RELOAD: Command = {
  title: 'Reload the metadata',
  words: 'The server reads its files and databases again, and serves what they say now.',
  request: { type: 'reload_metadata', args: {} },
};

/** Takes what does not fit out of the metadata, of which this version was seen. */
const dropChange = (objects: InconsistentObject[], version: number): MetadataChange => ({
  title: 'Drop inconsistent objects',
  warning: 'With an entry goes all that stands in it and what depends on it. Sources that cannot be reached stay. Save an export of the metadata first.',
  request: { type: 'drop_inconsistent_metadata', args: {}, resource_version: version },
  before: objects.map(it => it.name),
  after: [],
  yaml: objects.map(it => `# ${it.name}`).join('\n'),
  place: 'nowhere: take these entries out of the files',
  asksName: 'drop',
});

function Sources({ readiness }: { readiness: Readiness }) {
  const { sources = [] } = readiness;
  return (
    <section aria-label="Health">
      <h2>Health</h2>
      {sources.length === 0 && <p className="weir-note">{readiness.status === 'draining' ? 'The server is shutting down.' : 'The server has no source: name one in weir.yaml.'}</p>}
      {sources.length > 0 && (
        <Wide label="Health of sources">
          <table className="weir-facts" data-testid="health">
            <thead><tr><th>source</th><th>server</th><th>state</th></tr></thead>
            <tbody>
              {sources.map(it => (
                <tr key={it.name}>
                  <th scope="row">{it.name}</th><td>{it.server ?? '–'}</td>
                  <td className={it.ready ? undefined : 'weir-bad'}>{it.ready ? 'ready' : `${it.reason} (${it.code})`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </section>
  );
}

function Inconsistent({ state, onDrop }: { state: NonNullable<Facts['state']>; onDrop: () => void }) {
  const { inconsistent_objects: objects, warnings } = state;
  return (
    <section aria-label="Inconsistent objects">
      <h2>Inconsistent objects</h2>
      {objects.length === 0 && <p className="weir-note">There is none: all that the metadata says is served.</p>}
      {objects.length > 0 && (
        <>
          <ul className="weir-list" data-testid="inconsistent">
            {objects.map((it, at) => (
              <li key={at}>
                <b>{it.name}</b>
                <p className="weir-bad">{it.reason}</p>
                <p>{adviceFor(it)}</p>
                <details><summary>Entry</summary><pre className="weir-code" tabIndex={0} aria-label={`Entry of ${it.name}`}>{jsonOf(withoutSecrets((it.definition ?? null) as Json), 2)}</pre></details>
              </li>
            ))}
          </ul>
          <p className="weir-actions"><button type="button" className="weir-button" onClick={onDrop}>Drop all of them</button></p>
        </>
      )}
      {warnings.length > 0 && <><h3>Not honoured</h3><ul className="weir-list">{warnings.map(it => <li key={it}>{it}</li>)}</ul></>}
    </section>
  );
}

const isSet = (it: boolean) => (it ? 'set, and never shown' : 'not set');

function About({ facts: { config, health, state } }: { facts: Facts }) {
  const rows: [string, string][] = [
    ['version', `Weir ${config.weir_version}; tools of Hasura read ${config.version}`],
    ['serves', health],
    ['admin secret', isSet(config.is_admin_secret_set)],
    ['keys of tokens (JWT)', isSet(config.is_jwt_set)],
    ['webhook of sessions', isSet(config.is_auth_hook_set)],
    ['allow list', config.is_allow_list_enabled ? 'on' : 'off'],
    ['names', config.default_naming_convention],
    ['subgraph of a federation', config.is_apollo_federation_enabled ? 'yes' : 'no'],
    ...(state ? [['metadata', state.served.metadata ?? 'no file that the server may write'], ['generation', String(state.generation)]] as [string, string][] : []),
  ];
  return (
    <section aria-label="Settings">
      <h2>Settings</h2>
      <table className="weir-facts" data-testid="settings"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td className="weir-words">{value}</td></tr>)}</tbody></table>
    </section>
  );
}

export function ServerPage({ onLocked }: PageProps) {
  const [round, setRound] = useState(0);
  const [command, setCommand] = useState<Command | null>(null);
  const [dropping, setDropping] = useState<MetadataChange | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [words, setWords] = useState('');
  const pending = useRef('');
  const { value: facts, failure } = useLoaded(loadFacts, [round], onLocked);
  useEffect(() => {
    if (pending.current === '') return;
    setWords(pending.current);
    pending.current = '';
  }, [facts]);
  const again = () => setRound(it => it + 1);
  const done = (it: string) => {
    setCommand(null);
    setDropping(null);
    pending.current = it;
    again();
  };
  const drop = (objects: InconsistentObject[]) => {
    setFault(null);
    exportMetadata().then(it => setDropping(dropChange(objects, it.resource_version)), error => setFault(String(error.message ?? error)));
  };
  const state = facts?.state;
  return (
    <>
      <p role="status" className="weir-told">{words}</p>
      <p className="weir-actions">
        <button type="button" className="weir-button" onClick={again}>Look again</button>
        {state && <button type="button" className="weir-button" onClick={() => setCommand(RELOAD)}>Reload the metadata</button>}
      </p>
      {failure !== null && <p role="alert" className="weir-bad">{failure}</p>}
      {fault !== null && <p role="alert" className="weir-bad">{fault}</p>}
      {!facts && failure === null && <p className="weir-note">Asking the server …</p>}
      {facts && <Sources readiness={facts.readiness} />}
      {facts && !state && <p role="alert">What is inconsistent is not told at this address: a server with <code>admin_listen</code> tells it there.</p>}
      {state && <Inconsistent state={state} onDrop={() => drop(state.inconsistent_objects)} />}
      {facts && <About facts={facts} />}
      {command && <ReviewCommand command={command} onClose={() => setCommand(null)} onDone={done} />}
      {dropping && state && <ReviewChange change={dropping} file={state.served.metadata} onStale={again} onClose={() => setDropping(null)} onDone={done} />}
    </>
  );
}
