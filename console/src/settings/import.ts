// A document of metadata that is to replace what the server has: read, put into the order of the other, tried.

import { yamlOf } from '../metadata/change';
import type { MetadataChange } from '../metadata/change';
import type { Json } from '../metadata/served';
import { isScalar, parseExact } from '../server/exact-number';
import { readCommand } from '../server/requests';
import type { InconsistentObject } from './server-facts';

/** Characters of a file that is read. */
export const FILE_MAX = 64 << 20;

export interface Exported {
  metadata: Json;
  resource_version: number;
  unread_files?: string[];
}

export const exportMetadata = () => readCommand<Exported>('export_metadata', {}, 2);

/** The document in a text: the metadata alone, or as `export_metadata` of version 2 gives it. */
export function readDocument(text: string): { document: Json | null; fault: string | null } {
  const wrong = (fault: string) => ({ document: null, fault });
  let read: unknown;
  try {
    read = parseExact(text);
  } catch (error) {
    return wrong(`It is no JSON: ${(error as Error).message}. A folder of YAML is applied by the command line: hasura metadata apply.`);
  }
  const isObject = (it: unknown): it is { [key: string]: Json } => !isScalar(it) && !Array.isArray(it);
  if (!isObject(read)) return wrong('Metadata is an object.');
  const inner = isObject(read.metadata) ? read.metadata : read;
  return 'version' in inner || 'sources' in inner || 'tables' in inner ? { document: inner, fault: null } : wrong('It has neither `version` nor `sources`: it is no metadata.');
}

/** The name of an entry of a list, by which it is found in another list. */
function nameOf(it: Json): string | null {
  if (isScalar(it) || Array.isArray(it)) return JSON.stringify(it);
  const { name, table, function: of, role, role_name, collection } = it as { [key: string]: Json };
  const named = name ?? table ?? of ?? role ?? role_name ?? collection;
  return named === undefined ? null : JSON.stringify(named);
}

/** The value with keys and named entries in the order of another one, so that lines which differ are changes. */
export function inOrderOf(before: Json | undefined, after: Json): Json {
  if (before === undefined || isScalar(before) || isScalar(after)) return after;
  if (Array.isArray(before) || Array.isArray(after)) {
    if (!Array.isArray(before) || !Array.isArray(after)) return after;
    const names = before.map(nameOf);
    const places = new Map(names.map((name, at) => [name, at]));
    const placed = after.map((it, at) => ({ it, at, place: places.get(nameOf(it)) }));
    const known = placed.filter(it => it.place !== undefined).sort((one, other) => one.place! - other.place! || one.at - other.at);
    return [...known, ...placed.filter(it => it.place === undefined)].map(({ it, place }) => inOrderOf(place === undefined ? undefined : before[place], it));
  }
  const [own, other] = [before as { [key: string]: Json }, after as { [key: string]: Json }];
  const keys = [...Object.keys(own).filter(it => it in other), ...Object.keys(other).filter(it => !(it in own))];
  return Object.fromEntries(keys.map(key => [key, inOrderOf(own[key], other[key]!)]));
}

export interface Trial {
  inconsistent_objects: InconsistentObject[];
  warnings?: { message: string }[];
}

/** What the server would leave out of a document; nothing is taken over. */
export const tryDocument = (document: Json) => readCommand<Trial>('replace_metadata', { metadata: document, allow_inconsistent_metadata: true, dry_run: true }, 2);

/** What a difference cannot show: files that were not read, and entries that are not served. */
function warningOf({ unread_files: unread }: Exported, allowsInconsistent: boolean): string | undefined {
  const parts = [];
  if (unread?.length) parts.push(`These files cannot be read, stand in no difference, and are removed: ${unread.join('; ')}. Mend or copy them first.`);
  if (allowsInconsistent) parts.push('What does not fit is taken over, and not served until it does.');
  return parts.length === 0 ? undefined : parts.join(' ');
}

export const importChange = (exported: Exported, document: Json, allowsInconsistent: boolean): MetadataChange => ({
  title: 'Replace the metadata',
  warning: warningOf(exported, allowsInconsistent),
  request: { type: 'replace_metadata', version: 2, resource_version: exported.resource_version, args: { allow_inconsistent_metadata: allowsInconsistent, metadata: document } as Json },
  before: exported.metadata,
  after: inOrderOf(exported.metadata, document),
  yaml: yamlOf(document),
  place: 'into a file, and name it by `metadata` in weir.yaml',
  asksName: 'replace',
});
