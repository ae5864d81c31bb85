// The frame of the console, roles, native stores and the tour. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { assertAccessible, assertFits, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

const SECRET = 'a-secret-for-this-test-only';
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const column = (page, at) => page.locator(`.weir-place [role=gridcell]:nth-child(${at + 1})`);
const shows = (page, at, wanted) => page.waitForFunction(
  ([place, expected]) => JSON.stringify([...document.querySelectorAll(`.weir-place .weir-row > [role=gridcell]:nth-child(${place + 1})`)].map(it => it.innerText.trim())) === JSON.stringify(expected),
  [at, wanted],
).catch(async () => assert.deepEqual(await column(page, at).allInnerTexts(), wanted));
const dialog = page => page.locator('dialog[open]').last();

describe('the shell over the demo', () => {
  let server;
  before(async () => { server = await startWeir({}); });
  after(() => server?.stop());

  test('G10 has a tour that a click ends for ever', async () => {
    const { page } = await openPage(browser, server.url, '', { tour: true });
    await page.getByRole('complementary', { name: 'Tour' }).waitFor();
    await page.getByRole('button', { name: 'Got it' }).click();
    await page.getByRole('complementary', { name: 'Tour' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Album' }).waitFor();
    assert.equal(await page.getByRole('complementary', { name: 'Tour' }).count(), 0);
    await page.close();
  });

  test('G12 leads a browser from the address of the API to the console', async () => {
    const { page } = await openPage(browser, server.url, '');
    await page.goto(`${server.url}/graphql`);
    await page.getByRole('heading', { level: 1, name: 'Album' }).waitFor();
    await page.goto(`${server.url}/console/#operations`);
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    await page.close();
  });

  test('G8 runs no script of another and is in no frame', async () => {
    const answer = await fetch(`${server.url}/console/data/chinook/Album`);
    const policy = answer.headers.get('content-security-policy');
    assert.match(policy, /default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:;/);
    assert.match(policy, /frame-ancestors 'none'/);
    const { page } = await openPage(browser, server.url, '/data/chinook/Album');
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = "document.title = 'owned'";
      document.body.append(script);
    });
    assert.notEqual(await page.title(), 'owned');
    await page.close();
  });

  for (const colorScheme of ['light', 'dark']) {
    for (const width of [390, 1440]) {
      test(`G6 G7 the editor and the operations fit and are accessible at ${width} px, ${colorScheme}`, async () => {
        const { page, complaints } = await openPage(browser, server.url, '/api', { colorScheme, viewport: { width, height: 850 } });
        await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('First'));
        await page.getByRole('button', { name: /execute query/i }).click();
        await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('"data"'));
        if (width > 700) await page.getByTestId('plan').waitFor();
        await assertAccessible(page, 'editor');
        await assertFits(page, 'editor');
        assert.doesNotMatch(await page.locator('main').innerText(), /piece \d/);
        await page.getByRole('button', { name: 'Run as admin' }).click();
        await assertAccessible(page, 'run as');
        await assertFits(page, 'run as');
        await page.keyboard.press('Escape');
        await page.getByRole('link', { name: 'Operations', exact: true }).click();
        await page.getByTestId('operations').locator('tr', { hasText: 'First' }).first().waitFor();
        await assertAccessible(page, 'operations');
        await assertFits(page, 'operations');
        assert.deepEqual(complaints, []);
        await page.close();
      });
    }
  }

  test('D25 finds the album with the most tracks by clicks', async () => {
    const { page } = await openPage(browser, server.url, '/data/chinook/Album');
    let clicks = 0;
    const click = async locator => (clicks++, locator.click());
    await click(page.getByRole('button', { name: 'Columns' }));
    await click(page.getByRole('group', { name: 'Columns' }).getByLabel('number of Album_Tracks'));
    await page.keyboard.press('Escape');
    await click(page.getByRole('columnheader', { name: 'Album_Tracks' }).getByRole('button'));
    await page.waitForFunction(() => document.querySelector('[aria-sort=ascending]'));
    await click(page.getByRole('columnheader', { name: 'Album_Tracks' }).getByRole('button'));
    await page.locator('[data-cell="0 3"]').filter({ hasText: 'Greatest Hits' }).waitFor();
    await page.locator('[data-cell="0 5"]').filter({ hasText: /^57$/ }).waitFor();
    assert.equal(clicks, 4);
    await page.close();
  });
});

