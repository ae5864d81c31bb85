// Values that a page in JavaScript would change, and files that are not what they seem. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const cell = (page, row, column) => page.locator(`[data-cell="${row} ${column}"]`);
const dialog = page => page.locator('dialog[open]').last();

const tables = isSqlite => `
CREATE TABLE digits (id INTEGER PRIMARY KEY, facts JSON, price NUMERIC(12,2), ratio ${isSqlite ? 'REAL' : 'DOUBLE PRECISION'} NOT NULL, lines TEXT);
INSERT INTO digits VALUES (1, '{"big": 12345678901234567890, "cost": 1.10, "list": [0.10]}', 1.10, 1.7976931348623157e308, 'a\r\nb');
INSERT INTO digits VALUES (2, NULL, 2.00, -1.5e300, 'a\nb');
CREATE TABLE ratios (id INTEGER PRIMARY KEY, ratio ${isSqlite ? 'REAL' : 'DOUBLE PRECISION'} NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) INSERT INTO ratios SELECT i, i * 7.123456789012345e305 FROM n;
CREATE TABLE node (id ${isSqlite ? 'TEXT' : 'UUID'} PRIMARY KEY, parent_id ${isSqlite ? 'TEXT' : 'UUID'} REFERENCES node (id), word TEXT);
INSERT INTO node VALUES ('a0000000-0000-0000-0000-00000000000a', NULL, 'root');
`;
const uuid = letter => `${letter}0000000-0000-0000-0000-00000000000${letter}`;

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`values over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let server;
    let source;
    const open = (table, more = '') => openPage(browser, server.url, `/data/${source}/${table}${more}`, {});
    before(async () => {
      database = await start();
      database.run(tables(isSqlite));
      server = await startWeir({}, null, () => ['serve', database.url]);
      const answer = await fetch(`${server.url}/v1/metadata`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"type":"dump_internal_state","args":{}}',
      });
      [source] = (await answer.json()).sources;
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });
    const read = async fields => {
      const body = JSON.stringify({ query: `{ digits(order_by: {id: asc}) { ${fields} } }` });
      const answer = await fetch(`${server.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return answer.text();
    };

    test('D26 shows numbers with the digits that were sent, and writes JSON back with them', async () => {
      const { page } = await open('digits');
      await cell(page, 0, 3).filter({ hasText: '12345678901234567890' }).waitFor();
      assert.match(await cell(page, 0, 3).innerText(), /"cost":\s?1\.10,/);
      if (!isSqlite) assert.equal(await cell(page, 0, 4).innerText(), '1.10');
      await cell(page, 0, 3).dblclick();
      const field = page.getByRole('dialog').getByRole('textbox');
      const text = await field.inputValue();
      assert.match(text, /"big": 12345678901234567890,/);
      await field.fill(text.replace('"list"', '"more": 98765432109876543210.50, "list"'));
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await cell(page, 0, 3).filter({ hasText: 'more' }).waitFor();
      const stored = (await read('facts')).replaceAll(' ', '');
      assert.match(stored, /"big":12345678901234567890,"cost":1\.10,"more":98765432109876543210\.50,"list":\[0\.10\]/);
      await page.close();
    });

    test('D26 finds rows by a number near the greatest, and pages through them', async () => {
      const { page } = await open('ratios', '?order=ratio');
      await cell(page, 0, 2).filter({ hasText: /^1$/ }).waitFor();
      await page.getByRole('button', { name: 'Next', exact: true }).click();
      await cell(page, 0, 2).filter({ hasText: /^201$/ }).waitFor();
      await page.reload();
      await cell(page, 0, 2).filter({ hasText: /^201$/ }).waitFor();
      await page.close();
    });

    test('D27 keeps the ends of lines that a text has', async () => {
      const { page } = await open('digits');
      for (const [row, expected] of [[0, 'a\\r\\nb\\r\\nc'], [1, 'a\\nb\\nc']]) {
        await cell(page, row, 6).dblclick();
        await page.getByRole('dialog').getByRole('textbox').fill('a\nb\nc');
        await page.getByRole('button', { name: 'Show the request' }).click();
        await dialog(page).getByRole('button', { name: 'Send' }).click();
        await cell(page, row, 6).filter({ hasText: 'c' }).waitFor();
        assert.ok((await read('lines')).includes(`"${expected}"`));
      }
      await page.close();
    });

    test('D28 keeps the focus in the panel of a cell', async () => {
      const { page } = await open('digits');
      await cell(page, 0, 4).dblclick();
      const panel = page.getByRole('dialog');
      const isInside = () => panel.evaluate(it => it.contains(document.activeElement));
      for (let press = 0; press < 12; press++) {
        await page.keyboard.press('Tab');
        assert.ok(await isInside(), `Tab ${press}`);
      }
      for (let press = 0; press < 12; press++) {
        await page.keyboard.press('Shift+Tab');
        assert.ok(await isInside(), `Shift+Tab ${press}`);
      }
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '0 4');
      await page.close();
    });

    test('D29 imports rows that lead to rows above them, and tells files that cannot be read', async () => {
      const { page } = await open('node');
      await page.getByRole('button', { name: 'Import CSV' }).click();
      const load = bytes => dialog(page).locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(bytes) });
      await load(Buffer.from('id,word\nx,gr\xfcn\n', 'latin1'));
      await page.getByText('The file is not UTF-8').waitFor();
      await load('id,word\nx,"open\ny,z\n');
      await page.getByText('The quote that begins in line 2 has no end.').waitFor();
      await load(`id,parent_id,word\n${uuid('c')},${uuid('b')},two\n${uuid('b')},${uuid('a').toUpperCase()},one\n`);
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText(`line 2: parent_id ${uuid('b')} leads to a row that stands further below`).waitFor();
      const parent = isSqlite ? uuid('a') : uuid('a').toUpperCase();
      await load(`id,parent_id,word\n${uuid('b')},${parent},one\n${uuid('c')},${uuid('b')},two\n`);
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('The dry run found nothing wrong.').waitFor();
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await page.getByText('2 rows changed.').waitFor();
      await page.close();
    });

    test('D29 takes back the parts of an import that stand when a later one fails', async () => {
      const { page } = await open('bare');
      database.run(`CREATE UNIQUE INDEX bare_word ON bare (word); INSERT INTO bare VALUES (9000, 'word 700');`);
      await page.getByRole('button', { name: 'Import CSV' }).click();
      const lines = Array.from({ length: 800 }, (_, at) => `${at + 1},word ${at + 1}`);
      await dialog(page).locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(`id,word\n${lines.join('\n')}\n`) });
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('The dry run found nothing wrong.').waitFor();
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await page.getByText(/^500 rows are changed, which Undo takes back/).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await page.getByText('500 rows changed.').waitFor();
      await cell(page, 0, 2).filter({ hasText: /^9000$/ }).waitFor();
      await page.close();
    });

    if (isSqlite) {
      test('D30 shows the rows without a column whose value cannot be read', async () => {
        database.run('INSERT INTO many VALUES (0, 5000000000, \'wide\');');
        const { page } = await open('many');
        await page.getByRole('button', { name: 'Show the rows without part' }).click();
        await cell(page, 0, 3).filter({ hasText: /^wide$/ }).waitFor();
        assert.equal(await page.getByRole('columnheader', { name: 'part' }).count(), 0);
        database.run('DELETE FROM many WHERE id = 0;');
        await page.getByRole('button', { name: 'Read it again' }).click();
        await page.getByRole('columnheader', { name: 'part' }).waitFor();
        await page.close();
      });
    }
  });
}

