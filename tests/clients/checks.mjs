// What the tests of all clients have: named checks, a line of counts at the end, and what the database holds.

import assert from 'node:assert/strict';

export const url = process.env.WEIR_URL;

let passed = 0;
let failed = 0;

/** Runs `work`; a check that fails is told, and the next one runs. */
export async function check(name, work) {
  try {
    await work();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error?.stack ?? error}`);
  }
}

/** `found` is `expected`, but for prototypes. */
export function same(found, expected) {
  assert.deepEqual(JSON.parse(JSON.stringify(found ?? null)), expected);
}

/** Ends with the line of counts. */
export function end(client) {
  console.log(`${client}: ${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
