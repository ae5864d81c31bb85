// The page Live as a person uses it, over SQLite and PostgreSQL. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { assertEverywhere, openPage } from '../scripts/pages.mjs';
import { awaitLiveReads, startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

/** A value that no page may show. */
const VALUE = 'Zachary-77123';

/** Subscribes in a page of the browser, whose socket lasts as long as the page. */
async function subscribeIn(page, url, operations) {
  await page.evaluate(async ({ url, operations }) => {
    await Promise.all(operations.map(({ query, variables, role }) => new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      (window.kept ??= []).push(socket);
      socket.onopen = () => socket.send(JSON.stringify({ type: 'connection_init', payload: { headers: role ? { 'x-hasura-role': role } : {} } }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
        if (message.type === 'next') resolve();
        if (message.type === 'error') reject(new Error(data));
      };
      socket.onerror = () => reject(new Error('no socket'));
    })));
  }, { url, operations });
}

const QUERY = 'subscription Watch($name: String!) { artist(where: {name: {_neq: $name}}) { id name } }';

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`live over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let server;
    before(async () => {
      database = await start();
      server = await startWeir({}, null, data => {
        writeFileSync(join(data, 'weir.yaml'), `sources:
  - name: main
    url: "${database.url}"
    tables: [{table: artist, select_permissions: [{role: reader, permission: {columns: [id, name], filter: {}}}]}]
`);
        return ['serve', join(data, 'weir.yaml')];
      });
    });
    after(async () => {
      await server?.stop();
      database?.stop();
    });

    test('L1 shows subscriptions by operation and role, members, cohorts, and pushes with cause and delay', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/live');
      await page.getByText('Nobody subscribes now.').waitFor();
      const other = (await openPage(browser, server.url, '/data')).page;
      await subscribeIn(other, server.url, [{ query: QUERY, variables: { name: VALUE } }]);
      await awaitLiveReads(server.url, 2);
      await subscribeIn(other, server.url, [{ query: QUERY, variables: { name: VALUE } }, { query: QUERY, variables: { name: 'x' } }, { query: QUERY, variables: { name: 'x' }, role: 'reader' }]);
      const row = role => page.getByTestId('groups').getByRole('row').filter({ hasText: 'Watch' }).filter({ hasText: role });
      await row('admin').waitFor();
      // The page may still show the look of before.
      await page.getByTestId('live-count').filter({ hasText: /^4 of / }).waitFor();
      const cells = async role => (await row(role).locator('td').allInnerTexts()).slice(0, 4);
      assert.deepEqual(await cells('admin'), ['admin', '3', '2', '1']);
      assert.deepEqual(await cells('reader'), ['reader', '1', '1', '1']);
      const changed = await fetch(`${server.url}/graphql`, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `mutation { update_artist(where: {id: {_eq: 1}}, _set: {name: "${VALUE}"}) { affected_rows } }` }),
      });
      assert.match(await changed.text(), /"affected_rows":1/);
      const push = page.getByTestId('live-pushes').getByRole('row').filter({ hasText: 'artist' }).first();
      await push.waitFor();
      assert.match(await push.innerText(), /Watch.*(admin|reader).*(now|ago).*artist.*(µs|ms|s)/s);
      assert.ok(!(await page.locator('main').innerText()).includes(VALUE), 'a value is told');
      await page.getByLabel('Filter by operation or role').fill('reader');
      await row('admin').waitFor({ state: 'detached' });
      assert.match(page.url(), /search=reader/);
      await page.getByLabel('Filter by operation or role').fill('nothing');
      await page.getByText('No operation or role has “nothing” in it.').waitFor();
      await page.getByLabel('Filter by operation or role').fill('');
      await assertEverywhere(page, 'live');
      await row('admin').getByRole('link', { name: 'Watch' }).click();
      await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
      await page.getByTestId('detail').getByText('subscription Watch($name: String!)').waitFor();
      await page.getByRole('link', { name: 'Its subscribers' }).click();
      await row('reader').waitFor();
      await other.close();
      await page.getByText('Nobody subscribes now.').waitFor();
      assert.deepEqual(complaints, []);
    });

    test('L2 tells what the source tells, and what is polled and why', async () => {
      const { page } = await openPage(browser, server.url, '/live');
      const row = page.getByTestId('live-sources').getByRole('row').filter({ hasText: 'main' });
      const words = await row.innerText();
      if (isSqlite) assert.match(words, /It tells changes while somebody subscribes: .*version of the file.*Nothing\./s);
      else assert.match(words, /main/);
      const other = (await openPage(browser, server.url, '/data')).page;
      await subscribeIn(other, server.url, [{ query: QUERY, variables: { name: 'x' } }]);
      await row.filter({ hasText: isSqlite ? /It tells every change/ : /polled|every 1 s|logical/i }).waitFor();
      if (!isSqlite) {
        // This server keeps no log that it could tell changes from.
        await row.filter({ hasText: /All of it every 1 s/ }).waitFor();
        await page.getByTestId('groups').getByRole('row').filter({ hasText: 'polled' }).first().waitFor();
      }
      await other.close();
    });
  });
}

test('L1 G3 asks for the secret', async () => {
  const database = startSqlite();
  const server = await startWeir({}, null, data => {
    writeFileSync(join(data, 'weir.yaml'), `admin_secret: hush\ndev: true\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  const { page } = await openPage(browser, server.url, '/live');
  await page.getByLabel('Admin secret').fill('hush');
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByTestId('live-sources').waitFor();
  await server.stop();
  database.stop();
});
