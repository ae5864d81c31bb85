// The page Events as a person uses it, over SQLite and PostgreSQL. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startPostgres, startSqlite } from '../scripts/databases.mjs';
import { load } from '../scripts/modules.mjs';
import { assertAccessible, assertEverywhere, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = page => page.locator('dialog[open]').last();
/** Values that no page may show: of a variable, and of a header with a fixed value. */
const HIDDEN = ['hook-token-77123', 'fixed-55219'];

/** A receiver of webhooks: it fails at `/never`, and remembers its calls. */
function startReceiver() {
  const calls = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', it => { text += it; });
    request.on('end', () => {
      calls.push({ path: request.url, id: JSON.parse(text).id });
      response.writeHead(request.url === '/never' ? 500 : 200).end(request.url === '/never' ? 'no room today' : 'thank you');
    });
  });
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}`, calls, stop: () => server.close() })));
}

const trigger = (name, path, more = {}) => ({
  name, definition: { insert: { columns: '*' } }, retry_conf: { num_retries: 0, interval_sec: 600, timeout_sec: 10 }, webhook: `{{HOOKS}}${path}`,
  headers: [{ name: 'Authorization', value_from_env: 'HOOK_TOKEN' }, { name: 'X-Fixed', value: HIDDEN[1] }], ...more,
});

const metadata = (url, cron) => ({
  version: 3,
  sources: [{
    name: 'main', kind: url.startsWith('postgres') ? 'postgres' : 'sqlite', configuration: { connection_info: { database_url: url } },
    tables: [{ table: 'artist', event_triggers: [trigger('artist_told', '/told'), trigger('artist_lost', '/never')] }, { table: 'album', event_triggers: [trigger('album_later', '/never', { retry_conf: { num_retries: 3, interval_sec: 600, timeout_sec: 10 } })] }],
  }],
  cron_triggers: cron,
});

/** Looks again until `isThere`. */
async function lookAgain(page, isThere) {
  const end = Date.now() + 60_000;
  while (!await isThere()) {
    assert.ok(Date.now() < end, 'looked in vain');
    await button(page, 'Look again').click();
    await page.waitForLoadState('networkidle');
  }
}

for (const start of [startSqlite, startPostgres]) {
  const isSqlite = start === startSqlite;
  describe(`events over ${isSqlite ? 'SQLite' : 'PostgreSQL'}`, () => {
    let database;
    let receiver;
    let server;
    before(async () => {
      database = await start();
      receiver = await startReceiver();
      const cron = [{ name: 'nightly', webhook: '{{HOOKS}}/report', schedule: '0 3 * * *', include_in_metadata: true, payload: { digits: 1 }, comment: 'the report' }];
      server = await startWeir({ HOOKS: receiver.url, HOOK_TOKEN: HIDDEN[0] }, null, data => {
        writeFileSync(join(data, 'metadata.json'), JSON.stringify(metadata(isSqlite ? `sqlite:${database.url}` : database.url, cron)));
        writeFileSync(join(data, 'weir.yaml'), `metadata: metadata.json\nstate: "sqlite:${join(data, 'state.db')}"\n`);
        return ['serve', join(data, 'weir.yaml')];
      });
    });
    after(async () => {
      await server?.stop();
      receiver?.stop();
      database?.stop();
    });

    test('E1 reads pending and failed deliveries with their calls, and delivers one again', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/events');
      const row = name => page.getByTestId('triggers').getByRole('row').filter({ hasText: name });
      await row('artist_told').filter({ hasText: 'main artist' }).filter({ hasText: '{{HOOKS}}/told' }).waitFor();
      database.run("INSERT INTO artist (id, name) VALUES (51, 'Zed'), (52, 'Zoë'); INSERT INTO album (id, title, artist_id) VALUES (51, 'Later', 1);");
      const lookUntil = locator => lookAgain(page, async () => await locator.count() > 0);
      await lookUntil(row('artist_lost').getByRole('link', { name: '2 failed of artist_lost' }));
      await lookUntil(row('album_later').getByRole('link', { name: '1 pending of album_later' }));
      await row('album_later').getByRole('link', { name: '1 pending of album_later' }).click();
      await page.getByTestId('events').getByText(/pending(, 1 try, again at )?/).first().waitFor();
      await page.goBack();
      await row('artist_lost').getByRole('link', { name: '2 failed of artist_lost' }).click();
      assert.match(page.url(), /events\/trigger\/main\/artist_lost\?status=failed/);
      await page.getByTestId('events').getByRole('row').nth(2).waitFor();
      await page.getByText('Authorization from HOOK_TOKEN, X-Fixed').waitFor();
      const first = page.getByTestId('events').locator('tbody tr').first();
      const id = await first.locator('code').innerText();
      await first.getByRole('link').click();
      const event = page.getByTestId('event');
      await event.getByLabel('Payload').filter({ hasText: '"op": "INSERT"' }).waitFor();
      await event.getByTestId('calls').getByText('500 at').click();
      await event.getByLabel('Answer').filter({ hasText: 'no room today' }).waitFor();
      await event.getByText('Headers: content-type, user-agent, Authorization from HOOK_TOKEN, X-Fixed').waitFor();
      const text = await page.locator('main').innerText();
      assert.ok(HIDDEN.every(it => !text.includes(it)), 'a secret is shown');
      await assertEverywhere(page, 'event');
      const before = receiver.calls.filter(it => it.id === id).length;
      await button(page, 'Deliver again').click();
      await dialog(page).getByTestId('request').filter({ hasText: `"event_id": "${id}"` }).waitFor();
      await assertAccessible(page, 'review');
      await button(dialog(page), 'Send').click();
      await page.getByRole('status').filter({ hasText: 'Deliver the event again: done.' }).waitFor();
      await event.getByTestId('calls').getByText('500 at').nth(1).waitFor();
      assert.equal(receiver.calls.filter(it => it.id === id).length, before + 1);
      await page.getByLabel('State').selectOption('pending');
      await page.getByText('No event is pending.').waitFor();
      await page.goto(`${server.url}/console/events/trigger/main/nobody`);
      await page.getByText('Source main has no event trigger nobody.').waitFor();
      await page.goto(`${server.url}/console/events/nothing`);
      await page.getByText('Nothing has this address.').waitFor();
      await page.goto(`${server.url}/console/events`);
      await page.getByLabel('Filter by trigger, source or table').fill('album');
      await row('artist_told').waitFor({ state: 'detached' });
      await assertEverywhere(page, 'triggers');
      assert.deepEqual(complaints, []);
    });

    test('E1 pages through many events, newest first', async () => {
      database.run(isSqlite
        ? "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1060) INSERT INTO artist (id, name) SELECT i, 'many' FROM n;"
        : "INSERT INTO artist (id, name) SELECT i, 'many' FROM generate_series(1000, 1060) AS i;");
      const { page, complaints } = await openPage(browser, server.url, '/events/trigger/main/artist_told');
      const rows = page.getByTestId('events').locator('tbody tr');
      await rows.nth(49).waitFor();
      assert.equal(await rows.count(), 50);
      await page.getByRole('link', { name: 'Older' }).click();
      await page.getByRole('link', { name: 'Newer' }).waitFor();
      await page.waitForFunction(() => document.querySelectorAll('[data-testid=events] tbody tr').length === 13);
      await page.goto(`${server.url}/console/events/trigger/main/artist_told?after=500`);
      await page.getByText('There are no more events.').waitFor();
      assert.deepEqual(complaints, []);
    });

    test('E2 reads schedules with their next times, makes a one-off event, and deletes one', async () => {
      const { page, complaints } = await openPage(browser, server.url, '/events/schedules');
      const row = page.getByTestId('schedules').getByRole('row').filter({ hasText: 'nightly' });
      await lookAgain(page, async () => /\d\d 03:00/.test(await row.innerText()));
      assert.equal((await row.innerText()).match(/20\d\d-\d\d-\d\d 03:00/g).length, 3);
      await row.getByRole('link', { name: 'nightly' }).click();
      await page.getByRole('region', { name: 'Events of nightly', exact: true }).getByText('100 events').waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByRole('link', { name: 'Back' }).waitFor();
      await page.getByRole('link', { name: 'One-off events' }).click();
      await page.getByRole('link', { name: 'New one-off event' }).click();
      const form = page.getByRole('form', { name: 'New one-off event' });
      await form.getByLabel('Webhook').fill('{{HOOKS}}/once');
      await form.getByLabel('Time, UTC').fill('2020-01-02T03:04:05');
      await form.getByLabel('Payload, JSON').fill('{"digits": 1.10');
      await form.getByText('The payload is no JSON').waitFor();
      assert.equal(await button(form, 'Review the request').isDisabled(), true);
      await form.getByLabel('Payload, JSON').fill('{"digits": 1.10}');
      await form.getByLabel('Headers, a line each').fill('Authorization: HOOK_TOKEN');
      await assertEverywhere(page, 'form');
      await button(form, 'Review the request').click();
      await dialog(page).getByTestId('request').filter({ hasText: '"digits": 1.10' }).filter({ hasText: '2020-01-02T03:04:05.000Z' }).waitFor();
      await button(dialog(page), 'Send').click();
      await page.getByRole('status').filter({ hasText: 'Make a one-off event: done.' }).waitFor();
      const events = page.getByTestId('scheduled').locator('tbody tr');
      // Its tolerance is six hours, so a time long over is dead at once.
      await lookAgain(page, async () => /dead/.test(await events.first().innerText()));
      await events.first().getByRole('link').click();
      const event = page.getByTestId('scheduled-event');
      await event.getByText('Authorization from HOOK_TOKEN').waitFor();
      await event.getByLabel('Payload').filter({ hasText: '1.10' }).waitFor();
      const shown = await page.locator('main').innerText();
      assert.ok(HIDDEN.every(it => !shown.includes(it)), 'a secret is shown');
      await button(event, 'Delete').click();
      assert.equal(await button(dialog(page), 'Send').isDisabled(), true);
      await dialog(page).getByRole('textbox').fill('delete');
      await button(dialog(page), 'Send').click();
      await page.getByText('There is none; a one-off event calls a webhook once, at its time.').waitFor();
      await page.goto(`${server.url}/console/events/schedules`);
      await row.waitFor();
      await assertEverywhere(page, 'schedules');
      await page.goto(`${server.url}/console/events/schedules?of=nobody`);
      await page.getByText('There is no cron trigger nobody.').waitFor();
      assert.deepEqual(complaints, []);
    });
  });
}

test('E1 E2 G3 G5 G9 without metadata and with a secret, by the keyboard', async () => {
  const database = startSqlite();
  const server = await startWeir({}, null, data => {
    writeFileSync(join(data, 'weir.yaml'), `admin_secret: hush\ndev: true\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  const { page } = await openPage(browser, server.url, '/events');
  await page.getByLabel('Admin secret').fill('hush');
  await page.keyboard.press('Enter');
  await page.getByText('There is no event trigger.').waitFor();
  await assertAccessible(page, 'no trigger');
  await page.getByRole('link', { name: 'Schedules' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('There is no cron trigger.').waitFor();
  await assertEverywhere(page, 'no schedule');
  await server.stop();
  database.stop();
});

