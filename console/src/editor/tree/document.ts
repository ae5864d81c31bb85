// The text of the editor as a document whose parts are found by paths and edited in place: what is not edited stays as it was written,
// with its comments, directives and layout.

import { Kind, parse, visit } from 'graphql';
import type { ArgumentNode, DocumentNode, FieldNode, InlineFragmentNode, ObjectFieldNode, ObjectValueNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';

/** A step into a selection set: a field by its name, or a type of an inline fragment. */
export interface Step {
  kind: 'field' | 'on';
  name: string;
}

export interface Written {
  text: string;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** The text with its operation at this place; null if it cannot be parsed, and an operation to begin with if it has none. */
export function readText(text: string, at: number): Written | null {
  try {
    const document = parse(text);
    const operations = document.definitions.filter((it): it is OperationDefinitionNode => it.kind === Kind.OPERATION_DEFINITION);
    const operation = operations[Math.min(at, operations.length - 1)];
    return operation ? { text, document, operation } : null;
  } catch {
    return null;
  }
}

/** True for a text of comments and blanks alone. */
export const isBlank = (text: string) => text.split('\n').every(it => it.trim() === '' || it.trim().startsWith('#'));

type Parent = OperationDefinitionNode | FieldNode | InlineFragmentNode;

function childOf(set: SelectionSetNode | undefined, step: Step): FieldNode | InlineFragmentNode | undefined {
  const found = set?.selections.filter((it): it is FieldNode | InlineFragmentNode => (step.kind === 'field'
    ? it.kind === Kind.FIELD && it.name.value === step.name
    : it.kind === Kind.INLINE_FRAGMENT && it.typeCondition?.name.value === step.name)) ?? [];
  // The field without an alias is the one that the tree made.
  return found.find(it => it.kind === Kind.FIELD && !it.alias) ?? found[0];
}

/** The node at a path; the operation itself for an empty one. */
export function find(written: Written, path: Step[]): Parent | undefined {
  let node: Parent | undefined = written.operation;
  for (const step of path) node = node && childOf(node.selectionSet, step);
  return node;
}

export const fieldAt = (written: Written, path: Step[]): FieldNode | undefined => {
  const found = find(written, path);
  return found?.kind === Kind.FIELD ? found : undefined;
};

/** Replaces characters from `start` to `end`. */
const splice = (text: string, start: number, end: number, by: string) => text.slice(0, start) + by + text.slice(end);

/** The blanks at the beginning of the line with this place. */
function indentAt(text: string, at: number): string {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line))![0];
}

/** Puts a selection at the end of a set, in a line of its own. */
function appendTo(text: string, set: SelectionSetNode, selection: string, indent: string): string {
  const close = set.loc!.end - 1;
  const inner = text.slice(set.loc!.start + 1, close);
  const body = text.slice(0, close).replace(/[ \t]*$/, '');
  const isOneLine = !inner.includes('\n');
  // A comment behind the last selection ends with its line.
  const before = isOneLine || !body.endsWith('\n') ? `${isOneLine ? body.replace(/\s+$/, '') : body}\n` : body;
  return `${before}${indent}  ${selection.replaceAll('\n', `\n${indent}  `)}\n${indent}${text.slice(close)}`;
}

/** Adds a selection below a path, whose parts are made where they are missing; `selection` may have lines. */
export function addSelection(written: Written, path: Step[], selection: string): string {
  const { text } = written;
  for (let depth = path.length; depth >= 0; depth--) {
    const parent = find(written, path.slice(0, depth));
    if (!parent) continue;
    const missing = path.slice(depth);
    const whole = missing.reduceRight((inner, step) => `${step.kind === 'on' ? `... on ${step.name}` : step.name} {\n  ${inner.replaceAll('\n', '\n  ')}\n}`, selection);
    const indent = indentAt(text, parent.loc!.start);
    if (parent.selectionSet) return appendTo(text, parent.selectionSet, whole, indent);
    return splice(text, parent.loc!.end, parent.loc!.end, ` {\n${indent}  ${whole.replaceAll('\n', `\n${indent}  `)}\n${indent}}`);
  }
  return text;
}

/** Takes away what stands at a path, and parents that would be left without a selection. */
export function removeSelection(written: Written, path: Step[]): string {
  const { text } = written;
  const node = find(written, path);
  if (!node || path.length === 0) return text;
  const parent = find(written, path.slice(0, -1))!;
  if (parent.selectionSet!.selections.length === 1) {
    if (path.length > 1) return removeSelection(written, path.slice(0, -1));
    return dropUnused(written, splice(text, node.loc!.start, node.loc!.end, '__typename'));
  }
  return dropUnused(written, cut(text, node.loc!.start, node.loc!.end));
}

/** Takes characters away, with their line if nothing else stands in it. */
function cut(text: string, start: number, end: number): string {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const next = text.indexOf('\n', end);
  const isAlone = text.slice(line, start).trim() === '' && (next < 0 ? text.slice(end) : text.slice(end, next)).trim() === '';
  if (isAlone && next >= 0) return splice(text, line, next + 1, '');
  // Between two others one blank stays.
  const blanks = /^[ \t,]*/.exec(text.slice(end))![0].length;
  return splice(text, start, end + blanks, '');
}

/** A step to an argument, or to a member of an input object in it. */
export type ValuePath = string[];

type Holder = ArgumentNode | ObjectFieldNode;

/** The argument, or the member of its value, at a path. */
export function valueAt(field: FieldNode | undefined, path: ValuePath): Holder | undefined {
  let holder: Holder | undefined = field?.arguments?.find(it => it.name.value === path[0]);
  for (const name of path.slice(1)) holder = holder?.value.kind === Kind.OBJECT ? holder.value.fields.find(it => it.name.value === name) : undefined;
  return holder;
}

