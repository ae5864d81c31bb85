// The JavaScript contenders of the execution benchmark: from a document that was parsed, validated and, by graphql-jit, compiled
// before, to JSON text. Usage: node contenders.mjs graphql-js|graphql-jit FIXTURES ANSWERS. Writes its answers into the folder
// ANSWERS and prints `version<TAB>…`, then `case<TAB>ns` lines: nanoseconds of CPU time per request. The data are those of
// bench/exec/src/data.rs. BENCH_PASSES is the number of batches.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as graphql16 from 'graphql';
import * as graphql17 from 'graphql17';
import { compileQuery } from 'graphql-jit';

const [contender, folder, answers] = process.argv.slice(2);
const batches = Number(process.env.BENCH_PASSES ?? 9);
const read = name => readFileSync(`${folder}/${name}.graphql`, 'utf8');
const range = count => [...Array(count).keys()];

const items = range(1000).map(i => ({
  id: String(i), name: `Item ${i}`, title: i % 7 ? `Title of item ${i}` : null, price: i * 1.25 + 0.1, stock: i % 100,
  active: i % 2 === 0, rating: i % 5 ? (i % 50) / 10 : null, sku: `SKU-${String(i).padStart(6, '0')}`, views: i * 37,
  note: i % 3 ? `A note with "quotes" for item ${i}` : null,
}));
const row = (a, b) => c => ({ id: `r${a}-${b}-${c}`, name: `Row ${c}`, value: a * b + c });
const section = a => b => ({ id: `s${a}-${b}`, name: `Section ${b}`, rows: range(10).map(row(a, b)) });
const groups = range(100).map(a => ({ id: `g${a}`, name: `Group ${a}`, sections: range(10).map(section(a)) }));

const root = { items, groups, links: range(20).map(chain => ({ id: chain * 100 })) };

/** Makes the chains of a schema endless: what follows a link is a promise. */
function linked(schema) {
  const next = schema.getType('Link')?.getFields().next;
  if (next) next.resolve = async ({ id }) => ({ id: id + 1 });
  return schema;
}

/** A function that answers `query` with a text, or with a promise of it. */
function graphqlJs(sdl, query) {
  const { buildSchema, execute, parse, validate } = graphql17;
  const schema = linked(buildSchema(sdl));
  const document = parse(query);
  const [error] = validate(schema, document);
  if (error) throw error;
  return () => text(execute({ schema, document, rootValue: root }), JSON.stringify);
}

function graphqlJit(sdl, query) {
  const { buildSchema, parse, validate } = graphql16;
  const [schema, document] = [linked(buildSchema(sdl)), parse(query)];
  const [error] = validate(schema, document);
  if (error) throw error;
  const compiled = compileQuery(schema, document, null, { customJSONSerializer: true });
  return () => text(compiled.query(root, {}, {}), compiled.stringify);
}

const text = (answer, stringify) => (typeof answer.then === 'function' ? answer.then(stringify) : stringify(answer));

const contenders = {
  'graphql-js': { answers: graphqlJs, version: graphql17.version },
  'graphql-jit': {
    answers: graphqlJit,
    version: JSON.parse(readFileSync(new URL('node_modules/graphql-jit/package.json', import.meta.url), 'utf8')).version,
  },
};

/** Runs `count` times; waits where the answer is a promise. */
async function repeat(run, count) {
  for (let i = 0; i < count; i += 1) {
    const answer = run();
    if (typeof answer !== 'string') await answer;
  }
}

/** The least CPU time of some batches of at least 50 ms, after a warm-up of half a second. */
async function nanoseconds(run) {
  const begun = performance.now();
  let warm = 0;
  while (performance.now() - begun < 500) { await repeat(run, 1); warm += 1; }
  const batch = Math.max(1, Math.ceil(warm / 10));
  let least = Infinity;
  for (let pass = 0; pass < batches; pass += 1) {
    const before = process.cpuUsage();
    await repeat(run, batch);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, ((user + system) * 1000) / batch);
  }
  return least;
}

const cases = [
  ['list', 'bench', 'q_list'],
  ['nested', 'bench', 'q_nested'],
  ['chain', 'bench', 'q_chain'],
  ['introspection-mid', 'mid', 'introspection'],
  ['introspection-big', 'big', 'introspection'],
];
const { answers: answersOf, version } = contenders[contender];
mkdirSync(answers, { recursive: true });
console.log(`version\t${version}`);
for (const [name, schema, operation] of cases) {
  const run = answersOf(read(schema), read(operation));
  writeFileSync(`${answers}/${name}.json`, await run());
  console.log(`${name}\t${(await nanoseconds(run)).toFixed(0)}`);
}
