// Two Weirs and a subgraph of another maker, composed by two composers and served behind Hive Gateway.
//
// The second Weir has prefixes, so that the same tables can stand in one supergraph twice.

import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { assertCompositionSuccess, composeServices } from '@theguild/federation-composition';
import { federateSubgraphs } from '@wundergraph/composition';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, graphql, parse } from 'graphql';
import { check, end, same } from '../checks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { WEIR_BINARY: weir, WEIR_SOURCE: source } = process.env;
const out = mkdtempSync(join(here, 'out.'));
const children = [];
process.on('exit', () => {
  children.forEach(it => it.kill());
  rmSync(out, { recursive: true });
});

/** Starts Weir over the shop as a subgraph of the role `gateway`, with these further settings of the source; gives its address. */
async function serve(name, settings) {
  const open = 'permission: {columns: [id, title, artist_id], filter: {id: {_lte: 6}}}';
  const artists = 'permission: {columns: [id, name], filter: {}}';
  const permissions = `select_permissions: [{role: gateway, ${open}}], update_permissions: [{role: gateway, permission: {columns: [title], filter: {}}}]`;
  const tables = `[{table: album, ${permissions}}, {table: artist, select_permissions: [{role: gateway, ${artists}}]}]`;
  const text = `listen: 127.0.0.1:0\nlog: {level: warn}\nfederation: {role: gateway}\nsources:\n  - {name: shop, url: '${source}', tables: ${tables}${settings}}\n`;
  writeFileSync(join(out, name), text);
  const child = spawn(weir, ['serve', join(out, name)], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    const found = /http:\/\/[^/\s]+\/graphql/.exec(said);
    if (found) return found[0];
  }
  throw new Error(`weir did not start: ${said}`);
}

const AS = { 'content-type': 'application/json', 'x-hasura-role': 'gateway' };

async function ask(url, query, headers = AS) {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return answer.json();
}

// What another maker's subgraph knows of albums: their keys.
const REVIEWS = `
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
type Query { reviews: [Review!]! }
type Review { stars: Int!  album: album }
type album @key(fields: "id") { id: Int!  reviews: [Review!]! }
`;
const stars = [[3, 1], [5, 2], [1, 7], [4, 99], [2, 1]].map(([stars, id]) => ({ stars, album: { __typename: 'album', id } }));
const schema = buildSchema(`${REVIEWS.replace(/extend.*\n/, '').replace(' @key(fields: "id")', '').replace('reviews: [Review!]! }', 'reviews: [Review!]!  _entities(representations: [_Any!]!): [album]! }')} scalar _Any`);
const rootValue = {
  reviews: stars,
  _entities: ({ representations }) => representations.map(({ id }) => ({ __typename: 'album', id, reviews: stars.filter(it => it.album.id === id) })),
};
const reviews = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { query, variables } = JSON.parse(body);
  const answer = await graphql({ schema, rootValue, source: query, variableValues: variables });
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
}).listen(0, '127.0.0.1');
await new Promise(resolve => reviews.once('listening', resolve));

const one = await serve('one.yaml', '');
const two = await serve('two.yaml', ', customization: {type_names: {prefix: other_}, root_fields: {prefix: other_}}');
const clashing = await serve('clashing.yaml', '');
const texts = new Map();
for (const url of [one, two, clashing]) texts.set(url, (await ask(url, '{ _service { sdl } }')).data._service.sdl);
const subgraphs = [
  { name: 'one', url: one, text: texts.get(one) },
  { name: 'two', url: two, text: texts.get(two) },
  { name: 'reviews', url: `http://127.0.0.1:${reviews.address().port}/`, text: REVIEWS },
];
const services = subgraphs.map(({ name, url, text }) => ({ name, url, typeDefs: parse(text) }));

let supergraph;
await check('@theguild/federation-composition composes two Weirs and another subgraph', () => {
  const result = composeServices(services);
  assertCompositionSuccess(result);
  supergraph = result.supergraphSdl;
});
await check('@wundergraph/composition composes them too', () => {
  const result = federateSubgraphs({
    subgraphs: subgraphs.map(({ name, url, text }) => ({ name, url, definitions: parse(text) })),
    version: '1',
  });
  same((result.errors ?? []).map(it => it.message), []);
  same(result.success, true);
});
await check('two Weirs without prefixes do not compose', () => {
  const twice = [services[0], { name: 'clashing', url: clashing, typeDefs: parse(texts.get(clashing)) }];
  same(composeServices(twice).errors.some(it => it.extensions?.code === 'INVALID_FIELD_SHARING'), true);
});

const gateway = createGatewayRuntime({
  supergraph,
  logging: false,
  propagateHeaders: { fromClientToSubgraphs: ({ request }) => ({ 'x-hasura-role': request.headers.get('x-hasura-role') ?? 'gateway' }) },
});
const through = async query => {
  const answer = await gateway.fetch('http://gateway/graphql', { method: 'POST', headers: AS, body: JSON.stringify({ query }) });
  return answer.json();
};

await check('a gateway finds albums by the keys that another subgraph has', async () => {
  const { data, errors } = await through('{ reviews { stars album { title album_artist { name } } } }');
  // A row that the role does not see, and one that is not there: the gateway misses a non-null title.
  same(errors.map(it => it.path.join('.')), ['reviews.2.album.title', 'reviews.3.album.title']);
  const found = data.reviews.map(it => (it.album?.title ? `${it.stars} ${it.album.title} ${it.album.album_artist.name}` : it.stars));
  same(found, ['3 Alpha Ada', '5 Beta Ada', 1, 4, '2 Alpha Ada']);
});
await check('a gateway adds the fields of another subgraph to rows', async () => {
  const { data, errors } = await through('{ album(order_by: {id: asc}, limit: 2) { title reviews { stars } } }');
  same(errors, null);
  same(data.album, [{ title: 'Alpha', reviews: [{ stars: 3 }, { stars: 2 }] }, { title: 'Beta', reviews: [{ stars: 5 }] }]);
});
await check('both Weirs answer in one operation', async () => {
  const { data, errors } = await through('{ album(limit: 1, order_by: {id: asc}) { title } other_artist(limit: 1, order_by: {id: asc}) { name } }');
  same(errors, null);
  same(data, { album: [{ title: 'Alpha' }], other_artist: [{ name: 'Ada' }] });
});
await check('a mutation goes through a gateway', async () => {
  const { data, errors } = await through('mutation { update_album_by_pk(pk_columns: {id: 2}, _set: {title: "Beta"}) { title } }');
  same(errors, null);
  same(data.update_album_by_pk, { title: 'Beta' });
});

reviews.close();
await gateway[Symbol.asyncDispose]?.();
end('federation');
