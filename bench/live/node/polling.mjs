// graphql-ws over graphql-js, each subscription read once a second, a result sent when it differs: Hasura's way.
import { createServer } from "node:http";
import { buildSchema, execute, graphql, subscribe } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";
import { byPk, shelf, typeDefs, update } from "./schema.mjs";

async function* polled(key, read) {
  for (let last; ; await new Promise((done) => setTimeout(done, 1000))) {
    const value = await read();
    const text = JSON.stringify(value);
    if (text !== last) yield { [key]: value };
    last = text;
  }
}
const schema = buildSchema(typeDefs);
schema.getSubscriptionType().getFields().item_by_pk.subscribe = (_, { id }) => polled("item_by_pk", () => byPk(id));
schema.getSubscriptionType().getFields().item.subscribe = (_, args) => polled("item", () => shelf(args.shelf));
const rootValue = {
  item_by_pk: ({ id }) => byPk(id),
  update_item_by_pk: ({ pk_columns, _set }) => update(pk_columns.id, _set.count),
};
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const { query, variables } = JSON.parse(Buffer.concat(parts));
  const answer = await graphql({ schema, source: query, variableValues: variables, rootValue });
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
});
useServer({ schema, execute, subscribe }, new WebSocketServer({ server, path: "/graphql" }));
server.listen(Number(process.env.PORT), "127.0.0.1");
