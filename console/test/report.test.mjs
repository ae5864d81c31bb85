// Pages of the load kit, opened from files as people open them: charts are drawn, nothing is loaded or complained of, they
// fit a telephone and paper, and texts of a hostile server stay texts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from '../scripts/browser.mjs';

const weir = process.env.WEIR_BIN;
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weir-report-'));
const pages = { report: join(folder, 'report.html'), capacity: join(folder, 'capacity.html') };
let browser;

before(async () => {
  writeFileSync(pages.report, execFileSync(weir, ['load', 'report', join(root, 'crates/load/tests/fixtures/result.json')]));
  execFileSync(weir, ['load', 'capacity', join(root, 'examples/capacity/match-centre.yaml'), '--html', pages.capacity]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const complaints = [];
  const foreign = [];
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => !/^(data:|file:.*\.html$)/.test(request.url()) && foreign.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return { page, complaints, foreign };
}

/** Colours in each chart, the background left out. */
const colours = page => page.locator('.chart canvas').evaluateAll(canvases => canvases.map(canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 255) continue;
    const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    seen.set(colour, (seen.get(colour) ?? 0) + 1);
  }
  return [...seen.values()].filter(it => it > 40).length;
}));

const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const [name, charts] of [['report', 6], ['capacity', 9]]) {
  describe(`the ${name} page`, () => {
    test('draws all charts, loads nothing and complains of nothing', async () => {
      const { page, complaints, foreign } = await open(pages[name]);
      const found = await colours(page);
      assert.equal(found.length, charts, 'a canvas per chart');
      assert.ok(found.every(it => it >= 2), `lines and labels in each: ${found}`);
      assert.deepEqual(complaints, []);
      assert.deepEqual(foreign, []);
      await page.close();
    });

    test('fits 390 pixels without scrolling sideways', async () => {
      const { page } = await open(pages[name], { viewport: { width: 390, height: 844 } });
      assert.ok(await overflow(page) <= 0, `overflow of ${await overflow(page)} pixels`);
      const widest = await page.locator('.uplot').evaluateAll(all => Math.max(...all.map(it => it.getBoundingClientRect().right)));
      assert.ok(widest <= 390, `a chart ends at ${widest}`);
      await page.close();
    });

    test('follows the system, and the button', async () => {
      const { page } = await open(pages[name], { colorScheme: 'dark' });
      const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = await back();
      await page.getByRole('button', { name: /light and dark/ }).click();
      assert.notEqual(await back(), dark);
      assert.equal(await back(), 'rgb(255, 255, 255)');
      assert.equal((await colours(page)).length, charts, 'drawn again');
      await page.close();
    });

    test('is white and as wide as paper in print', async () => {
      const { page, complaints } = await open(pages[name], { colorScheme: 'dark' });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      const widths = await page.locator('.uplot').evaluateAll(all => all.map(it => it.getBoundingClientRect().width));
      assert.ok(widths.every(it => it <= 660), String(widths));
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
      assert.deepEqual(complaints, []);
      await page.close();
    });
  });
}

test('texts of a hostile server are texts', async () => {
  const { page, complaints } = await open(pages.report);
  assert.equal(await page.title(), 'match day');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 3, 'data, library, script');
  assert.match(await page.locator('pre').first().innerText(), /<script>document\.title='owned'<\/script>/);
  assert.deepEqual(complaints, []);
  // Even markup that got into the page runs nothing: its policy names the scripts.
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = "document.title = 'owned'";
    document.body.append(script);
  });
  assert.equal(await page.title(), 'match day');
  await page.close();
});
