// The services as every Node server here calls them: one pool of connections that stay open, JSON in.
import { Pool } from "undici";

const pool = new Pool(process.env.UPSTREAM, { connections: null, pipelining: 1 });

export async function get(path) {
  const { statusCode, body } = await pool.request({ path, method: "GET" });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the service answered ${statusCode}`);
  }
  return body.json();
}

// One call for all ids; the objects come back in their order.
export async function byIds(path, ids) {
  const rows = await get(`${path}?${ids.map((id) => `id=${id}`).join("&")}`);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

// The users of posts: one call for all (n1b) or one for each (n1).
export const authors = (ids) =>
  process.env.BATCH === "1" ? byIds("/users", ids) : Promise.all(ids.map((id) => get(`/users/${id}`)));
