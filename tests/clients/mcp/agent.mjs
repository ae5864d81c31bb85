// A script in place of an agent: it gets a question about the sample database Chinook and tools it does not know, and goes the way that a
// model goes: it lists the tools, searches the schema, looks at the type that it found, and asks.
//
//   node agent.mjs [QUESTION] -- COMMAND...     as: node agent.mjs 'Which albums has AC/DC?' -- weir mcp --demo

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileURLToPath } from 'node:url';

/** The text of a tool's result; an error is thrown with what the model would read. */
async function use(client, name, args) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const text = content.map(it => it.text).join('\n');
  if (isError) throw new Error(`${name}: ${text}`);
  return text;
}

/** Answers a question of the form "Which THINGS has NAME?" over the tools of `client`. */
export async function answer(client, question, log = () => {}) {
  const [, things, owner] = /^Which (\w+?)s has (.+)\?$/.exec(question) ?? [];
  if (!things) throw new Error('ask: Which albums has AC/DC?');
  const { tools } = await client.listTools();
  for (const needed of ['search', 'introspect', 'execute']) {
    if (!tools.some(it => it.name === needed)) throw new Error(`there is no tool ${needed}`);
  }
  const found = await use(client, 'search', { terms: things, limit: 5 });
  log(`search ${things}:\n${found}\n`);
  // The first root field that gives a list.
  const [, field, type] = found.split('\n').map(it => /^query_root\.(\w+)\(.*: \[(\w+)!\]!/.exec(it) ?? /^query_root\.(\w+)\(()/.exec(it)).find(Boolean) ?? [];
  const sdl = await use(client, 'introspect', { type: type || field, depth: 1 });
  log(`introspect ${type || field}:\n${sdl}\n`);
  // Its text, and the object that it belongs to.
  const own = sdl.slice(0, sdl.indexOf('}'));
  const [, title] = /^ {2}(Title|Name): String/m.exec(own) ?? [];
  const [, parent, parentType] = /^ {2}(\w+): (Artist|Album|Genre)!?$/m.exec(own) ?? [];
  if (!title || !parent) throw new Error(`${type || field} has no title and no owner`);
  const query = `query ($name: String!) { ${field}(where: {${parent}: {Name: {_eq: $name}}}, order_by: {${title}: asc}, limit: 20) { ${title} } }`;
  log(`execute (${parentType} is ${owner}):\n${query}\n`);
  const rows = JSON.parse(await use(client, 'execute', { query, variables: { name: owner } }))[field];
  return rows.map(it => it[title]);
}

/** An agent's client of a server that `command` starts. */
export async function connect(command, args, env = {}) {
  const client = new Client({ name: 'script', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env } }));
  return client;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const split = process.argv.indexOf('--');
  const question = process.argv.slice(2, split)[0] ?? 'Which albums has AC/DC?';
  const [command, ...args] = process.argv.slice(split + 1);
  const client = await connect(command, args);
  const titles = await answer(client, question, it => console.log(it));
  console.log(`${question}\n${titles.map(it => `- ${it}`).join('\n')}`);
  await client.close();
}
