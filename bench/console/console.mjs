// The console on a table of 10 million rows: first and last page, rows in the page, long tasks while scrolling, bytes.
//
// Real server, real Chromium, over SQLite and PostgreSQL. WEIR_BIN is the server, ROWS the number of rows.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../console/scripts/browser.mjs';
import { startPostgres, startSqlite } from '../../console/scripts/databases.mjs';
import { openPage } from '../../console/scripts/pages.mjs';
import { startWeir } from '../../console/scripts/server.mjs';

const ROWS = Number(process.env.ROWS ?? 10_000_000);
const RUNS = 7;
const root = new URL('../../', import.meta.url).pathname;
const median = values => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

function fill(database) {
  const series = database.name === 'SQLite'
    ? `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) INSERT INTO vast SELECT i, i % 1000, 'row ' || i FROM n`
    : `INSERT INTO vast SELECT i, i % 1000, 'row ' || i FROM generate_series(1, ${ROWS}) AS i; ANALYZE vast`;
  database.run(`CREATE TABLE vast (id INTEGER PRIMARY KEY, part INTEGER NOT NULL, label TEXT NOT NULL); ${series}; CREATE INDEX vast_part ON vast (part, id);`);
}

const first = page => page.locator('[data-cell="0 2"]');

/** Milliseconds until the first cell has this text, and those that its request took. */
async function timeUntil(page, act, text) {
  const answered = page.waitForResponse(it => it.url().endsWith('/graphql') && it.request().postData()?.includes('vastRows'));
  const begun = performance.now();
  await act();
  await first(page).filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
  const shown = performance.now() - begun;
  const { requestStart, responseEnd } = (await answered).request().timing();
  return { shown, request: responseEnd - requestStart };
}

async function scroll(page) {
  await page.evaluate(() => {
    window.tasks = [];
    new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(it => it.duration))).observe({ type: 'longtask' });
  });
  await page.locator('.weir-grid').hover();
  for (let at = 0; at < 60; at++) await page.mouse.wheel(0, at < 30 ? 220 : -220);
  return page.evaluate(() => ({ tasks: window.tasks, rows: document.querySelectorAll('.weir-place').length }));
}

async function measure(browser, url, source) {
  const found = { open: [], slow: [], next: [], last: [], sorted: [] };
  const address = `/data/${source}/vast`;
  for (let run = 0; run < RUNS; run++) {
    const { page } = await openPage(browser, url, '/operations');
    await page.getByRole('heading', { name: 'Operations' }).waitFor();
    found.open.push(await timeUntil(page, () => page.goto(`${url}/console${address}`), '1'));
    found.next.push(await timeUntil(page, () => page.getByRole('button', { name: 'Next', exact: true }).click(), '201'));
    found.last.push(await timeUntil(page, () => page.getByRole('button', { name: 'Last', exact: true }).click(), String(ROWS - 199)));
    found.sorted.push(await timeUntil(page, () => page.getByRole('columnheader', { name: 'part' }).getByRole('button').click(), '1000'));
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    found.slow.push(await timeUntil(page, () => page.goto(`${url}/console${address}`), '1'));
    await page.close();
  }
  const { page } = await openPage(browser, url, address);
  await first(page).waitFor();
  const scrolled = await scroll(page);
  await page.close();
  const medians = Object.fromEntries(Object.entries(found).map(([name, all]) => [name, {
    shown_ms: Math.round(median(all.map(it => it.shown))), request_ms: Math.round(median(all.map(it => it.request))),
  }]));
  return { ...medians, long_tasks_over_100_ms: scrolled.tasks.filter(it => it > 100).length, longest_task_ms: Math.round(Math.max(0, ...scrolled.tasks)), rows_in_the_page: scrolled.rows };
}

function bytes() {
  const folder = join(root, 'console/dist');
  return readdirSync(folder, { recursive: true }).map(it => statSync(join(folder, it))).filter(it => it.isFile()).reduce((sum, it) => sum + it.size, 0);
}

const browser = await launch();
const results = { rows: ROWS, bytes: bytes(), databases: {} };
for (const start of [startSqlite, startPostgres]) {
  const database = await start();
  fill(database);
  const server = await startWeir({}, null, () => ['serve', database.url]);
  const answer = await fetch(`${server.url}/v1/metadata`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"type":"dump_internal_state","args":{}}',
  });
  const [source] = (await answer.json()).sources;
  results.databases[database.name] = await measure(browser, server.url, source);
  await server.stop();
  database.stop();
}
await browser.close();
const lines = [
  `A table of ${ROWS.toLocaleString('en')} rows; medians of ${RUNS} runs in ms: until the rows are shown, and of it the request for them.`, '',
  '| database | open | open, CPU slowed 4 times | next page | last page | sorted by an indexed column | tasks over 100 ms while scrolling | rows in the page |',
  '|---|---:|---:|---:|---:|---:|---:|---:|',
  ...Object.entries(results.databases).map(([name, it]) => {
    const cell = of => `${of.shown_ms} (${of.request_ms})`;
    return `| ${name} | ${[it.open, it.slow, it.next, it.last, it.sorted].map(cell).join(' | ')} | ${it.long_tasks_over_100_ms} | ${it.rows_in_the_page} |`;
  }),
  '', `All files of the console are ${(results.bytes / 1e6).toFixed(2)} MB as Brotli; a page loads its own when it is opened.`, '',
];
console.log(lines.join('\n'));
if (process.env.PUBLISH) {
  writeFileSync(join(root, 'bench/results/console.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(root, 'bench/results/console.md'), lines.join('\n'));
}
