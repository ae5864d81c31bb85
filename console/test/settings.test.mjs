// The page Settings as a person uses it. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { load } from '../scripts/modules.mjs';
import { assertEverywhere, assertFits, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = page => page.locator('dialog[open]').last();
const SECRET = 'hush-77123';

const metadata = (tables, kind, more = {}) => ({ version: 3, sources: [{ name: 'main', kind, tables, configuration: { connection_info: { database_url: { from_env: 'SHOP_URL' } } } }], ...more });

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`settings over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    const kind = isSqlite ? 'sqlite' : 'postgres';
    let database;
    let server;
    let file;
    const open = async path => {
      const opened = await openPage(browser, server.url, path);
      await opened.page.getByLabel('Admin secret').fill(SECRET);
      await button(opened.page, 'Open the console').click();
      await opened.page.getByRole('heading', { level: 1 }).waitFor();
      opened.complaints.length = 0;
      return opened;
    };
    before(async () => {
      database = await start();
      const url = isSqlite ? `sqlite:${database.url}` : database.url;
      server = await startWeir({ SHOP_URL: url, THE_SECRET: SECRET }, null, data => {
        file = join(data, 'metadata.json');
        writeFileSync(file, JSON.stringify(metadata([{ table: 'artist' }, { table: 'nobody' }], kind)));
        writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json\nadmin_secret: "{{THE_SECRET}}"\ndev: true\n`.replace('"{{THE_SECRET}}"', SECRET));
        return ['serve', join(data, 'weir.yaml')];
      });
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });

    test('T2 G3 reads health, what is inconsistent and what to do, and the version; no secret is shown', async () => {
      const { page, complaints } = await open('/settings');
      const health = page.getByTestId('health').getByRole('row').filter({ hasText: 'main' });
      await health.filter({ hasText: 'ready' }).waitFor();
      if (!isSqlite) await health.filter({ hasText: 'PostgreSQL' }).waitFor();
      const object = page.getByTestId('inconsistent').getByRole('listitem').filter({ hasText: 'nobody' });
      await object.getByText('Make the table in the database, or untrack it.').waitFor();
      await object.getByText('Entry').click();
      await page.getByTestId('settings').getByText('set, and never shown').waitFor();
      await page.getByTestId('settings').getByText(/^Weir \d/).waitFor();
      await page.getByTestId('settings').getByText('WARN: inconsistent objects in schema').waitFor();
      const html = await page.content();
      assert.ok(!html.includes(SECRET), 'the secret is shown');
      assert.ok(!(await page.locator('main').innerText()).includes(database.url), 'an address is shown');
      await assertEverywhere(page, 'server');
      await button(page, 'Reload the metadata').click();
      await dialog(page).getByTestId('request').filter({ hasText: 'reload_metadata' }).waitFor();
      await button(dialog(page), 'Send').click();
      await page.getByRole('status').filter({ hasText: 'Reload the metadata: done.' }).waitFor();
      await button(page, 'Drop all of them').click();
      assert.equal(await button(dialog(page), 'Send').isDisabled(), true);
      await dialog(page).getByTestId('difference').getByText('nobody').waitFor();
      await dialog(page).getByRole('textbox').fill('drop');
      await button(dialog(page), 'Send').click();
      await page.getByText('There is none: all that the metadata says is served.').waitFor();
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).sources[0].tables.map(it => it.table.name ?? it.table), ['artist']);
      assert.deepEqual(complaints, []);
    });

    test('T1 exports metadata, and imports it with the difference first', async () => {
      const { page, complaints } = await open('/settings/metadata');
      const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Save as metadata.json').click()]);
      const exported = JSON.parse(readFileSync(await download.path(), 'utf8'));
      assert.deepEqual(exported.sources[0].configuration.connection_info.database_url, { from_env: 'SHOP_URL' });
      await button(page, 'Show').click();
      await page.getByTestId('metadata').getByText('from_env: SHOP_URL').waitFor();
      const text = page.getByLabel('Or its text');
      await text.fill('{"version": 3');
      await page.getByText('It is no JSON').waitFor();
      await text.fill('{"some": 1}');
      await page.getByText('it is no metadata').waitFor();
      await text.fill(JSON.stringify(exported));
      await page.getByText('It says what the server has: nothing differs.').waitFor();
      assert.equal(await button(page, 'Review the change').isDisabled(), true);
      const tables = [...exported.sources[0].tables, { table: 'stranger' }];
      await text.fill(JSON.stringify({ ...exported, sources: [{ ...exported.sources[0], tables }] }));
      await button(page, 'Try').click();
      await page.getByTestId('trial').filter({ hasText: 'stranger' }).filter({ hasText: 'Make the table in the database' }).waitFor();
      await page.getByTestId('trial').getByText('The server would leave out:').waitFor();
      const select = { role: 'reader', permission: { columns: ['id'], filter: { id: { _gt: 1 } }, limit: 10 } };
      const good = { sources: [{ ...exported.sources[0], tables: [{ table: 'album' }, { ...exported.sources[0].tables[0], select_permissions: [select] }] }], version: 3 };
      await page.getByLabel('File, JSON').setInputFiles({ name: 'metadata.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(good)) });
      await button(page, 'Try').click();
      await page.getByText('All of it would be served.').waitFor();
      await assertEverywhere(page, 'metadata');
      await button(page, 'Review the change').click();
      const difference = await dialog(page).getByTestId('difference').innerText();
      assert.match(difference, /\+ .*album/);
      assert.doesNotMatch(difference, /^- /m, 'order alone is no difference');
      await dialog(page).getByTestId('request').filter({ hasText: 'replace_metadata' }).waitFor();
      assert.equal(await button(dialog(page), 'Send').isDisabled(), true);
      await dialog(page).getByRole('textbox').fill('replace');
      await button(dialog(page), 'Send').click();
      await page.getByRole('status').filter({ hasText: 'Replace the metadata: done.' }).waitFor();
      const written = JSON.parse(readFileSync(file, 'utf8')).sources[0].tables.map(it => it.table.name ?? it.table).sort();
      assert.deepEqual(written, ['album', 'artist']);
      assert.deepEqual(complaints, []);
    });
  });
}

