// The console as a person meets it: the page opens to a query, runs it, shows its plan, completes a field, says nothing
// on the browser's console. Real server, real Chromium.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { awaitLiveReads, liveReads, startWeir } from '../scripts/server.mjs';

const SECRET = 'a-secret-for-this-test-only';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function openPage(url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const complaints = [];
  const foreign = [];
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => new URL(request.url()).origin !== url && !/^(data|blob):/.test(request.url()) && foreign.push(request.url()));
  await page.goto(`${url}/console/api`);
  return { page, complaints, foreign };
}

const responseText = page => page.locator('.graphiql-response .view-lines').innerText();

async function runQuery(page) {
  // The button is there before the editor holds its first query.
  await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('First'));
  const answered = page.waitForResponse(it => it.url().endsWith('/graphql') && it.request().postData()?.includes('First'));
  await page.getByRole('button', { name: /execute query/i }).click();
  const answer = await answered;
  await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('"data"'));
  return answer.body();
}

/** Writes an operation in place of the editor's. */
async function write(page, operation) {
  await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.trim());
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(operation);
  // The page reads the text a moment after it was written; then the tab has its name.
  const [, name] = /^\w+ (\w+)/.exec(operation);
  await page.locator('.graphiql-tab', { hasText: name }).waitFor();
}

async function ask(url, query, variables, headers) {
  const body = JSON.stringify({ query, variables });
  return (await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })).json();
}

/** Waits until the server has so many subscriptions. */
async function subscriptions(url, count) {
  const page = await (await fetch(`${url}/metrics`)).text();
  if (!page.includes(`weir_subscriptions ${count}\n`)) await subscriptions(url, count);
}

