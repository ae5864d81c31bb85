// Values of arguments as they are written in GraphQL, by their types.

import { getNamedType, getNullableType, isEnumType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql';
import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLInputType, GraphQLOutputType } from 'graphql';

const NUMBERS = new Set(['Int', 'Float', 'bigint', 'numeric', 'smallint', 'float8', 'real', 'double', 'Int64', 'UInt64', 'Long', 'BigInt']);

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const NAME = /^[A-Za-z_]\w*$/;

/** A value to begin with. */
export function startLiteral(type: GraphQLInputType, depth = 0): string {
  if (isNonNullType(type)) return startLiteral(type.ofType, depth);
  if (isListType(type)) return `[${depth < 3 ? startLiteral(type.ofType, depth + 1) : ''}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(it => isNonNullType(it.type) && it.defaultValue === undefined);
    return depth < 3 ? `{${required.map(it => `${it.name}: ${startLiteral(it.type, depth + 1)}`).join(', ')}}` : '{}';
  }
  if (type.name === 'Boolean') return 'true';
  return NUMBERS.has(type.name) ? '0' : '""';
}

/** What a person writes for a scalar as a literal: quotes are added to texts; null if it cannot be one of this type. */
export function literalOf(type: GraphQLInputType, written: string): string | null {
  const inner = getNullableType(type);
  const trimmed = written.trim();
  if (/^\$[A-Za-z_]\w*$/.test(trimmed)) return trimmed;
  if (isListType(inner)) {
    if (trimmed.startsWith('[')) return trimmed;
    const items = trimmed.split(',').map(it => literalOf(inner.ofType, it));
    return items.every(it => it !== null) ? `[${items.join(', ')}]` : null;
  }
  if (trimmed === 'null' && !isNonNullType(type)) return 'null';
  if (isEnumType(inner)) return inner.getValues().some(it => it.name === trimmed) ? trimmed : null;
  if (!isLeafType(inner)) return null;
  if (inner.name === 'Boolean') return /^(true|false)$/.test(trimmed) ? trimmed : null;
  if (inner.name === 'Int') return /^-?(0|[1-9]\d*)$/.test(trimmed) ? trimmed : null;
  if (NUMBERS.has(inner.name)) return NUMBER.test(trimmed) ? trimmed : inner.name === 'Float' ? null : JSON.stringify(written);
  return JSON.stringify(written);
}

/** A literal as a person writes it: a text without its quotes. */
export function writtenOf(literal: string): string {
  if (!literal.startsWith('"') || literal.startsWith('"""')) return literal;
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}

const isRequired = (it: GraphQLArgument | GraphQLInputField) => isNonNullType(it.type) && it.defaultValue === undefined;

/** A field with its required arguments, and a first field below it where its type has fields. */
export function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const required = field.args.filter(isRequired).map(it => `${it.name}: ${startLiteral(it.type)}`);
  const call = required.length > 0 ? `${field.name}(${required.join(', ')})` : field.name;
  const type = getNamedType(field.type) as GraphQLOutputType;
  if (isLeafType(type)) return call;
  return `${call} {\n  ${firstLeaf(type)}\n}`;
}

/** The first field of a type that has a value of its own. */
export function firstLeaf(type: GraphQLOutputType): string {
  if (!('getFields' in type)) return '__typename';
  const leaf = Object.values(type.getFields()).find(it => isLeafType(getNamedType(it.type)) && !it.args.some(isRequired));
  return leaf?.name ?? '__typename';
}

export const isName = (text: string) => NAME.test(text);
