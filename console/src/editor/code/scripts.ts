// An operation as code of JavaScript: fetch, Apollo Client, urql.

import { credentialHeader, credentialVariable, lineText, scriptValue, templateText } from './snippet';
import type { Snippet } from './snippet';

const credentialValue = (it: Snippet) => (it.credential === 'token' ? `\`Bearer \${process.env.${credentialVariable(it)}}\`` : `process.env.${credentialVariable(it)}`);

function headersText(it: Snippet, first: Record<string, string>, space: string): string {
  const lines = Object.entries({ ...first, ...it.headers }).map(([name, value]) => `${lineText(name)}: ${lineText(value)}`);
  if (it.credential) lines.push(`${lineText(credentialHeader(it))}: ${credentialValue(it)}`);
  return lines.length === 0 ? '{}' : `{\n${space}  ${lines.join(`,\n${space}  `)},\n${space}}`;
}

const variablesLine = (it: Snippet) => `const variables = ${it.variables === null ? '{}' : scriptValue(it.variables)};`;

export function fetchCode(it: Snippet): string {
  const isLive = it.kind === 'subscription';
  const name = it.operationName === null ? '' : `operationName: ${lineText(it.operationName)}, `;
  const lines = [
    `const query = ${templateText(it.query)};`,
    variablesLine(it),
    '',
    `const response = await fetch(${lineText(it.url)}, {`,
    "  method: 'POST',",
    `  headers: ${headersText(it, { 'content-type': 'application/json', accept: isLive ? 'text/event-stream' : 'application/graphql-response+json, application/json;q=0.9' }, '  ')},`,
    `  body: JSON.stringify({ query, ${name}variables }),`,
    '});',
  ];
  if (isLive) {
    return [
      ...lines,
      "let text = '';",
      'for await (const part of response.body.pipeThrough(new TextDecoderStream())) {',
      '  text += part;',
      '  const events = text.split(/\\r?\\n\\r?\\n/);',
      '  text = events.pop();',
      '  for (const event of events) {',
      '    const data = event.split(/\\r?\\n/).filter(line => line.startsWith("data:")).map(line => line.slice(5)).join("\\n").trim();',
      '    if (data) console.log(JSON.parse(data));',
      '  }',
      '}',
      '',
    ].join('\n');
  }
  return [...lines, 'const { data, errors } = await response.json();', 'if (errors) throw new Error(errors[0].message);', 'console.log(data);', ''].join('\n');
}

const socketUrl = (url: string) => url.replace(/^http/, 'ws');

export function apolloCode(it: Snippet): string {
  const document = `const document = gql${templateText(it.query)};`;
  if (it.kind === 'subscription') {
    return [
      "import { ApolloClient, InMemoryCache, gql } from '@apollo/client';",
      "import { GraphQLWsLink } from '@apollo/client/link/subscriptions';",
      "import { createClient } from 'graphql-ws';",
      '',
      'const client = new ApolloClient({',
      `  link: new GraphQLWsLink(createClient({ url: ${lineText(socketUrl(it.url))}, connectionParams: { headers: ${headersText(it, {}, '  ')} } })),`,
      '  cache: new InMemoryCache(),',
      '});',
      '',
      document,
      variablesLine(it),
      '',
      'client.subscribe({ query: document, variables }).subscribe(({ data, error }) => console.log(data ?? error));',
      '',
    ].join('\n');
  }
  const call = it.kind === 'query' ? 'client.query({ query: document, variables })' : 'client.mutate({ mutation: document, variables })';
  return [
    "import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';",
    '',
    'const client = new ApolloClient({',
    `  link: new HttpLink({ uri: ${lineText(it.url)}, headers: ${headersText(it, {}, '  ')} }),`,
    '  cache: new InMemoryCache(),',
    '});',
    '',
    document,
    variablesLine(it),
    '',
    `const { data } = await ${call};`,
    'console.log(data);',
    '',
  ].join('\n');
}

export function urqlCode(it: Snippet): string {
  const isLive = it.kind === 'subscription';
  const head = isLive
    ? ["import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core';", "import { createClient } from 'graphql-ws';", '', `const sockets = createClient({ url: ${lineText(socketUrl(it.url))}, connectionParams: { headers: ${headersText(it, {}, '')} } });`]
    : ["import { cacheExchange, Client, fetchExchange, gql } from '@urql/core';"];
  const exchanges = isLive
    ? '[fetchExchange, subscriptionExchange({ forwardSubscription: ({ query = "", variables }) => ({ subscribe: sink => ({ unsubscribe: sockets.subscribe({ query, variables }, sink) }) }) })]'
    : '[cacheExchange, fetchExchange]';
  const end = isLive
    ? ['client.subscription(document, variables).subscribe(({ data, error }) => console.log(data ?? error));']
    : [`const { data, error } = await client.${it.kind}(document, variables).toPromise();`, 'if (error) throw error;', 'console.log(data);'];
  return [
    ...head,
    '',
    'const client = new Client({',
    `  url: ${lineText(it.url)},`,
    `  exchanges: ${exchanges},`,
    '  preferGetMethod: false,',
    `  fetchOptions: { headers: ${headersText(it, {}, '  ')} },`,
    '});',
    '',
    `const document = gql${templateText(it.query)};`,
    variablesLine(it),
    '',
    ...end,
    '',
  ].join('\n');
}
