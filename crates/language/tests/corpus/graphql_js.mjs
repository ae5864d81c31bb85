// Writes graphql_js.json: texts made at random from the grammar and damaged, with what graphql-js says of them.
//
//   npm install graphql@17.1.0 && node graphql_js.mjs 7 500 graphql_js.json few
//
// Arguments: seed, number of texts, file, and `few` for a few texts of each shape of message.
import { parse, print } from 'graphql';
import { writeFileSync } from 'node:fs';
let seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 500);
const out = process.argv[4] ?? 'cases.json';
const rnd = (n) => { seed = (seed + 0x6D2B79F5) | 0; let t = Math.imul(seed ^ (seed >>> 15), 1 | seed); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) % n; };
const pick = (a) => a[rnd(a.length)];
const names = ['a','id','name','on','query','fragment','type','input','true_','T','Album','_x','repeatable','implements','extend','LONG_NAME_of_a_field_or_type','FIELD','QUERY','__typename'];
const name = () => pick(names);
const opt = (f, p = 2) => rnd(p) === 0 ? f() : '';
const many = (f, sep = ' ', max = 3, min = 1) => Array.from({ length: min + rnd(max) }, f).join(sep);
const strs = ['""','"x"','"a\\"b\\\\ \\n\\t"','"é\\u00e9\\u{1F600}\\uD83D\\uDE00"','"""\n  block\n    more\n  """','""""a" b"""','"""x \\""" y"""','"""   """','"a longer text that goes on and on so that lines must be broken somewhere, or not"','"""one line that is longer than seventy characters so that it is printed on its own"""','"""ends with slash\\\n"""', '"""  indented first\n  second"""', '"\\u0000\\u007f\\b"', '"""tab\n\t\tx\n\t y"""', '"""cr\r\n  lf\r  x"""'];
const value = (d = 0, c = false) => { switch (rnd(d > 2 ? 7 : 11)) {
  case 0: return pick(['0','-1','123','9007199254740993']); case 1: return pick(['1.5','-0.0','1e10','1.2E-3']); case 2: return pick(strs);
  case 3: return pick(['true','false','null']); case 4: return name(); case 5: return c ? '7' : '$' + name(); case 6: return '"s"';
  case 7: case 8: return '[' + many(() => value(d + 1, c), pick([' ', ', ', ',']), rnd(9) == 0 ? 30 : 4, 0) + ']';
  default: return '{' + many(() => name() + pick([':', ': ', ' : ']) + value(d + 1, c), pick([' ', ', ']), 4, 0) + '}'; } };
const args = (c) => '(' + many(() => name() + ': ' + value(0, c), pick([' ', ', ']), rnd(6) == 0 ? 7 : 3) + ')';
const dirs = (c) => many(() => ' @' + name() + opt(() => args(c)), '', 2, 1) + ' ';
const type = (d = 0) => (d < 3 && rnd(3) == 0 ? '[' + type(d + 1) + ']' : name()) + opt(() => '!', 3);
const set = (d = 0) => '{ ' + many(() => sel(d), pick([' ', '\n', ', ', ' # c\n']), 3, rnd(25) == 0 ? 0 : 1) + ' }';
const sel = (d) => { switch (rnd(6)) { case 0: return '...' + pick(['X', 'Frag', name()]) + opt(() => dirs(false), 3); case 1: return '... ' + opt(() => 'on ' + name()) + opt(() => dirs(false), 3) + set(d + 1);
  default: return opt(() => name() + ': ', 4) + name() + opt(() => args(false), 3) + opt(() => dirs(false), 5) + (d < 4 ? opt(() => set(d + 1), 3) : ''); } };
