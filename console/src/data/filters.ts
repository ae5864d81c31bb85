// Conditions as they are clicked together: which columns and operators there are, values by type, and the filter that they make.

import { getNamedType, isEnumType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql';
import type { GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import { parseExact } from '../server/exact-number';
import type { Table, Tables } from './catalog';
import { plainOperator, plainType } from './convention';

/** A condition of the filter; the value as it was written. */
export interface Condition {
  path: string[];
  operator: string;
  value: string;
}

export interface Operator {
  name: string;
  type: string;
  isList: boolean;
  values?: string[];
  /** A permission's: in place of a value stands the name of a session variable. */
  takesSession?: boolean;
}

/** True for the name of a session variable, which a permission reads where a value could stand. */
export const isSessionVariable = (text: string) => /^x-hasura-\S+$/i.test(text.trim());

/** What a condition can be about: a column, or one of a related table. */
export interface Operand {
  path: string[];
  operators: Operator[];
}

/** `contains` is no operator of the API: it is `_ilike` with a pattern. */
export const CONTAINS = 'contains';

const WORDS: Record<string, string> = {
  _eq: 'is', _neq: 'is not', _gt: 'is greater than', _gte: 'is at least', _lt: 'is less than', _lte: 'is at most',
  _in: 'is one of', _nin: 'is none of', _is_null: 'is null', _like: 'is like', _nlike: 'is not like',
  _ilike: 'is like, in any case', _nilike: 'is not like, in any case', _similar: 'is similar to', _nsimilar: 'is not similar to',
  _regex: 'matches', _nregex: 'does not match', _iregex: 'matches, in any case', _niregex: 'does not match, in any case',
  _contains: 'contains', _contained_in: 'is contained in', _has_key: 'has the key', _has_keys_any: 'has a key of', _has_keys_all: 'has the keys',
  eq: 'is', in: 'is one of', le: 'is at most', lt: 'is less than', ge: 'is at least', gt: 'is greater than',
  allofterms: 'has all words of', anyofterms: 'has a word of', alloftext: 'has the text', anyoftext: 'has text of', regexp: 'matches',
  _ceq: 'is the column', _cneq: 'is not the column', _cgt: 'is greater than the column', _cgte: 'is at least the column',
  _clt: 'is less than the column', _clte: 'is at most the column',
  [CONTAINS]: 'contains',
};

export const operatorWords = (name: string) => WORDS[name] ?? name.replaceAll('_', ' ').trim();

/** Conditions below relationships are offered this deep. */
const DEPTH_MAX = 2;

function operatorsOf(type: GraphQLInputObjectType, isCamel: boolean): Operator[] {
  const found = Object.values(type.getFields()).flatMap(field => {
    const named = getNamedType(field.type);
    if (!isLeafType(named)) return [];
    const isList = isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
    const values = isEnumType(named) ? { values: named.getValues().map(it => it.name) } : {};
    return [{ name: plainOperator(isCamel, field.name), type: isEnumType(named) ? named.name : plainType(isCamel, named.name), isList, ...values }];
  });
  const like = found.find(it => it.name === '_ilike');
  // Plain comparisons come first: they are what most people look for.
  const rank = (it: Operator) => ['_eq', CONTAINS, '_neq', '_gt', '_gte', '_lt', '_lte', '_is_null', '_in'].indexOf(it.name) + 1 || 99;
  return [...found, ...(like ? [{ ...like, name: CONTAINS }] : [])].sort((one, other) => rank(one) - rank(other));
}

function operandsBelow(schema: GraphQLSchema, tables: Tables, table: Table, path: string[]): Operand[] {
  const type = table.whereType ? schema.getType(table.whereType) : null;
  if (!isInputObjectType(type)) return [];
  const fields = type.getFields();
  const own = table.columns.flatMap(column => {
    const input = fields[column.name] && getNamedType(fields[column.name]!.type);
    if (isInputObjectType(input)) return [{ path: [...path, column.name], operators: operatorsOf(input, table.isCamel) }];
    // A native store's own ID is filtered by a list.
    return isLeafType(input) ? [{ path: [...path, column.name], operators: [{ name: '', type: input.name, isList: true }] }] : [];
  });
  if (path.length >= DEPTH_MAX) return own.filter(it => it.operators.length > 0);
  // Lists are offered of the table itself alone: below them almost every table would be.
  const below = table.relationships.filter(it => !it.isList || path.length === 0).flatMap(it => {
    const next = tables.get(it.table);
    return next && fields[it.name] ? operandsBelow(schema, tables, next, [...path, it.name]) : [];
  });
  return [...own.filter(it => it.operators.length > 0), ...below];
}

export const operandsOf = (schema: GraphQLSchema, tables: Tables, table: Table) => operandsBelow(schema, tables, table, []);

/** A value of a type as it is written in a field; an error in words where it is none. */
export function valueOf(text: string, type: string): { value: unknown } | { error: string } {
  const trimmed = text.trim();
  switch (type) {
    case 'Boolean':
      return trimmed === 'true' || trimmed === 'false' ? { value: trimmed === 'true' } : { error: 'write true or false' };
    case 'Int': case 'smallint': case 'Int64': case 'UInt64': case 'bigint':
      if (!/^[+-]?\d+$/.test(trimmed)) return { error: 'a whole number is expected' };
      // Numbers beyond those of JavaScript stay texts, which the server takes for them.
      return { value: Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : trimmed };
    case 'Float': case 'float8': case 'real':
      return trimmed !== '' && Number.isFinite(Number(trimmed)) ? { value: Number(trimmed) } : { error: 'a number is expected' };
    case 'numeric': case 'money':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? { value: trimmed } : { error: 'a number is expected' };
    case 'json': case 'jsonb': case 'JSON': case 'geometry': case 'geography':
      try {
        return { value: parseExact(text) };
      } catch {
        return { error: 'JSON is expected: a text stands in quotes' };
      }
    default:
      return { value: text };
  }
}

/** Several values: separated by commas, or a JSON list. */
export function valuesOf(text: string, type: string): { value: unknown } | { error: string } {
  if (text.trim().startsWith('[')) {
    const list = valueOf(text, 'json');
    return 'value' in list && !Array.isArray(list.value) ? { error: 'a list is expected' } : list;
  }
  const parts = text.split(',').map(it => it.trim()).filter(Boolean).map(it => valueOf(it, type));
  const wrong = parts.find(it => 'error' in it);
  return wrong ?? { value: parts.map(it => (it as { value: unknown }).value) };
}

export function conditionValue(condition: Condition, operator: Operator): { value: unknown } | { error: string } {
  if (operator.takesSession && isSessionVariable(condition.value)) return { value: condition.value.trim() };
  return operator.isList ? valuesOf(condition.value, operator.type) : valueOf(condition.value, operator.type);
}

/** The pattern of LIKE that a text is contained. */
export const containsPattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Words on the first condition that cannot be asked; without it more rows would be shown than it lets through. */
export function faultOf(conditions: Condition[], operands: Operand[]): string | null {
  for (const condition of conditions) {
    const name = condition.path.join('.');
    const operator = operands.find(it => it.path.join('.') === name)?.operators.find(it => it.name === condition.operator);
    if (!operator) return `The filter names ${name} ${condition.operator}, which this caller cannot ask for.`;
    const read = condition.value === '' ? null : conditionValue(condition, operator);
    if (read && 'error' in read) return `The filter by ${name}: ${read.error}.`;
  }
  return null;
}

/** The filter that all conditions make; conditions that are not whole yet are left out. */
export function filterOf(conditions: Condition[], operands: Operand[], dialect: Table['dialect']): Record<string, unknown> | null {
  const parts = conditions.flatMap(condition => {
    const operand = operands.find(it => it.path.join('.') === condition.path.join('.'));
    const operator = operand?.operators.find(it => it.name === condition.operator);
    // What was not written yet is no condition; the empty text is looked for by a list: [""].
    if (!operator || condition.value === '') return [];
    const read = conditionValue(condition, operator);
    if ('error' in read) return [];
    const leaf: Record<string, unknown> = operator.name === CONTAINS
      ? { _ilike: containsPattern(String(read.value)) }
      : { [operator.name]: read.value };
    const innermost = operator.name === '' ? read.value : leaf;
    return [condition.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), innermost) as Record<string, unknown>];
  });
  if (parts.length === 0) return null;
  return parts.length === 1 ? parts[0]! : { [dialect === 'native' ? 'and' : '_and']: parts };
}

/** The filter in an address. */
export const writeConditions = (conditions: Condition[]) =>
  conditions.length === 0 ? '' : JSON.stringify(conditions.map(it => [it.path.join('.'), it.operator, it.value]));

/** The filter of an address; what cannot be read is a condition that nobody can ask. */
export function readConditions(text: string | null): Condition[] {
  if (!text) return [];
  const unreadable: Condition = { path: [text], operator: '', value: text };
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return [unreadable];
    return list.flatMap(it => {
      if (!Array.isArray(it) || it.length !== 3 || it.some(part => typeof part !== 'string')) return [unreadable];
      return [{ path: (it[0] as string).split('.'), operator: it[1] as string, value: it[2] as string }];
    });
  } catch {
    return [unreadable];
  }
}