describe('a console with roles and a secret', () => {
  let server;
  before(async () => {
    server = await startWeir({ FLEET_SECRET: SECRET }, null, data => {
      cpSync(new URL('../../examples/fleet', import.meta.url), data, { recursive: true, filter: it => !it.includes('.db') });
      execFileSync('python3', ['-c', 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'], { cwd: data });
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(() => server?.stop());

  test('G3 G4 D21 opens what was asked for after the secret, and shows what a role sees and may do', async () => {
    const { page, asked } = await openPage(browser, server.url, '/data/fleet/boat');
    await page.getByRole('button', { name: 'Admin secret' }).click();
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'boat' }).waitFor();
    await page.getByRole('button', { name: 'Import CSV' }).waitFor();
    await page.locator('.weir-grid').getByText('Bel').waitFor();
    const all = await column(page, 2).count();
    const adminColumns = await page.getByRole('columnheader').allInnerTexts();
    await page.getByRole('button', { name: 'Run as admin' }).click();
    await page.getByLabel('Role').fill('sailor');
    await page.getByLabel('Session variables').fill('user-id: ann');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Run as sailor' }).waitFor();
    await page.waitForFunction(before => {
      const count = document.querySelectorAll('.weir-place').length;
      return count > 0 && count < before;
    }, all);
    const columns = await page.getByRole('columnheader').allInnerTexts();
    assert.ok(columns.every(it => adminColumns.includes(it)));
    assert.ok(asked.at(-1).variables !== undefined);
    await page.getByRole('button', { name: 'Run as sailor' }).click();
    await page.getByRole('button', { name: 'Back to admin' }).click();
    await page.waitForFunction(before => document.querySelectorAll('.weir-place').length === before, all);
    // A visitor reads the names of harbours, without their key, and has no button to write.
    await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /^harbour/ }).click();
    await page.getByRole('heading', { level: 1, name: 'harbour' }).waitFor();
    await page.getByRole('button', { name: 'Insert' }).waitFor();
    await page.getByRole('button', { name: 'Run as admin' }).click();
    await page.getByLabel('Role').fill('visitor');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('no primary key that this caller may see').waitFor();
    await page.waitForFunction(() => document.querySelectorAll('[role=columnheader]').length === 3);
    assert.equal(await page.getByRole('columnheader').last().innerText(), 'name');
    for (const name of ['Insert', 'Import CSV']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    assert.equal(await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /^crew/ }).count(), 0);
    await page.close();
  });

  test('G4 shows the world as the user of a token sees it', async () => {
    const { page } = await openPage(browser, server.url, '/data/fleet/boat');
    await page.getByRole('button', { name: 'Admin secret' }).click();
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Import CSV' }).waitFor();
    const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { 'x-hasura-allowed-roles': ['sailor'], 'x-hasura-default-role': 'sailor', 'x-hasura-user-id': 'ann' };
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ 'https://hasura.io/jwt/claims': claims })}`;
    const signature = createHmac('sha256', 'the key of the example, 32 bytes or more').update(text).digest('base64url');
    const sent = page.waitForRequest(it => it.headers().authorization !== undefined);
    const apply = async token => {
      await page.getByRole('button', { name: /^Run as/ }).click();
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Apply' }).click();
    };
    await apply(`Bearer ${text}.${signature}`);
    assert.equal((await sent).headers()['x-weir-admin-secret'], undefined, 'the secret does not go with a token');
    await page.locator('.weir-grid').getByText('Bel').waitFor({ state: 'detached' });
    await page.locator('.weir-grid').getByText('Ada').waitFor();
    await apply('no.real.token');
    await page.getByRole('alert').first().waitFor();
    await page.close();
  });
});

describe('a console of a native store', () => {
  let server;
  before(async () => {
    server = await startWeir({}, 'type Pet { id: ID! name: String! @search(by: [hash]) age: Int owner: Owner } type Owner { id: ID! name: String! pets: [Pet!] @hasInverse(field: owner) }');
    const query = 'mutation { addOwner(input: [{name: "Ann", pets: [{name: "Rex", age: 3}, {name: "Tom"}]}]) { numUids } }';
    const answer = await fetch(`${server.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    assert.equal((await answer.json()).errors, undefined);
  });
  after(() => server?.stop());

  test('D23 reads, filters, changes, inserts and deletes objects of a type', async () => {
    const { page, complaints } = await openPage(browser, server.url, '');
    await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /^Pet/ }).click();
    await shows(page, 3, ['Rex', 'Tom']);
    await page.locator('[data-cell="0 4"]').dblclick();
    await page.getByLabel('age is').selectOption('null');
    await page.getByRole('button', { name: 'Show the request' }).click();
    await dialog(page).getByRole('button', { name: 'Send' }).click();
    await shows(page, 4, ['null', 'null']);
    await page.locator('[data-cell="1 3"]').dblclick();
    await page.getByRole('dialog').getByRole('textbox').fill('Tomcat');
    await page.getByRole('button', { name: 'Show the request' }).click();
    await dialog(page).getByRole('button', { name: 'Send' }).click();
    await shows(page, 3, ['Rex', 'Tomcat']);
    await page.getByRole('button', { name: 'Insert' }).click();
    await dialog(page).getByLabel('name', { exact: false }).first().fill('Ida');
    await page.getByRole('button', { name: 'Show the request' }).click();
    await dialog(page).getByRole('button', { name: 'Send' }).click();
    await shows(page, 3, ['Rex', 'Tomcat', 'Ida']);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Column', { exact: true }).selectOption('name');
    await page.getByLabel('Operator').selectOption('eq');
    await page.getByLabel('Value').fill('Ida');
    await page.keyboard.press('Enter');
    await shows(page, 3, ['Ida']);
    await page.getByLabel(/^Select row/).first().check();
    await page.getByRole('button', { name: 'Delete 1' }).click();
    await dialog(page).getByRole('textbox').fill('Pet');
    await page.keyboard.press('Enter');
    await page.getByText('No row meets these conditions.').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await shows(page, 3, ['Rex', 'Tomcat']);
    await page.getByRole('button', { name: /^Expand row/ }).first().click();
    await page.locator('.weir-detail').getByText('Ann').waitFor();
    await assertAccessible(page, 'native');
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe('a console of a server without tables', () => {
  let server;
  before(async () => { 
    server = await startWeir({}, null, data => {
      execFileSync('python3', ['-c', 'import sqlite3; c = sqlite3.connect("empty.db"); c.execute("PRAGMA user_version = 1")'], { cwd: data });
      return ['serve', join(data, 'empty.db')];
    });
  });
  after(() => server?.stop());

  test('G9 says what to do', async () => {
    const { page } = await openPage(browser, server.url, '');
    await page.getByRole('heading', { level: 1, name: 'No tables' }).waitFor();
    await assertAccessible(page, 'empty');
    await page.close();
  });
});

describe('a console of a server whose metadata API is elsewhere', () => {
  let server;
  before(async () => {
    server = await startWeir({}, null, data => {
      const sql = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO pet VALUES (1, 'Rex')";
      execFileSync('python3', ['-c', `import sqlite3; sqlite3.connect("pets.db").executescript("""${sql}""")`], { cwd: data });
      writeFileSync(join(data, 'weir.yaml'), 'admin_listen: 127.0.0.1:0\ndev: true\nsources: [{name: main, url: pets.db}]\n');
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(() => server?.stop());

  test('G9 shows all tables in one group, and rows can be changed', async () => {
    const { page } = await openPage(browser, server.url, '');
    await page.getByRole('heading', { level: 2, name: 'graph' }).waitFor();
    await shows(page, 3, ['Rex']);
    await page.locator('[data-cell="0 3"]').dblclick();
    await page.getByRole('dialog').getByRole('textbox').fill('Max');
    await page.getByRole('button', { name: 'Show the request' }).click();
    await dialog(page).getByRole('button', { name: 'Send' }).click();
    await shows(page, 3, ['Max']);
    assert.match(page.url(), /\/data\/graph\/pet/);
    await page.close();
  });
});

describe('a console of rows that no key tells apart', () => {
  let server;
  before(async () => {
    server = await startWeir({}, null, data => {
      const sql = "CREATE TABLE tag (k TEXT PRIMARY KEY, v TEXT); INSERT INTO tag VALUES (NULL, 'one'), (NULL, 'two'), ('c', 'three')";
      execFileSync('python3', ['-c', 'import sqlite3, sys; sqlite3.connect("tag.db").executescript(sys.argv[1])', sql], { cwd: data });
      return ['serve', join(data, 'tag.db'), '--dev'];
    });
  });
  after(() => server?.stop());

  test('D14 chooses and changes only the row that has a key', async () => {
    const { page } = await openPage(browser, server.url, '/data/tag/tag');
    await page.locator('.weir-grid').getByText('two').waitFor();
    assert.equal(await page.locator('.weir-place').count(), 3);
    assert.equal(await page.getByRole('checkbox', { name: /^Select row/ }).count(), 1);
    await page.locator('.weir-grid').getByText('two').dblclick();
    await page.getByText('The key of this row has a null').waitFor();
    await page.close();
  });

  test('D5 shows no row where the filter of an address cannot be asked', async () => {
    for (const filter of ['[["absent","_eq","1"]]', '[["k","_is_null","perhaps"]]', 'no list']) {
      const { page } = await openPage(browser, server.url, `/data/tag/tag?filter=${encodeURIComponent(filter)}`);
      await page.getByRole('alert').getByText('The filter').waitFor();
      assert.equal(await page.locator('.weir-place').count(), 0, filter);
      await page.close();
    }
  });
});
