// Edits of the query tree, and code of operations: each piece runs in its language where this is installed. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildSchema, parse } from 'graphql';
import { load } from '../scripts/modules.mjs';

describe('edits of the tree', () => {
  let tree;
  before(async () => { tree = await load('editor/tree/document.ts'); });
  const path = text => (text === '' ? [] : text.split('/').map(it => (it.startsWith('~') ? { kind: 'on', name: it.slice(1) } : { kind: 'field', name: it })));
  const edited = (text, edit) => {
    const made = edit(tree.readText(text, 0));
    parse(made);
    return made;
  };
  const same = (found, expected) => assert.equal(found, expected);

  test('A4 a field is added where it belongs, and what was typed stays', () => {
    const text = '# mine\nquery Q @cached { # here\n  a: boat(id: 1) @include(if: true) {\n    id # the key\n  }\n  ...F\n}\n\nfragment F on Query { crew }\n';
    same(edited(text, it => tree.addSelection(it, path('boat'), 'name')), text.replace('id # the key\n', 'id # the key\n    name\n'));
    same(edited(text, it => tree.addSelection(it, [], 'pier {\n  id\n}')), text.replace('  ...F\n', '  ...F\n  pier {\n    id\n  }\n'));
    same(edited('{ a { b } }', it => tree.addSelection(it, path('a'), 'c')), '{ a { b\n  c\n} }');
    same(edited('{ boat }', it => tree.addSelection(it, path('boat/~Ship'), 'mast')), '{ boat {\n  ... on Ship {\n    mast\n  }\n} }');
  });

  test('A4 what is taken away leaves no empty set and no unused variable', () => {
    const text = 'query Q($id: Int!, $n: Int, $mine: Int) {\n  boat(id: $id) {\n    id\n    crew(limit: $n) {\n      name # whose\n    }\n  }\n}\n';
    same(edited(text, it => tree.removeSelection(it, path('boat/crew/name'))), 'query Q($id: Int!, $mine: Int) {\n  boat(id: $id) {\n    id\n  }\n}\n');
    same(edited('query ($id: Int) { a(x: $id) }', it => tree.removeSelection(it, path('a'))), 'query  { __typename }');
    same(edited('{ a b }', it => tree.removeSelection(it, path('a'))), '{ b }');
  });

  test('A4 arguments are set, nested and taken away', () => {
    const set = (text, value, literal) => edited(text, it => tree.setValue(it, path('a'), value, literal));
    same(set('{ a }', ['where', 'id', '_eq'], '7'), '{ a(where: {id: {_eq: 7}}) }');
    same(set('{ a(where: {id: {_eq: 7}}) }', ['where', 'id', '_eq'], '8'), '{ a(where: {id: {_eq: 8}}) }');
    same(set('{ a(where: {id: {_eq: 7}}) }', ['where', 'name'], '{}'), '{ a(where: {id: {_eq: 7}, name: {}}) }');
    same(set('{ a(limit: 1 # few\n) { b } }', ['offset'], '2'), '{ a(limit: 1, offset: 2 # few\n) { b } }');
    const removed = (text, value) => edited(text, it => tree.removeValue(it, path('a'), value));
    same(removed('{ a(x: 1 # ) \n) { b } }', ['x']), '{ a { b } }');
    same(removed('{ a(x: 1, y: 2) }', ['x']), '{ a(y: 2) }');
    same(removed('{ a(x: {p: 1, q: ")"}) }', ['x', 'p']), '{ a(x: {q: ")"}) }');
    same(removed('{ a(x: {p: 1}) }', ['x', 'p']), '{ a(x: {}) }');
    same(edited('{ a(x: 1) }', it => tree.useVariable(it, path('a'), ['x'], 'Int')), 'query ($x: Int) { a(x: $x) }');
    same(edited('mutation M($x: Int) { a(x: $x, y: {_x: 2}) }', it => tree.useVariable(it, path('a'), ['y', '_x'], 'Int!')), 'mutation M($x: Int, $x2: Int!) { a(x: $x, y: {_x: $x2}) }');
    assert.equal(tree.readText('{ a', 0), null);
  });
});

