// Serves a page with Apollo Client from a port of its own and has a browser call Weir from it, across origins.

import { createServer } from 'node:http';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { check, end, same, url } from '../checks.mjs';

const entry = new URL('page.mjs', import.meta.url).pathname;
const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', logLevel: 'error' });
const pages = createServer((request, response) => {
  const isScript = request.url === '/page.js';
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  response.end(isScript ? outputFiles[0].text : '<!doctype html><title>shop</title><script src="/page.js"></script>');
});
await new Promise(resolve => pages.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

const root = new URL(url);
for (const host of ['127.0.0.1', 'localhost']) {
  const page = await browser.newPage();
  await page.goto(`http://${host}:${pages.address().port}/`);
  for (const path of ['/graphql', '/v1/graphql']) {
    const run = step => page.evaluate(([step, url]) => window.run(step, url), [step, new URL(path, root).href]);
    const from = `from ${host} at ${path}`;
    await check(`introspection ${from}`, async () => {
      same(await run('introspection'), ['album', 'album_aggregate', 'album_by_pk', 'album_group_by']);
    });
    await check(`query ${from}`, async () => {
      same(await run('query'), [['Gamma Bob', 'Beta Ada', 'Delta Bob'], 6]);
    });
    await check(`insert, update, delete ${from}`, async () => same(await run('changes'), ['Lambda', 'Lambda']));
    await check(`an error is shown ${from}`, async () => same(await run('error'), true));
    const whole = ['complete', 'Beta', 'Ada,Bob,Cyd'];
    const inParts = [['streaming', 'Beta', null], whole];
    for (const step of ['partsByPath', 'partsById']) {
      // Hasura's address gives every answer whole.
      await check(`${step} ${from}`, async () => same(await run(step), path === '/graphql' ? inParts : [whole]));
    }
    const list = ['complete', 'Ada,Bob,Cyd'];
    for (const step of ['itemsByPath', 'itemsById']) {
      await check(`${step} ${from}`, async () => same(await run(step), path === '/graphql' ? [['complete', 'Ada'], list] : [list]));
    }
    for (const step of ['liveByHttp', 'liveBySocket']) {
      await check(`${step} ${from}`, async () => same(await run(step), ['Alpha', 'Live', 'Alpha']));
    }
  }
  await page.close();
}
await browser.close();
pages.close();
end('Apollo Client in a browser');
