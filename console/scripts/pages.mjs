// Pages of the console as tests open them: what they complain of, whom they ask, and whether everybody can use them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A page at an address below /console, with lists of its complaints, foreign requests, and GraphQL requests. */
export async function openPage(browser, url, path, options = {}) {
  const { tour = false, ...context } = options;
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...context });
  if (!tour) await page.addInitScript(() => localStorage.setItem('weir.tour', 'over'));
  page.setDefaultTimeout(15_000);
  const complaints = [];
  const foreign = [];
  const asked = [];
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => {
    if (new URL(request.url()).origin !== url && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
    if (request.url().endsWith('/graphql') && request.method() === 'POST') asked.push(request.postDataJSON());
  });
  await page.goto(`${url}/console${path}`);
  return { page, complaints, foreign, asked };
}

/** Asserts that axe finds no violation; scripts of the page itself are bound by its policy, so axe comes by the debugger. */
export async function assertAccessible(page, name) {
  await page.evaluate(`${axe}; 0`);
  const { violations } = await page.evaluate(rules => window.axe.run({ runOnly: rules }), RULES);
  assert.deepEqual(violations.map(it => `${it.id}: ${it.nodes.map(node => node.target.join(' ')).join('; ')}`), [], name);
}

export async function assertFits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${name} hangs over by ${over} pixels`);
}

/** Asserts that a page is accessible and fits, narrow and wide, light and dark. */
export async function assertEverywhere(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [390, 1440]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await assertAccessible(page, `${name} ${width} ${colorScheme}`);
      await assertFits(page, `${name} ${width} ${colorScheme}`);
    }
  }
}
