// Replaces each built file by its Brotli form, so that the binary holds one form of each.
import { readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const root = new URL('../dist/', import.meta.url).pathname;
const files = readdirSync(root, { recursive: true }).map(name => join(root, name)).filter(name => statSync(name).isFile());
let before = 0;
let after = 0;
for (const file of files) {
  if (file.endsWith('.br')) continue;
  const bytes = readFileSync(file);
  before += bytes.length;
  if (/\.(js|css|html|svg|json|ttf)$/.test(file) && bytes.length > 512) {
    const small = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    writeFileSync(`${file}.br`, small);
    // The server unpacks it for clients that do not take Brotli.
    unlinkSync(file);
    after += small.length;
  } else {
    after += bytes.length;
  }
}
console.log(`console: ${(before / 1e6).toFixed(1)} MB, ${(after / 1e6).toFixed(1)} MB as brotli`);
