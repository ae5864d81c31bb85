// The page Services as a person uses it. Numbers are those of FLOWS.md.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch } from '../scripts/browser.mjs';
import { startSqlite } from '../scripts/databases.mjs';
import { load } from '../scripts/modules.mjs';
import { assertAccessible, assertEverywhere, openPage } from '../scripts/pages.mjs';
import { startWeir } from '../scripts/server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const button = (page, name) => page.getByRole('button', { name, exact: true });
/** The value of a header that a service gets, which no page may show. */
const TOKEN = 'service-token-77123';

function startService() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = (status, text) => response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'max-age=600' }).end(text);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(401, '{}');
    if (request.url === '/pets/9') return answer(500, '{"message": "no"}');
    if (request.url.startsWith('/pets/')) return answer(200, `{"id": ${request.url.slice(6)}, "called": "Rex", "weight": 1.10}`);
    answer(200, '[]');
  });
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}`, asked, stop: () => server.close() })));
}

const sdl = url => `extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "pets", http: {baseURL: "${url}", headers: [{name: "Authorization", value: "Bearer {$config.token}"}]})
  @cache(source: "pets", default: 600)
type Query {
  pet(id: Int!): Pet @connect(source: "pets", http: {GET: "/pets/{$args.id}"}, selection: "id name: called weight")
  rare: [Pet!] @connect(source: "pets", http: {GET: "/rare"}, selection: "id name: called weight")
}
type Mutation {
  rename(id: Int!, name: String!): Pet @connect(source: "pets", http: {POST: "/pets/{$args.id}", body: "called: $args.name"}, selection: "id name: called weight")
}
type Pet { id: Int! name: String weight: Float }
`;

describe('services', () => {
  let database;
  let service;
  let server;
  before(async () => {
    database = startSqlite();
    service = await startService();
    server = await startWeir({}, null, data => {
      writeFileSync(join(data, 'services.graphql'), sdl(service.url));
      writeFileSync(join(data, 'weir.yaml'), `sources: [{name: shop, file: services.graphql, config: {token: ${TOKEN}}}, {name: main, url: "${database.url}"}]\n`);
      return ['serve', join(data, 'weir.yaml')];
    });
  });
  after(async () => {
    await server?.stop();
    service?.stop();
    database?.stop();
  });

  test('V1 reads calls of a service, and tries a connector with sample arguments', async () => {
    const { page, complaints } = await openPage(browser, server.url, '/services');
    const row = page.getByTestId('services').getByRole('row').filter({ hasText: 'pets' });
    await row.waitFor();
    await assertEverywhere(page, 'services');
    await row.getByRole('link', { name: 'pets' }).click();
    const connector = name => page.getByTestId('connectors').getByRole('row').filter({ hasText: name });
    await connector('Query.rare').waitFor();
    await connector('Query.pet').getByRole('link').click();
    const trial = page.getByTestId('try');
    await trial.getByText('It needs id.').waitFor();
    assert.equal(await button(trial, 'Show the request').isDisabled(), true);
    await trial.getByLabel('id Int!').fill('7');
    await page.keyboard.press('Enter');
    await trial.getByLabel('Asked of shop').filter({ hasText: 'GET /pets/{$args.id}' }).waitFor();
    await trial.getByLabel('Mapping').filter({ hasText: 'name: String' }).waitFor();
    assert.deepEqual(service.asked, [], 'it was asked before it was sent');
    await button(trial, 'Send as admin').click();
    const outcome = trial.getByTestId('outcome');
    await outcome.getByText('2xx').waitFor();
    assert.match(await outcome.getByLabel('Answer').innerText(), /"name": "Rex",\s+"weight": 1\.10?/);
    assert.deepEqual(service.asked, ['GET /pets/7']);
    await connector('Query.pet').filter({ hasText: '2xx 1' }).filter({ hasText: 'miss 1' }).waitFor();
    await button(trial, 'Send as admin').click();
    await outcome.getByText('The service was not called.').waitFor();
    await assertEverywhere(page, 'try');
    const text = await page.locator('main').innerText();
    assert.ok(!text.includes(TOKEN) && !text.includes(service.url), 'a secret or an address is shown');
    await trial.getByLabel('id Int!').fill('9');
    await button(trial, 'Show the request').click();
    await button(trial, 'Send as admin').click();
    await outcome.getByText('5xx').waitFor();
    await page.getByLabel('Filter connectors').fill('rename');
    await connector('Query.pet').waitFor({ state: 'detached' });
    await connector('Mutation.rename').getByRole('link').click();
    await trial.getByLabel('name String!').fill('Max');
    await trial.getByLabel('id Int!').fill('7');
    await button(trial, 'Show the request').click();
    await trial.getByText('This connector may change data of the service.').waitFor();
    await assertAccessible(page, 'mutation');
    assert.ok(!service.asked.some(it => it.startsWith('POST')));
    await page.goto(`${server.url}/console/services/shop/nobody`);
    await page.getByText('There is no service nobody of source shop.').waitFor();
    await page.goto(`${server.url}/console/services/shop/pets?try=Query.nobody`);
    await page.getByText('The service has no connector Query.nobody.').waitFor();
    assert.deepEqual(complaints, []);
  });
});

test('V1 G3 G9 without services and with a secret', async () => {
  const database = startSqlite();
  const server = await startWeir({}, null, data => {
    writeFileSync(join(data, 'weir.yaml'), `admin_secret: hush\ndev: true\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  const { page } = await openPage(browser, server.url, '/services');
  await page.getByLabel('Admin secret').fill('hush');
  await button(page, 'Open the console').click();
  await page.getByText('The server has no services.').waitFor();
  await assertAccessible(page, 'none');
  await server.stop();
  database.stop();
});

