// A first query for any schema, so that the page opens to something that runs.

import { getNamedType, isLeafType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLField, GraphQLObjectType, GraphQLSchema } from 'graphql';

const LEAVES_MAX = 3;

function isList(field: GraphQLField<unknown, unknown>): boolean {
  const type = isNonNullType(field.type) ? field.type.ofType : field.type;
  return isListType(type);
}

/** Fields of a list that can be asked without required arguments. */
function isAskable(field: GraphQLField<unknown, unknown>): boolean {
  return field.args.every(arg => !isNonNullType(arg.type) || arg.defaultValue !== undefined);
}

function lists(type: GraphQLObjectType) {
  return Object.values(type.getFields()).filter(
    field => isList(field) && isAskable(field) && isObjectType(getNamedType(field.type)),
  );
}

function leaves(type: GraphQLObjectType): string[] {
  return Object.values(type.getFields())
    .filter(field => isLeafType(getNamedType(field.type)) && isAskable(field))
    .slice(0, LEAVES_MAX)
    .map(field => field.name);
}

function call(field: GraphQLField<unknown, unknown>, limit: number): string {
  return field.args.some(arg => arg.name === 'limit') ? `${field.name}(limit: ${limit})` : field.name;
}

/** The first list with a list below it, a few leaves of both; `{ __typename }` where there is none. */
export function starterQuery(schema: GraphQLSchema): string {
  const query = schema.getQueryType();
  const roots = query ? lists(query) : [];
  const target = (field: GraphQLField<unknown, unknown>) => getNamedType(field.type) as GraphQLObjectType;
  const root = roots.find(field => lists(target(field)).length > 0) ?? roots[0];
  if (!root) return '{\n  __typename\n}\n';
  const lines = ['query First {', `  ${call(root, 5)} {`, ...leaves(target(root)).map(name => `    ${name}`)];
  const child = lists(target(root))[0];
  if (child) {
    lines.push(`    ${call(child, 3)} {`, ...leaves(target(child)).map(name => `      ${name}`), '    }');
  }
  return [...lines, '  }', '}', ''].join('\n');
}
