// The Permissions page beyond the usual: other names, what is left out, long ways, many tables. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
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
const select = (role, permission) => ({ role, permission });

const MORE = 'CREATE TABLE copy_of (id INTEGER PRIMARY KEY, album_id INTEGER REFERENCES album (id), is_lent BOOLEAN, lent_to TEXT);'
  + " INSERT INTO copy_of VALUES (1, 1, true, 'Ann'), (2, 3, false, NULL);";

/** A server of `database` with metadata of its own. */
async function serve(database, metadata) {
  let file;
  const server = await startWeir({}, null, data => {
    file = join(data, 'metadata.json');
    writeFileSync(file, JSON.stringify(metadata));
    writeFileSync(join(data, 'weir.yaml'), 'metadata: metadata.json\n');
    return ['serve', join(data, 'weir.yaml')];
  });
  return { ...server, read: () => JSON.parse(readFileSync(file, 'utf8')) };
}

const metadataOf = (database, tables, more = {}, source = {}) => ({
  version: 3,
  sources: [{
    name: 'main', kind: database.name === 'SQLite' ? 'sqlite' : 'postgres',
    configuration: { connection_info: { database_url: database.name === 'SQLite' ? `sqlite:${database.url}` : database.url } }, tables, ...source,
  }],
  ...more,
});

const TABLES = [
  {
    table: 'artist',
    array_relationships: [{ name: 'albums', using: { foreign_key_constraint_on: { table: 'album', column: 'artist_id' } } }],
    select_permissions: [select('reader', { columns: '*', filter: {} }), select('broken', { columns: ['name', 'nowhere'], filter: {} })],
  },
  {
    table: 'album',
    configuration: { custom_root_fields: { select: 'all_of_them', insert: 'put_albums', update: 'set_albums' } },
    object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }],
    array_relationships: [{ name: 'copies', using: { foreign_key_constraint_on: { table: 'copy_of', column: 'album_id' } } }],
    select_permissions: [select('reader', { columns: '*', filter: { artist_id: { _lt: 2 } } })],
  },
  { table: 'copy_of', select_permissions: [select('reader', { columns: '*', filter: { lent_to: { _is_null: true } } })] },
];

