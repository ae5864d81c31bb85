// The page Operations as a person uses it. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { load } from '../scripts/modules.mjs';
import { assertEverywhere, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

/** Values that no page may show. */
const NAME = 'Zachary';
const NUMBER = 77123;

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`operations over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let server;
    const ask = (query, variables) => fetch(`${server.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) }).then(it => it.text());
    before(async () => {
      database = await start();
      server = await startWeir({}, null, data => {
        writeFileSync(join(data, 'weir.yaml'), `sources: [{name: main, url: "${database.url}"}]\n`);
        return ['serve', join(data, 'weir.yaml')];
      });
      for (let count = 0; count < 3; count++) await ask('query Often { artist { id } }');
      await ask(`query Slow($label: String!) { many_aggregate(where: {label: {_like: $label}, id: {_neq: ${NUMBER}}}) { aggregate { count } } }`, { label: `%${NAME}%` });
      for (let count = 0; count < 2; count++) assert.match(await ask(`mutation Twice($id: Int!) { one: insert_artist_one(object: {id: $id, name: "${NAME}"}) { id } }`, { id: 1 }), /errors/);
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });
    const operations = page => page.getByTestId('operations').locator('tbody > tr');

    test('O2 filters operations, and the address says how', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/operations');
      await operations(page).filter({ hasText: 'Often' }).waitFor();
      await page.getByLabel('Filter operations').fill('twice');
      await operations(page).filter({ hasText: 'Often' }).waitFor({ state: 'detached' });
      await page.getByTestId('operations-count').filter({ hasText: /^1 of 3 operations$/ }).waitFor();
      await page.getByLabel('Filter operations').fill('many.');
      await page.getByTestId('operations-count').filter({ hasText: /^0 of 3 operations$/ }).waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByLabel('Kind').selectOption('with errors');
      await operations(page).filter({ hasText: 'Often' }).waitFor({ state: 'detached' });
      assert.match(page.url(), /kind=errors/);
      await page.reload();
      await operations(page).filter({ hasText: 'Twice' }).waitFor();
      assert.equal(await operations(page).count(), 1);
      assert.deepEqual(complaints, []);
    });

    test('O1 O2 reads samples of errors and the slowest, without values, and opens the editor', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/operations?order=p99');
      await page.getByRole('button', { name: /^Twice / }).click();
      const error = page.getByTestId('error-samples').locator('tbody tr');
      await error.waitFor();
      const cells = await error.locator('th, td').allInnerTexts();
      assert.equal(cells[1], 'one');
      assert.equal(cells[2], '2');
      await page.getByLabel('Text without values').filter({ hasText: 'insert_artist_one(object: {id: $id, name: ""})' }).waitFor();
      const shared = page.url();
      await page.getByRole('button', { name: /^Slow / }).click();
      await page.getByTestId('slowest').filter({ hasText: /ms at \d\d:\d\d:\d\d, as admin, 1 fetch/ }).waitFor();
      assert.match(await page.getByLabel('Asked of main').innerText(), /many/);
      const text = await page.locator('main').innerText();
      assert.ok(!text.includes(NAME) && !text.includes(String(NUMBER)), 'a value is told');
      await page.getByRole('button', { name: 'Open in editor' }).click();
      await page.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent.replaceAll('\u00a0', ' ').includes('query Slow'));
      await page.goto(shared);
      await page.getByTestId('error-samples').waitFor();
      assert.deepEqual(complaints, []);
    });

    test('O3 reads memory, caches, pools and queues', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/operations');
      await page.getByRole('link', { name: 'Resources' }).click();
      const part = name => page.getByRole('region', { name, exact: true });
      await part('Process').getByText(/MiB/).first().waitFor();
      const plans = await page.getByTestId('caches').getByRole('row').filter({ hasText: 'plans' }).locator('td').allInnerTexts();
      assert.ok(Number(plans[0]) >= 3 && plans[2].endsWith('MiB'), plans.join());
      const words = await part('main').innerText();
      assert.match(words, isSqlite ? /mutations waiting\s+0/ : /lanes open\s+[1-9]/);
      assert.match(words, /fetches\s+\d+, [\d.]+ (µs|ms) each/);
      await part('Breakers of services').getByText('There is none.').waitFor();
      for (const path of ['/operations', '/operations?search=twice', '/operations/resources']) {
        await page.goto(`${server.url}/console${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForFunction(() => !document.querySelector('main').textContent.includes('Asking'));
        await assertEverywhere(page, path);
      }
      await page.goto(`${server.url}/console/operations/nothing`);
      await page.getByText('Nothing has this address.').waitFor();
      assert.deepEqual(complaints, []);
    });
  });
}

test('O3 reads metrics with labels of any text', async () => {
  const { Metrics, readMetrics } = await load('operations/metrics.ts');
  const metrics = new Metrics(readMetrics('# HELP a b\na{x="1",y="q\\"},{\\n"} 2\na{x="2"} 3.5\nb 1e3\nc{le="+Inf"} 7\n# EOF\n'));
  assert.equal(metrics.sum('a'), 5.5);
  assert.equal(metrics.sum('a', { y: 'q"},{\n' }), 2);
  assert.deepEqual([metrics.sum('b'), metrics.sum('c'), metrics.sum('d')], [1000, 7, null]);
});