describe('permissions keep what nobody changes', () => {
  let database;
  let server;
  let file;
  before(async () => {
    database = await startSqlite();
    const filter = '{"_or": [{"id": {"_eq": 9007199254740993}}, {"word": {"_ceq": ["$", "word"]}}, {"id": {"_gt": 5}}]}';
    const permission = `{"role": "reader", "permission": {"columns": ["id"], "filter": ${filter}}}`;
    server = await startWeir({}, null, data => {
      file = join(data, 'metadata.json');
      writeFileSync(file, `{"version": 3, "sources": [{"name": "main", "kind": "sqlite", "configuration": {"connection_info": {"database_url": "${database.url}"}}, "tables": [{"table": "wide", "select_permissions": [${permission}]}]}]}`);
      writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json\nsources: [{name: main, url: "${database.url}"}]\n`);
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(async () => {
    await server?.stop();
    database?.stop();
  });

  test('P13 writes tests that nobody changed as they were, with their digits', async () => {
    const { page } = await openPage(browser, server.url, '/permissions/main/wide?role=reader', {});
    const rows = page.getByRole('region', { name: 'Rows', exact: true });
    const last = rows.locator('.weir-condition').nth(2);
    // The value counts while it is written: the next click is not lost.
    await last.getByLabel('Value').fill('7');
    await page.getByLabel('word', { exact: true }).click();
    await page.getByRole('button', { name: 'Review the change' }).click();
    await dialog(page).getByRole('button', { name: 'Send' }).click();
    await page.getByText('Change: select of reader on wide: done.').waitFor();
    const written = readFileSync(file, 'utf8').replaceAll(/\s/g, '');
    assert.ok(written.includes('{"id":{"_eq":9007199254740993}}'), written);
    assert.ok(written.includes('{"word":{"_ceq":["$","word"]}}'), written);
    assert.match(written, /"_gt":"?7"?/);
    assert.match(written, /"columns":\["id","word"\]/);
    await page.close();
  });

  test('P13 gives a new update no check of its own', async () => {
    const { page } = await openPage(browser, server.url, '/permissions/main/wide?role=mover&kind=update', {});
    await page.getByLabel('word', { exact: true }).click();
    await page.getByRole('button', { name: 'Review the change' }).click();
    const request = JSON.parse(await dialog(page).getByTestId('request').innerText());
    const made = request.args.find(it => it.type.endsWith('create_update_permission'));
    assert.deepEqual(made.args.permission, { columns: ['word'], filter: {} });
    await page.close();
  });
});
