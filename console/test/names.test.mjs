// Names of tables in the console's own modules, against a server that answers as Weir does.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

let vite;
const load = path => vite.ssrLoadModule(path);
/** Answers by path and kind of the command. */
let answers;

before(async () => {
  globalThis.location = new URL('http://127.0.0.1/console/schema');
  globalThis.sessionStorage = globalThis.localStorage = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  vite = await createServer({ root: fileURLToPath(new URL('..', import.meta.url)), configFile: false, logLevel: 'error', appType: 'custom', server: { middlewareMode: true, hmr: false, ws: false, watch: null }, optimizeDeps: { noDiscovery: true } });
  globalThis.fetch = async (url, { body }) => {
    const { type } = JSON.parse(body);
    const key = Object.keys(answers).find(it => it === type || String(url).endsWith(it));
    return new Response(JSON.stringify(key === undefined ? { error: 'unknown' } : answers[key]), { status: key === undefined ? 400 : 200, headers: { 'content-type': 'application/json' } });
  };
});
after(() => vite?.close());
beforeEach(() => { answers = {}; });

const SQLITE = { result: [['true'], ['1']] };
const POSTGRES = { result: [['true'], ['t']] };
const table = (schema, name, more = {}) => ({ schema, name, kind: 'table', columns: [{ name: 'id', type: 'int' }], constraints: [], foreignKeys: [], indexes: [], triggers: [], ...more });

describe('names of tables', () => {
  test('a schema called main is no other one in PostgreSQL, and none in SQLite', async () => {
    const { isTable, metadataName, shownName } = await load('/src/metadata/table-name.ts');
    const { loadCatalog } = await load('/src/schema/catalog.ts');
    for (const [answer, is] of [[POSTGRES, [{ schema: 'main', name: 'x' }, 'main.x', false]], [SQLITE, ['x', 'x', true]]]) {
      answers = { '/admin/catalog': { kind: 'database', tables: [table('main', 'x')] }, run_sql: answer, pg_get_source_tables: [{ schema: 'main', name: 'x' }] };
      const [found] = (await loadCatalog('shop')).tables;
      assert.deepEqual([metadataName(found), shownName(found), isTable('x', found)], is);
      assert.equal(isTable({ schema: 'main', name: 'x' }, found), true);
      assert.equal(isTable({ schema: 'public', name: 'x' }, found), is[2]);
    }
    assert.equal(isTable('x', { schema: 'public', name: 'x' }), true);
    assert.equal(isTable({ schema: 'main', name: 'x' }, { schema: 'public', name: 'x' }), false);
    assert.notEqual(shownName({ schema: 'a', name: 'b.c' }), shownName({ schema: 'a.b', name: 'c' }));
    assert.notEqual(shownName('a.b'), shownName({ schema: 'a', name: 'b' }));
  });

  test('a root field is of the table whose name it has, and of none where two could have it', async () => {
    const { loadSources } = await load('/src/data/sources.ts');
    const ask = async (listed, entries, roots) => {
      answers = { pg_get_source_tables: listed, run_sql: POSTGRES };
      const tables = new Map(roots.map(it => [it, { name: it, list: it, dialect: 'relational' }]));
      const served = [{ name: 'shop', native: false, tracked_only: true, tables: entries, functions: [] }];
      const found = await loadSources(tables, { names: ['shop'], served, exported: null });
      return Object.fromEntries(found.flatMap(it => it.entries).map(it => [it.table.name, it.qualified]));
    };
    const [own, other] = [{ schema: 'main', name: 'x' }, { schema: 'public', name: 'x' }];
    assert.deepEqual(await ask([own, other], [{ table: 'x' }], ['x']), { x: other });
    assert.deepEqual(await ask([own, other], [{ table: own }, { table: other }], ['x', 'x_2']), { x: null, x_2: null });
    assert.deepEqual(await ask([own, other], [{ table: own, configuration: { custom_name: 'y' } }, { table: other }], ['x', 'y']), { x: other, y: own });
    assert.deepEqual(await ask([{ schema: 'big', name: 'x' }, other], [{ table: { schema: 'big', name: 'x' } }], ['x']), { x: null });
    const odd = { schema: 'public', name: 'odd name' };
    assert.deepEqual(await ask([odd], [{ table: 'odd name' }], ['odd_name']), { odd_name: odd });
  });

  test('what cannot be served is not tracked with all', async () => {
    const { isTrackable, loadCatalog } = await load('/src/schema/catalog.ts');
    answers = { '/admin/catalog': { kind: 'database', tables: ['a', 'fts', 'broken'].map(it => table('main', it)) }, run_sql: SQLITE, pg_get_source_tables: [{ schema: 'main', name: 'a' }] };
    assert.deepEqual((await loadCatalog('shop')).tables.filter(isTrackable).map(it => it.name), ['a']);
    answers = { '/admin/catalog': { kind: 'database', tables: [table('public', 'a'), table('public', 'none', { columns: [] })] } };
    assert.deepEqual((await loadCatalog('shop')).tables.filter(isTrackable).map(it => it.name), ['a']);
  });

  test('names of GraphQL are those that the server makes', async () => {
    const { graphqlName } = await load('/src/metadata/table-name.ts');
    const { freeName } = await load('/src/schema/suggestions.ts');
    assert.deepEqual(['Order Details', 'größe', '1st', '__x', 'odd name', 'a-b-', '日本'].map(graphqlName), ['Order_Details', 'grosse', '_1st', '_x', 'odd_name', 'a_b', null]);
    assert.equal(freeName('日本', ['日'], new Set()), 'related');
    assert.equal(freeName('日本', ['日'], new Set(['related'])), 'related_by_key');
  });
});

describe('parts of the Schema page', () => {
  test('draws tables with names of members that every object has', async () => {
    const { layoutOf } = await load('/src/schema/diagram-layout.ts');
    const key = to => ({ name: null, columns: ['id'], table: { schema: 'public', name: to }, targetColumns: ['id'], definition: '' });
    const tables = [table('public', 'constructor', { foreignKeys: [key('__proto__')] }), table('public', '__proto__', { foreignKeys: [key('constructor'), key('toString')] }), table('public', 'toString')];
    const layout = layoutOf({ tables }, tables, 'all');
    assert.equal(layout.boxes.length, 3);
    assert.equal(layout.edges.length, 3);
    assert.ok(layout.boxes.every(it => Number.isFinite(it.x) && Number.isFinite(it.y)));
  });

  test('shows an entry that is untracked without what the server says of it', async () => {
    const { untrackTable } = await load('/src/schema/changes.ts');
    const { diffOf } = await load('/src/metadata/change.ts');
    const entry = { table: 'x', select_permissions: [{ role: 'a', permission: { filter: {} }, fault: 'no such column' }] };
    const change = untrackTable({ source: 'shop', version: 1 }, entry, false);
    assert.doesNotMatch(diffOf(change.before, change.after).map(it => it.text).join('\n'), /fault|undefined/);
  });

  test('tells a conflict of versions from another refusal', async () => {
    const { change, VersionConflict } = await load('/src/server/requests.ts');
    const whole = globalThis.fetch;
    try {
      for (const [status, is] of [[409, true], [400, false]]) {
        globalThis.fetch = async () => new Response('{"error": "no", "code": "x"}', { status, headers: { 'content-type': 'application/json' } });
        await assert.rejects(change({ type: 'bulk' }), error => (error instanceof VersionConflict) === is && error.message === 'no (x)');
      }
    } finally {
      globalThis.fetch = whole;
    }
  });
});
