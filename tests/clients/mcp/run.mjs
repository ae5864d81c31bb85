// Agents' clients as people have them: the official TypeScript SDK of both eras, over HTTP and over standard input and output, and a script
// in place of a model. With WEIR_RECORD=FOLDER the messages over HTTP are kept there, for tests without these packages.

import { Client as Modern, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as Legacy } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, end, same } from '../checks.mjs';
import { answer, connect } from './agent.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { WEIR_BINARY: weir, WEIR_SOURCE: source, WEIR_RECORD: record } = process.env;
const out = mkdtempSync(join(tmpdir(), 'weir-mcp-'));
const children = [];
process.on('exit', () => {
  children.forEach(it => it.kill());
  rmSync(out, { recursive: true });
});

const config = join(out, 'weir.yaml');
writeFileSync(config, readFileSync(join(here, 'weir.yaml'), 'utf8').replace('url: SOURCE', `url: '${source}'`));

async function serve() {
  const child = spawn(weir, ['serve', config], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    const found = /http:\/\/[^/\s]+\//.exec(said);
    if (found) return new URL('mcp', found[0]);
  }
  throw new Error(`weir did not start: ${said}`);
}

const url = await serve();

/** A `fetch` that keeps messages and answers of the client `name`. */
function recorder(name) {
  const lines = [];
  return async (target, init = {}) => {
    const response = await fetch(target, init);
    if (record && init.method === 'POST') {
      const headers = Object.fromEntries([...new Headers(init.headers)].filter(it => /^(accept|content-type|mcp-.*)$/.test(it[0])));
      const text = await response.clone().text();
      lines.push(JSON.stringify({ role: new Headers(init.headers).get('x-hasura-role') ?? '', headers, body: JSON.parse(init.body), status: response.status, answer: text ? JSON.parse(text) : null }));
      mkdirSync(record, { recursive: true });
      writeFileSync(join(record, `${name}.jsonl`), `${lines.join('\n')}\n`);
    }
    return response;
  };
}

const info = { name: 'weir-tests', version: '1' };
const clients = [
  ['sdk-1', () => new Legacy(info), LegacyHttp, LegacyStdio, '2025-11-25'],
  ['client-2', () => new Modern(info), ModernHttp, ModernStdio, '2025-11-25'],
  ['client-2-auto', () => new Modern(info, { versionNegotiation: { mode: 'auto' } }), ModernHttp, ModernStdio, '2026-07-28'],
  ['client-2-pin', () => new Modern(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), ModernHttp, ModernStdio, '2026-07-28'],
];

/** What every client sees over every transport. `isAdmin`: it has the mutation too. */
async function use(name, client, version, isAdmin) {
  const schemaTools = ['execute', 'find_albums', 'introspect', ...(isAdmin ? ['retitle'] : []), 'search'];
  const { tools } = await client.listTools();
  await check(`${name}: the list`, () => same(tools.map(it => it.name), ['albums_since', ...schemaTools]));
  await check(`${name}: the version`, () => same(client.getNegotiatedProtocolVersion?.() ?? version, version));
  await check(`${name}: instructions`, () => same(client.getInstructions(), 'The albums of a shop.'));
  const since = tools.find(it => it.name === 'albums_since');
  await check(`${name}: a tool`, () => {
    same(since.description, 'Albums since a year, the newest first.');
    same(since.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true });
    same(Object.keys(since.inputSchema.properties), ['year', 'limit']);
    same(since.outputSchema.required, ['album']);
  });
  // The client compares the answer with the tool's output schema.
  await check(`${name}: a call`, async () => {
    const { structuredContent, content, isError } = await client.callTool({ name: 'albums_since', arguments: { year: 2010 } });
    same(isError, false);
    same(structuredContent.album.map(it => it.year), [2020, 2015, 2010]);
    same(JSON.parse(content[0].text), structuredContent);
  });
  await check(`${name}: an input object`, async () => {
    const { structuredContent } = await client.callTool({ name: 'find_albums', arguments: { where: { year: { _eq: 2015 } } } });
    same(structuredContent, { album: [{ title: 'Epsilon' }] });
  });
  await check(`${name}: a wrong argument is for the model`, async () => {
    const { isError, content } = await client.callTool({ name: 'albums_since', arguments: { year: 'x' } });
    same([isError, content[0].text.startsWith('Error: ')], [true, true]);
  });
  await check(`${name}: an unknown tool is for the program`, async () => {
    const error = await client.callTool({ name: 'lost', arguments: {} }).then(() => undefined, it => it);
    same([error?.code, error?.message.includes('there is no tool')], [-32602, true]);
  });
  await check(`${name}: tools over the schema`, async () => {
    const text = async (tool, args) => (await client.callTool({ name: tool, arguments: args })).content[0].text;
    same((await text('search', { terms: 'album' })).startsWith('query_root.album('), true);
    same((await text('introspect', { type: 'artist' })).includes('type artist {'), true);
    same(JSON.parse(await text('execute', { query: '{ artist(order_by: {id: asc}, limit: 1) { name } }' })), { artist: [{ name: 'Ada' }] });
    same(await text('execute', { query: 'mutation { delete_album(where: {}) { affected_rows } }' }).then(it => /only queries|Error/.test(it)), true);
  });
}

for (const [name, make, Http, Stdio, version] of clients) {
  for (const role of ['reader', 'admin']) {
    const client = make();
    const headers = { 'x-hasura-admin-secret': 'hush', 'x-hasura-role': role };
    await check(`${name} over HTTP as ${role}: connects`, () => client.connect(new Http(url, { requestInit: { headers }, fetch: recorder(`${name}-${role}`) })));
    await use(`${name} over HTTP as ${role}`, client, version, role === 'admin');
    await client.close();
  }
  const client = make();
  await check(`${name} over stdio: connects`, () => client.connect(new Stdio({ command: weir, args: ['mcp', config, '--role', 'reader'] })));
  await use(`${name} over stdio`, client, version, false);
  await client.close();
}

await check('a caller without credentials is refused', async () => {
  const client = new Legacy(info);
  const error = await client.connect(new LegacyHttp(url)).then(() => undefined, it => it);
  same(/401|Unauthorized|secret/.test(String(error)), true);
});

await check('a script in place of an agent answers over Chinook', async () => {
  const client = await connect(weir, ['mcp', '--demo'], { XDG_CACHE_HOME: out });
  same(await answer(client, 'Which albums has AC/DC?'), ['For Those About To Rock We Salute You', 'Let There Be Rock', 'Trying now']);
  same(await answer(client, 'Which albums has Aerosmith?'), ['Big Ones']);
  await client.close();
});

end('mcp');
