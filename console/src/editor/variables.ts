// Variables to begin with, for an operation whose values are not known.

import { Kind, parse } from 'graphql';
import type { OperationDefinitionNode, TypeNode } from 'graphql';

/** A value by the name of its type alone: the schema is not known here. */
function valueFor(type: TypeNode): unknown {
  if (type.kind === Kind.NON_NULL_TYPE) return valueFor(type.type);
  if (type.kind === Kind.LIST_TYPE) return [];
  switch (type.name.value) {
    case 'Int': case 'Float': case 'bigint': case 'numeric': case 'smallint': case 'float8': return 0;
    case 'Boolean': return true;
    case 'String': case 'ID': case 'uuid': case 'date': case 'timestamptz': case 'timestamp': return '';
    default: return type.name.value.endsWith('_exp') || type.name.value.endsWith('_input') ? {} : null;
  }
}

/** Values for the variables that the first operation requires. */
export function variablesFor(text: string): Record<string, unknown> {
  try {
    const operation = parse(text).definitions.find((it): it is OperationDefinitionNode => it.kind === Kind.OPERATION_DEFINITION);
    const required = operation?.variableDefinitions?.filter(it => it.type.kind === Kind.NON_NULL_TYPE && !it.defaultValue) ?? [];
    return Object.fromEntries(required.map(it => [it.variable.name.value, valueFor(it.type)]));
  } catch {
    return {};
  }
}