describe('the console', () => {
  let server;
  before(async () => { server = await startWeir({}); });
  after(() => server?.stop());

  test('A1 opens to a query, runs it, shows plan, SQL and stage times', async () => {
    const { page, complaints, foreign } = await openPage(server.url);
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    const answer = await runQuery(page);
    assert.match(await responseText(page), /AlbumId|ArtistId/);
    await page.getByTestId('plan').waitFor();
    assert.match(await page.getByTestId('sql').first().innerText(), /SELECT/);
    assert.match(await page.locator('.weir-stages').innerText(), /execute/);
    assert.match(await page.locator('.weir-plan').innerText(), new RegExp(`${answer.length.toLocaleString('en')} bytes`));
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    assert.deepEqual(complaints, []);
    assert.deepEqual(foreign, [], 'the page asks no one but its own server');
    await page.close();
  });

  test('A2 completes a field name', async () => {
    const { page, complaints } = await openPage(server.url);
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('{ Album_b');
    await page.keyboard.press('Control+Space');
    const suggestion = page.locator('.suggest-widget .monaco-list-row', { hasText: 'Album_by_pk' }).first();
    await suggestion.waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.graphiql-query-editor')?.textContent?.includes('Album_by_pk'));
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test('A2 lists the documentation by name and keeps a history', async () => {
    const { page, complaints } = await openPage(server.url);
    await runQuery(page);
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.locator('.graphiql-history-items', { hasText: 'First' }).waitFor();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer-type-name', { hasText: 'query_root' }).first().click();
    await page.locator('.graphiql-doc-explorer-title', { hasText: 'query_root' }).waitFor();
    const names = await page.locator('.graphiql-doc-explorer-item .graphiql-doc-explorer-field-name').allInnerTexts();
    assert.ok(names.length > 10, String(names));
    assert.deepEqual(names, names.toSorted());
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test('tells an error of the server in its own words: an unknown role sees nothing', async () => {
    const { page } = await openPage(server.url);
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    await page.route('**/graphql', route => route.continue({ headers: { ...route.request().headers(), 'x-hasura-role': 'nobody' } }));
    await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('First'));
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('GRAPHQL_VALIDATION_FAILED'));
    assert.equal(await page.getByLabel('Admin secret').count(), 0);
    await page.close();
  });

  test('G11 can be used on a telephone, with the documentation after a query', async () => {
    const { page, complaints } = await openPage(server.url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await runQuery(page);
    for (const part of ['.graphiql-query-editor', '.graphiql-response']) {
      const box = await page.locator(part).boundingBox();
      assert.ok(box.width > 330 && box.height > 150, `${part}: ${JSON.stringify(box)}`);
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing hangs over');
    await page.getByRole('button', { name: 'Show Plan' }).click();
    await page.getByTestId('sql').first().waitFor();
    await page.getByRole('button', { name: 'Hide Plan' }).click();
    await page.getByTestId('sql').first().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).tap();
    await page.locator('.graphiql-doc-explorer-type-name', { hasText: 'query_root' }).first().waitFor();
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test('O1 shows the operations that were asked, how long they took, and the fields they asked for', async () => {
    const { page, complaints, foreign } = await openPage(server.url);
    await runQuery(page);
    const query = 'query ShownAlbum($id: Int!) { Album_by_pk(AlbumId: $id) { Title } }';
    const ask = () => fetch(`${server.url}/graphql`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, variables: { id: 1 } }),
    });
    for (let at = 0; at < 5; at++) assert.ok((await (await ask()).json()).data);
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    const row = page.getByTestId('operations').locator('tr', { hasText: 'ShownAlbum' });
    await row.waitFor();
    assert.match(await row.innerText(), /query [0-9a-f]{16}\s+–?[^]*\s5\s+0\s[^]*[µm]s/);
    await page.getByLabel('Filter fields').fill('Album_by_pk(');
    assert.match(await page.getByTestId('fields').innerText(), /^query_root\.Album_by_pk\(AlbumId:\)\s+5\s*$/);
    // The second look has rates, the third a line.
    for (let at = 0; at < 5; at++) await ask();
    await row.locator('polyline').waitFor({ state: 'attached' });
    await row.getByRole('button').click();
    await page.locator('code', { hasText: 'Album.Title' }).first().waitFor();
    await page.getByRole('button', { name: 'p99' }).click();
    await page.locator('th[aria-sort=descending]', { hasText: 'p99' }).waitFor();
    if (process.env.SCREENSHOT_OPERATIONS) await page.screenshot({ path: process.env.SCREENSHOT_OPERATIONS });
    await page.getByRole('link', { name: 'API' }).click();
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    assert.deepEqual(complaints, []);
    assert.deepEqual(foreign, []);
    await page.close();
  });

  test('A3 runs a subscription, shows time and cause of each push, and stops it', async () => {
    const { page, complaints, foreign } = await openPage(server.url);
    const reads = await liveReads(server.url);
    await write(page, 'subscription Watched { Album_by_pk(AlbumId: 2) { Title } }');
    await page.getByRole('button', { name: /execute query/i }).click();
    const rows = page.getByTestId('pushes').locator('tbody tr');
    await rows.filter({ hasText: 'first result' }).waitFor();
    await awaitLiveReads(server.url, reads + 2);
    const rename = async title => {
      const query = 'mutation ($t: String!) { update_Album_by_pk(pk_columns: {AlbumId: 2}, _set: {Title: $t}) { AlbumId } }';
      assert.ok((await ask(server.url, query, { t: title })).data);
    };
    for (const [at, title] of ['One', 'Two'].entries()) {
      await rename(title);
      const row = rows.filter({ hasText: new RegExp(`^${at + 2}`) });
      await row.waitFor();
      // Number, time of day, time since the last, cause, delay, bytes.
      const bytes = `{"data":{"Album_by_pk":{"Title":"${title}"}}}`.length;
      const time = String.raw`[\d.]+ (ms|s|min)`;
      assert.match(await row.innerText(), new RegExp(String.raw`^${at + 2}\s+\d\d:\d\d:\d\d\.\d{3}\s+${time}\s+main\.Album, key 2\s+${time}\s+${bytes}\s*$`));
      await page.waitForFunction(it => document.querySelector('.graphiql-response')?.textContent?.includes(it), title);
    }
    assert.equal(await page.getByTestId('live-state').innerText(), 'Watched: running');
    assert.doesNotMatch(await responseText(page), /weirPush|extensions/);
    if (process.env.SCREENSHOT_PUSHES) await page.screenshot({ path: process.env.SCREENSHOT_PUSHES });
    await page.getByRole('button', { name: /stop query/i }).click();
    await page.getByTestId('live-state').filter({ hasText: 'Watched: stopped' }).waitFor();
    await subscriptions(server.url, 0);
    await rename('Three');
    assert.equal(await rows.count(), 3);
    // An error ends a subscription, and the editor runs the next operation.
    await write(page, 'subscription Wrong { Albun { Title } }');
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('GRAPHQL_VALIDATION_FAILED'));
    await page.getByTestId('live-state').filter({ hasText: 'Wrong: ended' }).waitFor();
    await write(page, 'query First { Album_by_pk(AlbumId: 2) { Title } }');
    await runQuery(page);
    assert.match(await responseText(page), /Three/);
    assert.deepEqual(complaints, []);
    assert.deepEqual(foreign, []);
    await page.close();
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`follows a ${colorScheme} system`, async () => {
      const { page } = await openPage(server.url, { colorScheme });
      await page.getByRole('button', { name: /execute query/i }).waitFor();
      const background = await page.locator('.graphiql-container').evaluate(it => getComputedStyle(it).backgroundColor);
      const channels = background.match(/\d+/g).slice(0, 3).map(Number);
      const brightness = channels.reduce((sum, it) => sum + it, 0) / 3;
      assert.equal(brightness > 128, colorScheme === 'light', background);
      await page.close();
    });
  }
});

describe('a console behind a secret', () => {
  let server;
  before(async () => { server = await startWeir({ WEIR_ADMIN_SECRET: SECRET }); });
  after(() => server?.stop());

  test('G3 asks for it, says when it is wrong, and opens with the right one', async () => {
    const { page } = await openPage(server.url);
    await page.getByLabel('Admin secret').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'invalid' }).waitFor();
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    await runQuery(page);
    assert.match(await responseText(page), /AlbumId|ArtistId/);
    await page.reload();
    await runQuery(page);
    assert.equal(await page.getByLabel('Admin secret').count(), 0, 'the secret is remembered in this tab');
    await page.close();
  });
});

