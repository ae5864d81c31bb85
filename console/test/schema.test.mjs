// The Schema page as a person uses it, over SQLite, PostgreSQL and native types. Numbers are those of FLOWS.md.

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
const button = (page, name) => page.getByRole('button', { name, exact: true });
const texts = (page, id) => page.getByTestId(id).locator('li').allInnerTexts();

/** Tables with each part that the page shows, for both databases. */
const MORE = `
CREATE TABLE shelf (id INTEGER PRIMARY KEY, code TEXT NOT NULL DEFAULT 'none', size INTEGER CONSTRAINT small CHECK (size < 100),
  double INTEGER GENERATED ALWAYS AS (size * 2) STORED, album_id INTEGER UNIQUE REFERENCES album (id) ON DELETE CASCADE);
CREATE INDEX shelf_by_size ON shelf (size);
`;
const OF_SQLITE = 'CREATE TRIGGER bell AFTER INSERT ON shelf BEGIN SELECT 1; END;';
const OF_POSTGRES = `
CREATE FUNCTION ring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER bell AFTER INSERT ON shelf FOR EACH ROW EXECUTE FUNCTION ring();
COMMENT ON COLUMN shelf.code IS 'on the label';
CREATE FUNCTION label(it shelf) RETURNS text LANGUAGE sql STABLE AS $$ SELECT it.code $$;
CREATE FUNCTION small_shelves() RETURNS SETOF shelf LANGUAGE sql STABLE AS $$ SELECT * FROM shelf WHERE size < 10 $$;
CREATE FUNCTION clear_shelves() RETURNS SETOF shelf LANGUAGE sql VOLATILE AS $$ DELETE FROM shelf RETURNING * $$;
CREATE SCHEMA store; CREATE TABLE store.rope (id INTEGER PRIMARY KEY);
`;

const metadata = url => ({
  version: 3,
  sources: [{
    name: 'main',
    kind: 'postgres',
    configuration: { connection_info: { database_url: url } },
    tables: [
      { table: 'artist', select_permissions: [{ role: 'reader', permission: { columns: '*', filter: { id: { _lt: 1.50 } } } }] },
      { table: 'album', object_relationships: [{ name: 'artist', using: { foreign_key_constraint_on: 'artist_id' } }] },
      { table: 'shelf' },
      { table: 'bare' },
    ],
  }],
});

