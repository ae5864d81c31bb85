// What the server tells of itself: health, version, settings. No secret is among it, only whether there is one.

import type { Json } from '../metadata/served';
import { isScalar } from '../server/exact-number';
import { command, healthText, readOperator, readyReport } from '../server/requests';

export interface SourceHealth {
  name: string;
  server?: string;
  ready: boolean;
  code?: string;
  reason?: string;
}

export interface Readiness {
  status: string;
  sources?: SourceHealth[];
  metadata?: { is_consistent: boolean; inconsistent_objects: number; unsupported: number };
}

interface Config {
  weir_version: string;
  version: string;
  is_admin_secret_set: boolean;
  is_auth_hook_set: boolean;
  is_jwt_set: boolean;
  is_allow_list_enabled: boolean;
  is_remote_schema_permissions_enabled: boolean;
  is_apollo_federation_enabled: boolean;
  default_naming_convention: string;
}

export interface InconsistentObject {
  type: string;
  name: string;
  reason: string;
  definition: unknown;
}

interface State {
  generation: number;
  inconsistent_objects: InconsistentObject[];
  warnings: string[];
  served: { metadata: string | null };
}

export interface Facts {
  readiness: Readiness;
  health: string;
  config: Config;
  /** Null where this address has no metadata API. */
  state: State | null;
}

export async function loadFacts(): Promise<Facts> {
  const [config, readiness, health, state] = await Promise.all([
    readOperator('/v1alpha1/config').then(it => it.json() as Promise<Config>),
    readyReport<Readiness>(),
    healthText(),
    command<State>('dump_internal_state', {}),
  ]);
  return { config, readiness, health: health.trim(), state };
}

/** An entry without the values that are often secret: those of headers, and addresses of databases. */
export function withoutSecrets(it: Json): Json {
  if (isScalar(it)) return it;
  if (Array.isArray(it)) return it.map(withoutSecrets);
  const hides = (key: string, value: Json) => (key === 'value' || key === 'database_url') && typeof value === 'string';
  return Object.fromEntries(Object.entries(it as { [key: string]: Json }).map(([key, value]) => [key, hides(key, value) ? '(not shown)' : withoutSecrets(value)]));
}

/** What to do about an object that the server left out. */
export function adviceFor({ type, reason }: InconsistentObject): string {
  if (/environment variable/i.test(reason)) return 'Set the variable in the environment of the server and start it again, or write the value elsewhere.';
  switch (type) {
    case 'source': return 'See that the database can be reached and that its address is right; the server tries again by itself.';
    case 'table': return 'Make the table in the database, or untrack it.';
    case 'object_relation':
    case 'array_relation':
    case 'remote_relationship': return 'Track the other side, mend its columns, or remove the relationship.';
    case 'select_permission':
    case 'insert_permission':
    case 'update_permission':
    case 'delete_permission': return 'Nobody has this permission until it is mended: take out what is not there, or remove it.';
    case 'event_trigger': return 'Mend what the reason names, in the database or in the entry, or remove the trigger. It is tried again every five seconds.';
    case 'cron_trigger': return 'Mend the schedule, the address or its variables.';
    case 'remote_schema': return 'See that the service answers, then reload the metadata.';
    case 'rest_endpoint':
    case 'query_collections':
    case 'allowlist': return 'Mend the text of the operation or the name of its collection.';
    case 'inherited_role': return 'Name roles that exist.';
    default: return 'Mend the entry, or remove it.';
  }
}
