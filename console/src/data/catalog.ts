// Tables as the caller's schema tells them: columns, keys, relationships, and the root fields that read and write them.
//
// Two dialects: tables with Hasura's API, and types of a native store. What the caller may not do has no field, so it
// is not offered. Names come from the schema, so they are names of GraphQL and safe in a document; values are variables.

import {
  getNamedType, isEnumType, isInputObjectType, isLeafType, isListType, isNonNullType, isObjectType,
} from 'graphql';
import type { GraphQLField, GraphQLInputObjectType, GraphQLObjectType, GraphQLSchema, GraphQLType } from 'graphql';
import { plainType, spelled } from './convention';

export interface Column {
  name: string;
  /** GraphQL's name of the type, without list and non-null. */
  type: string;
  isList: boolean;
  isNullable: boolean;
  values?: string[];
  isSortable: boolean;
  /** The relationship whose rows the column counts. */
  counts?: string;
}

export interface Relationship {
  name: string;
  isList: boolean;
  /** The table it leads to. */
  table: string;
}

/** A root field of a write, and the type of its argument. */
export interface Write {
  field: string;
  input: string;
  columns: { name: string; type: string; isRequired: boolean }[];
}

export interface Table {
  name: string;
  dialect: 'relational' | 'native';
  /** Names of the API are those of `naming_convention: graphql-default`. */
  isCamel: boolean;
  columns: Column[];
  /** Numbers of related rows, which are read where they are chosen. */
  counts: Column[];
  relationships: Relationship[];
  /** Columns of the primary key; none where rows have no key. */
  key: string[];
  list: string;
  whereType: string | null;
  orderType: string | null;
  aggregate: string | null;
  isLive: boolean;
  insert: Write | null;
  update: Write | null;
  remove: { field: string } | null;
}

export type Tables = Map<string, Table>;

const unwrapped = (type: GraphQLType) => (isNonNullType(type) ? type.ofType : type);
const inputOf = (field: GraphQLField<unknown, unknown> | undefined, argument: string): GraphQLInputObjectType | null => {
  const found = field?.args.find(it => it.name === argument);
  const type = found && getNamedType(found.type);
  return type && isInputObjectType(type) ? type : null;
};

function columnsOf(type: GraphQLObjectType, sortable: Set<string>, isCamel: boolean): Column[] {
  return Object.values(type.getFields()).flatMap(field => {
    const named = getNamedType(field.type);
    if (!isLeafType(named) || field.args.some(it => isNonNullType(it.type) && it.defaultValue === undefined)) return [];
    return [{
      name: field.name,
      type: isEnumType(named) ? named.name : plainType(isCamel, named.name),
      isList: isListType(unwrapped(field.type)),
      isNullable: !isNonNullType(field.type),
      ...(isEnumType(named) ? { values: named.getValues().map(it => it.name) } : {}),
      isSortable: sortable.has(field.name),
    }];
  });
}

function relationshipsOf(type: GraphQLObjectType, tables: Set<string>): Relationship[] {
  return Object.values(type.getFields()).flatMap(field => {
    const named = getNamedType(field.type);
    if (!isObjectType(named) || !tables.has(named.name)) return [];
    return [{ name: field.name, isList: isListType(unwrapped(field.type)), table: named.name }];
  });
}

function writeOf(field: GraphQLField<unknown, unknown> | undefined, input: GraphQLInputObjectType | null, isCamel: boolean): Write | null {
  if (!field || !input) return null;
  const columns = Object.values(input.getFields())
    .filter(it => isLeafType(getNamedType(it.type)))
    .map(it => ({ name: it.name, type: plainType(isCamel, String(unwrapped(it.type))), isRequired: isNonNullType(it.type) && it.defaultValue === undefined }));
  return { field: field.name, input: input.name, columns };
}

/** Numbers of related rows that the API can give, order and compare. */
function countsOf(type: GraphQLObjectType, relationships: Relationship[], order: GraphQLInputObjectType | null, where: GraphQLInputObjectType | null, isCamel: boolean): Column[] {
  return relationships.flatMap(it => {
    const name = spelled({ isCamel }, `${it.name}_aggregate`);
    if (!it.isList || !type.getFields()[name]) return [];
    const isSortable = Boolean(order?.getFields()[name] && where?.getFields()[name]);
    return [{ name, type: 'Int', isList: false, isNullable: false, isSortable, counts: it.name }];
  });
}

/** A column of a table or a number of related rows. */
export const findColumn = (table: Table, name: string): Column | undefined =>
  table.columns.find(it => it.name === name) ?? table.counts.find(it => it.name === name);

interface Fields {
  query: Record<string, GraphQLField<unknown, unknown>>;
  mutation: Record<string, GraphQLField<unknown, unknown>>;
  subscription: Record<string, GraphQLField<unknown, unknown>>;
}

/** Roots that are lists of objects with the conditions of a dialect, by the name of the type. */
function rootsOf(fields: Fields, condition: string): Map<string, GraphQLField<unknown, unknown>> {
  const found = new Map<string, GraphQLField<unknown, unknown>>();
  for (const field of Object.values(fields.query)) {
    const named = getNamedType(field.type);
    const isRows = isListType(unwrapped(field.type)) && isObjectType(named) && inputOf(field, condition) !== null;
    const isPlain = condition === 'where' ? field.args.some(it => it.name === 'limit') : field.args.some(it => it.name === 'first');
    // Groups and functions want arguments of their own; they are no tables.
    if (field.args.some(it => isNonNullType(it.type) && it.defaultValue === undefined)) continue;
    // Several roots may return one type, such as functions; the one with the type's own name is its table.
    if (isRows && isPlain && (!found.has(named.name) || field.name === named.name)) found.set(named.name, field);
  }
  return found;
}

