// WebSockets of a page that Weir serves by TLS: streams of the connection that the page came by (RFC 8441). Real server, real Chromium.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startWeir } from '../scripts/server.mjs';

const SOCKETS = 8;
let server;
before(async () => {
  server = await startWeir({}, null, data => {
    const of = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'server.key'];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', 'server.crt', ...of], { cwd: data, stdio: 'ignore' });
    const tables = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL); INSERT INTO pet VALUES (1, 'Ada')";
    execFileSync('python3', ['-c', `import sqlite3; sqlite3.connect("pets.db").executescript("""${tables}""")`], { cwd: data });
    writeFileSync(join(data, 'weir.yaml'), 'tls: {certificate: server.crt, key: server.key}\nsources: [{name: main, url: pets.db}]\n');
    return ['serve', join(data, 'weir.yaml')];
  }, 'https');
});
after(() => server?.stop());

/** Subscribes over several sockets in the page, renames the pet, and gives what each socket heard. */
async function subscribeInPage(count) {
  const ask = payload => fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) });
  const subscription = { id: '1', type: 'subscribe', payload: { query: 'subscription { pet_by_pk(id: 1) { name } }' } };
  const all = Array.from({ length: count }, () => {
    const socket = new WebSocket(`wss://${location.host}/graphql`, 'graphql-transport-ws');
    const names = [];
    const opened = { socket, names };
    socket.onopen = () => socket.send('{"type":"connection_init"}');
    opened.until = length => new Promise((resolve, reject) => {
      opened.wake = () => names.length >= length && resolve();
      socket.onclose = it => reject(new Error(`closed by ${it.code}`));
      opened.wake();
    });
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === 'connection_ack') return socket.send(JSON.stringify(subscription));
      names.push(message.payload.data.pet_by_pk.name);
      opened.wake();
    };
    return opened;
  });
  await Promise.all(all.map(it => it.until(1)));
  for (const [at, name] of ['Eve', 'Ada'].entries()) {
    await ask({ query: `mutation { update_pet_by_pk(pk_columns: {id: 1}, _set: {name: "${name}"}) { id } }` });
    await Promise.all(all.map(it => it.until(at + 2)));
  }
  for (const { socket } of all) (socket.onclose = null, socket.close());
  return all.map(it => it.names);
}

describe('sockets of a page over TLS', () => {
  for (const [protocol, status, more] of [['h2', 200, []], ['http/1.1', 101, ['--disable-http2']]]) {
    test(`are opened over ${protocol} if the page came by it`, async () => {
      const browser = await launch(['--ignore-certificate-errors', ...more]);
      try {
        const page = await browser.newPage();
        const devtools = await page.context().newCDPSession(page);
        await devtools.send('Network.enable');
        const handshakes = [];
        devtools.on('Network.webSocketWillSendHandshakeRequest', it => handshakes.push(Object.keys(it.request.headers).includes('Sec-WebSocket-Key')));
        const statuses = [];
        devtools.on('Network.webSocketHandshakeResponseReceived', it => statuses.push(it.response.status));
        await page.goto(`${server.url}/livez`);
        assert.equal(await page.evaluate(() => performance.getEntriesByType('navigation')[0].nextHopProtocol), protocol);
        const heard = await page.evaluate(subscribeInPage, SOCKETS);
        assert.deepEqual(heard, Array(SOCKETS).fill(['Ada', 'Eve', 'Ada']));
        // A stream of HTTP/2 is accepted by 200 and has no key; a connection of HTTP/1.1 is switched by 101 and has one.
        assert.deepEqual(statuses, Array(SOCKETS).fill(status));
        assert.deepEqual(handshakes, Array(SOCKETS).fill(protocol !== 'h2'));
      } finally {
        await browser.close();
      }
    });
  }
});
