// Posts and their users for Hive Gateway: a graph that GraphQL Mesh composes from descriptions of the services at UPSTREAM.
import { defineConfig } from "@graphql-mesh/compose-cli";
import { loadJSONSchemaSubgraph } from "@omnigraph/json-schema";

const batched = process.env.BATCH === "1";
const arguments_ = batched
  ? 'sourceFieldName: "usersByIds", keyField: "userId", keysArg: "id"'
  : 'sourceFieldName: "userById", requiredSelectionSet: "{ userId }", sourceArgs: { id: "{root.userId}" }';

export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadJSONSchemaSubgraph("posts", {
        endpoint: process.env.UPSTREAM,
        operations: [
          { type: "Query", field: "posts", path: "/posts", method: "GET", responseSchema: "./services.json#/definitions/posts" },
          {
            type: "Query",
            field: "userById",
            path: "/users/{args.id}",
            method: "GET",
            argTypeMap: { id: { type: "integer" } },
            responseSchema: "./services.json#/definitions/user",
          },
          {
            type: "Query",
            field: "usersByIds",
            path: "/users",
            method: "GET",
            argTypeMap: { id: { type: "array", items: { type: "integer" } } },
            queryParamArgMap: { id: "id" },
            responseSchema: "./services.json#/definitions/users",
          },
        ],
      }),
    },
  ],
  additionalTypeDefs: `extend type Post { user: User @resolveTo(sourceName: "posts", sourceTypeName: "Query", ${arguments_}) }`,
});