for (const start of [startSqlite, startPostgres]) {
  describe(`permissions at large over ${start === startSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    before(async () => {
      database = await start();
      database.run(MORE);
    });
    after(() => database?.stop());

    for (const convention of ['hasura-default', 'graphql-default']) {
      test(`P14 shows the rows of a role with root fields of their own, by ${convention}`, async () => {
        const server = await serve(database, metadataOf(database, TABLES, {}, { customization: { naming_convention: convention } }));
        try {
          const isCamel = convention === 'graphql-default';
          const [album, copy] = isCamel ? ['Album', 'CopyOf'] : ['album', 'copy_of'];
          const { page, complaints } = await openPage(browser, server.url, `/permissions/main/${album}?role=reader`);
          await page.getByTestId('seen').filter({ hasText: 'reader sees 2 of these 4 rows.' }).waitFor();
          await page.goto(`${server.url}/console/permissions/main/${copy}?role=reader`);
          await page.getByTestId('seen').filter({ hasText: 'reader sees 1 of these 2 rows.' }).waitFor();
          await page.getByRole('button', { name: 'Why is', exact: false }).first().click();
          await dialog(page).getByTestId('reason').waitFor();
          await page.keyboard.press('Escape');
          // Operators and columns are those of the metadata, whatever the API calls them.
          assert.equal(await page.locator('.weir-condition').getByLabel('Operator').inputValue(), '_is_null');
          await page.goto(`${server.url}/console/permissions/main/${copy}?role=clerk`);
          await page.getByRole('group', { name: 'Columns' }).getByLabel('lent_to', { exact: true }).waitFor();
          // The rows of Data, filtered and in order.
          const lent = isCamel ? 'lentTo' : 'lent_to';
          await page.goto(`${server.url}/console/data/main/${copy}?order=${lent}%3Adesc&filter=${encodeURIComponent(JSON.stringify([[lent, '_is_null', 'false']]))}`);
          await page.getByRole('gridcell', { name: 'Ann' }).waitFor();
          assert.equal(await page.getByText('The filter names', { exact: false }).count(), 0);
          assert.deepEqual(complaints, []);
          await page.close();
        } finally {
          await server.stop();
        }
      });
    }

    test('P15 P16 P18 shows what is left out, goes over two lists by clicks, and removes an inherited role', async () => {
      const server = await serve(database, metadataOf(database, TABLES, { inherited_roles: [{ role_name: 'both', role_set: ['reader', 'broken'] }] }));
      try {
        const { page, complaints } = await openPage(browser, server.url, '/permissions');
        await right(page, 'broken select artist: none, because its entry is left out').waitFor();
        await right(page, 'both select artist: full, inherited from reader').waitFor();
        await right(page, 'broken select artist: none, because its entry is left out').click();
        await page.getByRole('alert').filter({ hasText: 'nowhere' }).waitFor();
        await assertAccessible(page, 'left out');
        await page.goto(`${server.url}/console/permissions/main/artist?role=clerk`);
        await page.getByRole('group', { name: 'Columns' }).getByLabel('name', { exact: true }).check();
        await page.getByLabel('Add a group to Rows: conditions', { exact: true }).selectOption('related albums');
        await page.getByLabel('Add a group to Rows: conditions › 1', { exact: true }).selectOption('related copies');
        await page.getByRole('button', { name: 'Add a condition to Rows: conditions › 1 › 1', exact: true }).click();
        const line = page.locator('.weir-group').last().locator('.weir-condition').last();
        await line.getByLabel('Column').selectOption('lent_to');
        await line.getByLabel('Operator').selectOption('_eq');
        await line.getByLabel('Value').fill('Ann');
        await page.keyboard.press('Tab');
        await page.getByRole('button', { name: 'Review the change' }).click();
        assert.match(await dialog(page).getByTestId('request').innerText(), /"albums": \{\s*"copies": \{\s*"lent_to": \{\s*"_eq": "Ann"/);
        await dialog(page).getByRole('button', { name: 'Send' }).click();
        await page.getByRole('status').filter({ hasText: ': done.' }).waitFor();
        await page.getByTestId('seen').filter({ hasText: 'clerk sees 1 of these 4 rows.' }).waitFor();
        // What was written is read as the same tree.
        assert.equal(await page.locator('.weir-raw').count(), 0);
        await page.goto(`${server.url}/console/permissions`);
        await page.getByRole('button', { name: 'both = reader + broken' }).click();
        await dialog(page).getByRole('button', { name: 'Remove the role' }).click();
        await dialog(page).getByTestId('request').filter({ hasText: 'drop_inherited_role' }).waitFor();
        await dialog(page).getByRole('textbox').fill('both');
        await dialog(page).getByRole('button', { name: 'Send' }).click();
        await page.getByRole('button', { name: 'both = reader + broken' }).waitFor({ state: 'detached' });
        assert.equal(server.read().inherited_roles, undefined);
        assert.deepEqual(complaints, []);
        await page.close();
      } finally {
        await server.stop();
      }
    });
  });
}

test('P17 finds a table and a role among many, and makes the rows that are seen', async () => {
  const database = startSqlite();
  const roles = Array.from({ length: 25 }, (_, at) => `role_${at}`);
  const names = Array.from({ length: 200 }, (_, at) => `t${at}`);
  database.run(names.map(it => `CREATE TABLE ${it} (id INTEGER PRIMARY KEY, name TEXT);`).join('\n'));
  const tables = names.map((table, at) => ({ table, select_permissions: roles.filter((_, it) => it % 5 === at % 5).map(role => select(role, { columns: ['id'], filter: {} })) }));
  const server = await serve(database, metadataOf(database, tables));
  try {
    const { page, complaints } = await openPage(browser, server.url, '/permissions');
    const rows = page.locator('.weir-matrix tbody tr[aria-rowindex]');
    await rows.first().waitFor();
    assert.ok(await rows.count() < 60, String(await rows.count()));
    assert.equal(await page.locator('.weir-matrix table').getAttribute('aria-rowcount'), '202');
    await page.locator('.weir-matrix').evaluate(it => it.scrollTo(0, it.scrollHeight));
    await page.getByRole('rowheader', { name: 't99' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search tables' }).fill('t42');
    await page.getByRole('searchbox', { name: 'Search roles' }).fill('role_22');
    await right(page, 'role_22 select t42: partial').waitFor();
    assert.equal(await rows.count(), 2);
    // One names the column of tables; the row of a source is headed over all columns.
    assert.equal(await page.locator('.weir-matrix thead').getByRole('columnheader').count(), 2);
    await page.getByRole('searchbox', { name: 'Search tables' }).fill('nothing');
    await page.getByText('No table has this in its name.').waitFor();
    await page.getByRole('searchbox', { name: 'Search tables' }).fill('');
    await assertAccessible(page, 'matrix');
    await page.setViewportSize({ width: 390, height: 844 });
    await assertFits(page, 'matrix at 390');
    assert.deepEqual(complaints, []);
    await page.close();
  } finally {
    await server.stop();
    database.stop();
  }
});
