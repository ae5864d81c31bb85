// The Permissions page as a person uses it, over SQLite and PostgreSQL. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { assertAccessible, assertFits, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const dialog = page => page.locator('dialog[open]').last();
const right = (page, words) => page.getByRole('link', { name: words, exact: true });
const truths = page => dialog(page).getByTestId('truths').locator('li > code').allInnerTexts();

const select = (role, permission) => ({ role, permission });
const metadata = url => ({
  version: 3,
  sources: [{
    name: 'main',
    kind: 'postgres',
    configuration: { connection_info: { database_url: url } },
    tables: [
      {
        table: 'artist',
        array_relationships: [{ name: 'albums', using: { foreign_key_constraint_on: { table: 'album', column: 'artist_id' } } }],
        select_permissions: [select('counter', { columns: ['name'], filter: {} }), select('reader', { columns: '*', filter: {} })],
      },
      {
        table: 'album',
        object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }],
        select_permissions: [
          select('counter', { columns: ['id'], filter: {}, allow_aggregations: true, query_root_fields: [], subscription_root_fields: [] }),
          select('reader', { columns: ['id', 'title', 'artist_id'], filter: { artist: { name: { _eq: 'X-Hasura-Artist' } } } }),
          select('seller', { columns: ['id', 'title', 'price'], filter: { _or: [{ price: { _gt: 9 } }, { _not: { note: { _eq: 'loud' } } }], made: { _is_null: true } } }),
        ],
        delete_permissions: [select('remover', { filter: { price: { _is_null: true } } })],
      },
      { table: 'bare', configuration: { column_config: { word: { custom_name: 'theWord' } } } },
    ],
  }],
  inherited_roles: [{ role_name: 'clerk', role_set: ['reader', 'seller'] }],
});