/** Sets an argument, or a member of an input object in it, to a value as it is written in GraphQL. */
export function setValue(written: Written, path: Step[], value: ValuePath, literal: string): string {
  const field = fieldAt(written, path);
  if (!field) return written.text;
  const { text } = written;
  for (let depth = value.length; depth >= 1; depth--) {
    const holder = valueAt(field, value.slice(0, depth));
    if (!holder) continue;
    const missing = value.slice(depth);
    if (missing.length === 0) return splice(text, holder.value.loc!.start, holder.value.loc!.end, literal);
    const whole = membersOf(missing, literal);
    if (holder.value.kind !== Kind.OBJECT) return splice(text, holder.value.loc!.start, holder.value.loc!.end, `{${whole}}`);
    return appendMember(text, holder.value, whole);
  }
  const [name, ...rest] = value as [string, ...string[]];
  const whole = `${name}: ${rest.length === 0 ? literal : `{${membersOf(rest, literal)}}`}`;
  const last = field.arguments?.at(-1);
  if (last) return splice(text, last.loc!.end, last.loc!.end, `, ${whole}`);
  return splice(text, field.name.loc!.end, field.name.loc!.end, `(${whole})`);
}

const membersOf = (names: string[], literal: string): string => names.reduceRight((inner, name, at) => (at === names.length - 1 ? `${name}: ${inner}` : `${name}: {${inner}}`), literal);

function appendMember(text: string, object: ObjectValueNode, member: string): string {
  const last = object.fields.at(-1);
  return last ? splice(text, last.loc!.end, last.loc!.end, `, ${member}`) : splice(text, object.loc!.start, object.loc!.end, `{${member}}`);
}

/** Takes an argument, or a member of an input object in it, away. */
export function removeValue(written: Written, path: Step[], value: ValuePath): string {
  const field = fieldAt(written, path);
  const holder = valueAt(field, value);
  if (!field || !holder) return written.text;
  const { text } = written;
  if (value.length > 1) {
    const object = valueAt(field, value.slice(0, -1))!.value as ObjectValueNode;
    if (object.fields.length === 1) return dropUnused(written, splice(text, object.loc!.start, object.loc!.end, '{}'));
    return dropUnused(written, cutItem(text, object.fields, holder));
  }
  if (field.arguments!.length > 1) return dropUnused(written, cutItem(text, field.arguments!, holder));
  const close = closeAt(text, holder.loc!.end);
  return dropUnused(written, splice(text, field.name.loc!.end, close, ''));
}

/** Takes an item of a list away, with the comma at its side. */
function cutItem(text: string, items: readonly Holder[], item: Holder): string {
  const at = items.indexOf(item);
  const before = items[at - 1];
  if (before) return splice(text, before.loc!.end, item.loc!.end, '');
  return splice(text, item.loc!.start, items[1]!.loc!.start, '');
}

/** Declares a variable for the value at a path, and uses it there. */
export function useVariable(written: Written, path: Step[], value: ValuePath, type: string): string {
  const taken = new Set(written.operation.variableDefinitions?.map(it => it.variable.name.value));
  const base = value.at(-1)!.replace(/^_+/, '') || 'value';
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}${number}`;
  const text = setValue(written, path, value, `$${name}`);
  const { operation } = written;
  const last = operation.variableDefinitions?.at(-1);
  // The declaration stands before the value, so places of the old text hold.
  if (last) return splice(text, last.loc!.end, last.loc!.end, `, $${name}: ${type}`);
  const open = operation.selectionSet.loc!.start;
  if (operation.name) return splice(text, operation.name.loc!.end, operation.name.loc!.end, `($${name}: ${type})`);
  const isShort = operation.loc!.start === open;
  if (isShort) return splice(text, open, open, `query ($${name}: ${type}) `);
  const keyword = operation.loc!.start + operation.operation.length;
  return splice(text, keyword, keyword, ` ($${name}: ${type})`);
}

/** Variables that something uses. */
function usedVariables(document: DocumentNode): Set<string> {
  const used = new Set<string>();
  visit(document, { VariableDefinition: () => false, Variable: it => void used.add(it.name.value) });
  return used;
}

/** Takes declarations of variables away that an edit left unused. */
function dropUnused({ document: before }: Written, text: string): string {
  const document = parse(text);
  const used = usedVariables(document);
  const lost = new Set([...usedVariables(before)].filter(it => !used.has(it)));
  if (lost.size === 0) return text;
  let mended = text;
  // From the last operation to the first, so that places of the text before it hold.
  for (const operation of document.definitions.toReversed()) {
    if (operation.kind !== Kind.OPERATION_DEFINITION || !operation.variableDefinitions?.length) continue;
    const kept = operation.variableDefinitions.filter(it => !lost.has(it.variable.name.value));
    if (kept.length === operation.variableDefinitions.length) continue;
    const first = operation.variableDefinitions[0]!.loc!.start;
    const last = operation.variableDefinitions.at(-1)!.loc!.end;
    if (kept.length > 0) mended = splice(mended, first, last, kept.map(it => text.slice(it.loc!.start, it.loc!.end)).join(', '));
    else mended = splice(mended, mended.lastIndexOf('(', first), closeAt(mended, last), '');
  }
  return mended;
}

/** The place behind the next parenthesis that closes; one in a comment is none. */
function closeAt(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ')') at = text[at] === '#' ? (text.indexOf('\n', at) + 1 || text.length) : at + 1;
  return at + 1;
}
