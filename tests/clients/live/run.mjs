// Clients of subscriptions: graphql-ws, subscriptions-transport-ws, graphql-sse over streams of their own and over one, urql, Relay.

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';
import relay from 'relay-runtime';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { pipe, subscribe } from 'wonka';
import WebSocket from 'ws';
import { check, end, same, url } from '../checks.mjs';

const plain = url.replace('/v1', '');
const socket = at => at.replace('http', 'ws');
const LIVE = 'subscription Live($id: Int!) { album_by_pk(id: $id) { title } }';
const variables = { id: 2 };

async function rename(title) {
  const query = 'mutation ($id: Int!, $title: String!) { update_album_by_pk(pk_columns: {id: $id}, _set: {title: $title}) { id } }';
  const body = JSON.stringify({ query, variables: { ...variables, title } });
  await fetch(plain, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** The titles that a client tells while the album is renamed, and renamed back. `begin` gets what to call with each result and gives what ends it. */
async function told(begin) {
  const names = ['Beta', 'Renamed', 'Beta'];
  const seen = [];
  await new Promise((resolve, reject) => {
    let stop;
    const next = result => {
      if (result.errors?.length || result.error) return reject(new Error(JSON.stringify(result.errors ?? result.error)));
      seen.push(result.data.album_by_pk.title);
      if (seen.length < names.length) rename(names[seen.length]).catch(reject);
      // The function that ends it may not be there at the first result.
      else setImmediate(() => (stop?.(), resolve()));
    };
    stop = begin(next, reject);
  });
  same(seen, names);
}

const payload = { query: LIVE, variables };
const sink = (next, error) => ({ next, error, complete: () => error(new Error('it ended')) });

for (const [path, at] of [['/graphql', plain], ['/v1/graphql', url]]) {
  await check(`graphql-ws at ${path}`, async () => {
    const client = createWs({ url: socket(at), webSocketImpl: WebSocket });
    await told((next, error) => client.subscribe(payload, { ...sink(next, error), complete: () => {} }));
    await client.dispose();
  });
  await check(`subscriptions-transport-ws at ${path}`, async () => {
    const client = new SubscriptionClient(socket(at), {}, WebSocket);
    await told((next, error) => {
      const { unsubscribe } = client.request(payload).subscribe(sink(next, error));
      return unsubscribe;
    });
    client.close();
  });
}

for (const singleConnection of [false, true]) {
  await check(`graphql-sse, ${singleConnection ? 'one stream' : 'streams of their own'}`, async () => {
    const client = createSse({ url: plain, singleConnection, retryAttempts: 0 });
    await told((next, error) => client.subscribe(payload, { next, error, complete: () => {} }));
    const found = await new Promise((next, error) => {
      client.subscribe({ query: '{ album_by_pk(id: 2) { title } }' }, { next, error, complete: () => {} });
    });
    same(found, { data: { album_by_pk: { title: 'Beta' } } });
    const wrong = await new Promise(resolve => {
      const seen = result => resolve(JSON.stringify(result.errors ?? result.message));
      client.subscribe({ query: '{ nothing }' }, { next: seen, error: seen, complete: () => {} });
    });
    if (!wrong.includes('nothing') && !wrong.includes('400')) throw new Error(wrong);
    client.dispose();
  });
}

await check('several subscriptions over one stream of graphql-sse', async () => {
  const client = createSse({ url: plain, singleConnection: true, retryAttempts: 0 });
  await Promise.all([told((next, error) => client.subscribe(payload, { next, error, complete: () => {} })), new Promise((resolve, reject) => {
    const query = 'subscription { album_by_pk(id: 3) { title } }';
    client.subscribe({ query }, { next: it => resolve(same(it, { data: { album_by_pk: { title: 'Gamma' } } })), error: reject, complete: () => {} });
  })]);
  client.dispose();
});

await check('urql by events', async () => {
  const client = new Client({ url: plain, exchanges: [fetchExchange], fetchSubscriptions: true, preferGetMethod: false });
  await told(next => pipe(client.subscription(LIVE, variables), subscribe(next)).unsubscribe);
});

await check('urql, an answer in parts', async () => {
  const client = new Client({ url: plain, exchanges: [fetchExchange], preferGetMethod: false });
  const seen = [];
  await new Promise((resolve, reject) => {
    const next = ({ data, error, hasNext }) => {
      if (error) return reject(error);
      seen.push([data.album_by_pk.title, data.artist?.map(it => it.name).join()]);
      return hasNext || resolve();
    };
    pipe(client.query('{ album_by_pk(id: 2) { title } ... @defer { artist(order_by: {id: asc}) { name } } }', {}), subscribe(next));
  });
  same(seen, [['Beta', null], ['Beta', 'Ada,Bob,Cyd']]);
});

await check('urql, a list in parts', async () => {
  const client = new Client({ url: plain, exchanges: [fetchExchange], preferGetMethod: false });
  const seen = [];
  await new Promise((resolve, reject) => {
    const next = ({ data, error, hasNext }) => {
      if (error) return reject(error);
      seen.push(data.artist.map(it => it.name).join());
      return hasNext || resolve();
    };
    pipe(client.query('{ artist(order_by: {id: asc}) @stream(initialCount: 1) { name } }', {}), subscribe(next));
  });
  // The end of the list may come in a part of its own.
  same(seen.filter((it, at) => it !== seen[at - 1]), ['Ada', 'Ada,Bob,Cyd']);
});

await check('graphql-ws, a list in parts', async () => {
  const connectionParams = { headers: { accept: 'multipart/mixed;incrementalSpec=v0.2' } };
  const ws = createWs({ url: socket(plain), webSocketImpl: WebSocket, connectionParams });
  const seen = [];
  for await (const part of ws.iterate({ query: '{ artist(order_by: {id: asc}) @stream(initialCount: 1) { name } }' })) seen.push(part);
  same(seen[0], { data: { artist: [{ name: 'Ada' }] }, pending: [{ id: '0', path: ['artist'] }], hasNext: true });
  same(seen.flatMap(it => it.incremental ?? []), [{ id: '0', items: [{ name: 'Bob' }, { name: 'Cyd' }] }]);
  // The end of the list may come in a part of its own.
  const { completed, hasNext } = seen.at(-1);
  same({ completed, hasNext }, { completed: [{ id: '0' }], hasNext: false });
  await ws.dispose();
});

await check('urql over graphql-ws', async () => {
  const ws = createWs({ url: socket(plain), webSocketImpl: WebSocket });
  const forward = ({ query, variables: sent }) => ({
    subscribe: to => ({ unsubscribe: ws.subscribe({ query, variables: sent }, to) }),
  });
  const client = new Client({ url: plain, exchanges: [subscriptionExchange({ forwardSubscription: forward })], preferGetMethod: false });
  await told(next => pipe(client.subscription(LIVE, variables), subscribe(next)).unsubscribe);
  await ws.dispose();
});

await check('Relay over graphql-ws', async () => {
  const { Environment, Network, Observable, RecordSource, Store, requestSubscription } = relay;
  const ws = createWs({ url: socket(plain), webSocketImpl: WebSocket });
  const follow = ({ text }, sent) => Observable.create(to => ws.subscribe({ query: text, variables: sent }, to));
  const environment = new Environment({ network: Network.create(() => { throw new Error('nothing is fetched'); }, follow), store: new Store(new RecordSource()) });
  // As its compiler writes it.
  const leaf = (name, storageKey = null) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey });
  const field = selections => [{ alias: null, args: [{ kind: 'Variable', name: 'id', variableName: 'id' }], concreteType: 'album', kind: 'LinkedField',
    name: 'album_by_pk', plural: false, selections, storageKey: null }];
  const argumentDefinitions = [{ defaultValue: null, kind: 'LocalArgument', name: 'id' }];
  const subscription = {
    kind: 'Request',
    fragment: { argumentDefinitions, kind: 'Fragment', metadata: null, name: 'Live', selections: field([leaf('title')]), type: 'subscription_root', abstractKey: null },
    operation: { argumentDefinitions, kind: 'Operation', name: 'Live', selections: field([leaf('title')]) },
    params: { cacheID: 'live', id: null, metadata: {}, name: 'Live', operationKind: 'subscription',
      text: 'subscription Live($id: Int!) { album_by_pk(id: $id) { title } }' },
  };
  await told((next, error) => {
    const { dispose } = requestSubscription(environment, { subscription, variables, onNext: data => next({ data }), onError: error });
    return dispose;
  });
  await ws.dispose();
});

end('clients of subscriptions');
