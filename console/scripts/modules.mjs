// Modules of the pages for tests that need no browser: bundled, as browsers get them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** What the modules at these paths below `src` export, with the packages of the tests. */
export async function load(...paths) {
  const input = paths.map(path => fileURLToPath(new URL(`../src/${path}`, import.meta.url)));
  const folder = mkdtempSync(fileURLToPath(new URL('../node_modules/.weir-modules-', import.meta.url)));
  const bundle = await rolldown({ input, platform: 'node', external: ['graphql'], logLevel: 'silent' });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].entry.mjs', chunkFileNames: '[name].mjs' });
  const entries = readdirSync(folder).filter(name => name.endsWith('.entry.mjs'));
  const modules = await Promise.all(entries.map(name => import(pathToFileURL(join(folder, name)))));
  rmSync(folder, { recursive: true, force: true });
  return Object.assign({}, ...modules);
}
