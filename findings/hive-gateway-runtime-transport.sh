#!/usr/bin/env bash
# Hive Gateway's runtime 2.12.1 asks subgraphs by a package that it does not depend on: @graphql-mesh/transport-http. With the runtime
# alone a gateway starts, answers introspection, and answers each query that needs a subgraph with "Unexpected error." and status 200,
# without having asked it; nothing is printed unless logging is set. With the package beside it the same query is answered.
# Seen: without it `{"errors":[{"message":"Unexpected error.",…}],"data":{"word":null}}` and 0 requests, with it
# `{"data":{"word":"seen"}}` and 1 request.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --ignore-scripts @graphql-hive/gateway-runtime@2.12.1 @theguild/federation-composition@0.27.0 graphql@16.15.0 >>npm.log 2>&1
cat >seen.mjs <<'JS'
import http from "node:http";
import { parse } from "graphql";
import { createGatewayRuntime } from "@graphql-hive/gateway-runtime";
import { composeServices } from "@theguild/federation-composition";
let asked = 0;
const subgraph = http.createServer((request, response) => {
  asked += 1;
  response.setHeader("content-type", "application/json");
  response.end('{"data":{"word":"seen"}}');
});
await new Promise((done) => subgraph.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${subgraph.address().port}/graphql`;
const { supergraphSdl } = composeServices([{ name: "words", url, typeDefs: parse("type Query { word: String }") }]);
const gateway = createGatewayRuntime({ supergraph: supergraphSdl, logging: false });
const ask = async (query) => {
  const headers = { "content-type": "application/json" };
  const answer = await gateway.fetch("http://gateway/graphql", { method: "POST", headers, body: JSON.stringify({ query }) });
  return `${answer.status} ${await answer.text()}`;
};
console.log(await ask("{ __schema { queryType { name } } }"));
console.log(await ask("{ word }"));
console.log(`${asked} requests`);
process.exit(0);
JS
node seen.mjs >without.log 2>&1
cat without.log
npm install --ignore-scripts @graphql-mesh/transport-http@1.2.1 >>npm.log 2>&1
node seen.mjs >with.log 2>&1
cat with.log
grep -qF 'Unexpected error.' without.log
grep -qx '0 requests' without.log
grep -qF '200 {"data":{"word":"seen"}}' with.log
grep -qx '1 requests' with.log
echo "as stated: @graphql-hive/gateway-runtime 2.12.1"
