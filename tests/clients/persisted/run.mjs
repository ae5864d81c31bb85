// Persisted documents as real tools write them and real clients ask for them: Apollo Client, urql, Relay, GraphQL Code Generator.
//
// Each tool writes its file, one Weir serves all files and nothing else to the role `web`, and another Weir stores what clients send.

import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { Client, fetchExchange, gql as urqlGql } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient as createWs } from 'graphql-ws';
import relay from 'relay-runtime';
import WebSocket from 'ws';
import { check, end, same } from '../checks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { WEIR_BINARY: weir, WEIR_SOURCE: source } = process.env;
// Below this folder, so that the tools find their packages.
const out = mkdtempSync(join(here, 'out.'));
const children = [];
process.on('exit', () => {
  children.forEach(it => it.kill());
  rmSync(out, { recursive: true });
});

const FRAGMENT = 'fragment AlbumTitle on album { title }';
const QUERY = 'query Album($id: Int!) { album_by_pk(id: $id) { id ...AlbumTitle } }';
const RENAME = 'mutation Rename($id: Int!, $title: String!) { update_album_by_pk(pk_columns: {id: $id}, _set: {title: $title}) { id title } }';
const LIVE = 'subscription Live($id: Int!) { album_by_pk(id: $id) { id title } }';
const variables = { id: 2 };

const write = (name, text) => {
  mkdirSync(dirname(join(out, name)), { recursive: true });
  writeFileSync(join(out, name), text);
};
const read = name => JSON.parse(readFileSync(join(out, name), 'utf8'));
const tool = (name, ...more) => execFileSync(process.execPath, [join(here, 'node_modules', name), ...more], { cwd: out, stdio: ['ignore', 'pipe', 'pipe'] });

/** Starts Weir over the shop with these settings of `operations`, and gives its address. */
async function serve(name, operations) {
  const columns = '{columns: [id, title], filter: {}}';
  const table = { table: 'album', select_permissions: `[{role: web, permission: ${columns}}]`, update_permissions: '[{role: web, permission: {columns: [title], filter: {}}}]' };
  const entry = `{table: ${table.table}, select_permissions: ${table.select_permissions}, update_permissions: ${table.update_permissions}}`;
  write(name, `listen: 127.0.0.1:0\nlog: {level: warn}\nsources:\n  - {name: shop, url: '${source}', tables: [${entry}]}\noperations: ${operations}\n`);
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

// Files that the tools of clients write.
write('schema.graphql', execFileSync(weir, ['schema', source]));
[['Album', `${QUERY}\n${FRAGMENT}`], ['Rename', RENAME], ['Live', LIVE]].forEach(([name, text]) => write(`src/${name}.graphql`, text));
write('persisted-query-manifest.config.json', JSON.stringify({ documents: ['src/*.graphql'], output: 'apollo.json' }));
tool('.bin/generate-persisted-query-manifest');
write('codegen.mjs', `export default {
  schema: 'schema.graphql', documents: 'src/*.graphql',
  generates: { 'gql/': { preset: 'client', presetConfig: { persistedDocuments: true, fragmentMasking: false }, config: { documentMode: 'string' } } },
};`);
tool('.bin/graphql-codegen', '--config', 'codegen.mjs', '--silent');
write('app/package.json', '{"type":"commonjs"}');
write('app/titles.js', `const { graphql } = require('relay-runtime');
graphql\`query titlesQuery($id: Int!) { album_by_pk(id: $id) { number: id title } }\`;
graphql\`mutation titlesRenameMutation($id: Int!, $title: String!) { update_album_by_pk(pk_columns: {id: $id}, _set: {title: $title}) { number: id title } }\`;`);
// Relay takes keys that are texts alone; here they are numbers.
write('relay.json', '{}');
write('relay.config.json', JSON.stringify({ src: './app', schema: './schema.graphql', language: 'javascript', eagerEsModules: false, noSourceControl: true, schemaConfig: { nodeInterfaceIdField: 'node_id' }, persistConfig: { file: './relay.json' }, excludes: ['**/node_modules/**', '**/__generated__/**'] }));
execFileSync(process.execPath, [join(here, 'node_modules/relay-compiler/cli.js'), './relay.config.json'], { cwd: out, stdio: ['ignore', 'pipe', 'pipe'] });

const files = ['apollo.json', 'gql/persisted-documents.json', 'relay.json'].map(it => `{path: ${it}}`).join(', ');
const stored = await serve('stored.yaml', `{persisted: {files: [${files}], require_id: true}}`);
const automatic = await serve('automatic.yaml', '{}');

const headers = { 'x-hasura-role': 'web' };
const found = { album_by_pk: { id: 2, title: 'Beta' } };
const sha256 = text => createHash('sha256').update(text).digest('hex');

/** `fetch` that notes what was asked: method and members. */
function recorder() {
  const asked = [];
  const record = async (at, options) => {
    const members = options.body ? JSON.parse(options.body) : Object.fromEntries(new URL(at).searchParams);
    asked.push({ method: options.method ?? 'GET', hasText: Boolean(members.query) });
    return fetch(at, options);
  };
  return { asked, record };
}

const apollo = (link, uri, record) => new ApolloClient({
  cache: new InMemoryCache(),
  link: link.concat(new HttpLink({ uri, headers, fetch: record })),
});
const album = gql`${QUERY} ${FRAGMENT}`;
const fromManifest = () => generatePersistedQueryIdsFromManifest({ loadManifest: () => Promise.resolve(read('apollo.json')) });
const plainAlbum = data => ({ album_by_pk: { id: data.album_by_pk.id, title: data.album_by_pk.title } });

for (const useGETForHashedQueries of [false, true]) {
  await check(`Apollo Client by its manifest, ${useGETForHashedQueries ? 'GET' : 'POST'}`, async () => {
    const { asked, record } = recorder();
    const client = apollo(new PersistedQueryLink({ ...fromManifest(), useGETForHashedQueries }), stored, record);
    same(plainAlbum((await client.query({ query: album, variables })).data), found);
    const { data } = await client.mutate({ mutation: gql(RENAME), variables: { id: 2, title: 'Beta' } });
    same(data.update_album_by_pk.title, 'Beta');
    same(asked, [{ method: useGETForHashedQueries ? 'GET' : 'POST', hasText: false }, { method: 'POST', hasText: false }]);
  });
}

await check('Apollo Client by hashes of its own, which are those of its manifest', async () => {
  const { asked, record } = recorder();
  const client = apollo(new PersistedQueryLink({ sha256 }), stored, record);
  const { data } = await client.mutate({ mutation: gql(RENAME), variables: { id: 2, title: 'Beta' } });
  same([data.update_album_by_pk.title, asked], ['Beta', [{ method: 'POST', hasText: false }]]);
});

await check('Apollo Client, a text that is not stored', async () => {
  const { record } = recorder();
  const client = apollo(new PersistedQueryLink({ sha256 }), stored, record);
  const refused = await client.query({ query: gql`query Other { album(limit: 1) { id } }` }).then(() => 'answered', error => error.message);
  if (!refused.includes('stored documents alone')) throw new Error(refused);
});

await check('Apollo Client over graphql-ws', async () => {
  const ws = createWs({ url: stored.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: { headers } });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new PersistedQueryLink(fromManifest()).concat(new GraphQLWsLink(ws)) });
  const first = await new Promise((next, error) => {
    const subscription = client.subscribe({ query: gql(LIVE), variables }).subscribe({ next: it => { next(it); setImmediate(() => subscription.unsubscribe()); }, error });
  });
  same(plainAlbum(first.data), found);
  await ws.dispose();
});

