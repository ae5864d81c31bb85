// Apollo Client in a web page. `run` is called by run.mjs and gives what came, or the words of what went wrong.

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode, buildClientSchema, getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';

const ALBUMS = gql`
  query Albums($where: album_bool_exp, $order: [album_order_by!], $limit: Int, $offset: Int) {
    album(where: $where, order_by: $order, limit: $limit, offset: $offset) {
      id
      title
      album_artist {
        id
        name
      }
    }
    album_aggregate(where: $where) {
      aggregate {
        count
      }
    }
  }
`;
const ADD = gql`
  mutation Add($title: String!, $year: Int!, $artist: Int!) {
    insert_album_one(object: { title: $title, year: $year, artist_id: $artist }) {
      id
      title
    }
  }
`;
const CHANGE = gql`
  mutation Change($id: Int!, $title: String!) {
    update_album_by_pk(pk_columns: { id: $id }, _set: { title: $title }) {
      id
      title
    }
  }
`;
const REMOVE = gql`
  mutation Remove($id: Int!) {
    delete_album_by_pk(id: $id) {
      id
      title
    }
  }
`;
const LIVE = gql`
  subscription Live {
    album(order_by: { id: asc }, limit: 1) {
      title
    }
  }
`;

const DEFERRED = gql`
  query Deferred {
    album_by_pk(id: 2) {
      title
    }
    ... @defer {
      artist(order_by: { id: asc }) {
        name
      }
    }
  }
`;

const STREAMED = gql`
  query Streamed {
    artist(order_by: { id: asc }) @stream(initialCount: 1) {
      name
    }
  }
`;

/** A client that sends subscriptions by `live`, all else by POST, with a header of its own as pages have. */
function client(url, live) {
  const http = new HttpLink({ uri: url, headers: { 'x-page': 'shop' } });
  const link = live
    ? ApolloLink.split(it => it.operationType === OperationTypeNode.SUBSCRIPTION, live, http)
    : http;
  return new ApolloClient({ link, cache: new InMemoryCache(), clientAwareness: { name: 'shop', version: '1' } });
}

/** The titles of the first album that a subscription tells while it is renamed, and renamed back. */
function titles(apollo) {
  const seen = [];
  const rename = title => apollo.mutate({ mutation: CHANGE, variables: { id: 1, title } });
  return new Promise((resolve, reject) => {
    const next = ({ data, error }) => {
      if (error) return reject(error);
      seen.push(data.album[0].title);
      if (seen.length === 3) return (running.unsubscribe(), resolve(seen));
      rename(seen.length === 1 ? 'Live' : seen[0]).catch(reject);
    };
    const running = apollo.subscribe({ query: LIVE })
      .subscribe({ next, error: reject, complete: () => reject(new Error('the subscription ended')) });
  });
}

/** The states of an answer in parts as they come to the whole one, with what each has. */
function parts(url, incrementalHandler, query, shown, isWhole) {
  const apollo = new ApolloClient({ link: new HttpLink({ uri: url }), cache: new InMemoryCache(), incrementalHandler });
  const seen = [];
  return new Promise((resolve, reject) => {
    const next = ({ data, dataState, error }) => {
      if (error) return reject(error);
      if (dataState === 'empty') return undefined;
      seen.push([dataState, ...shown(data)]);
      return isWhole(data, dataState) && resolve(seen);
    };
    apollo.watchQuery({ query }).subscribe({ next, error: reject });
  });
}

const names = data => data.artist?.map(it => it.name).join();
const isComplete = (_, dataState) => dataState === 'complete';
const fragments = (url, handler) => parts(url, handler, DEFERRED, data => [data.album_by_pk.title, names(data)], isComplete);
// To the client a list is complete with its first items already.
const items = (url, handler) => parts(url, handler, STREAMED, data => [names(data)], data => data.artist.length === 3);

const steps = {
  partsByPath: url => fragments(url, new Defer20220824Handler()),
  partsById: url => fragments(url, new GraphQL17Alpha9Handler()),
  itemsByPath: url => items(url, new Defer20220824Handler()),
  itemsById: url => items(url, new GraphQL17Alpha9Handler()),
  async introspection(url) {
    const { data } = await client(url).query({ query: gql(getIntrospectionQuery()) });
    return Object.keys(buildClientSchema(data).getQueryType().getFields()).filter(it => it.startsWith('album')).sort();
  },
  async query(url) {
    const variables = { where: { year: { _gt: 1990 } }, order: [{ year: 'asc' }, { title: 'desc' }], limit: 3, offset: 1 };
    const { data } = await client(url).query({ query: ALBUMS, variables });
    return [data.album.map(it => `${it.title} ${it.album_artist.name}`), data.album_aggregate.aggregate.count];
  },
  async changes(url) {
    const apollo = client(url);
    const added = await apollo.mutate({ mutation: ADD, variables: { title: 'Kappa', year: 2024, artist: 3 } });
    const { id } = added.data.insert_album_one;
    const changed = await apollo.mutate({ mutation: CHANGE, variables: { id, title: 'Lambda' } });
    const removed = await apollo.mutate({ mutation: REMOVE, variables: { id } });
    return [changed.data.update_album_by_pk.title, removed.data.delete_album_by_pk.title];
  },
  async error(url) {
    const { error } = await client(url).query({ query: gql`{ nothing }`, errorPolicy: 'all' });
    return error.message.includes('nothing');
  },
  liveByHttp: url => titles(client(url)),
  liveBySocket: url => titles(client(url, new GraphQLWsLink(createClient({ url: url.replace('http', 'ws'), retryAttempts: 0 })))),
};

window.run = async (step, url) => {
  try {
    return await steps[step](url);
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
