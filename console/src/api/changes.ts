// Changes of saved operations, as commands of the metadata API and as a block of weir.yaml.

import { bulkRequest, yamlOf } from '../metadata/change';
import type { MetadataChange } from '../metadata/change';
import type { Json } from '../metadata/served';
import type { AllowlistEntry, EndpointEntry, NamedQuery, QueryCollection, Saved } from './saved';

const plain = (value: unknown) => value as Json;

/** Where no metadata are written, the same entries stand in weir.yaml. */
const PLACE = 'below `operations` in weir.yaml, with what stands in these lists already';

interface Parts {
  title: string;
  commands: unknown[];
  before: unknown;
  after: unknown;
  yaml: unknown;
  place?: string;
  asksName?: string;
}

const changeOf = (saved: Saved, it: Parts): MetadataChange => ({
  title: it.title,
  request: bulkRequest(it.commands, saved.version),
  before: plain(it.before),
  after: plain(it.after),
  yaml: yamlOf(plain(it.yaml)),
  place: it.place ?? PLACE,
  ...(it.asksName === undefined ? {} : { asksName: it.asksName }),
});

interface Added {
  commands: unknown[];
  before: QueryCollection[];
  after: QueryCollection[];
}

/** The commands that put a query into a collection, in place of one of its name. */
function putQuery({ metadata }: Saved, collection: string, query: NamedQuery): Added {
  const known = metadata.query_collections.find(it => it.name === collection);
  if (!known) {
    const made = { name: collection, definition: { queries: [query] } };
    return { commands: [{ type: 'create_query_collection', args: made }], before: [], after: [made] };
  }
  const old = known.definition.queries.find(it => it.name === query.name);
  const place = { collection_name: collection, query_name: query.name };
  const others = known.definition.queries.filter(it => it !== old);
  const commands = [
    ...(old && old.query !== query.query ? [{ type: 'drop_query_from_collection', args: place }] : []),
    ...(old?.query === query.query ? [] : [{ type: 'add_query_to_collection', args: { ...place, query: query.query } }]),
  ];
  const after = old?.query === query.query ? known : { ...known, definition: { queries: [...others, query] } };
  return { commands, before: [known], after: [after] };
}

/** Saves a query in a collection that these roles may run; all of them if none is named. */
export function saveAllowed(saved: Saved, collection: string, query: NamedQuery, roles: string[]): MetadataChange {
  const added = putQuery(saved, collection, query);
  const known = saved.metadata.allowlist.find(it => it.collection === collection);
  const entry: AllowlistEntry = { collection, scope: roles.length === 0 ? { global: true } : { global: false, roles } };
  const isKnown = known !== undefined && JSON.stringify(known.scope ?? { global: true }) === JSON.stringify(entry.scope);
  const type = known ? 'update_scope_of_collection_in_allowlist' : 'add_collection_to_allowlist';
  return changeOf(saved, {
    title: `Save ${query.name} for the allow list`,
    commands: [...added.commands, ...(isKnown ? [] : [{ type, args: entry }])],
    before: { query_collections: added.before, allowlist: known ? [known] : [] },
    after: { query_collections: added.after, allowlist: [isKnown ? known : entry] },
    yaml: { operations: { allow_list: true, collections: added.after, allowlist: [entry] } },
    place: PLACE.replace('below `operations` in', 'into'),
  });
}

/** Saves a query as a REST endpoint. */
export function saveEndpoint(saved: Saved, endpoint: EndpointEntry, query: string): MetadataChange {
  const { collection_name, query_name } = endpoint.definition.query;
  const added = putQuery(saved, collection_name, { name: query_name, query });
  const known = saved.metadata.rest_endpoints.find(it => it.name === endpoint.name);
  return changeOf(saved, {
    title: `Save the REST endpoint ${endpoint.name}`,
    // An endpoint holds on to its query, so it goes first and comes back last.
    commands: [...(known ? [{ type: 'drop_rest_endpoint', args: { name: endpoint.name } }] : []), ...added.commands, { type: 'create_rest_endpoint', args: endpoint }],
    before: { query_collections: added.before, rest_endpoints: known ? [known] : [] },
    after: { query_collections: added.after, rest_endpoints: [endpoint] },
    yaml: { operations: { collections: added.after, rest_endpoints: [endpoint] } },
    place: PLACE.replace('below `operations` in', 'into'),
  });
}

/** Commands that take a query away, with its collection if nothing else is in it. */
const dropCommands = (collection: QueryCollection, query: NamedQuery) => (collection.definition.queries.length > 1
  ? [{ type: 'drop_query_from_collection', args: { collection_name: collection.name, query_name: query.name } }]
  : [{ type: 'drop_query_collection', args: { collection: collection.name, cascade: true } }]);

/** The collection without a query; nothing if it has no other. */
const withoutQuery = (collection: QueryCollection, query: NamedQuery) => (collection.definition.queries.length > 1
  ? [{ ...collection, definition: { queries: collection.definition.queries.filter(it => it !== query) } }]
  : []);

/** Deletes an endpoint, with its query if it was saved for it alone. */
export function dropEndpoint(saved: Saved, endpoint: EndpointEntry): MetadataChange {
  const { collection_name, query_name } = endpoint.definition.query;
  const collection = saved.metadata.query_collections.find(it => it.name === collection_name);
  const query = collection?.definition.queries.find(it => it.name === query_name);
  const isAllowed = saved.metadata.allowlist.some(it => it.collection === collection_name);
  const isOnly = endpointsOf(saved, collection_name, query_name).length === 1;
  const own = collection && query && !isAllowed && isOnly ? { collection, query } : null;
  return changeOf(saved, {
    title: `Delete the REST endpoint ${endpoint.name}`,
    commands: [{ type: 'drop_rest_endpoint', args: { name: endpoint.name } }, ...(own ? dropCommands(own.collection, own.query) : [])],
    before: { rest_endpoints: [endpoint], ...(own ? { query_collections: [own.collection] } : {}) },
    after: own ? { rest_endpoints: [], query_collections: withoutQuery(own.collection, own.query) } : { rest_endpoints: [] },
    yaml: [endpoint],
    place: 'take this entry out of `rest_endpoints`',
    asksName: endpoint.name,
  });
}

export const dropQuery = (saved: Saved, collection: QueryCollection, query: NamedQuery): MetadataChange => changeOf(saved, {
  title: `Delete ${query.name} of ${collection.name}`,
  commands: dropCommands(collection, query),
  before: collection,
  after: withoutQuery(collection, query)[0] ?? null,
  yaml: [query],
  place: `take this entry out of the collection \`${collection.name}\``,
  asksName: query.name,
});

export const endpointsOf = (saved: Saved, collection: string, query: string) =>
  saved.metadata.rest_endpoints.filter(it => it.definition.query.collection_name === collection && it.definition.query.query_name === query);
