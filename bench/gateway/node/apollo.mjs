// Apollo Server, a DataLoader per field and request.
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import DataLoader from "dataloader";
import { resolvers, typeDefs } from "./resolvers.mjs";
import { authors, byIds } from "./services.mjs";

const context = async () => ({
  authors: new DataLoader(authors),
  players: new DataLoader((ids) => byIds("/players", ids)),
  users: new DataLoader((ids) => byIds("/users", ids)),
});
const loaded = {
  Post: { user: ({ userId }, _, { authors }) => authors.load(userId) },
  Slot: { player: ({ playerId }, _, { players }) => players.load(playerId) },
  Entry: { user: ({ userId }, _, { users }) => users.load(userId) },
};
const server = new ApolloServer({ typeDefs, resolvers: { ...resolvers, ...loaded } });
await startStandaloneServer(server, { context, listen: { port: Number(process.env.PORT), host: "127.0.0.1" } });