describe('a console with roles', () => {
  let server;
  before(async () => {
    server = await startWeir({ FLEET_SECRET: SECRET }, null, data => {
      cpSync(new URL('../../examples/fleet', import.meta.url), data, { recursive: true, filter: it => !it.includes('.db') });
      execFileSync('python3', ['-c', 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'], { cwd: data });
      // With a role for callers without a secret, the page would open as it.
      const config = join(data, 'weir.yaml');
      writeFileSync(config, readFileSync(config, 'utf8').replace(/ *unauthorized_role.*/, ''));
      return ['serve', config];
    });
  });
  after(() => server?.stop());

  test('A8 runs as a role, and shows its schema and its policy', async () => {
    const { page, complaints } = await openPage(server.url);
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await runQuery(page);
    await page.getByRole('button', { name: 'Run as admin' }).click();
    await page.getByLabel('Session variables').fill('user-id: ann');
    await page.getByLabel('Role').fill('sailor');
    const asked = page.waitForResponse(it => it.url().endsWith('/graphql') && it.request().headers()['x-hasura-role'] === 'sailor');
    await page.keyboard.press('Enter');
    await asked;
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('query First { boat { name } }');
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.waitForFunction(() => /Ada[^]*Dot/.test(document.querySelector('.graphiql-response')?.textContent ?? ''));
    assert.doesNotMatch(await responseText(page), /Bel/);
    await page.locator('mark', { hasText: 'policy of sailor: owner = x-hasura-user-id' }).waitFor();
    await page.getByRole('heading', { name: 'Plan for sailor' }).waitFor();
    if (process.env.SCREENSHOT_ROLES) await page.screenshot({ path: process.env.SCREENSHOT_ROLES });
    // A subscription runs as the role too, and the admin is told causes under any role.
    await write(page, 'subscription Boats { boat(order_by: {name: asc}) { name } }');
    await page.getByRole('button', { name: /execute query/i }).click();
    const rows = page.getByTestId('pushes').locator('tbody tr');
    await rows.filter({ hasText: 'first result' }).waitFor();
    await awaitLiveReads(server.url, 2, { 'x-weir-admin-secret': SECRET });
    assert.equal(await page.getByTestId('live-state').innerText(), 'Boats as sailor: running');
    assert.doesNotMatch(await responseText(page), /Bel/);
    const rename = 'mutation { update_boat(where: {name: {_eq: "Dot"}}, _set: {name: "Doris"}) { affected_rows } }';
    assert.deepEqual((await ask(server.url, rename, {}, { 'x-weir-admin-secret': SECRET })).data, { update_boat: { affected_rows: 1 } });
    await rows.filter({ hasText: /^2.*boat/s }).waitFor();
    await page.waitForFunction(() => /Ada[^]*Doris/.test(document.querySelector('.graphiql-response')?.textContent ?? ''));
    assert.deepEqual(complaints.filter(it => !it.includes('401')), []);
    await page.close();
  });
});

describe('a console of a server with a role for callers without a secret', () => {
  let server;
  before(async () => {
    server = await startWeir({ FLEET_SECRET: SECRET }, null, data => {
      cpSync(new URL('../../examples/fleet', import.meta.url), data, { recursive: true, filter: it => !it.includes('.db') });
      execFileSync('python3', ['-c', 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'], { cwd: data });
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(() => server?.stop());

  test('opens as that role, and lets the admin in by the secret', async () => {
    const { page } = await openPage(server.url);
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    await page.getByRole('button', { name: 'Admin secret' }).click();
    await page.getByLabel('Admin secret').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'invalid' }).waitFor();
    await page.getByRole('button', { name: 'Go on without it' }).click();
    await page.getByRole('button', { name: 'Admin secret' }).click();
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Admin secret' }).count(), 0, 'the page is the admin\'s now');
    await page.close();
  });
});

describe('a console of types that change', () => {
  let server;
  before(async () => { server = await startWeir({}, 'type First { id: ID! name: String }'); });
  after(() => server?.stop());

  test('shows new types when the schema is fetched again', async () => {
    const { page } = await openPage(server.url);
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    writeFileSync(server.file, 'type First { id: ID! name: String } type Second { id: ID! name: String }');
    const served = async () => {
      const answer = await fetch(`${server.url}/graphql`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: '{ querySecond { id } }' }),
      });
      if (!(await answer.json()).data) await served();
    };
    await served();
    await page.getByRole('button', { name: /re-fetch/i }).click();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer-type-name', { hasText: 'Second' }).first().waitFor();
    await page.close();
  });
});