type Field = GraphQLField<unknown, unknown>;

const isOf = (field: Field, type: GraphQLObjectType) => getNamedType(field.type) === type && !isListType(unwrapped(field.type));
const isOnlyArgument = (field: Field, name: string) => field.args.length === 1 && field.args[0]!.name === name;

/** True if a field answers with an object that has rows of `type` in this member. */
function holdsRows(field: Field, member: string, type: GraphQLObjectType): boolean {
  const holder = getNamedType(field.type);
  const rows = isObjectType(holder) ? holder.getFields()[member] : undefined;
  return rows !== undefined && getNamedType(rows.type) === type;
}

/** Other root fields of a table, found by what they take and give: each may have a name of its own. */
function otherRoots(fields: Fields, type: GraphQLObjectType) {
  const members = type.getFields();
  const isKey = (field: Field) => field.args.length > 0 && field.args.every(it => isNonNullType(it.type) && isLeafType(getNamedType(it.type)) && members[it.name]);
  const changes = Object.values(fields.mutation).filter(it => holdsRows(it, 'returning', type));
  const takes = (field: Field, name: string) => field.args.some(it => it.name === name);
  return {
    byKey: Object.values(fields.query).find(it => isOf(it, type) && isKey(it)),
    ofKey: Object.values(fields.mutation).flatMap(it => (isOf(it, type) ? inputOf(it, 'pk_columns') ?? inputOf(it, 'pkColumns') ?? [] : []))[0],
    aggregate: Object.values(fields.query).find(it => holdsRows(it, 'nodes', type) && !it.args.some(argument => isNonNullType(argument.type))),
    insert: changes.find(it => takes(it, 'objects')),
    update: changes.find(it => takes(it, '_set')),
    remove: changes.find(it => isOnlyArgument(it, 'where')),
  };
}

function relational(fields: Fields, root: Field, tables: Set<string>): Table {
  const type = getNamedType(root.type) as GraphQLObjectType;
  const isCamel = root.args.some(it => it.name === 'orderBy');
  const where = inputOf(root, 'where');
  const order = inputOf(root, spelled({ isCamel }, 'order_by'));
  const sortable = new Set(order ? Object.values(order.getFields()).filter(it => isEnumType(getNamedType(it.type))).map(it => it.name) : []);
  const { byKey, ofKey, aggregate, insert, update, remove } = otherRoots(fields, type);
  const key = byKey?.args.map(it => it.name) ?? (ofKey ? Object.keys(ofKey.getFields()) : []);
  const relationships = relationshipsOf(type, tables);
  return {
    name: type.name,
    dialect: 'relational',
    isCamel,
    columns: columnsOf(type, sortable, isCamel),
    counts: countsOf(type, relationships, order, where, isCamel),
    relationships,
    key,
    list: root.name,
    whereType: where?.name ?? null,
    orderType: order?.name ?? null,
    aggregate: aggregate?.name ?? null,
    isLive: Boolean(fields.subscription[root.name]),
    insert: writeOf(insert, inputOf(insert, 'objects'), isCamel),
    update: key.length > 0 ? writeOf(update, inputOf(update, '_set'), isCamel) : null,
    remove: key.length > 0 && remove ? { field: remove.name } : null,
  };
}

function native(fields: Fields, root: GraphQLField<unknown, unknown>, tables: Set<string>): Table {
  const type = getNamedType(root.type) as GraphQLObjectType;
  const name = type.name;
  const filter = inputOf(root, 'filter');
  const order = inputOf(root, 'order');
  const orderable = order?.getFields().asc ? getNamedType(order.getFields().asc!.type) : null;
  const sortable = new Set(isEnumType(orderable) ? orderable.getValues().map(it => it.name) : []);
  const columns = columnsOf(type, sortable, false);
  // A row is found by its ID; types with keys of their own are found by the first that the filter takes.
  const filterable = new Set(Object.keys(filter?.getFields() ?? {}));
  const own = fields.query[`get${name}`]?.args.map(it => it.name) ?? [];
  const id = columns.find(it => it.type === 'ID' && filterable.has(it.name))?.name ?? own.find(it => filterable.has(it));
  const update = fields.mutation[`update${name}`];
  const input = inputOf(update, 'input');
  const patch = input?.getFields().set ? getNamedType(input.getFields().set!.type) : null;
  const insert = fields.mutation[`add${name}`];
  const remove = fields.mutation[`delete${name}`];
  return {
    name,
    dialect: 'native',
    isCamel: false,
    columns,
    counts: [],
    relationships: relationshipsOf(type, tables),
    key: id ? [id] : [],
    list: root.name,
    whereType: filter?.name ?? null,
    orderType: sortable.size > 0 ? order!.name : null,
    aggregate: fields.query[`aggregate${name}`]?.name ?? null,
    isLive: Boolean(fields.subscription[root.name]),
    insert: writeOf(insert, inputOf(insert, 'input'), false),
    update: id && isInputObjectType(patch) ? writeOf(update, patch, false) : null,
    remove: id && remove ? { field: remove.name } : null,
  };
}

/** The tables that the caller may read, in the order of the schema. */
export function tablesOf(schema: GraphQLSchema): Tables {
  const fields: Fields = {
    query: schema.getQueryType()?.getFields() ?? {},
    mutation: schema.getMutationType()?.getFields() ?? {},
    subscription: schema.getSubscriptionType()?.getFields() ?? {},
  };
  const tabled = rootsOf(fields, 'where');
  const typed = rootsOf(fields, 'filter');
  const names = new Set([...tabled.keys(), ...typed.keys()]);
  const all = [
    ...[...tabled.values()].map(it => relational(fields, it, names)),
    ...[...typed.values()].map(it => native(fields, it, names)),
  ];
  return new Map(all.map(it => [it.name, it]));
}
