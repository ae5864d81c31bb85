// Pictures of the manual, made from the demo: node console/scripts/pictures.mjs, with WEIR_BIN.
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';
import { openPage } from './pages.mjs';
import { startWeir } from './server.mjs';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const size = { viewport: { width: 1280, height: 720 } };
const server = await startWeir({});
const browser = await launch();

const data = (await openPage(browser, server.url, '/data/chinook/Album?columns=AlbumId,Title,ArtistId,Album_Tracks_aggregate&order=Album_Tracks_aggregate%3Adesc&row=23', size)).page;
await data.locator('.weir-detail').getByText('Chico Buarque').waitFor();
await data.screenshot({ path: `${docs}console-data.png` });

const editor = (await openPage(browser, server.url, '/api', size)).page;
await editor.waitForFunction(() => document.querySelector('.graphiql-query-editor .view-lines')?.textContent?.includes('First'));
await editor.getByRole('button', { name: /execute query/i }).click();
await editor.getByTestId('plan').waitFor();
await editor.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('"data"'));
await editor.screenshot({ path: `${docs}console.png` });

await browser.close();
await server.stop();
