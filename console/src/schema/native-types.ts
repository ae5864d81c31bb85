// The types of a file as tables, so that they are shown and drawn like those of a database.

import { Kind, parse, print } from 'graphql';
import type { DocumentNode, InterfaceTypeDefinitionNode, ObjectTypeDefinitionNode, TypeNode } from 'graphql';
import type { CatalogTable } from './catalog';

const namedOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedOf(type.type));
const isList = (type: TypeNode): boolean => type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isList(type.type));

function parsed(sdl: string): DocumentNode | null {
  try {
    return parse(sdl, { noLocation: true });
  } catch {
    return null;
  }
}

function tableOf(node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode, types: Set<string>): CatalogTable {
  const fields = node.fields ?? [];
  const isKey = (name: string, type: TypeNode) => name === 'id' || namedOf(type) === 'ID';
  const key = fields.filter(it => it.directives?.some(directive => directive.name.value === 'id') || isKey(it.name.value, it.type));
  return {
    schema: '',
    name: node.name.value,
    kind: node.kind === Kind.INTERFACE_TYPE_DEFINITION ? 'interface' : 'type',
    comment: node.description?.value ?? null,
    definition: print(node),
    columns: fields.map(it => ({
      name: it.name.value,
      type: print(it.type),
      nullable: it.type.kind !== Kind.NON_NULL_TYPE,
      default: null,
      generated: null,
      identity: null,
      comment: [it.description?.value, ...(it.directives ?? []).map(print)].filter(Boolean).join(' ') || null,
    })),
    indexes: [],
    constraints: key.map(it => ({ name: null, kind: 'unique', definition: it.name.value, columns: [it.name.value] })),
    foreignKeys: fields.filter(it => types.has(namedOf(it.type))).map(it => ({
      name: it.name.value,
      columns: [it.name.value],
      table: { schema: '', name: namedOf(it.type) },
      targetColumns: [],
      definition: isList(it.type) ? 'many' : 'one',
    })),
    triggers: [],
  };
}

/** Object types and interfaces, in the order of the text; none if it cannot be read. */
export function readTypes(sdl: string): CatalogTable[] {
  const nodes = (parsed(sdl)?.definitions ?? []).filter(it => it.kind === Kind.OBJECT_TYPE_DEFINITION || it.kind === Kind.INTERFACE_TYPE_DEFINITION);
  const own = nodes.filter(it => !['Query', 'Mutation', 'Subscription'].includes(it.name.value));
  const names = new Set(own.map(it => it.name.value));
  return own.map(it => tableOf(it, names));
}
