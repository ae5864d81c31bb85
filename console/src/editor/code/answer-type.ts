// A TypeScript type of the answer to an operation, and of its variables.

import { getNamedType, GraphQLError, isEnumType, isInputObjectType, isListType, isNonNullType, isObjectType, Kind, typeFromAST } from 'graphql';
import type { DirectiveNode, DocumentNode, FieldNode, FragmentDefinitionNode, GraphQLCompositeType, GraphQLInputType, GraphQLNamedType, GraphQLObjectType, GraphQLOutputType, GraphQLSchema, OperationDefinitionNode, SelectionSetNode } from 'graphql';

const NUMBERS = new Set(['Int', 'Float', 'smallint', 'integer', 'bigint', 'real', 'float8', 'numeric', 'money', 'Int64', 'UInt64', 'Long', 'BigInt']);
const TEXTS = new Set(['String', 'ID', 'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'text', 'varchar', 'bpchar', 'citext', 'bytea', 'interval', 'inet', 'cidr', 'macaddr', 'name', 'DateTime', 'Date', 'Time']);

interface Context {
  schema: GraphQLSchema;
  fragments: Map<string, FragmentDefinitionNode>;
  operation: OperationDefinitionNode;
}

/** A response key within one concrete type: the field, and all sets below it. */
interface Collected {
  field: FieldNode;
  type: GraphQLOutputType;
  sets: SelectionSetNode[];
  isOptional: boolean;
}

/** What the conditions of a selection say: it is there, it is not, or a variable decides. */
function presence(directives: readonly DirectiveNode[] | undefined): 'always' | 'never' | 'perhaps' {
  let found: 'always' | 'perhaps' = 'always';
  for (const { name, arguments: sent } of directives ?? []) {
    if (name.value === 'defer') found = 'perhaps';
    if (name.value !== 'skip' && name.value !== 'include') continue;
    const value = sent?.find(it => it.name.value === 'if')?.value;
    if (value?.kind !== Kind.BOOLEAN) found = 'perhaps';
    else if (value.value === (name.value === 'skip')) return 'never';
  }
  return found;
}



function typeOfField(context: Context, parent: GraphQLObjectType, name: string): GraphQLOutputType {
  const field = parent.getFields()[name];
  if (field) return field.type;
  const meta = name === '__schema' || name === '__type' ? context.schema.getType(name === '__schema' ? '__Schema' : '__Type') : undefined;
  if (meta) return meta as GraphQLOutputType;
  throw new GraphQLError(`${parent.name} has no field ${name}.`);
}

function collect(context: Context, parent: GraphQLObjectType, sets: SelectionSetNode[]): Map<string, Collected> {
  const found = new Map<string, Collected>();
  const walk = (set: SelectionSetNode, isConditional: boolean, seen: ReadonlySet<string>) => {
    for (const selection of set.selections) {
      const there = presence(selection.directives);
      if (there === 'never') continue;
      const isOptional = isConditional || there === 'perhaps';
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const type = selection.name.value === '__typename' ? null : typeOfField(context, parent, selection.name.value);
        const known = found.get(key);
        const below = selection.selectionSet ? [selection.selectionSet] : [];
        if (known) found.set(key, { ...known, sets: [...known.sets, ...below], isOptional: known.isOptional && isOptional });
        else found.set(key, { field: selection, type: type as GraphQLOutputType, sets: below, isOptional });
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? context.fragments.get(selection.name.value) : selection;
      if (!fragment) throw new GraphQLError(`There is no fragment ${selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : ''}.`);
      const name = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : '';
      if (seen.has(name) || !applies(context, fragment.typeCondition?.name.value, parent)) continue;
      walk(fragment.selectionSet, isOptional, name === '' ? seen : new Set([...seen, name]));
    }
  };
  sets.forEach(set => walk(set, false, new Set()));
  return found;
}

function applies({ schema }: Context, condition: string | undefined, parent: GraphQLObjectType): boolean {
  if (condition === undefined || condition === parent.name) return true;
  const type = schema.getType(condition);
  return type !== undefined && !isObjectType(type) && 'astNode' in type && schema.isSubType(type as never, parent);
}

const nameOf = (key: string) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
const quoted = (text: string) => `'${text}'`;

function scalarOf(type: GraphQLNamedType): string {
  if (isEnumType(type)) return type.getValues().map(it => quoted(it.name)).join(' | ') || 'never';
  if (type.name === 'Boolean') return 'boolean';
  if (NUMBERS.has(type.name)) return 'number';
  return TEXTS.has(type.name) ? 'string' : 'unknown';
}

/** A type with its nulls and lists around the text of its named type. */
function wrapped(type: GraphQLInputType | GraphQLOutputType, inner: string): string {
  const bare = (it: GraphQLInputType | GraphQLOutputType): string => {
    if (!isListType(it)) return inner;
    const item = isNonNullType(it.ofType) ? bare(it.ofType.ofType) : orNull(bare(it.ofType));
    return / [|&] |^'/.test(item) ? `Array<${item}>` : `${item}[]`;
  };
  return isNonNullType(type) ? bare(type.ofType) : orNull(bare(type));
}

// An unknown value may be null as it is.
const orNull = (text: string) => (text === 'unknown' ? text : `${text} | null`);

function objectText(context: Context, parent: GraphQLObjectType, sets: SelectionSetNode[], indent: string): string {
  const lines = [...collect(context, parent, sets)].map(([key, it]) => {
    const text = it.field.name.value === '__typename' ? quoted(parent.name) : wrapped(it.type, valueText(context, it, `${indent}  `));
    return `${indent}  ${nameOf(key)}${it.isOptional ? '?' : ''}: ${text};`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

function valueText(context: Context, { type, sets }: Collected, indent: string): string {
  const named = getNamedType(type);
  if (sets.length === 0) {
    const text = scalarOf(named);
    return text.includes(' | ') && isListIn(type) ? `(${text})` : text;
  }
  return compositeText(context, named as GraphQLCompositeType, sets, indent);
}

const isListIn = (type: GraphQLOutputType): boolean => (isNonNullType(type) ? isListIn(type.ofType) : isListType(type));

/** An object, or one of those that a type may be, each form once. */
function compositeText(context: Context, type: GraphQLCompositeType, sets: SelectionSetNode[], indent: string): string {
  if (isObjectType(type)) return objectText(context, type, sets, indent);
  const forms = [...new Set(context.schema.getPossibleTypes(type).map(it => objectText(context, it, sets, indent)))];
  return forms.length > 1 ? `(${forms.join(' | ')})` : forms[0] ?? 'never';
}

function inputText(type: GraphQLInputType, indent: string, depth: number): string {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return wrapped(type, scalarOf(named));
  // Conditions of databases lead to themselves.
  if (depth === 0) return wrapped(type, 'Record<string, unknown>');
  const lines = Object.values(named.getFields()).map(it => `${indent}  ${it.name}${isNonNullType(it.type) && it.defaultValue === undefined ? '' : '?'}: ${inputText(it.type, `${indent}  `, depth - 1)};`);
  return wrapped(type, `{\n${lines.join('\n')}\n${indent}}`);
}

/** Levels of input objects that are spelled out. */
const INPUT_LEVELS = 2;

const upper = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The types of one operation of a document; fails where it does not fit the schema. */
export function answerType(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): string {
  const fragments = new Map(document.definitions.flatMap(it => (it.kind === Kind.FRAGMENT_DEFINITION ? [[it.name.value, it] as const] : [])));
  const context: Context = { schema, fragments, operation };
  const root = schema.getRootType(operation.operation);
  if (!root) throw new GraphQLError(`The schema has no ${operation.operation}.`);
  const name = upper(operation.name?.value ?? `Unnamed${upper(operation.operation)}`);
  const texts = [`export type ${name} = ${objectText(context, root, [operation.selectionSet], '')};`];
  const variables = operation.variableDefinitions ?? [];
  if (variables.length > 0) {
    const lines = variables.map(it => {
      const type = typeFromAST(schema, it.type as never) as GraphQLInputType | undefined;
      if (!type) throw new GraphQLError(`There is no type for $${it.variable.name.value}.`);
      return `  ${it.variable.name.value}${isNonNullType(type) && !it.defaultValue ? '' : '?'}: ${inputText(type, '  ', INPUT_LEVELS)};`;
    });
    texts.push(`export type ${name}Variables = {\n${lines.join('\n')}\n};`);
  }
  return `${texts.join('\n\n')}\n`;
}
