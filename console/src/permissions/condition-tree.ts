// The condition of a permission as a tree that is clicked together, and as the JSON that the metadata has.
//
// A part that the tree has no form for is kept as JSON, unchanged.

import type { Condition, Operand } from '../data/filters';
import { CONTAINS, conditionValue, containsPattern } from '../data/filters';
import { isScalar, parseExact } from '../server/exact-number';
import type { Json } from '../metadata/served';

export type TreeNode =
  | { kind: 'all' | 'any'; parts: TreeNode[] }
  | { kind: 'not'; parts: [TreeNode] }
  /** A related row, or any row of a table, that fulfils all parts. */
  | { kind: 'related'; name: string; parts: TreeNode[] }
  | { kind: 'exists'; table: Json; parts: TreeNode[] }
  /** A test of a column, perhaps of a related row. */
  | { kind: 'test'; condition: Condition }
  | { kind: 'raw'; json: Json };

type Members = { [key: string]: Json };
const isObject = (value: Json | undefined): value is Members => !isScalar(value) && !Array.isArray(value);

/** The JSON of tests as they were read: one that nobody changes is written back as it was. */
const originals = new WeakMap<Condition, Json>();

function testOf(condition: Condition, leaf: Json): TreeNode {
  originals.set(condition, wrapLeaf(condition.path, leaf));
  return { kind: 'test', condition };
}

const wrapLeaf = (path: string[], leaf: Json) => path.reduceRight<Json>((inner, part) => ({ [part]: inner }), leaf);

/** Names that lead to other rows from a table; a name below one is of that table. */
export interface Names {
  isRelationship: (path: string[]) => boolean;
  /** True for a column that the page has operators for; tests of others stay JSON. */
  isColumn: (path: string[]) => boolean;
  /** Names from another table, as the metadata calls it. */
  namesIn: (table: Json) => Names;
  /** Names from the table that a relationship leads to. */
  namesBelow: (relationship: string) => Names;
}

