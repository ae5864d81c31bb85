// A trial of one connector: the operation that asks its field alone, with arguments and the fields of its result.

import { ADMIN } from '../server/caller';
import { parseExact } from '../server/exact-number';
import { ask } from '../server/requests';

interface TypeRef {
  kind: string;
  name: string | null;
  ofType: TypeRef | null;
}

export interface Argument {
  name: string;
  type: string;
  /** The named type, for reading texts. */
  named: string;
  isRequired: boolean;
}

export interface Field {
  kind: 'query' | 'mutation';
  name: string;
  args: Argument[];
  /** Leaves of its result; null: it is a leaf itself. */
  leaves: string[] | null;
}

const REF = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
const ROOTS = 'query RootsOf { __schema { queryType { name } mutationType { name } } }';
const FIELDS = `query ConnectorOf($type: String!) { __type(name: $type) { fields { name args { name defaultValue type { ${REF} } } type { ${REF} } } } }`;
const LEAVES = `query LeavesOf($type: String!) { __type(name: $type) { kind fields { name args { type { kind } } type { ${REF} } } } }`;

export const typeText = (type: TypeRef): string => (type.kind === 'NON_NULL' ? `${typeText(type.ofType!)}!` : type.kind === 'LIST' ? `[${typeText(type.ofType!)}]` : type.name!);
const namedType = (type: TypeRef): TypeRef => (type.ofType ? namedType(type.ofType) : type);
const isLeaf = (type: TypeRef) => ['SCALAR', 'ENUM'].includes(namedType(type).kind);

interface IntrospectedField {
  name: string;
  args: { name: string; defaultValue: string | null; type: TypeRef }[];
  type: TypeRef;
}

interface Roots {
  queryType: { name: string } | null;
  mutationType: { name: string } | null;
}

/** Leaves that are asked at most. */
const LEAVES_MAX = 30;

/** The field of a connector as the admin sees it; null for connectors of types, which are asked below a parent. */
export async function loadField(connector: string): Promise<Field | null> {
  const [root = '', name = ''] = connector.split('.');
  if (root !== 'Query' && root !== 'Mutation') return null;
  // Beside a database the root types of the graph have other names than those of the file.
  const { queryType, mutationType } = (await ask<{ __schema: Roots }>(ROOTS, {}, ADMIN)).__schema;
  const type = root === 'Query' ? queryType?.name : mutationType?.name;
  if (type === undefined) return null;
  const fields = (await ask<{ __type: { fields: IntrospectedField[] } | null }>(FIELDS, { type }, ADMIN)).__type?.fields ?? [];
  const field = fields.find(it => it.name === name);
  if (!field) return null;
  const args = field.args.map(it => ({ name: it.name, type: typeText(it.type), named: namedType(it.type).name!, isRequired: it.type.kind === 'NON_NULL' && it.defaultValue === null }));
  const kind = root === 'Query' ? 'query' : 'mutation';
  if (isLeaf(field.type)) return { kind, name, args, leaves: null };
  const target = (await ask<{ __type: { kind: string; fields: IntrospectedField[] | null } | null }>(LEAVES, { type: namedType(field.type).name }, ADMIN)).__type;
  const leaves = (target?.fields ?? []).filter(it => isLeaf(it.type) && it.args.every(arg => arg.type.kind !== 'NON_NULL')).slice(0, LEAVES_MAX).map(it => it.name);
  return { kind, name, args, leaves: leaves.length === 0 ? ['__typename'] : leaves };
}

export interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

/** The operation of a trial, or what is wrong with an argument; empty arguments are left out. */
export function operationOf(field: Field, values: Record<string, string>): { operation: Operation | null; fault: string | null } {
  const variables: Record<string, unknown> = {};
  for (const { name, type, named, isRequired } of field.args) {
    const written = (values[name] ?? '').trim();
    if (written === '') {
      if (isRequired) return { operation: null, fault: `It needs ${name}.` };
      continue;
    }
    const isText = (named === 'String' || named === 'ID') && !type.startsWith('[');
    try {
      variables[name] = isText ? written : parseExact(written);
    } catch {
      // A word is a value of an enum or a scalar of text; brackets and quotes are JSON.
      if (/^[[{"]/.test(written)) return { operation: null, fault: `${name} is no JSON.` };
      variables[name] = written;
    }
  }
  const used = field.args.filter(it => it.name in variables);
  const declared = used.length === 0 ? '' : `(${used.map(it => `$${it.name}: ${it.type}`).join(', ')})`;
  const passed = used.length === 0 ? '' : `(${used.map(it => `${it.name}: $${it.name}`).join(', ')})`;
  const selected = field.leaves === null ? '' : ` {\n    ${field.leaves.join('\n    ')}\n  }`;
  return { operation: { query: `${field.kind} Trial${declared} {\n  ${field.name}${passed}${selected}\n}`, variables }, fault: null };
}
