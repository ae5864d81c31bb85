// A server of a test's own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The status of `url`, whose certificate may be the server's own; nothing if nobody answers. */
function status(url) {
  return new Promise(resolve => {
    const { get } = url.startsWith('https') ? https : http;
    const asked = get(url, { rejectUnauthorized: false, agent: false }, answer => (answer.resume(), resolve(answer.statusCode)));
    asked.on('error', () => resolve());
  });
}

/** A server of Chinook, or of the `types` of a file in `data`, or by the arguments that `prepare` gives for the folder `data`. */
export async function startWeir(env, types, prepare, scheme = 'http') {
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), 'weir-console-'));
  const file = join(data, 'types.graphql');
  if (types) writeFileSync(file, types);
  const target = prepare?.(data) ?? (types ? ['serve', file] : ['demo', '--data', data]);
  const child = spawn(process.env.WEIR_BIN, [...target, '--listen', `127.0.0.1:${port}`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const url = `${scheme}://127.0.0.1:${port}`;
  while (await status(`${url}/readyz`) !== 200) assert.equal(child.exitCode, null, 'weir ended before it was ready');
  const stop = async () => {
    child.kill('SIGTERM');
    await new Promise(resolve => child.once('exit', resolve));
    rmSync(data, { recursive: true, force: true });
  };
  return { url, stop, file };
}

/** Reads of live queries that ended since the start. */
export async function liveReads(url, headers = {}) {
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  return Number(/^weir_live_reads_total (\d+)$/m.exec(metrics)[1]);
}

/**
 * Waits until so many reads of live queries ended. The feed of a source starts with its first subscriber and has it read a second time;
 * that read may find a change before the change has a name.
 */
export async function awaitLiveReads(url, count, headers) {
  const end = Date.now() + 30_000;
  while (await liveReads(url, headers) < count) assert.ok(Date.now() < end, `waited in vain for ${count} reads`);
}
