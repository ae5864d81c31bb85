// PostGraphile 5 over the database DATABASE_URL on the port PORT: production settings, plain lists, no GraphiQL, no watch.
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

const server = postgraphile({
  extends: [PostGraphileAmberPreset],
  schema: { defaultBehavior: "+list +connection" },
  pgServices: [makePgService({ connectionString: process.env.DATABASE_URL, schemas: ["public"], poolConfig: { max: 20 } })],
  grafserv: { graphiql: false, websockets: false, watch: false, graphqlPath: "/graphql" },
  grafast: { explain: false },
}).createServ(grafserv);
const http = createServer();
await server.addTo(http);
http.listen(Number(process.env.PORT), "127.0.0.1");
