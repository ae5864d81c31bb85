// The rows of the tree: fields, arguments and types of fragments, as far as they are open.

import { getNamedType, getNullableType, isAbstractType, isCompositeType, isInputObjectType, isListType, isNonNullType, Kind, print } from 'graphql';
import type { GraphQLInputObjectType, GraphQLInputType, GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { fieldAt, find, valueAt } from './document';
import type { Step, ValuePath, Written } from './document';

interface Base {
  key: string;
  level: number;
  name: string;
  /** Where a selection stands, or the field of an argument. */
  path: Step[];
  isOpen: boolean;
  hasChildren: boolean;
  isChosen: boolean;
  place: number;
  size: number;
}

export interface FieldRow extends Base {
  kind: 'field';
  type: string;
  parent: GraphQLNamedType;
}

export interface FragmentRow extends Base {
  kind: 'on';
  type: string;
  target: GraphQLObjectType;
}

export interface ArgumentRow extends Base {
  kind: 'argument';
  type: string;
  input: GraphQLInputType;
  value: ValuePath;
  /** As the text has it; null: it is not there. */
  literal: string | null;
}

export type Row = FieldRow | FragmentRow | ArgumentRow;

/** Rows of one level that are made; the search finds the others. */
export const ROWS_MAX = 400;

interface Walk {
  schema: GraphQLSchema;
  written: Written;
  open: ReadonlySet<string>;
  search: string;
  rows: Row[];
  /** Rows that were left out. */
  hidden: number;
}

const keyOf = (path: Step[]) => path.map(it => `${it.kind === 'on' ? '~' : ''}${it.name}`).join('/');

export function rowsOf(schema: GraphQLSchema, written: Written, open: ReadonlySet<string>, search: string): { rows: Row[]; hidden: number } {
  const walk: Walk = { schema, written, open, search: search.trim().toLowerCase(), rows: [], hidden: 0 };
  const root = schema.getRootType(written.operation.operation);
  if (root) addFields(walk, root, [], 1);
  return { rows: walk.rows, hidden: walk.hidden };
}

/** Fields that were chosen are shown first at the root, where there may be thousands. */
function addFields(walk: Walk, type: GraphQLNamedType, path: Step[], level: number) {
  if (!isCompositeType(type)) return;
  const { written } = walk;
  const isChosen = (name: string) => find(written, [...path, { kind: 'field', name }]) !== undefined;
  const all = 'getFields' in type ? Object.values(type.getFields()) : [];
  const isFound = (name: string) => level > 1 || walk.search === '' || name.toLowerCase().includes(walk.search) || isChosen(name);
  const found = all.filter(it => isFound(it.name)).sort((one, other) => (level === 1 ? Number(isChosen(other.name)) - Number(isChosen(one.name)) : 0));
  const shown = found.slice(0, ROWS_MAX);
  walk.hidden += found.length - shown.length;
  const types = isAbstractType(type) ? [...walk.schema.getPossibleTypes(type)].slice(0, ROWS_MAX) : [];
  const size = shown.length + types.length;
  shown.forEach((field, at) => {
    const inner: Step[] = [...path, { kind: 'field', name: field.name }];
    const key = keyOf(inner);
    const target = getNamedType(field.type);
    const hasChildren = field.args.length > 0 || isCompositeType(target);
    const isOpen = hasChildren && walk.open.has(key);
    walk.rows.push({ kind: 'field', key, level, name: field.name, path: inner, isOpen, hasChildren, isChosen: isChosen(field.name), place: at + 1, size, type: String(field.type), parent: type });
    if (!isOpen) return;
    const below = field.args.length;
    field.args.forEach((it, place) => addArgument(walk, { path: inner, value: [it.name], input: it.type, level: level + 1, place: place + 1, size: below }));
    addFields(walk, target, inner, level + 1);
  });
  types.forEach((target, at) => {
    const inner: Step[] = [...path, { kind: 'on', name: target.name }];
    const key = keyOf(inner);
    const isOpen = walk.open.has(key);
    const chosen = find(written, inner) !== undefined;
    walk.rows.push({ kind: 'on', key, level, name: target.name, path: inner, isOpen, hasChildren: true, isChosen: chosen, place: shown.length + at + 1, size, type: target.name, target });
    if (isOpen) addFields(walk, target, inner, level + 1);
  });
}

interface ArgumentPlace {
  path: Step[];
  value: ValuePath;
  input: GraphQLInputType;
  level: number;
  place: number;
  size: number;
}

function addArgument(walk: Walk, { path, value, input, level, place, size }: ArgumentPlace) {
  const holder = valueAt(fieldAt(walk.written, path), value);
  const literal = holder ? walk.written.text.slice(holder.value.loc!.start, holder.value.loc!.end) : null;
  const key = `${keyOf(path)}(${value.join('.')})`;
  const object = objectOf(input);
  // A list of objects, or a value by a variable, is edited as text.
  const hasChildren = object !== null && (holder === undefined || holder.value.kind === Kind.OBJECT);
  const isOpen = hasChildren && walk.open.has(key);
  walk.rows.push({ kind: 'argument', key, level, name: value.at(-1)!, path, isOpen, hasChildren, isChosen: holder !== undefined, place, size, type: String(input), input, value, literal });
  if (!isOpen) return;
  const members = Object.values(object!.getFields()).slice(0, ROWS_MAX);
  members.forEach((it, at) => addArgument(walk, { path, value: [...value, it.name], input: it.type, level: level + 1, place: at + 1, size: members.length }));
}

function objectOf(type: GraphQLInputType): GraphQLInputObjectType | null {
  const inner = getNullableType(type);
  return isInputObjectType(inner) && !isListType(inner) ? inner : null;
}

export const isRequired = (type: GraphQLInputType) => isNonNullType(type);

/** Names of fragments that the selection at a path spreads; what they choose is not repeated in the tree. */
export function spreadsAt(written: Written, path: Step[]): string[] {
  const set = find(written, path)?.selectionSet;
  return set?.selections.flatMap(it => (it.kind === Kind.FRAGMENT_SPREAD ? [print(it)] : [])) ?? [];
}
