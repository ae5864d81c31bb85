// The types and the table of both servers; names are those that Weir gives them.
import pg from "pg";

pg.types.setTypeParser(pg.types.builtins.INT4, Number);
export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

export const typeDefs = `
  type item { id: Int! shelf: Int! count: Int! }
  input item_pk_columns_input { id: Int! }
  input item_set_input { count: Int }
  type Query { item_by_pk(id: Int!): item }
  type Mutation { update_item_by_pk(pk_columns: item_pk_columns_input!, _set: item_set_input): item }
  type Subscription { item_by_pk(id: Int!): item item(shelf: Int!): [item!]! }
`;

const rows = async (text, values) => (await pool.query({ name: text.slice(0, 40), text, values })).rows;
export const byPk = async (id) => (await rows("SELECT id, shelf, count FROM item WHERE id = $1", [id]))[0] ?? null;
export const shelf = (number) => rows("SELECT id, shelf, count FROM item WHERE shelf = $1 ORDER BY id", [number]);
export const update = async (id, count) =>
  (await rows("UPDATE item SET count = $2 WHERE id = $1 RETURNING id, shelf, count", [id, count]))[0] ?? null;
