// Mercurius with its compiler of queries (jit) and its own loaders.
import Fastify from "fastify";
import mercurius from "mercurius";
import { resolvers, typeDefs } from "./resolvers.mjs";
import { authors, byIds } from "./services.mjs";

// A loader gets all parents of a level; equal keys are asked once.
const loader = (key, fetch) => async (parents) => {
  const ids = [...new Set(parents.map(({ obj }) => obj[key]))];
  const rows = await fetch(ids);
  const found = new Map(ids.map((id, at) => [id, rows[at]]));
  return parents.map(({ obj }) => found.get(obj[key]));
};
const app = Fastify();
app.register(mercurius, {
  schema: typeDefs,
  resolvers,
  jit: 1,
  loaders: {
    Post: { user: loader("userId", authors) },
    Slot: { player: loader("playerId", (ids) => byIds("/players", ids)) },
    Entry: { user: loader("userId", (ids) => byIds("/users", ids)) },
  },
});
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