const desc = () => opt(() => pick(strs) + pick([' ', '\n']), 4);
const vars = () => '(' + many(() => desc() + '$' + name() + ': ' + type() + opt(() => ' = ' + value(0, true), 3) + opt(() => dirs(true), 4), pick([' ', ', ']), 3) + ')';
const idef = () => desc() + name() + ': ' + type() + opt(() => ' = ' + value(0, true), 4) + opt(() => dirs(true), 5);
const fdef = () => desc() + name() + opt(() => '(' + many(idef, ', ') + ')', 3) + ': ' + type() + opt(() => dirs(true), 5);
const impl = () => opt(() => ' implements ' + opt(() => '& ') + many(name, ' & '));
const locs = ['FIELD','QUERY','OBJECT','ENUM_VALUE','VARIABLE_DEFINITION','INPUT_FIELD_DEFINITION','DIRECTIVE_DEFINITION'];
const def = () => { const e = opt(() => 'extend ', 5); const d = e && rnd(12) ? '' : desc(); switch (rnd(15)) {
  case 0: return set(); case 1: case 2: case 3: return desc() + pick(['query','mutation','subscription']) + ' ' + opt(name) + opt(vars) + opt(() => dirs(false), 3) + set();
  case 4: case 5: return desc() + 'fragment ' + name() + ' on ' + name() + opt(() => dirs(false), 3) + set();
  case 6: return d + e + 'schema ' + opt(() => dirs(true), 3) + '{ ' + many(() => pick(['query','mutation','subscription']) + ': ' + name(), ' ') + ' }';
  case 7: return d + e + 'scalar ' + name() + opt(() => dirs(true)); case 8: return d + e + 'type ' + name() + impl() + opt(() => dirs(true), 3) + opt(() => '{ ' + many(fdef, '\n', 3) + ' }', 1);
  case 9: return d + e + 'interface ' + name() + impl() + opt(() => dirs(true), 3) + opt(() => '{ ' + many(fdef, ' ', 3) + ' }');
  case 10: return d + e + 'union ' + name() + opt(() => dirs(true), 3) + opt(() => ' = ' + opt(() => '| ') + many(name, ' | '));
  case 11: return d + e + 'enum ' + name() + opt(() => dirs(true), 3) + opt(() => '{ ' + many(() => desc() + pick(['A','B','true','null','C']) + opt(() => dirs(true), 4), ' ') + ' }');
  case 12: return d + e + 'input ' + name() + opt(() => dirs(true), 3) + opt(() => '{ ' + many(idef, ' ') + ' }');
  case 13: return 'extend directive @' + name() + opt(() => dirs(true));
  default: return desc() + 'directive @' + name() + opt(() => '(' + many(idef, ', ') + ')', 3) + opt(() => dirs(true), 4) + ' ' + opt(() => 'repeatable ', 3) + 'on ' + opt(() => '| ') + many(() => pick(locs), ' | '); } };
const junk = ['{','}','(',')','[',']','!','$','&','...','..','.','.5',':','=','@','|','"','"""','\\','\'','?','é','\u{1F600}','\u0000','\ufeff','-','01','1.','1e','1x','0xF','"\\u{110000}"','"\\uD800"','"\\x"','"\\u{}"','"\\u12"','"\\u{80000000}"','"\\uD800\\u0041"','"\\u{1F600"','#c\n','\n','on','fragment','null','extend','1.2.3','-a','"a\nb"','""','"d"',',,'];
const mutate = (t) => { const at = rnd(t.length + 1); const len = rnd(3) == 0 ? rnd(8) : 0; return t.slice(0, at) + (rnd(5) == 0 ? '' : pick(junk)) + t.slice(at + len); };
const run = (text, options) => { try { return { print: print(parse(text, options)) }; } catch (e) { if (!e.locations) throw e; return { error: e.message, line: e.locations[0].line, column: e.locations[0].column }; } };
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const seen = new Set(); const shapes = new Map(); const cases = [];
for (let tries = 0; tries < 400000 && cases.length < count; tries++) {
  let text = many(def, pick([' ', '\n']), 2); if (text.length > 700) continue;
  for (let n = rnd(4) - 1; n > 0; n--) text = mutate(text);
  if (lone.test(text) || seen.has(text)) continue; seen.add(text);
  const r = run(text, {});
  // A few of each shape of message, so that none crowds out the others.
  const shape = r.error ? r.error.replace(/"[^"]*"/g, '_').replace(/found .*/s, '').replace(/(sequence:|String|BlockString) .*/s, '$1') : 'ok';
  const n = (shapes.get(shape) ?? 0) + 1; if (process.argv[5] && n > (r.error ? 14 : 150)) continue; shapes.set(shape, n);
  if (lone.test(r.error ?? r.print)) continue;
  const strict = run(text, { allowEmptySelectionSets: false });
  const c = { text, ...r }; if (strict.error !== r.error && !text.includes('directive')) c.strict = strict.error;
  cases.push(c);
}
writeFileSync(out, '[\n' + cases.map((c) => JSON.stringify(c)).join(',\n') + '\n]\n');
console.log(cases.length, [...shapes].map(([k, v]) => v + ' ' + k).join('\n'));