await check('Apollo Client, automatic persisted queries', async () => {
  const once = async () => {
    const { asked, record } = recorder();
    const client = apollo(new PersistedQueryLink({ sha256, useGETForHashedQueries: true }), automatic, record);
    same(plainAlbum((await client.query({ query: album, variables })).data), found);
    return asked;
  };
  same(await once(), [{ method: 'GET', hasText: false }, { method: 'POST', hasText: true }]);
  same(await once(), [{ method: 'GET', hasText: false }]);
});

const urql = (at, record, options) => new Client({ url: at, fetch: record, fetchOptions: { headers }, exchanges: [persistedExchange(options), fetchExchange] });

await check('urql by the identifiers of a manifest', async () => {
  const { asked, record } = recorder();
  const ids = Object.fromEntries(read('apollo.json').operations.map(it => [it.name, it.id]));
  const generateHash = async (_, document) => ids[document.definitions.find(it => it.kind === 'OperationDefinition').name.value];
  const client = urql(stored, record, { generateHash, enforcePersistedQueries: true, enableForMutation: true });
  const { data, error } = await client.query(urqlGql`${QUERY} ${FRAGMENT}`, variables).toPromise();
  if (error) throw error;
  same(plainAlbum(data), found);
  const renamed = await client.mutation(RENAME, { id: 2, title: 'Beta' }).toPromise();
  same(renamed.data?.update_album_by_pk.title, 'Beta');
  same(asked, [{ method: 'GET', hasText: false }, { method: 'POST', hasText: false }]);
});

await check('urql, automatic persisted queries by GET alone', async () => {
  const once = async () => {
    const { asked, record } = recorder();
    const { data, error } = await urql(automatic, record).query('query Urql($id: Int!) { album_by_pk(id: $id) { id title } }', variables).toPromise();
    if (error) throw error;
    same(plainAlbum(data), found);
    return asked;
  };
  same(await once(), [{ method: 'GET', hasText: false }, { method: 'GET', hasText: true }]);
  same(await once(), [{ method: 'GET', hasText: false }]);
});

await check('Relay by its persisted identifiers', async () => {
  const artifacts = createRequire(join(out, 'app/titles.js'));
  const network = relay.Network.create(async (params, sent) => {
    same(params.text, null);
    const body = JSON.stringify({ documentId: params.id, variables: sent });
    return (await fetch(stored, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })).json();
  });
  const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
  const query = artifacts('./__generated__/titlesQuery.graphql');
  const data = await relay.fetchQuery(environment, query, variables).toPromise();
  same(data, { album_by_pk: { number: 2, title: 'Beta' } });
  const renamed = await new Promise((onCompleted, onError) => {
    const mutation = artifacts('./__generated__/titlesRenameMutation.graphql');
    relay.commitMutation(environment, { mutation, variables: { id: 2, title: 'Beta' }, onCompleted, onError });
  });
  same(renamed.update_album_by_pk.title, 'Beta');
});

await check('documents of GraphQL Code Generator, by POST, GET and graphql-ws', async () => {
  const documents = Object.entries(read('gql/persisted-documents.json'));
  same(documents.length, 3);
  const id = documents.find(it => it[1].includes('query Album'))[0];
  same(id.startsWith('sha256:'), true);
  const body = JSON.stringify({ documentId: id, variables });
  const posted = await fetch(stored, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
  same((await posted.json()).data, found);
  const got = await fetch(`${stored}?${new URLSearchParams({ documentId: id, variables: JSON.stringify(variables) })}`, { headers });
  same([got.headers.get('cache-control'), (await got.json()).data], ['no-store', found]);
  const ws = createWs({ url: stored.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: { headers } });
  for await (const result of ws.iterate({ query: '', documentId: id, variables })) same(result.data, found);
  await ws.dispose();
});

end('persisted documents');
