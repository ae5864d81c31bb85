// The page API as a person uses it, over SQLite and PostgreSQL. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'graphql';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { assertAccessible, assertFits, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = page => page.locator('dialog[open]').last();
const SECRET = 'hush';

const metadata = url => ({
  version: 3,
  sources: [{
    name: 'main', kind: 'postgres', configuration: { connection_info: { database_url: url } },
    tables: [{ table: 'artist', select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: {} } }] }, { table: 'album' }, { table: 'pair' }],
  }],
});

const serve = async database => {
  let file;
  const server = await startWeir({}, null, data => {
    file = join(data, 'metadata.json');
    writeFileSync(file, JSON.stringify(metadata(database.url)));
    writeFileSync(join(data, 'web.json'), JSON.stringify(Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`id${at}`, `query Doc${at} { artist { id } }`]))));
    writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json
admin_secret: ${SECRET}
dev: true
sources: [{name: main, url: "${database.url}"}]
operations:
  mcp: {enabled: true, schema_tools: [search, introspect]}
  persisted: {files: [{path: web.json, collection: web}]}
`);
    return ['serve', join(data, 'weir.yaml')];
  });
  return { ...server, read: () => JSON.parse(readFileSync(file, 'utf8')) };
};

/** The text of the query editor; the editor writes blanks of its own. */
const editorText = page => page.evaluate(() => [...document.querySelectorAll('.graphiql-query-editor .view-line')].sort((one, other) => parseInt(one.style.top) - parseInt(other.style.top)).map(it => it.textContent.replaceAll('\u00a0', ' ')).join('\n'));

const holds = (page, part) => page.waitForFunction(it => document.querySelector('.graphiql-query-editor .view-lines')?.textContent.replaceAll('\u00a0', ' ').includes(it), part);

/** Opens the editor with an operation, as the admin, with a panel open. */
async function openEditor(server, query, panel, options = {}) {
  const opened = await openPage(browser, server.url, '/data', options);
  const { page } = opened;
  await page.evaluate(secret => sessionStorage.setItem('weir.admin-secret', secret), SECRET);
  await page.goto(`${server.url}/console/api?query=${encodeURIComponent(query)}`);
  await holds(page, query.split('\n')[0].trim());
  if (panel) await openPanel(page, panel);
  opened.complaints.length = 0;
  return opened;
}

async function openPanel(page, name) {
  await page.getByRole('button', { name: new RegExp(`^show ${name}`, 'i') }).click();
}

const openAs = async (server, path, options = {}) => {
  const opened = await openPage(browser, server.url, '/data', options);
  await opened.page.evaluate(secret => sessionStorage.setItem('weir.admin-secret', secret), SECRET);
  await opened.page.goto(`${server.url}/console${path}`);
  opened.complaints.length = 0;
  return opened;
};

/** Sends the change that is reviewed, with the name if it asks for one. */
async function send(page, name) {
  const review = dialog(page);
  await review.getByTestId('request').waitFor();
  const title = await review.getByRole('heading', { level: 2 }).innerText();
  if (name !== undefined) {
    assert.equal(await button(review, 'Send').isDisabled(), true);
    await review.getByRole('textbox').fill(name);
  }
  await button(review, 'Send').click();
  await page.getByRole('status').filter({ hasText: `${title}: done.` }).waitFor();
}

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`API over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let server;
    before(async () => {
      database = await start();
      server = await serve(database);
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });

    test('A4 builds a query by clicks, and keeps what was typed', async () => {
      const { page, complaints } = await openEditor(server, '# mine\nquery Mine {\n  artist { # names\n    name\n  }\n}', 'Build');
      const item = name => page.getByRole('treeitem', { name }).first();
      const click = name => item(name).locator('.weir-tree-name').click();
      await item(/^artist \[/).locator('.weir-tree-twist').click();
      await click(/^id Int!/);
      await holds(page, 'id');
      await click(/^limit argument not given/);
      await holds(page, 'artist(limit: 0)');
      const limit = page.getByLabel('Value of limit');
      await limit.fill('x');
      await limit.press('Enter');
      assert.equal(await limit.getAttribute('aria-invalid'), 'true');
      await limit.fill('2');
      await limit.press('Enter');
      await holds(page, 'artist(limit: 2)');
      await item(/^where argument/).locator('.weir-tree-twist').click();
      await item(/^name argument/).locator('.weir-tree-twist').click();
      await click(/^_eq argument/);
      const name = page.getByLabel('Value of where.name._eq');
      await name.fill('Al"ice');
      await name.press('Enter');
      await holds(page, '_eq: "Al\\"ice"');
      await button(page, 'Make where.name._eq a variable').click();
      await holds(page, 'query Mine($eq: String)');
      const text = await editorText(page);
      parse(text);
      assert.match(text, /^# mine\nquery Mine\(\$eq: String\) \{\n\s+artist\(limit: 2, where: \{name: \{_eq: \$eq\}\}\) \{ # names\n\s+name\n\s+id\n/);
      // Undo is that of the editor.
      await page.locator('.graphiql-query-editor .view-lines').click();
      await page.keyboard.press('Control+z');
      await holds(page, '_eq: "Al\\"ice"');
      assert.deepEqual(complaints, []);
    });

    test('A4 is used by the keyboard alone, and shows the schema of the caller', async () => {
      const { page } = await openEditor(server, 'query Mine { __typename }', 'Build');
      const focused = () => page.evaluate(() => document.activeElement.dataset.key ?? '');
      await page.getByLabel('Search fields').focus();
      await page.keyboard.type('pair');
      await page.keyboard.press('Tab');
      const first = await focused();
      assert.match(first, /^pair/);
      await page.keyboard.press('End');
      assert.notEqual(await focused(), first);
      await page.keyboard.press('Home');
      await page.keyboard.press(' ');
      await holds(page, 'pair {');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      const below = await focused();
      await page.keyboard.press('ArrowLeft');
      assert.ok(below !== first && (await focused()) === first);
      await page.keyboard.press('ArrowLeft');
      assert.equal(await page.getByRole('treeitem', { expanded: true }).count(), 0);
      await page.keyboard.press(' ');
      await page.waitForFunction(() => !document.querySelector('.graphiql-query-editor .view-lines').textContent.includes('pair'));
      assert.ok((await page.getByRole('treeitem').count()) > 2);
      await button(page, 'Run as admin').click();
      await page.getByLabel('Role').fill('reader');
      await button(page, 'Apply').click();
      await page.getByText('No field has this in its name.').waitFor();
      await page.getByLabel('Search fields').fill('');
      await page.getByRole('treeitem', { name: /^artist \[/ }).waitFor();
      assert.equal(await page.getByRole('treeitem', { name: /^album \[/ }).count(), 0);
      await page.locator('.graphiql-query-editor .view-lines').click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' {');
      await page.getByText('The text has a mistake').waitFor();
    });

    test('A5 saves a REST endpoint with its difference, tries it and deletes it by its name', async () => {
      const { page, complaints } = await openEditor(server, 'query FindArtist($id: Int!, $name: String) { artist(where: {id: {_gte: $id}, name: {_neq: $name}}, limit: 1) { id name } }', 'Code');
      await button(page, 'Save as a REST endpoint').click();
      const form = page.getByRole('form', { name: 'New REST endpoint' });
      const path = form.getByLabel('Path below /api/rest/');
      assert.equal(await path.inputValue(), 'find-artist/:id/:name');
      await path.fill('artist/:no');
      await form.getByText('The operation declares no variable $no.').waitFor();
      await path.fill('artist/:id');
      await form.getByText('$name.').waitFor();
      await form.getByLabel('POST').check();
      await button(form, 'Review the change').click();
      assert.match(await dialog(page).getByTestId('difference').innerText(), /\+ .*url: "artist\/:id"/);
      await send(page);
      const { rest_endpoints } = server.read();
      assert.deepEqual(rest_endpoints[0].methods, ['GET', 'POST']);
      await page.getByRole('link', { name: 'FindArtist' }).click();
      assert.match(page.url(), /try=FindArtist/);
      const trial = page.getByRole('form', { name: 'Try FindArtist' });
      assert.equal(await button(trial, 'Send').isDisabled(), true);
      await trial.getByLabel(/^id/).fill('2');
      await trial.getByLabel(/^name/).fill('a & b');
      assert.equal(await trial.getByTestId('rest-request').innerText(), 'GET /api/rest/artist/2?name=a+%26+b');
      await button(trial, 'Send').click();
      await trial.getByTestId('rest-answer').filter({ hasText: 'Aerosmith' }).waitFor();
      await trial.getByLabel('Method').selectOption('POST');
      await trial.getByTestId('rest-request').filter({ hasText: /^POST \/api\/rest\/artist\/2\s+\{\s+"name": "a & b"\s+\}$/ }).waitFor();
      await button(trial, 'Send').click();
      await trial.getByTestId('rest-status').filter({ hasText: '200' }).waitFor();
      await trial.getByLabel('Method').selectOption('GET');
      await trial.getByLabel(/^id/).fill('x');
      await button(trial, 'Send').click();
      await trial.getByTestId('rest-status').filter({ hasText: '400' }).waitFor();
      await button(page, 'Delete FindArtist').click();
      await send(page, 'FindArtist');
      assert.deepEqual(server.read().rest_endpoints ?? [], []);
      assert.deepEqual(complaints.filter(it => !it.includes('400')), []);
    });

    test('A5 saves an operation for the allow list of roles, again with another text, and deletes it', async () => {
      const { page } = await openAs(server, `/api/saved?save=allow&query=${encodeURIComponent('query One { artist { id } }')}`);
      const form = page.getByRole('form', { name: 'New entry of the allow list' });
      await form.getByLabel('Roles that may run the collection').fill('reader');
      await button(form, 'Review the change').click();
      await send(page);
      const saved = () => server.read();
      assert.deepEqual(saved().allowlist, [{ collection: 'allowed-queries', scope: { global: false, roles: ['reader'] } }]);
      await page.goto(`${server.url}/console/api/saved?save=allow&query=${encodeURIComponent('query One { artist { id name } }')}`);
      await form.getByLabel('Roles that may run the collection').fill('reader');
      await button(form, 'Review the change').click();
      assert.match(await dialog(page).getByTestId('difference').innerText(), /- .*artist \{ id \}[^]*\+ .*artist \{ id name \}/);
      await send(page);
      assert.deepEqual(saved().query_collections[0].definition.queries, [{ name: 'One', query: 'query One { artist { id name } }' }]);
      await button(page, 'Delete One of allowed-queries').click();
      await send(page, 'One');
      assert.deepEqual(saved().query_collections ?? [], []);
    });

    test('A6 reads persisted documents with their identifiers, by search and page', async () => {
      const { page, complaints } = await openAs(server, '/api/documents');
      await page.getByTestId('documents-count').filter({ hasText: '1 to 100 of 120' }).waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByTestId('documents-count').filter({ hasText: '101 to 120' }).waitFor();
      await page.getByLabel('Search documents').fill('Doc117');
      await page.keyboard.press('Enter');
      await page.getByTestId('documents-count').filter({ hasText: '1 to 1 of 1' }).waitFor();
      assert.match(page.url(), /search=Doc117/);
      await page.getByTestId('documents').getByText('Doc117', { exact: true }).click();
      await page.getByText('id117', { exact: true }).last().waitFor();
      const id = await page.getByLabel('Identifiers of Doc117').getByText(/^sha256:/).innerText();
      await page.getByLabel('Search documents').fill(id);
      await page.keyboard.press('Enter');
      await page.waitForURL(/search=sha256/);
      await page.getByTestId('documents-count').filter({ hasText: '1 to 1 of 1' }).waitFor();
      await page.goBack();
      await page.waitForFunction(() => document.querySelector('[aria-label="Search documents"]').value === 'Doc117');
      await page.getByText('query Doc117 { artist { id } }').waitFor();
      await button(page, 'Open in editor').click();
      await holds(page, 'query Doc117');
      assert.deepEqual(complaints, []);
    });

    test('A6 reads the tools of agents as the role has them, and how to connect one', async () => {
      const { page, complaints } = await openAs(server, '/api/agents');
      await page.getByTestId('tools-count').filter({ hasText: /^122 tools of admin/ }).waitFor();
      await page.getByTestId('tools').getByText('introspect', { exact: true }).click();
      await page.getByLabel('Arguments of introspect').filter({ hasText: '"depth"' }).waitFor();
      const command = await page.getByLabel('Command').innerText();
      assert.match(command, /^claude mcp add --transport http weir http:.*\/mcp --header "x-hasura-admin-secret: \$WEIR_ADMIN_SECRET"$/);
      assert.ok(!(await page.locator('main').innerText()).includes(SECRET));
      await button(page, 'Run as admin').click();
      await page.getByLabel('Role').fill('nobody');
      await page.getByLabel('Session variables').fill(`user-id: $(id) \`id\` it's\nadmin-secret: ${SECRET}`);
      await button(page, 'Apply').click();
      await page.getByTestId('tools-count').filter({ hasText: /^\d+ tools? of nobody/ }).waitFor();
      assert.match(await page.getByLabel('Command').innerText(), / --header 'x-hasura-user-id: \$\(id\) `id` it'\\''s'$/);
      assert.ok(!(await page.locator('main').innerText()).includes(SECRET));
      assert.equal(await page.getByTestId('tools').getByText('Doc7', { exact: true }).count(), 0);
      await button(page, 'Run as nobody').click();
      await page.getByLabel('Token').fill('not a token');
      await button(page, 'Apply').click();
      await page.locator('main').getByRole('alert').waitFor();
      complaints.length = 0;
      assert.deepEqual(complaints, []);
    });

    test('A7 copies an operation as code that runs, without the secret, and its type', async () => {
      const { page } = await openEditor(server, 'query Names($first: Int = 1) { all: artist(limit: $first, order_by: {id: asc}) { name } }', 'Code');
      const code = page.getByTestId('code');
      await code.filter({ hasText: 'curl' }).waitFor();
      const script = await code.innerText();
      assert.ok(!script.includes(SECRET) && script.includes('WEIR_ADMIN_SECRET'));
      const answer = execFileSync('sh', ['-c', script], { env: { ...process.env, WEIR_ADMIN_SECRET: SECRET } }).toString();
      assert.deepEqual(JSON.parse(answer), { data: { all: [{ name: 'Accept' }] } });
      await page.getByLabel('Language').selectOption('fetch');
      await code.filter({ hasText: 'await fetch' }).waitFor();
      const told = execFileSync('node', ['--input-type=module', '-e', await code.innerText()], { env: { ...process.env, WEIR_ADMIN_SECRET: SECRET } }).toString();
      assert.match(told, /Accept/);
      await page.getByLabel('Language').selectOption('TypeScript types');
      await code.filter({ hasText: /export type Names = \{\s+all: \{\s+name: string;\s+\}\[\];\s+\};/ }).waitFor();
      await code.filter({ hasText: /export type NamesVariables = \{\s+first\?: number \| null;\s+\};/ }).waitFor();
    });
  });
}

describe('API without metadata', () => {
  let server;
  before(async () => { server = await startWeir({}); });
  after(() => server?.stop());

  test('A5 shows the YAML where nothing is written', async () => {
    const { page } = await openPage(browser, server.url, `/api/saved?save=rest&query=${encodeURIComponent('query Q { Album { Title } }')}`);
    await button(page, 'Review the change').click();
    const yaml = await dialog(page).getByTestId('yaml').innerText();
    assert.match(yaml, /operations:\n {2}collections:[^]*rest_endpoints:\n/);
    assert.equal(await button(dialog(page), 'Send').count(), 0);
  });

  test('A6 G9 says how to store documents and to serve agents, and what has no address', async () => {
    const { page, complaints } = await openPage(browser, server.url, '/api/documents');
    await page.getByText('No document is stored.').waitFor();
    await page.goto(`${server.url}/console/api/agents`);
    await page.getByText('Agents are not served.').waitFor();
    await page.goto(`${server.url}/console/api/saved?try=nothing`);
    await page.getByText('There is no REST endpoint nothing.').waitFor();
    await page.goto(`${server.url}/console/api/nothing`);
    await page.getByText('Nothing has this address.').waitFor();
    assert.deepEqual(complaints, []);
  });

  for (const [width, scheme] of [[390, 'light'], [390, 'dark'], [1440, 'light'], [1440, 'dark']]) {
    test(`A4 A5 A6 A7 G6 G7 at ${width} px, ${scheme}`, async () => {
      const options = { viewport: { width, height: 844 }, colorScheme: scheme };
      const { page } = await openPage(browser, server.url, `/api?query=${encodeURIComponent('query Q { Album { Title } }')}`, options);
      await holds(page, 'query Q');
      for (const panel of ['Build', 'Code']) {
        await openPanel(page, panel);
        await page.getByTestId(panel === 'Build' ? 'query-tree' : 'code').waitFor();
        await assertAccessible(page, panel);
        await assertFits(page, panel);
      }
      for (const path of ['/api/saved?save=rest', '/api/documents', '/api/agents']) {
        await page.goto(`${server.url}/console${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForFunction(() => !document.querySelector('main').textContent.includes('Reading'));
        await assertAccessible(page, path);
        await assertFits(page, path);
      }
    });
  }
});