/** Texts that each language could read in another way. */
const HARD = 'it\'s "q" \\n $HOME ${x} `b` %s """ # \u2028 é 😀 \'\'\' "#';
const QUERY = `query Find($text: String!, $big: bigint, $list: [Int]) {\n  echo(text: $text, other: "a \\"b\\" ' \\\\ \`") # it's\n}`;
/** A number that JavaScript would round; it sends it as a text, which the server takes for a number. */
const BIG = '9007199254740993';
const variables = `{"text": ${JSON.stringify(HARD)}, "big": 0, "list": [1, 2], "deep": {"a b": null, "yes": true}}`;

describe('code of an operation', () => {
  let code;
  let folder;
  let server;
  let snippet;
  const heard = [];
  before(async () => {
    code = await load('editor/code/snippet.ts', 'editor/code/scripts.ts', 'editor/code/others.ts', 'server/exact-number.ts');
    folder = mkdtempSync(join(tmpdir(), 'weir-code-'));
    server = http.createServer((request, answer) => {
      let body = '';
      request.on('data', part => { body += part; });
      request.on('end', () => {
        heard.push({ headers: request.headers, text: body, body: JSON.parse(body) });
        answer.setHeader('content-type', 'application/json');
        answer.end('{"data":{"echo":"done"}}');
      });
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    snippet = {
      url: `http://127.0.0.1:${server.address().port}/graphql`, query: QUERY, operationName: null, name: 'Find', kind: 'query',
      variables: { ...JSON.parse(variables), big: new code.ExactNumber(BIG) },
      headers: { 'x-hasura-role': 'user', 'x-hasura-user-id': "o'ne \"7\" $X `y`" }, credential: 'secret',
    };
  });
  after(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const has = (command, args = ['--version']) => spawnSync(command, args).status === 0;

  /** Runs a program that has to send the operation as it is. */
  const check = async (command, args) => {
    heard.length = 0;
    const { spawn } = await import('node:child_process');
    const child = spawn(command, args, { cwd: folder, env: { ...process.env, WEIR_ADMIN_SECRET: 'hush' } });
    let words = '';
    child.stdout.on('data', part => { words += part; });
    child.stderr.on('data', part => { words += part; });
    const status = await new Promise(resolve => child.once('close', resolve));
    assert.equal(status, 0, words);
    assert.match(words, /done/);
    const [{ body, text, headers }] = heard;
    assert.equal(body.query.trim(), QUERY);
    checkVariables(body.variables, text);
    assert.equal(headers['x-hasura-role'], 'user');
    assert.equal(headers['x-hasura-user-id'], snippet.headers['x-hasura-user-id']);
    assert.equal(headers['x-hasura-admin-secret'], 'hush');
  };
  const checkVariables = (found, text) => {
    assert.match(text, /"big": ?"?9007199254740993[",}]/);
    assert.deepEqual({ ...found, big: 0 }, JSON.parse(variables));
  };
  const write = (name, text) => {
    const file = join(folder, name);
    assert.ok(!text.includes('hush'), 'a secret is pasted');
    writeFileSync(file, text);
    return file;
  };

  test('A7 curl sends the operation', () => check('sh', [write('a.sh', code.curlCode(snippet))]));
  test('A7 fetch sends the operation', () => check('node', [write('a.mjs', code.fetchCode(snippet))]));
  test('A7 Go sends the operation', { skip: !has('go', ['version']) && 'Go is not installed' }, async () => {
    const file = write('main.go', code.goCode(snippet));
    execFileSync('go', ['build', '-o', join(folder, 'main'), file], { cwd: folder, env: { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off' } });
    assert.equal(execFileSync('gofmt', ['-l', file]).toString(), '', 'it is not formatted');
    await check(join(folder, 'main'), []);
  });
  test('A7 Python is a program with the texts and values of the operation', { skip: !has('python3') && 'Python is not installed' }, () => {
    const stub = ['import sys, types, json, os', 'gql = types.ModuleType("gql"); t = types.ModuleType("gql.transport"); r = types.ModuleType("gql.transport.requests")',
      'class GraphQLRequest:\n    def __init__(self, query, variable_values=None, operation_name=None): self.it = {"query": query.strip(), "variables": variable_values}',
      'class Client:\n    def __init__(self, transport): self.transport = transport\n    def execute(self, request): return json.dumps({**request.it, **self.transport})',
      'gql.gql = lambda text: text; gql.Client = Client; gql.GraphQLRequest = GraphQLRequest; r.RequestsHTTPTransport = lambda **it: it',
      'sys.modules.update({"gql": gql, "gql.transport": t, "gql.transport.requests": r})'].join('\n');
    const program = write('a.py', `${stub}\n${code.pythonCode(snippet)}`);
    const text = execFileSync('python3', [program], { env: { ...process.env, WEIR_ADMIN_SECRET: 'hush' } }).toString();
    const { variables: sent, ...told } = JSON.parse(text);
    checkVariables(sent, text);
    assert.deepEqual(told, { query: QUERY, url: snippet.url, headers: { ...snippet.headers, 'x-hasura-admin-secret': 'hush' } });
  });
  test('A7 Rust compiles, with the body of the operation', { skip: !has('rustc') && 'Rust is not installed' }, () => {
    const stub = 'mod reqwest { pub mod blocking { pub struct Client; pub struct Builder; pub struct Request; pub struct Response;\n'
      + 'impl Client { pub fn builder() -> Builder { Builder } pub fn post(self, _: &str) -> Request { Request } }\n'
      + 'impl Builder { pub fn timeout(self, _: impl Into<Option<std::time::Duration>>) -> Self { self } pub fn build(self) -> Result<Client, std::fmt::Error> { Ok(Client) } }\n'
      + 'impl Request { pub fn header(self, _: &str, _: impl Into<String>) -> Self { self } pub fn body(self, it: &str) -> Self { print!("{it}"); self } pub fn send(self) -> Result<Response, std::fmt::Error> { Ok(Response) } }\n'
      + 'impl Response { pub fn text(self) -> Result<String, std::fmt::Error> { Ok(String::new()) } } } }\n';
    const file = write('main.rs', code.rustCode(snippet) + stub);
    execFileSync('rustc', ['--edition', '2021', '-o', join(folder, 'rust'), file], { stdio: 'pipe' });
    const body = execFileSync(join(folder, 'rust'), { env: { ...process.env, WEIR_ADMIN_SECRET: 'hush' } }).toString();
    assert.equal(JSON.parse(body).query, QUERY);
    checkVariables(JSON.parse(body).variables, body);
  });
  test('A7 Apollo Client and urql are modules with the same texts and values', async () => {
    for (const name of ['apolloCode', 'urqlCode']) {
      const stub = 'const gql = parts => parts[0]; const told = {}; class HttpLink { constructor(it) { told.link = it; } } class InMemoryCache {} const cacheExchange = 0, fetchExchange = 0;\n'
        + 'class Client { constructor(it) { if (it.fetchOptions) told.link = { uri: it.url, headers: it.fetchOptions.headers }; } query(it, variables) { told.it = it.query ? it : { query: it, variables }; return Object.assign(Promise.resolve({ data: told }), { toPromise: () => Promise.resolve({ data: told }) }); } }\nconst ApolloClient = Client;\n';
      const text = code[name](snippet).replace(/^import .*$/gm, '').replace('console.log(data)', 'console.log(JSON.stringify(data))');
      const words = execFileSync('node', [write(`${name}.mjs`, stub + text)], { env: { ...process.env, WEIR_ADMIN_SECRET: 'hush' } }).toString();
      const told = JSON.parse(words);
      assert.equal(told.it.query, QUERY, name);
      checkVariables(told.it.variables, words);
      assert.deepEqual(told.link.headers, { ...snippet.headers, 'x-hasura-admin-secret': 'hush' }, name);
    }
  });
  test('A7 subscriptions are code, too', () => {
    const live = { ...snippet, kind: 'subscription', query: 'subscription S { a }', variables: null };
    for (const [name, suffix, command, args] of [['fetchCode', 'mjs', 'node', ['--check']], ['apolloCode', 'mjs', 'node', ['--check']], ['urqlCode', 'mjs', 'node', ['--check']], ['curlCode', 'sh', 'sh', ['-n']], ['pythonCode', 'py', 'python3', ['-m', 'py_compile']], ['goCode', 'go', 'go', ['vet']], ['rustCode', 'rs', 'rustfmt', ['--edition', '2021', '--check', '--config', 'max_width=200']]]) {
      if (!has(command, command === 'go' ? ['version'] : ['--version']) && command !== 'sh') continue;
      const file = write(`live.${suffix}`, code[name](live));
      const done = spawnSync(command, [...args, file], { cwd: folder, env: { ...process.env, GO111MODULE: 'off' } });
      assert.equal(done.status, 0, `${name}: ${done.stdout}${done.stderr}`);
    }
  });
});

const SCHEMA = `
interface Thing { id: ID! }
enum Kind { SMALL LARGE }
scalar json
type Boat implements Thing { id: ID! name: String kind: Kind! tags: [String!]! grid: [[Int]] crew: [Person]! facts: json kinds: [Kind]! }
type Person implements Thing { id: ID! age: Int boat: Boat }
union Any = Boat | Person
input Where { id: Int!, and: [Where!], kind: Kind }
type Query { thing: Thing! any: [Any!]! boat(where: Where!, limit: Int = 3): Boat }
`;

/** An operation, and a program that its type allows or, with a mark, does not. */
const TYPED = [
  ['query Q { boat(where: {id: 1}) { other: name kind tags grid facts kinds crew { age } } }', 'if (it.boat) { const a: string | null = it.boat.other; const b: "SMALL" | "LARGE" = it.boat.kind; const c: string[] = it.boat.tags; const d: number | null | undefined = it.boat.grid?.[0]?.[0]; const e: ("SMALL" | "LARGE" | null)[] = it.boat.kinds; const f: number | null | undefined = it.boat.crew[0]?.age; const g: unknown = it.boat.facts; }', true],
  ['query Q { boat(where: {id: 1}) { name } }', 'const a: string | null = it.boat.name;', false],
  ['query Q { boat(where: {id: 1}) { other: name } }', 'it.boat!.name;', false],
  ['query Q($x: Boolean!) { boat(where: {id: 1}) { id @include(if: $x) name @skip(if: true) } }', 'const a: string | undefined = it.boat!.id;', true],
  ['query Q($x: Boolean!) { boat(where: {id: 1}) { id @include(if: $x) } }', 'const a: string = it.boat!.id;', false],
  ['query Q { boat(where: {id: 1}) { id name @skip(if: true) } }', 'it.boat!.name;', false],
  ['query Q($x: Boolean!) { boat(where: {id: 1}) { id @include(if: $x) ...F } } fragment F on Thing { id }', 'const a: string = it.boat!.id;', true],
  ['query Q { any { __typename ... on Boat { name } ...P } } fragment P on Person { age }', 'for (const one of it.any) { if (one.__typename === "Boat") { const a: string | null = one.name; } else { const b: number | null = one.age; } }', true],
  ['query Q { any { __typename ... on Boat { name } ... on Person { age } } }', 'it.any[0]!.name;', false],
  ['query Q { thing { id } }', 'const a: string = it.thing.id;', true],
  ['query Q { boat(where: {id: 1}) { crew { id } ...F } } fragment F on Boat { crew { age } }', 'const a = it.boat!.crew[0]; if (a) { const b: string = a.id; const c: number | null = a.age; }', true],
];

test('A7 the type of an answer is what the answer is', async () => {
  const { answerType } = await load('editor/code/answer-type.ts');
  const schema = buildSchema(SCHEMA);
  const folder = mkdtempSync(join(tmpdir(), 'weir-types-'));
  const files = TYPED.map(([query, use, isGood], at) => {
    const document = parse(query);
    const text = answerType(schema, document, document.definitions[0]);
    const file = join(folder, `case${at}.ts`);
    writeFileSync(file, `${text}\nexport function use(it: Q) {\n  ${use}\n}\n`);
    return { file, name: `case${at}.ts`, isGood, text };
  });
  const told = spawnSync('node', [new URL('../node_modules/typescript/bin/tsc', import.meta.url).pathname, '--noEmit', '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', ...files.map(it => it.file)]);
  const words = told.stdout.toString();
  for (const { name, isGood, text } of files) assert.equal(!words.includes(name), isGood, `${text}\n${words}`);
  const document = parse('query Q($w: Where!, $kind: Kind = SMALL, $list: [Int!]!) { thing { id } }');
  assert.match(answerType(schema, document, document.definitions[0]), /QVariables = \{\n  w: \{\n    id: number;\n    and\?: .*\n[^]*kind\?: 'SMALL' \| 'LARGE' \| null;\n  list: number\[\];/);
  assert.throws(() => answerType(schema, parse('{ nothing }'), parse('{ nothing }').definitions[0]), /nothing/);
  rmSync(folder, { recursive: true, force: true });
});

test('A7 takes no secret for a session variable', async () => {
  const { variablesOf } = await load('server/caller.ts');
  const lines = ['user-id: ann', 'admin-secret: hush', 'X-Hasura-Admin-Secret: hush', 'x-weir-access-key: hush'];
  assert.deepEqual(variablesOf(lines.join('\n')), { 'x-hasura-user-id': 'ann' });
});