/** What conditions on the rows of a table can be about, and those on rows that belong to them. */
export interface Scope {
  operands: Operand[];
  scopeIn: (table: Json) => Scope;
  scopeBelow: (relationship: string) => Scope;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function member(key: string, value: Json, path: string[], names: Names): TreeNode[] {
  const raw: TreeNode[] = [{ kind: 'raw', json: path.reduceRight<Json>((inner, name) => ({ [name]: inner }), { [key]: value }) }];
  switch (key) {
    case '_and': case '_or':
      if (!Array.isArray(value) || path.length > 0) return raw;
      return [{ kind: key === '_and' ? 'all' : 'any', parts: value.map(it => readTree(it, names)) }];
    case '_not':
      return isObject(value) && path.length === 0 ? [{ kind: 'not', parts: [readTree(value, names)] }] : raw;
    case '_exists': {
      if (!isObject(value) || path.length > 0 || !isObject(value._where) || value._table === undefined) return raw;
      return [{ kind: 'exists', table: value._table, parts: partsOf(readTree(value._where, names.namesIn(value._table))) }];
    }
  }
  const here = [...path, key];
  if (names.isRelationship(here)) {
    if (!isObject(value)) return raw;
    const keys = Object.keys(value);
    const [only] = keys;
    // One test of a related row is one line; more are a group of their own.
    if (keys.length === 1 && only !== undefined && !only.startsWith('_') && path.length === 0) {
      const inner = member(only, value[only]!, here, names);
      if (inner.length === 1 && inner[0]!.kind === 'test') return inner;
    }
    if (path.length > 0) return raw;
    return [{ kind: 'related', name: key, parts: partsOf(readTree(value, names.namesBelow(key))) }];
  }
  if (!names.isColumn(here)) return raw;
  if (value === null) return [testOf({ path: here, operator: '_is_null', value: 'true' }, value)];
  // An empty field is a value that is missing, so the empty text stays JSON.
  if (value === '') return raw;
  if (!isObject(value)) return [testOf({ path: here, operator: '_eq', value: textOf(value) }, value)];
  const tests = Object.entries(value);
  if (tests.length === 0 || tests.some(([name, it]) => !name.startsWith('_') || isObject(it) || it === null || it === '')) return raw;
  return tests.map(([operator, it]) => testOf({ path: here, operator: operator === '_ne' ? '_neq' : operator, value: textOf(it) }, { [operator]: it }));
}

/** The parts of a conjunction; a single condition is its own part. */
const partsOf = (node: TreeNode): TreeNode[] => (node.kind === 'all' ? node.parts : [node]);

export function readTree(json: Json, names: Names): TreeNode {
  if (!isObject(json)) return { kind: 'raw', json };
  const parts = Object.entries(json).flatMap(([key, value]) => member(key, value, [], names));
  return parts.length === 1 ? parts[0]! : { kind: 'all', parts };
}

export interface Written {
  json: Json;
  /** Words on the first condition that is not whole. */
  fault: string | null;
}

/** True for a column of another row, which is a list of names: `["$", "shop_id"]`. */
function isColumnPath({ operator, value }: Condition): boolean {
  try {
    return /^_c[a-z]+$/.test(operator) && Array.isArray(parseExact(value));
  } catch {
    return false;
  }
}

function writeTest(condition: Condition, operands: Operand[]): Written {
  const original = originals.get(condition);
  if (original !== undefined) return { json: original, fault: null };
  const name = condition.path.join('.');
  const operator = operands.find(it => it.path.join('.') === name)?.operators.find(it => it.name === condition.operator);
  // An operator that the page does not offer stays as it was written.
  const read = operator && !isColumnPath(condition) ? conditionValue(condition, operator) : { value: isColumnPath(condition) ? parseExact(condition.value) : condition.value };
  if ('error' in read) return { json: {}, fault: `${name}: ${read.error}` };
  if (condition.value === '') return { json: {}, fault: `${name}: a value is missing` };
  const value = condition.operator === '_is_null' ? String(read.value) === 'true' : (read.value as Json);
  return { json: wrapLeaf(condition.path, condition.operator === CONTAINS ? { _ilike: containsPattern(String(value)) } : { [condition.operator]: value }), fault: null };
}

/** One object of all parts, if no two of them have a key in common; else a list. */
function joined(parts: Json[]): Json {
  const keys = parts.flatMap(it => (isObject(it) ? Object.keys(it) : ['']));
  if (parts.every(isObject) && new Set(keys).size === keys.length) return Object.assign({}, ...parts);
  return { _and: parts };
}

/** The JSON of a tree. */
export function writeTree(node: TreeNode, scope: Scope): Written {
  const all = (parts: TreeNode[], of: Scope): { parts: Json[]; fault: string | null } => {
    const written = parts.map(it => writeTree(it, of));
    return { parts: written.map(it => it.json), fault: written.find(it => it.fault !== null)?.fault ?? null };
  };
  switch (node.kind) {
    case 'all': {
      const { parts, fault } = all(node.parts, scope);
      return { json: joined(parts), fault };
    }
    case 'any': {
      const { parts, fault } = all(node.parts, scope);
      return { json: { _or: parts }, fault };
    }
    case 'not': {
      const { json, fault } = writeTree(node.parts[0], scope);
      return { json: { _not: json }, fault };
    }
    case 'related': {
      const { parts, fault } = all(node.parts, scope.scopeBelow(node.name));
      return { json: { [node.name]: joined(parts) }, fault };
    }
    case 'exists': {
      const { parts, fault } = all(node.parts, scope.scopeIn(node.table));
      return { json: { _exists: { _table: node.table, _where: joined(parts) } }, fault };
    }
    case 'test': return writeTest(node.condition, scope.operands);
    case 'raw': return { json: node.json, fault: null };
  }
}