test('E1 reads times of both databases and states of events', async () => {
  const { timeText, stateOf, headersOf, commandOf } = await load('events/event-log.ts', 'events/one-off.ts');
  assert.equal(timeText('2024-05-01T10:11:12.123456'), '2024-05-01 10:11:12');
  assert.equal(timeText('2024-05-01T12:11:12.5+02'), '2024-05-01 10:11:12');
  assert.equal(timeText('2024-05-01T12:11:12+02:00'), '2024-05-01 10:11:12');
  assert.equal(timeText('2024-05-01T10:11:12Z'), '2024-05-01 10:11:12');
  assert.equal(timeText('soon'), 'soon');
  assert.equal(timeText(null), '–');
  const event = { delivered: false, error: false, archived: false, locked: null, next_retry_at: null, tries: 0 };
  assert.equal(stateOf(event).words, 'pending');
  assert.equal(stateOf({ ...event, tries: 2, next_retry_at: '2024-05-01T10:11:12' }).words, 'pending, 2 tries, again at 2024-05-01 10:11:12');
  assert.equal(stateOf({ ...event, error: true, tries: 1 }).words, 'failed, 1 try');
  assert.equal(stateOf({ ...event, locked: 'x' }).words, 'in work');
  assert.deepEqual(headersOf('A: B\n\n x-y : Z_1 ').headers, [{ name: 'A', value_from_env: 'B' }, { name: 'x-y', value_from_env: 'Z_1' }]);
  assert.match(headersOf('A: bearer x y').fault, /variable/);
  const form = { webhook: 'http://a', time: '2024-05-01T10:11', payload: '1.50', comment: '', headers: '', retries: '1' };
  assert.equal(commandOf(form).command.request.args.schedule_at, '2024-05-01T10:11:00.000Z');
  assert.match(commandOf({ ...form, retries: 'x' }).fault, /whole number/);
});
