// graphql-jit's side of the execution benchmark: compiled query to JSON text, nanoseconds of CPU time per answer field.
// Usage: node jit.mjs FIXTURES. Prints one `name<TAB>ns` line per case; the data are those of bench/exec/src/data.rs.

import { readFileSync } from 'node:fs';
import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { compileQuery } from 'graphql-jit';

const folder = process.argv[2];
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

function fieldsOf(value) {
  if (Array.isArray(value)) return value.reduce((sum, it) => sum + fieldsOf(it), 0);
  if (value === null || typeof value !== 'object') return 0;
  return Object.values(value).reduce((sum, it) => sum + 1 + fieldsOf(it), 0);
}

/** The least CPU time of 15 batches of at least 50 ms, after a warm-up of half a second. */
function nanoseconds(run) {
  const begun = performance.now();
  let warm = 0;
  while (performance.now() - begun < 500) { run(); warm += 1; }
  const batch = Math.max(1, Math.round(warm / 10));
  const times = range(15).map(() => {
    const before = process.cpuUsage();
    for (let i = 0; i < batch; i += 1) run();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1000) / batch;
  });
  return Math.min(...times);
}

const cases = [
  ['list 1,000 x 10', 'bench', '{ items { id name title price stock active rating sku views note } }'],
  ['nested 100 x 10 x 10', 'bench', '{ groups { id name sections { id name rows { id name value } } } }'],
  ['introspection of 32 types', 'mid', getIntrospectionQuery()],
  ['introspection of 1,200 types', 'big', getIntrospectionQuery()],
];
for (const [name, file, query] of cases) {
  const compiled = compileQuery(buildSchema(read(file)), parse(query), null, { customJSONSerializer: true });
  const answer = compiled.query({ items, groups }, {}, {});
  if (answer.errors?.length) throw answer.errors[0];
  const time = nanoseconds(() => compiled.stringify(compiled.query({ items, groups }, {}, {})));
  console.log(`${name}\t${(time / fieldsOf(answer.data)).toFixed(1)}`);
}