test('V1 E1 T2 says where the pages are told with admin_listen', async () => {
  const database = startSqlite();
  const server = await startWeir({}, null, data => {
    writeFileSync(join(data, 'weir.yaml'), `admin_listen: 127.0.0.1:0\nsources: [{name: main, url: "${database.url}"}]\n`);
    return ['serve', join(data, 'weir.yaml')];
  });
  const { page } = await openPage(browser, server.url, '/services');
  await page.getByRole('alert').filter({ hasText: 'a server with `admin_listen` tells it there, at /admin/services' }).waitFor();
  for (const path of ['/events', '/events/schedules', '/settings/metadata']) {
    await page.goto(`${server.url}/console${path}`);
    await page.getByRole('alert').filter({ hasText: 'This address has no metadata API' }).waitFor();
  }
  await page.goto(`${server.url}/console/settings`);
  await page.getByTestId('health').getByText('ready').waitFor();
  await page.getByRole('alert').filter({ hasText: 'What is inconsistent is not told at this address' }).waitFor();
  await server.stop();
  database.stop();
});

test('V1 reads latencies from buckets, and makes operations of arguments', async () => {
  const { Metrics, readMetrics, countsOf, operationOf } = await load('operations/metrics.ts', 'services/services.ts', 'services/trial.ts');
  const of = 'source="s",service="a",connector="Query.x"';
  const metrics = new Metrics(readMetrics([
    `weir_service_calls_total{${of},outcome="2xx"} 19`, `weir_service_calls_total{${of},outcome="5xx"} 1`, `weir_service_calls_total{${of},outcome="4xx"} 0`,
    `weir_service_call_duration_seconds_bucket{${of},le="0.01"} 10`, `weir_service_call_duration_seconds_bucket{${of},le="0.02"} 19`, `weir_service_call_duration_seconds_bucket{${of},le="+Inf"} 20`,
    `weir_service_call_duration_seconds_sum{${of}} 0.4`, `weir_service_call_duration_seconds_count{${of}} 20`,
  ].join('\n')));
  const counts = countsOf(metrics, { source: 's', service: 'a' });
  assert.deepEqual([counts.calls, counts.outcomes, counts.mean_us, counts.p95_us], [20, [['2xx', 19], ['5xx', 1]], 20_000, 20_000]);
  assert.equal(countsOf(metrics, { source: 's', service: 'b' }).p95_us, null);
  const field = { kind: 'query', name: 'x', leaves: ['id'], args: [{ name: 'id', type: 'Int!', named: 'Int', isRequired: true }, { name: 'tags', type: '[String!]', named: 'String', isRequired: false }, { name: 'name', type: 'String', named: 'String', isRequired: false }] };
  assert.match(operationOf(field, {}).fault, /It needs id/);
  const { operation } = operationOf(field, { id: '1', tags: '["a"]', name: '7' });
  assert.deepEqual(operation.variables, { id: 1, tags: ['a'], name: '7' });
  assert.match(operation.query, /^query Trial\(\$id: Int!, \$tags: \[String!\], \$name: String\) \{\n {2}x\(id: \$id, tags: \$tags, name: \$name\) \{\n {4}id\n {2}\}\n\}$/);
  assert.match(operationOf(field, { id: '1', tags: '[' }).fault, /no JSON/);
});
