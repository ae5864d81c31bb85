// Prints the schema of a server as SDL, by introspection.
const { getIntrospectionQuery, buildClientSchema, printSchema } = require("graphql");
fetch(process.argv[2], { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: getIntrospectionQuery() }) })
  .then((it) => it.json()).then((it) => console.log(printSchema(buildClientSchema(it.data))));
