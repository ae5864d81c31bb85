import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../scripts/browser.mjs';
import { openPage, assertAccessible, assertFits } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';
const SECRET = 'hush';
const server = await startWeir({ FLEET_SECRET: SECRET }, null, data => {
  cpSync(new URL('../../examples/fleet', import.meta.url), data, { recursive: true, filter: it => !it.includes('.db') });
  execFileSync('python3', ['-c', 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'], { cwd: data });
  return ['serve', join(data, 'weir.yaml')];
});
const browser = await launch();
try {
for (const [name, opts] of [['wide', { viewport: { width: 1440, height: 900 } }], ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }], ['narrow', { viewport: { width: 390, height: 844 } }]]) {
  const { page, complaints } = await openPage(browser, server.url, '/permissions', opts);
  await page.evaluate(s => sessionStorage.setItem('weir.admin-secret', s), SECRET);
  await page.reload();
  await page.getByRole('region', { name: 'Matrix' }).waitFor();
  await page.screenshot({ path: `/tmp/perms/${name}-matrix.png`, fullPage: true });
  try { await assertAccessible(page, 'matrix'); await assertFits(page, 'matrix'); } catch (e) { console.log(name, e.message); }
  await page.getByRole('link', { name: /^sailor select boat/ }).click();
  await page.getByLabel('x-hasura-user-id').fill('ann');
  await page.getByRole('button', { name: 'Show rows' }).click();
  await page.getByTestId('seen').filter({ hasText: 'sees 2' }).waitFor();
  console.log(await page.getByTestId('seen').innerText(), page.url());
  await page.screenshot({ path: `/tmp/perms/${name}-cell.png`, fullPage: true });
  try { await assertAccessible(page, 'cell'); await assertFits(page, 'cell'); } catch (e) { console.log(name, e.message); }
  await page.getByRole('button', { name: /Why is boat N-2 hidden/ }).click();
  await page.getByTestId('reason').waitFor();
  console.log(await page.getByTestId('reason').innerText());
  await page.screenshot({ path: `/tmp/perms/${name}-reason.png` });
  try { await assertAccessible(page, 'reason'); } catch (e) { console.log(name, e.message); }
  console.log(complaints);
  await page.close();
}
} finally { await browser.close(); await server.stop(); }
