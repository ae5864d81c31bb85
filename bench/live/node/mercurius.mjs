// Mercurius with subscriptions that its own mutations wake by topic; the hot list is read again for each subscriber.
import Fastify from "fastify";
import mercurius from "mercurius";
import { byPk, shelf, typeDefs, update } from "./schema.mjs";

async function* started(first, events, read) {
  yield first;
  for await (const event of events) yield read ? await read() : event;
}
const app = Fastify();
app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  subscription: true,
  resolvers: {
    Query: { item_by_pk: (_, { id }) => byPk(id) },
    Mutation: {
      update_item_by_pk: async (_, { pk_columns, _set }, { pubsub }) => {
        const row = await update(pk_columns.id, _set.count);
        await pubsub.publish({ topic: `item:${row.id}`, payload: { item_by_pk: row } });
        await pubsub.publish({ topic: `shelf:${row.shelf}`, payload: {} });
        return row;
      },
    },
    Subscription: {
      item_by_pk: {
        subscribe: async (_, { id }, { pubsub }) => {
          const events = await pubsub.subscribe(`item:${id}`);
          return started({ item_by_pk: await byPk(id) }, events);
        },
      },
      item: {
        subscribe: async (_, args, { pubsub }) => {
          const events = await pubsub.subscribe(`shelf:${args.shelf}`);
          const read = async () => ({ item: await shelf(args.shelf) });
          return started(await read(), events, read);
        },
      },
    },
  },
});
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