/** A server of this database with the metadata in a file of its own. */
const serve = async database => {
  let file;
  const server = await startWeir({}, null, data => {
    file = join(data, 'metadata.json');
    writeFileSync(file, JSON.stringify(metadata(database.url)));
    writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  return { ...server, read: () => JSON.parse(readFileSync(file, 'utf8')) };
};

/** The permission of a role on a table, as the file has it. */
function written(server, table, kind, role) {
  const entry = server.read().sources[0].tables.find(it => (it.table.name ?? it.table) === table);
  return entry[`${kind}_permissions`]?.find(it => it.role === role)?.permission;
}

for (const start of [startSqlite, startPostgres]) {
  const kind = start === startSqlite ? 'SQLite' : 'PostgreSQL';
  describe(`permissions over ${kind}`, () => {
    let database;
    let server;
    const open = (more = '', options = {}) => openPage(browser, server.url, `/permissions${more}`, options);
    before(async () => {
      database = await start();
      server = await serve(database);
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });

    test('P1 shows a matrix of roles and tables, with what is inherited', async () => {
      const { page, complaints, foreign } = await open();
      for (const words of [
        'reader select artist: full', 'reader select album: partial', 'reader insert album: none', 'remover delete album: partial',
        'clerk select artist: full, inherited from reader', 'clerk select album: partial, inherited from reader and seller', 'clerk update album: none',
      ]) await right(page, words).waitFor();
      await right(page, 'reader select album: partial').click();
      await page.getByRole('heading', { level: 1, name: 'reader on album' }).waitFor();
      // A column has another name in the API than in the database, and conditions have the latter's.
      await page.goto(`${server.url}/console/permissions/main/bare?role=reader`);
      await page.getByRole('group', { name: 'Columns' }).getByLabel('word', { exact: true }).waitFor();
      await page.goto(`${server.url}/console/permissions`);
      await page.getByRole('heading', { level: 1, name: 'Permissions' }).waitFor();
      await page.goBack();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Permissions' }).waitFor();
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
      await page.close();
    });

    test('P5 P6 G2 marks the rows that a role sees beside the others, and says which condition hides one', async () => {
      const { page, complaints } = await open('/main/album?role=reader');
      await page.getByTestId('seen').filter({ hasText: 'x-hasura-artist is missing' }).waitFor();
      await page.getByLabel('x-hasura-artist').fill('Accept');
      await page.keyboard.press('Enter');
      await page.getByTestId('seen').filter({ hasText: 'reader sees 2 of these 4 rows.' }).waitFor();
      const marks = await page.locator('.weir-preview tbody tr').evaluateAll(rows => rows.map(it => it.dataset.seen));
      assert.deepEqual(marks, ['seen', 'hidden', 'hidden', 'seen']);
      assert.equal(await page.locator('.weir-preview tbody tr').first().locator('.weir-unseen').count(), 3);
      await page.getByRole('button', { name: 'Why is album 2 hidden?' }).click();
      assert.equal(await dialog(page).getByTestId('reason').innerText(), 'reader does not see this row: exists(exists rows of artist by artist where name = x-hasura-artist).');
      assert.deepEqual(await truths(page), ['a row of artist', 'name = x-hasura-artist']);
      assert.deepEqual(await dialog(page).locator('[data-truth]').evaluateAll(all => all.map(it => it.dataset.truth)), ['false', 'true', 'false']);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Why is album 1 seen?' }).click();
      assert.equal(await dialog(page).getByTestId('reason').innerText(), 'reader sees this row.');
      // The address shows the same in another window.
      const other = await openPage(browser, server.url, page.url().split('/console')[1]);
      await other.page.getByTestId('seen').filter({ hasText: 'reader sees 2 of these 4 rows.' }).waitFor();
      assert.deepEqual(complaints, []);
      await other.page.close();
      await page.close();
    });

    test('P6 tells true, false and unknown, also of each role that an inherited role is made of', async () => {
      const { page } = await open(`/main/album?role=clerk&claims=${encodeURIComponent('{"x-hasura-artist":"Alice"}')}`);
      await page.getByTestId('seen').filter({ hasText: 'clerk sees 3 of these 4 rows.' }).waitFor();
      await page.getByRole('region', { name: 'Inherited' }).getByRole('link', { name: 'seller' }).waitFor();
      await page.getByRole('button', { name: 'Why is album 1 hidden?' }).click();
      const found = await dialog(page).locator('[data-truth]').evaluateAll(all => all.map(it => `${it.querySelector('b')?.innerText ?? ''}${it.dataset.truth}`));
      assert.deepEqual(found.slice(0, 4), ['reader: false', 'reader: false', 'true', 'false']);
      assert.ok(found.includes('seller: false'), String(found));
      await page.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('button', { name: 'Why is album 3 seen?' }).click();
      const rows = await dialog(page).locator('li', { has: page.locator('code') }).allInnerTexts();
      assert.ok(rows.some(it => it.includes('price > literal') || it.includes('unknown')), String(rows));
      assert.ok(await dialog(page).getByText('unknown: a value is null').count() > 0);
      await dialog(page).getByText('Columns that depend on the row').waitFor();
      await page.close();
    });

    test('P2 P3 P4 P11 builds a condition by clicks, shows difference and request, and changes what the role sees', async () => {
      const { page, complaints } = await open('/main/album?role=reader&claims=%7B%22x-hasura-artist%22%3A%22Accept%22%7D');
      await page.getByTestId('seen').filter({ hasText: 'sees 2 of these 4' }).waitFor();
      const rows = page.getByRole('region', { name: 'Rows', exact: true });
      await rows.getByLabel('Kind of Rows: conditions').selectOption('any of');
      await rows.getByRole('button', { name: 'Add a condition to Rows: conditions' }).click();
      const line = rows.locator('.weir-condition').nth(1);
      await line.getByLabel('Column').selectOption('title');
      await line.getByLabel('Operator').selectOption('contains');
      await rows.getByRole('alert').filter({ hasText: 'a value is missing' }).waitFor();
      assert.ok(await page.getByRole('button', { name: 'Review the change' }).isDisabled());
      await line.getByLabel('Value').fill('100%');
      await page.keyboard.press('Enter');
      await rows.getByLabel('Add a group to Rows: conditions').selectOption('not');
      const inner = rows.locator('.weir-group .weir-group').locator('.weir-condition');
      await inner.getByLabel('Column').selectOption('price');
      await inner.getByLabel('Operator').selectOption('is at most');
      await inner.getByLabel('Value').fill('6');
      await page.keyboard.press('Enter');
      await rows.getByRole('button', { name: 'JSON' }).click();
      const wanted = { _or: [{ artist: { name: { _eq: 'X-Hasura-Artist' } } }, { title: { _ilike: '%100\\%%' } }, { _not: { price: { _lte: '6' } } }] };
      assert.deepEqual(JSON.parse(await rows.getByLabel('Rows as JSON').inputValue()), wanted);
      // What is clicked together is tried on the rows before it is saved.
      await page.getByRole('button', { name: 'Try on the rows below' }).click();
      await page.getByText('The condition above is tried; it is not saved.').waitFor();
      await page.getByTestId('seen').filter({ hasText: 'sees 3 of these 4' }).waitFor();
      await page.getByRole('button', { name: 'Show what is saved' }).click();
      await page.getByTestId('seen').filter({ hasText: 'sees 2 of these 4' }).waitFor();
      await page.getByLabel('price', { exact: true }).check();
      await page.getByLabel('Rows of a list at most').fill('7');
      await page.getByLabel('may count and aggregate').check();
      await page.getByRole('button', { name: 'Review the change' }).click();
      const difference = await dialog(page).getByTestId('difference').innerText();
      assert.match(difference, /\+ {2,}_or:/);
      assert.match(difference, /\+ limit: 7/);
      const request = JSON.parse(await dialog(page).getByTestId('request').innerText());
      assert.deepEqual(request.args.map(it => it.type), ['pg_drop_select_permission', 'pg_create_select_permission']);
      assert.equal(typeof request.resource_version, 'number');
      await assertAccessible(page, 'review');
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await page.getByText('Change: select of reader on album: done.').waitFor();
      await page.getByTestId('seen').filter({ hasText: 'sees 3 of these 4' }).waitFor();
      assert.deepEqual(written(server, 'album', 'select', 'reader'), { columns: ['id', 'title', 'artist_id', 'price'], filter: wanted, limit: 7, allow_aggregations: true });
      assert.deepEqual(complaints, []);
      // What cannot be written as JSON is told, and keeps the change from being reviewed.
      await page.getByRole('region', { name: 'Rows', exact: true }).getByRole('button', { name: 'JSON' }).click();
      await page.getByLabel('Rows as JSON').fill('{"price": {"_lt": ');
      await page.getByRole('alert').filter({ hasText: 'JSON of an object is expected' }).waitFor();
      assert.ok(await page.getByRole('button', { name: 'Review the change' }).isDisabled());
      await page.close();
    });

    test('P2 shows what the tree has no form for as JSON, and a row of any table as a group', async () => {
      const { page } = await open('/main/bare?role=asker');
      const rows = page.getByRole('region', { name: 'Rows', exact: true });
      await rows.getByRole('button', { name: 'JSON' }).click();
      const wanted = { _exists: { _table: 'artist', _where: { name: { _eq: 'X-Hasura-Artist' } } }, word: { _in: ['a', 'b'] }, artist: { nothing: { _gt: 5 } } };
      await rows.getByLabel('Rows as JSON').fill(JSON.stringify(wanted));
      await rows.getByRole('button', { name: 'Tree' }).click();
      await rows.getByLabel('there is a row in').waitFor();
      assert.equal(await rows.locator('.weir-group .weir-group .weir-condition').getByLabel('Value').inputValue(), 'X-Hasura-Artist');
      assert.equal(await rows.getByLabel(/^JSON of/).inputValue(), '{"artist":{"nothing":{"_gt":5}}}');
      await rows.getByRole('button', { name: 'Remove the condition on word' }).click();
      await rows.getByRole('button', { name: 'JSON' }).click();
      const { word, ...rest } = wanted;
      assert.ok(word);
      assert.deepEqual(JSON.parse(await rows.getByLabel('Rows as JSON').inputValue()), rest);
      await page.close();
    });

    test('P3 P4 gives a role an insert with check and presets, refuses what does not fit, and takes it away by its name', async () => {
      const { page } = await open('/main/bare?role=writer&kind=insert');
      await page.getByRole('heading', { level: 1, name: 'writer on bare' }).waitFor();
      const check = page.getByRole('region', { name: 'Check', exact: true });
      await check.getByRole('button', { name: 'JSON' }).click();
      await check.getByLabel('Check as JSON').fill('{"nothing": {"_eq": 1}}');
      await page.getByLabel('id', { exact: true }).check();
      await page.getByRole('button', { name: 'Review the change' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await dialog(page).getByRole('alert').filter({ hasText: '"nothing" does not exist' }).waitFor();
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      await check.getByLabel('Check as JSON').fill('{"id": {"_gt": 0}}');
      await page.getByLabel('Column of a new preset').selectOption('word');
      await page.getByRole('button', { name: '+ Preset' }).click();
      await page.getByRole('button', { name: 'Review the change' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await page.getByText('New: insert of writer on bare: done.').waitFor();
      assert.deepEqual(written(server, 'bare', 'insert', 'writer'), { check: { id: { _gt: 0 } }, columns: ['id'], set: { word: 'X-Hasura-User-Id' } });
      await page.getByRole('button', { name: 'Remove the permission' }).click();
      assert.ok(await dialog(page).getByRole('button', { name: 'Send' }).isDisabled());
      await dialog(page).getByLabel('Write writer to go on').fill('writer');
      await page.keyboard.press('Enter');
      await page.getByText('Remove: insert of writer on bare: done.').waitFor();
      assert.equal(written(server, 'bare', 'insert', 'writer'), undefined);
      await page.close();
    });

    test('P4 does not overwrite what somebody else changed meanwhile', async () => {
      const { page } = await open('/main/album?role=remover&kind=delete');
      await page.getByRole('button', { name: 'Remove the permission' }).click();
      const args = { source: 'main', table: 'bare', role: 'other', permission: { columns: '*', filter: {} } };
      const sent = await fetch(`${server.url}/v1/metadata`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'pg_create_select_permission', args }) });
      assert.equal(sent.status, 200);
      await dialog(page).getByLabel('Write remover to go on').fill('remover');
      await page.keyboard.press('Enter');
      await dialog(page).getByRole('alert').filter({ hasText: 'conflict' }).waitFor();
      assert.ok(written(server, 'album', 'delete', 'remover'));
      await page.close();
    });

    test('P5 P6 says which rows a role may delete, and why not another', async () => {
      const { page } = await open('/main/album?role=remover&kind=delete');
      await page.getByTestId('seen').filter({ hasText: 'remover may delete 1 of these 4 rows.' }).waitFor();
      await page.getByRole('button', { name: 'Why is album 1 closed?' }).click();
      assert.equal(await dialog(page).getByTestId('reason').innerText(), 'remover may not delete this row: price is null.');
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'update: none' }).click();
      await page.getByText('remover may not update any row.').waitFor();
      await page.close();
    });

    test('P7 makes an inherited role and shows what it can do', async () => {
      const { page } = await open();
      await page.getByRole('button', { name: 'New inherited role' }).click();
      await dialog(page).getByLabel('Name').fill('boss');
      for (const name of ['clerk', 'remover']) await dialog(page).getByLabel(name).check();
      await dialog(page).getByRole('button', { name: 'Review the change' }).click();
      await dialog(page).getByTestId('difference').filter({ hasText: '+ role_set: [clerk, remover]' }).waitFor();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await right(page, 'boss select album: partial, inherited from reader and seller').waitFor();
      await right(page, 'boss delete album: partial, inherited from remover').waitFor();
      await page.close();
    });

    test('P8 P9 compares two roles and warns of tables that a role reaches only by accident', async () => {
      const { page } = await open();
      const warnings = page.getByRole('region', { name: 'Perhaps by accident' });
      await warnings.getByText('has no field of queries, but is reached through artist.albums and albums_aggregate').waitFor();
      await warnings.getByText('may delete rows that it cannot read').waitFor();
      await page.getByLabel('First role').selectOption('counter');
      await page.getByLabel('Second role').selectOption('reader');
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      const compared = page.getByRole('region', { name: 'counter and reader' });
      await compared.getByRole('row', { name: /^album select/ }).waitFor();
      assert.match(page.url(), /compare=counter%2Creader/);
      assert.equal(await compared.getByRole('row', { name: /^bare/ }).count(), 0);
      await page.close();
    });

    test('P10 a page of another origin reaches none of it', async () => {
      const stranger = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<title>stranger</title>')).listen(0, '127.0.0.1');
      await new Promise(resolve => stranger.once('listening', resolve));
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${stranger.address().port}/`);
      const before = server.read();
      const tries = await page.evaluate(async url => {
        const asked = JSON.stringify({ source: 'main', table: 'album', key: { id: 1 }, role: 'reader', claims: {} });
        const dropped = JSON.stringify({ type: 'pg_drop_select_permission', args: { source: 'main', table: 'artist', role: 'reader' } });
        const all = [];
        for (const [path, body] of [['/v1/explain/row', asked], ['/v1/metadata', dropped]]) {
          for (const options of [{ headers: { 'content-type': 'application/json' } }, { mode: 'no-cors', headers: { 'content-type': 'text/plain' } }]) {
            all.push(await fetch(url + path, { method: 'POST', body, ...options }).then(it => it.type, () => 'refused'));
          }
        }
        return all;
      }, server.url);
      assert.deepEqual(tries, ['refused', 'opaque', 'refused', 'opaque']);
      assert.deepEqual(server.read(), before);
      await page.close();
      stranger.close();
    });

    test('G5 is used by the keyboard alone', async () => {
      const { page } = await open();
      const cell = right(page, 'seller select album: partial');
      await cell.waitFor();
      const press = async (key, found) => {
        for (let at = 0; at < 200 && !(await found()); at++) await page.keyboard.press(key);
        assert.ok(await found());
      };
      const isFocused = locator => () => locator.evaluate(it => it === document.activeElement).catch(() => false);
      await press('Tab', isFocused(cell));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'seller on album' }).waitFor();
      await page.getByTestId('seen').waitFor();
      const why = page.getByRole('button', { name: 'Why is album 1 hidden?' });
      await press('Tab', isFocused(why));
      await page.keyboard.press('Enter');
      await dialog(page).getByTestId('reason').waitFor();
      await page.keyboard.press('Escape');
      assert.ok(await isFocused(why)(), 'the focus is back');
      await page.close();
    });
  });
}

describe('permissions of the page itself', () => {
  let database;
  let server;
  before(async () => {
    database = startSqlite();
    server = await serve(database);
  });
  after(async () => {
    await server?.stop();
    database?.stop();
  });

  for (const colorScheme of ['light', 'dark']) {
    for (const width of [390, 1440]) {
      test(`G6 G7 fits and is accessible at ${width} px, ${colorScheme}`, async () => {
        const options = { colorScheme, viewport: { width, height: 850 } };
        const { page, complaints } = await openPage(browser, server.url, '/permissions?compare=reader,seller', options);
        await page.getByRole('region', { name: 'reader and seller' }).waitFor();
        await assertAccessible(page, 'matrix');
        await assertFits(page, 'matrix');
        await page.goto(`${server.url}/console/permissions/main/album?role=clerk&claims=${encodeURIComponent('{"x-hasura-artist":"Alice"}')}`);
        await page.getByTestId('seen').waitFor();
        await page.getByRole('button', { name: 'Give clerk a permission of its own' }).click();
        await assertAccessible(page, 'cell');
        await assertFits(page, 'cell');
        await page.getByRole('button', { name: 'Why is album 1 hidden?' }).click();
        await dialog(page).getByTestId('reason').waitFor();
        await assertAccessible(page, 'reason');
        await assertFits(page, 'reason');
        await page.goto(`${server.url}/console/permissions/main/album?role=seller&kind=update`);
        await page.getByRole('checkbox', { name: /a check of its own/ }).check();
        await page.getByRole('region', { name: 'Check', exact: true }).waitFor();
        await page.getByText('seller may not update any row.').waitFor();
        await assertAccessible(page, 'update');
        await assertFits(page, 'update');
        assert.deepEqual(complaints, []);
        await page.close();
      });
    }
  }

  test('G9 says that an address names nothing, and that a table without a key has no preview', async () => {
    const { page } = await openPage(browser, server.url, '/permissions/main/nothing?role=reader');
    await page.getByRole('alert').filter({ hasText: 'no such table' }).waitFor();
    await page.getByRole('link', { name: 'All permissions' }).click();
    await page.getByRole('heading', { level: 1, name: 'Permissions' }).waitFor();
    await page.close();
  });
});

describe('permissions of a server without a file of metadata', () => {
  let server;
  before(async () => { server = await startWeir({}); });
  after(() => server?.stop());

  test('P4 G9 says that no role has a permission, and shows the YAML to paste', async () => {
    const { page, complaints } = await openPage(browser, server.url, '/permissions');
    await page.getByText('No role has a permission.').waitFor();
    await assertAccessible(page, 'empty');
    await page.getByLabel('Name of a new role').fill('fan');
    await page.keyboard.press('Enter');
    await right(page, 'fan select Album: none').click();
    await page.getByTestId('seen').filter({ hasText: 'fan sees 0 of these 20 rows.' }).waitFor();
    await page.getByRole('button', { name: 'Why is Album 1 hidden?' }).click();
    await dialog(page).getByText('fan has no permission to read this table.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add a condition to Rows: conditions' }).click();
    await page.getByLabel('Column', { exact: true }).selectOption('ArtistId');
    await page.getByLabel('Value').fill('X-Hasura-Artist');
    await page.keyboard.press('Enter');
    await page.getByLabel('Title', { exact: true }).check();
    await page.getByRole('button', { name: 'Review the change' }).click();
    const yaml = await dialog(page).getByTestId('yaml').innerText();
    assert.equal(yaml.trimEnd(), [
      '- table: Album', '  select_permissions:', '    - role: fan', '      permission:', '        columns: [Title]',
      '        filter:', '          ArtistId:', '            _eq: X-Hasura-Artist',
    ].join('\n'));
    assert.equal(await dialog(page).getByRole('button', { name: 'Send' }).count(), 0);
    await assertAccessible(page, 'by hand');
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe('permissions of a server whose metadata API is at another address', () => {
  let database;
  let server;
  before(async () => {
    database = startSqlite();
    server = await startWeir({}, null, data => {
      writeFileSync(join(data, 'weir.yaml'), `admin_listen: 127.0.0.1:0\nadmin_secret: hush\ndev: true\nsources: [{name: main, url: "${database.url}"}]\n`);
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(async () => {
    await server?.stop();
    database?.stop();
  });

  test('P10 G3 G9 asks for the secret, and says that nothing is told here', async () => {
    const { page } = await openPage(browser, server.url, '/permissions');
    await page.getByLabel('Admin secret').fill('hush');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'This address has no metadata API' }).waitFor();
    await assertAccessible(page, 'absent');
    await page.close();
  });
});

describe('permissions of native types', () => {
  let server;
  before(async () => {
    server = await startWeir({}, `type Note @auth(query: { rule: "query($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { id } }" }) { id: ID! owner: String @search(by: [hash]) text: String }
# Dgraph.Authorization {"VerificationKey":"secret","Header":"X-Note-Auth","Namespace":"https://note.example/claims","Algo":"HS256"}
`);
    const query = 'mutation { addNote(input: [{ owner: "ann", text: "one" }, { owner: "bob", text: "two" }]) { numUids } }';
    const added = await fetch(`${server.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    assert.equal((await added.json()).data.addNote.numUids, 2);
  });
  after(() => server?.stop());

  test('P12 says who sees the objects of a type by the claims of a token, and why not', async () => {
    const { page } = await openPage(browser, server.url, '/permissions');
    await page.getByText('No role has a permission.').waitFor();
    await page.getByRole('link', { name: 'Note' }).click();
    await page.getByTestId('seen').filter({ hasText: 'sees 0 of these' }).waitFor();
    await page.getByLabel('Claims of the token').fill('USER: ann');
    await page.getByRole('button', { name: 'Show rows' }).click();
    await page.getByTestId('seen').filter({ hasText: 'sees 1 of these 2 rows.' }).waitFor();
    await page.locator('tr[data-seen=hidden]').getByRole('button').click();
    await dialog(page).getByTestId('reason').filter({ hasText: 'does not see this row' }).waitFor();
    await page.close();
  });
});
