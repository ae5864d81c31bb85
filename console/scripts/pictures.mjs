// Pictures of the manual, made from the demo: node console/scripts/pictures.mjs, with WEIR_BIN.
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';
import { openPage } from './pages.mjs';
import { startWeir } from './server.mjs';

/** The example with roles, from a file. */
const startFleet = () => startWeir({}, null, data => {
  cpSync(new URL('../../examples/fleet', import.meta.url), data, { recursive: true, filter: it => !it.includes('.db') });
  execFileSync('python3', ['-c', 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'], { cwd: data });
  writeFileSync(join(data, 'weir.yaml'), 'metadata: metadata\nsources: [{name: fleet, url: "sqlite:fleet.db"}]\n');
  return ['serve', join(data, 'weir.yaml')];
});

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const size = { viewport: { width: 1280, height: 720 } };
const server = await startWeir({});
const browser = await launch();

const data = (await openPage(browser, server.url, '/data/chinook/Album?columns=AlbumId,Title,ArtistId,Album_Tracks_aggregate&order=Album_Tracks_aggregate%3Adesc&row=23', size)).page;
await data.locator('.weir-detail').getByText('Chico Buarque').waitFor();
await data.screenshot({ path: `${docs}console-data.png` });

const fleet = await startFleet();
const permissions = (await openPage(browser, fleet.url, '/permissions/fleet/boat?role=sailor&claims=%7B%22x-hasura-user-id%22%3A%22ann%22%7D', { viewport: { width: 1280, height: 960 } })).page;
await permissions.getByTestId('seen').filter({ hasText: 'sailor sees 2' }).waitFor();
await permissions.screenshot({ path: `${docs}console-permissions.png` });
await fleet.stop();

const schema = (await openPage(browser, server.url, '/schema/chinook?view=diagram', size)).page;
await schema.locator('.weir-diagram svg').waitFor();
await schema.screenshot({ path: `${docs}console-schema.png` });

const tree = (await openPage(browser, server.url, `/api?query=${encodeURIComponent('query Loud {\n  Album(limit: 3) {\n    Title\n  }\n}')}`, size)).page;
await tree.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('Loud'));
await tree.getByRole('button', { name: /^show build/i }).click();
await tree.getByRole('treeitem', { name: /^Album \[/ }).locator('.weir-tree-twist').click();
await tree.getByLabel('Value of limit').waitFor();
await tree.screenshot({ path: `${docs}console-build.png` });

const editor = (await openPage(browser, server.url, '/api', size)).page;
await editor.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('First'));
await editor.getByRole('button', { name: /execute query/i }).click();
await editor.getByTestId('plan').waitFor();
await editor.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('"data"'));
await editor.screenshot({ path: `${docs}console.png` });

await browser.close();
await server.stop();
