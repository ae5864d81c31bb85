// The Data page as a person uses it, over SQLite and PostgreSQL. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { assertAccessible, assertFits, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const cell = (page, row, column) => page.locator(`[data-cell="${row} ${column}"]`);
const texts = async (page, column) => {
  const found = await page.locator('[role=row][aria-rowindex]').all();
  const all = await Promise.all(found.slice(1).map(it => it.locator('[role=gridcell]').nth(column).innerText()));
  return all.map(it => it.trim());
};
const rowCount = page => page.getByTestId('count');
const status = page => page.locator('.weir-told');
const dialog = page => page.locator('dialog[open]').last();

/** Waits until the column shows these texts. */
async function expectTexts(page, column, expected) {
  await page.waitForFunction(([at, wanted]) => {
    const rows = [...document.querySelectorAll('[role=row][aria-rowindex]')].slice(1);
    return JSON.stringify(rows.map(it => it.querySelectorAll('[role=gridcell]')[at].innerText.trim())) === JSON.stringify(wanted);
  }, [column, expected]).catch(async () => assert.deepEqual(await texts(page, column), expected));
}

for (const start of [startSqlite, startPostgres]) {
  const kind = start === startSqlite ? 'SQLite' : 'PostgreSQL';
  describe(`data over ${kind}`, () => {
    let database;
    let server;
    let source;
    const open = (table, options = {}, more = '') => openPage(browser, server.url, `/data/${source}/${table}${more}`, options);
    before(async () => {
      database = await start();
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

    test('G1 D1 opens on the first table, with a tree that is searched and says how many rows there are', async () => {
      const { page, complaints, foreign } = await openPage(browser, server.url, '');
      await page.getByRole('heading', { level: 1, name: 'album' }).waitFor();
      const tree = page.getByRole('navigation', { name: 'Tables' });
      await tree.getByRole('link', { name: 'album 4' }).waitFor();
      await tree.getByRole('link', { name: kind === 'SQLite' ? 'many 10k+' : 'many ≈ 30K' }).waitFor();
      await tree.getByLabel('Search tables').fill('ART');
      assert.equal(await tree.getByRole('link').count(), 1);
      await tree.getByRole('link', { name: 'artist' }).click();
      await page.getByRole('heading', { level: 1, name: 'artist' }).waitFor();
      await expectTexts(page, 3, ['Accept', 'Aerosmith', 'Alice', '<img src=x onerror=alert(1)>']);
      for (const [link, heading] of [['Permissions', 'Permissions'], ['API', 'API'], ['Operations', 'Operations'], ['Data', 'album']]) {
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link }).click();
        await page.getByRole('heading', { level: 1, name: heading }).waitFor({ state: 'attached' });
      }
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
      await page.close();
    });

    test('D2 D3 reads pages by key, the last one too, and counts up to a limit', async () => {
      const { page, complaints, asked } = await open('many');
      await rowCount(page).filter({ hasText: '200 rows of more than 10,000' }).waitFor();
      const press = async (name, id) => {
        await page.getByRole('button', { name, exact: true }).click();
        await cell(page, 0, 2).filter({ hasText: new RegExp(`^${id}$`) }).waitFor();
      };
      await press('Next', 201);
      await press('Next', 401);
      await press('Previous', 201);
      await press('Last', 29801);
      assert.ok(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled());
      await press('Previous', 29601);
      await page.goBack();
      await cell(page, 0, 2).filter({ hasText: /^29801$/ }).waitFor();
      await press('First', 1);
      const drawn = await page.locator('[role=row]').count();
      assert.ok(drawn < 60, `${drawn} rows are in the page`);
      assert.ok(asked.every(it => !/offset/.test(it.query)), 'no request has an offset');
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D4 sorts by a header, both ways and not at all, and pages across nulls', async () => {
      const { page, asked } = await open('many');
      const header = page.getByRole('columnheader', { name: 'part' });
      await header.getByRole('button').click();
      await page.waitForFunction(() => document.querySelector('[aria-sort=ascending]'));
      await expectTextAt(page, 0, 3, '0');
      await page.getByRole('button', { name: 'Last', exact: true }).click();
      await expectTextAt(page, 0, 3, 'null');
      await header.getByRole('button').click();
      await page.waitForFunction(() => document.querySelector('[aria-sort=descending]'));
      await expectTextAt(page, 0, 3, 'null');
      // From nulls to values: 4285 rows have none, 200 are on a page.
      const at = encodeURIComponent(`after:${JSON.stringify([null, 29988])}`);
      await page.goto(`${server.url}/console/data/${source}/many?order=part%3Adesc&at=${at}`);
      await expectTextAt(page, 0, 2, '29995');
      await expectTextAt(page, 1, 3, '4');
      await page.getByRole('button', { name: 'Previous', exact: true }).click();
      await expectTextAt(page, 0, 3, 'null');
      await page.getByRole('columnheader', { name: 'part' }).getByRole('button').click();
      await expectTextAt(page, 0, 2, '1');
      assert.ok(asked.every(it => !/offset/.test(it.query)));
      await page.close();
    });

    test('D5 D6 G2 filters by type, through a relationship, with an address that shows the same', async () => {
      const { page, complaints } = await open('album');
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless']);
      await page.getByRole('button', { name: '+ Filter' }).click();
      const column = page.getByLabel('Column', { exact: true });
      await column.selectOption('price');
      await page.getByLabel('Operator').selectOption('_gt');
      await page.getByLabel('Value').fill('much');
      await page.getByRole('alert').filter({ hasText: 'a number is expected' }).waitFor();
      await page.getByLabel('Value').fill('9');
      await page.keyboard.press('Enter');
      await expectTexts(page, 3, ['Balls', 'Big Ones']);
      await page.getByRole('button', { name: 'Remove the condition on price' }).click();
      await page.getByRole('button', { name: '+ Filter' }).click();
      const option = await column.locator('option', { hasText: /artist › name$/ }).first().getAttribute('value');
      await column.selectOption(option);
      await page.getByLabel('Operator').selectOption('contains');
      await page.getByLabel('Value').fill('CCEP');
      await page.keyboard.press('Enter');
      await expectTexts(page, 3, ['Balls', 'Restless']);
      // A sign of a pattern is text.
      await page.getByLabel('Value').fill('A%t');
      await page.keyboard.press('Enter');
      await page.getByText('No row meets these conditions.').waitFor();
      await page.goBack();
      await expectTexts(page, 3, ['Balls', 'Restless']);
      const other = await browser.newPage();
      await other.goto(page.url());
      await expectTexts(other, 3, ['Balls', 'Restless']);
      await other.close();
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D7 remembers the columns', async () => {
      const context = await browser.newContext();
      const { page } = await openPage(context, server.url, `/data/${source}/album`);
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('group', { name: 'Columns' }).getByLabel('note').uncheck();
      await page.getByRole('columnheader', { name: 'note' }).waitFor({ state: 'detached' });
      await page.goto(`${server.url}/console/data/${source}/album`);
      await page.getByRole('columnheader', { name: 'title' }).waitFor();
      assert.equal(await page.getByRole('columnheader', { name: 'note' }).count(), 0);
      await page.getByRole('button', { name: 'Columns 5 of 6' }).waitFor();
      await context.close();
    });

    test('D8 shows null, the empty text, JSON, bytes, and lists by their kind', async () => {
      const { page, complaints } = await open('album');
      await expectTexts(page, 4, ['null', 'empty', 'loud', 'null']);
      await page.goto(`${server.url}/console/data/${source}/kinds`);
      await cell(page, 0, 4).filter({ hasText: '3 bytes' }).waitFor();
      if (kind === 'PostgreSQL') assert.deepEqual(await cell(page, 0, 6).locator('.weir-chip').allInnerTexts(), ['red', 'blue']);
      await cell(page, 0, 4).dblclick();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download 3 bytes' }).click();
      assert.deepEqual([...readFileSync(await (await download).path())], [0, 255, 16]);
      await page.keyboard.press('Escape');
      await cell(page, 0, 3).dblclick();
      await page.getByRole('button', { name: /size: 3 items/ }).click();
      await page.getByRole('button', { name: /2: 1 members/ }).click();
      await page.getByText('deep: true').waitFor();
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D9 D10 follows a foreign key, and expands a row to its relationships', async () => {
      const { page } = await open('album');
      await cell(page, 0, 5).getByRole('button').click();
      await dialog(page).getByText('Accept').waitFor();
      await dialog(page).getByRole('link', { name: 'Open in artist' }).click();
      await expectTexts(page, 3, ['Accept']);
      await page.getByRole('button', { name: 'Expand row 1' }).click();
      const detail = page.locator('.weir-detail');
      await detail.getByText('Restless').waitFor();
      assert.match(page.url(), /row=1/);
      await detail.getByRole('link', { name: 'all in album' }).click();
      await expectTexts(page, 3, ['Balls', 'Restless']);
      await page.close();
    });

    test('D11 D12 D16 edits a cell, not if somebody else was first, and undoes it', async () => {
      const { page, complaints } = await open('album');
      const edit = async (row, column, value) => {
        await cell(page, row, column).dblclick();
        await page.getByRole('dialog').getByRole('textbox').fill(value);
        await page.getByRole('button', { name: 'Show the request' }).click();
      };
      await edit(0, 3, 'Balls to the Wall');
      assert.match(await page.getByTestId('request').innerText(), /update_album\(where: \$where, _set: \$set\)/);
      assert.match(await page.getByTestId('variables').innerText(), /"title": \{\s+"_eq": "Balls"/);
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTextAt(page, 0, 3, 'Balls to the Wall');
      await page.getByRole('button', { name: 'Undo' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTextAt(page, 0, 3, 'Balls');
      // The empty text and null are two values.
      await cell(page, 2, 4).dblclick();
      await page.getByLabel('note is').selectOption('null');
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTextAt(page, 2, 4, 'null');
      database.run("UPDATE album SET note = 'first' WHERE id = 3;");
      await page.getByRole('button', { name: 'Undo' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await status(page).filter({ hasText: 'Nothing was changed: somebody else changed it first' }).waitFor();
      await expectTextAt(page, 2, 4, 'first');
      database.run("UPDATE album SET note = 'loud' WHERE id = 3;");
      await edit(2, 4, 'mine');
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await status(page).filter({ hasText: 'Nothing was changed' }).waitFor();
      await expectTextAt(page, 2, 4, 'loud');
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D11 finds the row by a key of 64 bits, and by a key of several columns', async () => {
      const { page } = await open('wide');
      const edit = async (row, column, value) => {
        await cell(page, row, column).dblclick();
        await page.getByRole('dialog').getByRole('textbox').fill(value);
        await page.getByRole('button', { name: 'Show the request' }).click();
        await dialog(page).getByRole('button', { name: 'Send' }).click();
      };
      await edit(1, 3, 'odd one');
      await expectTexts(page, 3, ['even', 'odd one']);
      await page.goto(`${server.url}/console/data/${source}/pair`);
      await edit(1, 4, 'last');
      await expectTexts(page, 4, ['first', 'last']);
      await page.getByLabel(/^Select row/).nth(1).check();
      await page.getByRole('button', { name: 'Delete 1' }).click();
      await dialog(page).getByRole('textbox').fill('pair');
      await page.keyboard.press('Enter');
      await expectTexts(page, 4, ['first']);
      database.run("INSERT INTO pair VALUES ('a, b', 'c', 'second'); UPDATE wide SET word = 'odd' WHERE word = 'odd one';");
      await page.close();
    });

    test('D13 D14 D15 D24 inserts by a form, duplicates, deletes by name, undoes; a refusal keeps what was written', async () => {
      const { page, complaints } = await open('album');
      await page.getByRole('button', { name: 'Insert' }).click();
      const form = dialog(page);
      await form.getByLabel('title', { exact: false }).first().fill('Balls');
      await form.getByRole('button', { name: 'Pick artist_id' }).click();
      await dialog(page).getByLabel('Search').fill('ALI');
      await dialog(page).getByRole('button', { name: /3 Alice/ }).click();
      await page.getByRole('button', { name: 'Show the request' }).click();
      assert.match(await page.getByTestId('variables').innerText(), /"rows": \[\s+\{\s+"title": "Balls",\s+"artist_id": 3\s+\}/);
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await dialog(page).getByRole('alert').filter({ hasText: /[Uu]nique/ }).waitFor();
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await form.getByLabel('title', { exact: false }).first().inputValue(), 'Balls');
      await form.getByLabel('title', { exact: false }).first().fill('Dirt');
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless', 'Dirt']);
      await page.getByLabel(/^Select row/).nth(4).check();
      await page.getByRole('button', { name: 'Duplicate' }).click();
      await dialog(page).getByLabel('title', { exact: false }).first().fill('Dirt 2');
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless', 'Dirt', 'Dirt 2']);
      await page.getByLabel(/^Select row/).nth(4).check();
      await page.getByLabel(/^Select row/).nth(5).check();
      await page.getByRole('button', { name: 'Delete 2' }).click();
      assert.ok(await dialog(page).getByRole('button', { name: 'Send' }).isDisabled());
      await dialog(page).getByRole('textbox').fill('album');
      await page.keyboard.press('Enter');
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless']);
      await page.getByRole('button', { name: 'Undo' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless', 'Dirt', 'Dirt 2']);
      await page.getByRole('button', { name: 'Undo' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless']);
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D17 exports the filtered rows as CSV and NDJSON', async () => {
      const { page, asked } = await open('album', {}, `?filter=${encodeURIComponent('[["id","_lt","3"]]')}`);
      await expectTexts(page, 3, ['Balls', 'Big Ones']);
      const save = async name => {
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name }).click();
        return readFileSync(await (await download).path(), 'utf8');
      };
      const lines = (await save('Export CSV')).split('\r\n');
      assert.equal(lines[0], 'id,title,note,artist_id,price,made');
      assert.match(lines[1], /^1,Balls,,1,9.90?,2020-01-02T03:04:05$/);
      assert.match(lines[2], /^2,Big Ones,"",2,10(\.00)?,$/);
      const rows = (await save('Export NDJSON')).trim().split('\n').map(it => JSON.parse(it));
      assert.deepEqual(rows.map(it => [it.title, it.note]), [['Balls', null], ['Big Ones', '']]);
      asked.length = 0;
      await page.goto(`${server.url}/console/data/${source}/many`);
      await rowCount(page).filter({ hasText: '200 rows' }).waitFor();
      const all = (await save('Export CSV')).trim().split('\r\n');
      assert.deepEqual([all.length, all.at(-1)], [30_001, '30000,0,row 30000']);
      assert.ok(asked.every(it => !/offset/.test(it.query)));
      await page.close();
    });

    test('D18 imports a CSV after a dry run that names what is wrong', async () => {
      const { page } = await open('album');
      await page.getByRole('button', { name: 'Import CSV' }).click();
      const file = dialog(page).locator('input[type=file]');
      const load = text => file.setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
      await load('id,Title,note,artist_id\n50,"New, one","",1\n1,Old,,1\nx,Third,,77\n');
      assert.equal(await page.getByLabel('Title goes to').inputValue(), 'title');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('line 4: id: a whole number is expected').waitFor();
      await load('id,Title,note,artist_id\n50,"New, one","",1\n1,Old,,1\n51,Third,,77\n');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('line 3: id 1 exists already').waitFor();
      await page.getByText('line 4: artist_id 77 leads to no row of artist').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Show the request' }).isDisabled());
      await load('id,Title,note,artist_id\n50,"New, one","",1\n51,Third,,2\n');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('The dry run found nothing wrong.').waitFor();
      await assertAccessible(page, 'import');
      await page.getByRole('button', { name: 'Show the request' }).click();
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await expectTexts(page, 3, ['Balls', 'Big Ones', 'Facelift', 'Restless', 'New, one', 'Third']);
      await expectTexts(page, 4, ['null', 'empty', 'loud', 'null', 'empty', 'null']);
      database.run('DELETE FROM album WHERE id > 49;');
      await page.close();
    });

    test('D19 opens the query in the editor with its variables', async () => {
      const { page, complaints } = await open('album', {}, `?filter=${encodeURIComponent('[["id","_lt","3"]]')}`);
      await expectTexts(page, 3, ['Balls', 'Big Ones']);
      await page.getByRole('button', { name: 'Open in editor' }).click();
      await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('albumRows'));
      await page.getByRole('button', { name: /execute query/i }).click();
      await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('Big'));
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D20 follows rows live, and ends it', async () => {
      const { page, complaints } = await open('artist');
      await expectTextAt(page, 0, 3, 'Accept');
      await page.getByRole('button', { name: 'Live' }).click();
      await page.waitForFunction(async () => (await (await fetch('/metrics')).text()).includes('weir_subscriptions 1\n'));
      const body = JSON.stringify({ query: 'mutation { update_artist_by_pk(pk_columns: {id: 1}, _set: {name: "Accepted"}) { id } }' });
      await fetch(`${server.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      await expectTextAt(page, 0, 3, 'Accepted');
      await page.getByRole('button', { name: 'Live' }).click();
      await page.waitForFunction(async () => (await (await fetch('/metrics')).text()).includes('weir_subscriptions 0\n'));
      database.run("UPDATE artist SET name = 'Accept' WHERE id = 1;");
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('D22 G9 reads a view and a table without a key, and says what is missing', async () => {
      const { page } = await open('lines');
      await page.getByText('This table has no primary key that this caller may see').waitFor();
      await expectTexts(page, 2, ['one', 'two']);
      assert.equal(await page.getByRole('button', { name: 'Next', exact: true }).count(), 0);
      await page.goto(`${server.url}/console/data/${source}/titles`);
      await page.getByText('This is a view').waitFor();
      // Without a key they come in an order of the database's; a header gives one.
      await page.getByRole('columnheader', { name: 'title' }).getByRole('button').click();
      await expectTexts(page, 2, ['Balls', 'Big Ones', 'Facelift', 'Restless']);
      await page.goto(`${server.url}/console/data/${source}/bare`);
      await page.getByText('There are no rows here.').waitFor();
      await page.goto(`${server.url}/console/data/${source}/absent`);
      await page.getByRole('alert').filter({ hasText: 'no such table' }).waitFor();
      await page.goto(`${server.url}/console/api/../data/nowhere/x`);
      await page.getByRole('link', { name: 'All tables' }).click();
      await page.getByRole('heading', { level: 1, name: 'album' }).waitFor();
      await page.close();
    });

    for (const colorScheme of ['light', 'dark']) {
      for (const width of [390, 1440, 2560]) {
        test(`G6 G7 G8 fits and is accessible at ${width} px, ${colorScheme}`, async () => {
          const { page, complaints, foreign } = await open('album', { colorScheme, viewport: { width, height: 850 } });
          await expectTextAt(page, 0, 3, 'Balls');
          await assertFits(page, 'album');
          await assertAccessible(page, 'album');
          await page.getByRole('button', { name: 'Expand row 1' }).click();
          await page.locator('.weir-detail').getByText('Accept').waitFor();
          await assertAccessible(page, 'an expanded row');
          await page.getByRole('button', { name: '+ Filter' }).click();
          await assertAccessible(page, 'a filter');
          await page.getByRole('button', { name: 'Insert' }).click();
          await assertAccessible(page, 'the form');
          await assertFits(page, 'the form');
          await page.keyboard.press('Escape');
          await cell(page, 1, 3).dblclick();
          await assertAccessible(page, 'a cell');
          await assertFits(page, 'a cell');
          await page.getByRole('dialog').getByRole('textbox').fill('Bigger');
          await page.getByRole('button', { name: 'Show the request' }).click();
          await assertAccessible(page, 'the request');
          if (width < 700) {
            await page.goto(page.url());
            await page.getByRole('button', { name: 'Tables' }).click();
            await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /^artist/ }).waitFor();
            await assertAccessible(page, 'the tables');
            await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /^artist/ }).click();
            await expectTextAt(page, 0, 3, 'Accept');
          }
          assert.deepEqual(complaints, []);
          assert.deepEqual(foreign, []);
          await page.close();
        });
      }
    }

    test('G5 is used by the keyboard alone', async () => {
      const { page, complaints } = await open('album');
      await expectTextAt(page, 0, 3, 'Balls');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'page', 'the skip link leads to the page');
      // On to the grid, which is one stop.
      for (let at = 0; at < 40 && !await page.evaluate(() => document.activeElement.matches('[role=columnheader]')); at++) await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.waitForFunction(() => document.activeElement.dataset.cell?.startsWith('1 '));
      for (let at = Number((await page.evaluate(() => document.activeElement.dataset.cell)).split(' ')[1]); at !== 3; at += at < 3 ? 1 : -1) {
        await page.keyboard.press(at < 3 ? 'ArrowRight' : 'ArrowLeft');
        await page.waitForFunction(next => document.activeElement.dataset.cell === `1 ${next}`, at < 3 ? at + 1 : at - 1);
      }
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.activeElement.tagName === 'INPUT');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('Bigger');
      await page.keyboard.press('Enter');
      await dialog(page).getByRole('button', { name: 'Send' }).waitFor();
      await page.keyboard.press('Enter');
      await expectTextAt(page, 1, 3, 'Bigger');
      database.run("UPDATE album SET title = 'Big Ones' WHERE id = 2;");
      await page.waitForFunction(() => !document.querySelector('dialog[open]'));
      assert.equal(await page.evaluate(() => document.activeElement.dataset.cell), '1 3', 'the focus is back on the cell');
      assert.deepEqual(complaints, []);
      await page.close();
    });
  });
}

/** Waits until a cell shows this text. */
async function expectTextAt(page, row, column, text) {
  await cell(page, row, column).filter({ hasText: new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) }).waitFor();
}
