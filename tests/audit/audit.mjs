// GraphQL over HTTP: the whole audit suite of npm package graphql-http against a running server.
// Usage: node audit.mjs http://127.0.0.1:8080/graphql. Prints each failure and a line of counts.

import { auditServer } from 'graphql-http';

const AUDITS = 61;
const url = process.argv[2];
const results = await auditServer({ url, fetchFn: fetch });
const passed = results.filter(it => it.status === 'ok').length;
for (const it of results) {
  if (it.status !== 'ok') console.log(`${it.status.toUpperCase()} ${it.id} ${it.name}: ${it.reason}`);
}
// A warning or notice is a recommendation that is not followed: it counts as a failure here.
console.log(`audit: ${passed} passed, ${AUDITS - passed} failed`);
process.exit(passed === AUDITS ? 0 : 1);