test('T1 T2 G5 G9 without a file of metadata, by the keyboard', async () => {
  const database = startSqlite();
  const server = await startWeir({}, null, data => {
    writeFileSync(join(data, 'weir.yaml'), `sources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  const { page } = await openPage(browser, server.url, '/settings');
  await page.getByText('no file that the server may write').waitFor();
  for (const width of [720, 820, 1024, 2560]) {
    await page.setViewportSize({ width, height: 844 });
    await assertFits(page, `bar at ${width}`);
  }
  await page.getByRole('link', { name: 'Metadata', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('This server writes no metadata').waitFor();
  await page.getByLabel('Or its text').fill('{"version": 3, "sources": [], "inherited_roles": [{"role_name": "both", "role_set": ["a", "b"]}]}');
  await button(page, 'Review the change').focus();
  await page.keyboard.press('Enter');
  await dialog(page).getByText(/This server has no file of metadata/).waitFor();
  await dialog(page).getByTestId('yaml').getByText('role_name: both').waitFor();
  await page.goto(`${server.url}/console/settings/nothing`);
  await page.getByText('Nothing has this address.').waitFor();
  await server.stop();
  database.stop();
});

test('T1 puts entries into the order of what the server has, and folds what is equal', async () => {
  const { inOrderOf, foldLines, readDocument } = await load('settings/import.ts', 'metadata/change.ts');
  const before = { version: 3, sources: [{ name: 'a', kind: 'x' }, { name: 'b' }] };
  const after = { sources: [{ name: 'c' }, { name: 'b' }, { kind: 'x', name: 'a' }], version: 3 };
  assert.equal(JSON.stringify(inOrderOf(before, after)), '{"version":3,"sources":[{"name":"a","kind":"x"},{"name":"b"},{"name":"c"}]}');
  assert.deepEqual(inOrderOf([1, 2], [2, 1, 2]), [1, 2, 2]);
  const lines = Array.from({ length: 300 }, (_, at) => ({ sign: at === 150 ? '+' : ' ', text: `${at}` }));
  assert.deepEqual(foldLines(lines).map(it => it.text), ['… 147 equal lines', '147', '148', '149', '150', '151', '152', '153', '… 146 equal lines']);
  assert.equal(foldLines(lines.slice(0, 200)).length, 200);
  assert.match(readDocument('[]').fault, /object/);
  assert.equal(JSON.stringify(readDocument('{"resource_version": 1, "metadata": {"version": 3}}').document), '{"version":3}');
});

test('T1 T2 tells what a difference cannot show, and hides addresses and headers of an entry', async () => {
  const { importChange, withoutSecrets } = await load('settings/import.ts', 'settings/server-facts.ts');
  const exported = { metadata: { version: 3 }, resource_version: 7, unread_files: ['tables/torn.yaml: not read'] };
  assert.match(importChange(exported, { version: 3 }, false).warning, /removed: tables\/torn\.yaml/);
  assert.match(importChange(exported, { version: 3 }, true).warning, /torn.*not served until it does/);
  const { warning, request } = importChange({ ...exported, unread_files: undefined }, { version: 3 }, false);
  assert.equal(warning, undefined);
  assert.equal(request.resource_version, 7);
  const entry = { headers: [{ name: 'a', value: 'hush' }, { name: 'b', value_from_env: 'B' }], configuration: { connection_info: { database_url: 'postgres://u:hush@h/d' } } };
  const shown = JSON.stringify(withoutSecrets(entry));
  assert.ok(!shown.includes('hush') && shown.includes('"value_from_env":"B"') && shown.includes('"name":"a"'), shown);
});
