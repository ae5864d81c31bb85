// What both servers resolve alike. Fields that are asked once per parent are left to the loaders of each.
import { readFileSync } from "node:fs";
import { byIds, get } from "./services.mjs";

export const typeDefs = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");

export const resolvers = {
  Query: {
    greet: () => "Hello World!",
    posts: () => get("/posts"),
    match: (_, { id }) => get(`/matches/${id}`),
    me: (_, { id }) => get(`/users/${id}`),
  },
  User: { wallet: ({ id }) => get(`/users/${id}/wallet`) },
  Match: {
    teams: ({ homeTeamId, awayTeamId }) => byIds("/teams", [homeTeamId, awayTeamId]),
    score: ({ id }) => get(`/matches/${id}/score`),
    contests: ({ id }) => get(`/matches/${id}/contests`),
    leaderboard: ({ id }) => get(`/matches/${id}/leaderboard`),
    myTeams: ({ id }, { user }) => get(`/users/${user}/matches/${id}/teams`),
  },
};