/** A server of this database with metadata in a file of its own. */
const serve = async database => {
  let file;
  const server = await startWeir({}, null, data => {
    file = join(data, 'metadata.json');
    writeFileSync(file, JSON.stringify(metadata(database.url)));
    writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  return { ...server, read: () => JSON.parse(readFileSync(file, 'utf8')).sources[0] };
};

const nameOf = table => table.name ?? table;
const entry = (server, name) => server.read().tables.find(it => nameOf(it.table) === name);

/** Sends the change that is reviewed, with the name if it asks for one, and waits until it is done. */
async function send(page, name) {
  const review = dialog(page);
  await review.getByTestId('request').waitFor();
  const title = await review.getByRole('heading', { level: 2 }).innerText();
  if (name !== undefined) {
    assert.equal(await review.getByRole('button', { name: 'Send' }).isDisabled(), true);
    await review.getByRole('textbox').fill(name);
  }
  await review.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('status').filter({ hasText: `${title}: done.` }).waitFor();
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
}

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`schema over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let server;
    const open = (more = '', options = {}) => openPage(browser, server.url, `/schema${more}`, options);
    before(async () => {
      database = await start();
      database.run(MORE);
      database.run(isSqlite ? OF_SQLITE : OF_POSTGRES);
      server = await serve(database);
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });

    test('S1 S10 shows columns, keys, checks, indexes and triggers of a table', async () => {
      const { page, complaints, foreign } = await open('/main/shelf');
      await page.getByRole('heading', { level: 1, name: 'shelf' }).waitFor();
      await page.getByTestId('columns').waitFor();
      const rows = await page.getByTestId('columns').locator('tbody tr').evaluateAll(all => all.map(it => [...it.children].map(cell => cell.innerText)));
      assert.deepEqual(rows.map(it => [it[0], it[2]]), [['id', 'no'], ['code', 'no'], ['size', 'yes'], ['double', 'yes'], ['album_id', 'yes']]);
      assert.match(rows[1][3], /^'none'/);
      assert.match(rows[3][3], isSqlite ? /^generated: stored/ : /^generated: .*size \* 2/);
      assert.equal(rows[4][4], 'unique, foreign key');
      if (!isSqlite) assert.equal(rows[1][5], 'on the label');
      const part = name => page.getByRole('region', { name, exact: true });
      await part('Keys and checks').getByText(/size < 100/).waitFor();
      await part('Keys and checks').getByText('small', { exact: true }).waitFor();
      await part('Foreign keys').getByText(/ON DELETE CASCADE/).waitFor();
      await part('Indexes').getByText('shelf_by_size', { exact: true }).waitFor();
      await part('Triggers').getByText('bell', { exact: true }).waitFor();
      await part('Foreign keys').getByRole('link', { name: 'album' }).click();
      await page.getByRole('heading', { level: 1, name: 'album' }).waitFor();
      await part('Referred to by').getByRole('link', { name: 'shelf' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'shelf' }).waitFor();
      await page.goto(`${server.url}/console/schema/main/titles`);
      await page.getByText(/^view of main, not tracked/).waitFor();
      await page.getByLabel('Statement of the database').getByText(/SELECT/).waitFor();
      await page.goto(`${server.url}/console/schema/main/nothing`);
      await page.getByText('No table nothing').waitFor();
      await page.goto(`${server.url}/console/schema/nowhere`);
      await page.getByText('No source nowhere').waitFor();
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
      await page.close();
    });

    test('S2 S3 tracks suggested relationships, renames one, and removes one by its name', async () => {
      const { page, complaints } = await open('/main/album');
      await page.getByTestId('suggestions').waitFor();
      assert.deepEqual((await texts(page, 'suggestions')).map(it => it.replace(/^Track\s*/, '')), ['album.shelf to one shelf']);
      await button(page, 'Track album.shelf').click();
      await dialog(page).getByTestId('difference').getByText('+', { exact: false }).first().waitFor();
      assert.match(await dialog(page).getByTestId('difference').innerText(), /\+ .*name: shelf/);
      await send(page);
      assert.deepEqual(entry(server, 'album').object_relationships.map(it => it.name).sort(), ['artist', 'shelf']);
      await button(page, 'Rename shelf').click();
      await dialog(page).getByLabel('New name').fill('9 place');
      await dialog(page).getByText(/A name has letters/).waitFor();
      await dialog(page).getByLabel('New name').fill('place');
      await page.keyboard.press('Enter');
      await send(page);
      await button(page, 'Remove place').waitFor();
      assert.deepEqual(entry(server, 'album').object_relationships.map(it => it.name).sort(), ['artist', 'place']);
      await button(page, 'Remove place').click();
      await send(page, 'place');
      assert.deepEqual(entry(server, 'album').object_relationships.map(it => it.name), ['artist']);
      // All that the source suggests, at once.
      await page.getByRole('navigation', { name: 'Sources and tables' }).getByRole('link', { name: 'main', exact: true }).click();
      await page.getByTestId('suggestions').waitFor();
      await button(page, 'Track all 3').click();
      await send(page);
      assert.deepEqual(entry(server, 'artist').array_relationships.map(it => it.name), ['albums']);
      assert.deepEqual(entry(server, 'shelf').object_relationships.map(it => it.name), ['album']);
      await page.getByTestId('suggestions').waitFor({ state: 'detached' });
      assert.deepEqual(complaints, []);
      await page.close();
    });

    test('S4 adds a relationship by hand', async () => {
      const { page } = await open('/main/bare');
      await button(page, 'Add by hand').click();
      const form = dialog(page);
      await form.getByLabel('Name', { exact: true }).fill('word');
      await form.getByText('The table has this name for something else.').waitFor();
      await form.getByLabel('Name', { exact: true }).fill('named');
      await form.getByLabel('Of the table').selectOption('artist');
      await form.getByLabel('Column 1 of bare').selectOption('word');
      assert.equal(await form.getByRole('button', { name: 'Review the change' }).isDisabled(), true);
      await form.getByLabel('Column 1 of artist').selectOption('name');
      await form.getByRole('button', { name: 'Review the change' }).click();
      await send(page);
      const [made] = entry(server, 'bare').array_relationships;
      assert.deepEqual([made.name, made.using.manual_configuration.column_mapping], ['named', { word: 'name' }]);
      await button(page, 'Remove named').waitFor();
      assert.deepEqual(await texts(page, 'relationships').then(all => all.map(it => it.replace(/\s+/g, ' ').replace(/ Rename.*$/, ''))), ['named to many artist by hand: word = name']);
      await page.close();
    });

    test('S5 tracks a view and a table, and untracks one by its name, with what depends on it', async () => {
      const { page } = await open('/main');
      await button(page, 'Track titles').click();
      await send(page);
      await button(page, 'Track titles').waitFor({ state: 'detached' });
      assert.ok(entry(server, 'titles'));
      await page.goto(`${server.url}/console/schema/main/artist`);
      await button(page, 'Untrack').click();
      assert.match(await dialog(page).getByTestId('difference').innerText(), /- +_lt: 1\.5/);
      await dialog(page).getByRole('textbox').fill('artist');
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      // Relationships of other tables lead here.
      await dialog(page).getByRole('alert').filter({ hasText: 'dependency-error' }).waitFor();
      assert.ok(entry(server, 'artist'));
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      await page.getByLabel('with what depends on it').check();
      await button(page, 'Untrack').click();
      await send(page, 'artist');
      assert.equal(entry(server, 'artist'), undefined);
      await page.getByText(/^table of main, not tracked/).waitFor();
      await button(page, 'Track').click();
      await send(page);
      assert.ok(entry(server, 'artist'));
      await page.close();
    });

    test('S5 goes on after somebody else has changed the metadata', async () => {
      const { page } = await open('/main');
      await button(page, 'Track pair').click();
      const changed = await fetch(`${server.url}/v1/metadata`, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'pg_track_table', args: { source: 'main', table: 'wide' } }),
      });
      assert.equal(changed.status, 200);
      await dialog(page).getByRole('button', { name: 'Send' }).click();
      await dialog(page).getByText(/^The metadata was changed meanwhile/).waitFor();
      assert.equal(await dialog(page).getByRole('button', { name: 'Send' }).isDisabled(), true);
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      await button(page, 'Track wide').waitFor({ state: 'detached' });
      await button(page, 'Track pair').click();
      await send(page);
      assert.ok(entry(server, 'pair') && entry(server, 'wide'));
      await page.close();
    });

    if (!isSqlite) {
      test('S6 tracks computed fields and functions, and untracks them', async () => {
        const { page } = await open('/main/shelf');
        await button(page, 'Track label as a field').click();
        await send(page);
        assert.deepEqual(entry(server, 'shelf').computed_fields.map(it => it.name), ['label']);
        await button(page, 'Remove label').click();
        await send(page, 'label');
        assert.equal(entry(server, 'shelf').computed_fields, undefined);
        await page.goto(`${server.url}/console/schema/main`);
        await button(page, 'Track small_shelves').click();
        await send(page);
        await button(page, 'Track as a mutation: clear_shelves').click();
        await send(page);
        const functions = server.read().functions.map(it => [nameOf(it.function), it.configuration?.exposed_as]);
        assert.deepEqual(functions.toSorted(), [['clear_shelves', 'mutation'], ['small_shelves', undefined]]);
        await button(page, 'Untrack clear_shelves').click();
        await send(page, 'clear_shelves');
        assert.equal(server.read().functions.length, 1);
        await page.close();
      });
    }

    test('S12 has no violation of WCAG 2.2 AA and fits, in each size and colour', async () => {
      for (const colorScheme of ['light', 'dark']) {
        for (const width of [1440, 390]) {
          const { page, complaints } = await open('/main/album', { colorScheme, viewport: { width, height: 844 } });
          const check = async name => {
            await assertAccessible(page, `${name} ${colorScheme} ${width}`);
            await assertFits(page, `${name} ${colorScheme} ${width}`);
            if (process.env.WEIR_PICTURES) await page.screenshot({ path: `${process.env.WEIR_PICTURES}/${name}-${isSqlite ? 's' : 'p'}-${colorScheme}-${width}.png` });
          };
          await page.getByTestId('columns').waitFor();
          await check('table');
          await button(page, 'Add by hand').click();
          await check('form');
          await page.keyboard.press('Escape');
          await page.goto(`${server.url}/console/schema/main`);
          await page.getByTestId('untracked').waitFor();
          await check('source');
          await page.goto(`${server.url}/console/schema/main?view=diagram`);
          await page.getByTestId('diagram').waitFor();
          await check('diagram');
          assert.deepEqual(complaints, []);
          await page.close();
        }
      }
    });
  });
}

describe('schema of many tables, native types, and without metadata', () => {
  test('S7 draws 200 tables, moves and enlarges them, shows one schema, and saves SVG', async () => {
    const database = await startPostgres();
    let server;
    try {
      const tables = Array.from({ length: 200 }, (_, at) => {
        const parent = at % 3 === 0 ? '' : `, parent_${Math.floor(at / 4)} INTEGER REFERENCES big.t${Math.floor(at / 4)} (id)`;
        return `CREATE TABLE big.t${at} (id INTEGER PRIMARY KEY, name TEXT, note TEXT${parent});`;
      });
      database.run(`CREATE SCHEMA big; ${tables.join('\n')}`);
      server = await startWeir({}, null, () => ['serve', database.url]);
      const { page, complaints, foreign } = await openPage(browser, server.url, '/schema/postgres?view=diagram');
      const state = () => page.getByTestId('diagram').locator('svg > g').getAttribute('transform');
      await page.getByTestId('diagram').waitFor();
      assert.equal(await page.locator('.weir-box').count(), 209);
      // Letters of 12 px are read from about half their size on.
      const scaleOf = async () => Number(/scale\(([\d.]+)\)/.exec(await state())[1]);
      assert.ok(await scaleOf() >= 0.5, String(await scaleOf()));
      const boxes = await page.locator('.weir-box > a > rect:first-of-type').evaluateAll(all => all.map(it => ['x', 'y', 'width', 'height'].map(name => Number(it.getAttribute(name)))));
      for (const [at, [x, y, width, height]] of boxes.entries()) {
        for (const [left, top, wide, high] of boxes.slice(at + 1)) assert.ok(x + width <= left || left + wide <= x || y + height <= top || top + high <= y, `box ${at} is covered`);
      }
      const first = await state();
      await page.getByTestId('diagram').focus();
      await page.keyboard.press('ArrowRight');
      const second = await state();
      assert.notEqual(second, first);
      await page.keyboard.press('+');
      assert.ok(await scaleOf() > 0.55);
      await page.keyboard.press('0');
      await page.getByTestId('diagram').hover();
      const whole = await state();
      await page.mouse.down();
      await page.mouse.move(500, 500);
      await page.mouse.up();
      assert.notEqual(await state(), whole);
      const before = await scaleOf();
      await page.mouse.wheel(0, -300);
      await page.waitForFunction(old => Number(/scale\(([\d.]+)\)/.exec(document.querySelector('.weir-diagram g').getAttribute('transform'))[1]) > old, before);
      // The focus goes from table to table, and each comes into view.
      await page.getByTestId('diagram').focus();
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
      assert.match(focused, /, \d+ columns/);
      const isInView = await page.evaluate(() => {
        const [frame, box] = [document.querySelector('.weir-diagram').getBoundingClientRect(), document.activeElement.getBoundingClientRect()];
        return box.left >= frame.left - 1 && box.top >= frame.top - 1 && box.left < frame.right && box.top < frame.bottom;
      });
      assert.ok(isInView);
      await page.getByLabel('Schema', { exact: true }).selectOption('public');
      await page.waitForFunction(() => document.querySelectorAll('.weir-box').length === 9);
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).click()]);
      const svg = readFileSync(await download.path(), 'utf8');
      assert.match(svg, /^<svg xmlns/);
      assert.equal(svg.match(/class="title"/g).length, 9);
      const isRead = await page.evaluate(text => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null, svg);
      assert.ok(isRead);
      if (process.env.WEIR_PICTURES) {
        await page.getByLabel('Schema', { exact: true }).selectOption('big');
        await page.waitForFunction(() => document.querySelectorAll('.weir-box').length === 200);
        await page.screenshot({ path: `${process.env.WEIR_PICTURES}/many.png` });
        await page.getByLabel('Schema', { exact: true }).selectOption('public');
      }
      await page.getByLabel('Show table').selectOption('album');
      await page.getByRole('link', { name: 'Open album' }).click();
      await page.getByRole('heading', { level: 1, name: 'album' }).waitFor();
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
      await page.close();
    } finally {
      await server?.stop();
      database.stop();
    }
  });

  test('S8 S9 shows the plan of a change of native types, and changes nothing', async () => {
    const types = 'type Dish {\n  id: ID!\n  name: String! @search(by: [hash])\n  price: Float\n  cook: Cook\n}\n\ntype Cook {\n  id: ID!\n  name: String!\n  dishes: [Dish] @hasInverse(field: cook)\n}\n';
    const server = await startWeir({}, types);
    try {
      const added = await fetch(`${server.url}/graphql`, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mutation { addDish(input: [{name: "Pie", price: 3}]) { numUids } }' }),
      });
      assert.equal((await added.json()).errors, undefined);
      const { page, complaints } = await openPage(browser, server.url, '/schema');
      const text = page.getByLabel("Types in GraphQL's schema language");
      await text.waitFor();
      assert.equal(await text.inputValue(), types);
      const plan = async next => {
        await text.fill(next);
        await button(page, 'Show the plan').click();
      };
      await plan(types.replace('price: Float', 'price: Float\n  note: String'));
      await page.getByTestId('steps').getByText('add field `Dish.note: String`').waitFor();
      assert.match(await page.getByTestId('command').innerText(), /^weir migrate \S+types\.graphql --store sqlite:\S+\.weir\.db$/);
      assert.match(await page.getByLabel('Difference of the types').innerText(), /\+ {3}note: String/);
      await page.getByText(/^Statements/).click();
      await page.getByLabel('Statements').getByText(/ADD COLUMN/).waitFor();
      await assertAccessible(page, 'plan');
      await page.getByRole('link', { name: 'Data', exact: true }).click();
      await page.goBack();
      await text.waitFor();
      assert.match(await text.inputValue(), /note: String/, 'the draft is kept');
      await plan(types.replace('  price: Float\n', ''));
      await page.getByText('The data does not allow it as it is.').waitFor();
      await button(page, 'Plan it with the loss of Dish.price').click();
      await page.getByTestId('command').filter({ hasText: /--allow-data-loss Dish\.price$/ }).waitFor();
      await page.getByTestId('steps').getByText('drop field `Dish.price`').waitFor();
      await plan(types.replace('price: Float', 'price: Flat'));
      await page.getByTestId('mistakes').getByText(/there is no type `Flat`/).waitFor();
      await button(page, 'Back to what is served').click();
      assert.equal(await text.inputValue(), types);
      assert.equal(readFileSync(server.file, 'utf8'), types);
      await page.getByRole('navigation', { name: 'Sources and tables' }).getByRole('link', { name: 'Dish' }).click();
      await page.getByRole('heading', { level: 1, name: 'Dish' }).waitFor();
      await page.getByRole('region', { name: 'Edges' }).getByRole('link', { name: 'Cook' }).first().waitFor();
      await page.getByRole('link', { name: 'Diagram' }).click();
      await page.getByTestId('diagram').waitFor();
      assert.equal(await page.locator('.weir-box').count(), 2);
      assert.deepEqual(complaints.filter(it => !/422/.test(it)), []);
      await page.close();
    } finally {
      await server.stop();
    }
  });

  test('S11 S12 tells what is served without metadata, as YAML, and by the keyboard', async () => {
    const database = startSqlite();
    const server = await startWeir({}, null, () => ['serve', database.url]);
    try {
      const { page, complaints } = await openPage(browser, server.url, '/schema/shop/album');
      await page.getByTestId('automatic').waitFor();
      assert.ok((await texts(page, 'automatic')).some(it => /to one artist$/i.test(it)));
      assert.equal(await button(page, 'Untrack').count(), 0);
      await button(page, 'Add by hand').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.type('near');
      await dialog(page).getByLabel('Of the table').selectOption('wide');
      await dialog(page).getByLabel('Column 1 of album').selectOption('id');
      await dialog(page).getByLabel('Column 1 of wide').selectOption('id');
      await dialog(page).getByLabel('Column 1 of wide').focus();
      await dialog(page).getByRole('button', { name: 'Review the change' }).press('Enter');
      const yaml = await dialog(page).getByTestId('yaml').innerText();
      assert.match(yaml, /- table: album\n {2}array_relationships:\n {4}- name: near/);
      assert.equal(await dialog(page).getByRole('button', { name: 'Send' }).count(), 0);
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      assert.deepEqual(complaints, []);
      await page.close();
      const narrow = await openPage(browser, server.url, '/schema/shop', { viewport: { width: 390, height: 844 } });
      await narrow.page.getByRole('button', { name: 'Tables' }).click();
      await narrow.page.getByRole('searchbox', { name: 'Search tables' }).fill('kin');
      await narrow.page.getByRole('link', { name: 'kinds' }).click();
      await narrow.page.getByRole('heading', { level: 1, name: 'kinds' }).waitFor();
      await narrow.page.close();
    } finally {
      await server.stop();
      database.stop();
    }
  });
});
