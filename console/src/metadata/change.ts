// A change of the metadata before it is made: its commands, the lines that differ, and the YAML for a file that the server does not write.

import { isScalar } from '../server/exact-number';
import { isSame } from './served';
import type { Json, Permission } from './served';

export interface MetadataChange {
  title: string;
  /** What is sent to /v1/metadata. */
  request: { [key: string]: unknown };
  before: Json;
  after: Json;
  /** What to write instead, and where. */
  yaml: string;
  place: string;
  /** What the difference does not show. */
  warning?: string;
  /** A text that has to be written before it is sent. */
  asksName?: string;
}

/** A scalar of YAML; a JSON text is one. */
const scalar = (value: Json) => (typeof value === 'string' && /^[A-Za-z_][\w-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value) ? value : JSON.stringify(value));

/** Block YAML, with `indent` spaces before each line. */
export function yamlOf(value: Json, indent = 0): string {
  const space = ' '.repeat(indent);
  const isNested = (it: Json) => !isScalar(it) && Object.keys(it as object).length > 0;
  const isShort = (it: Json) => Array.isArray(it) && it.every(isScalar);
  const flow = (it: Json) => (Array.isArray(it) ? `[${it.map(scalar).join(', ')}]` : Object.keys(it as object).length === 0 ? '{}' : scalar(it));
  if (Array.isArray(value) && !isShort(value)) {
    return value.map(it => (isNested(it) && !isShort(it) ? `${space}- ${yamlOf(it, indent + 2).trimStart()}` : `${space}- ${isScalar(it) ? scalar(it) : flow(it)}`)).join('\n');
  }
  if (!isScalar(value) && !Array.isArray(value)) {
    return Object.entries(value as Permission).map(([key, it]) => {
      if (isNested(it) && !isShort(it)) return `${space}${scalar(key)}:\n${yamlOf(it, indent + 2)}`;
      return `${space}${scalar(key)}: ${isScalar(it) ? scalar(it) : flow(it)}`;
    }).join('\n');
  }
  return `${space}${Array.isArray(value) ? flow(value) : scalar(value)}`;
}

/** One change of several commands; refused where the metadata is another than `version`. */
export function bulkRequest(args: unknown[], version: number | null) {
  return { type: 'bulk', args, ...(version === null ? {} : { resource_version: version }) };
}

export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

const linesOf = (value: Json) => (value === null ? [] : yamlOf(value).split('\n'));

/** Lines of two values: those that both have in order, and the others. */
export function diffOf(before: Json, after: Json): DiffLine[] {
  if (isSame(before, after)) return linesOf(before).map(text => ({ sign: ' ', text }));
  return diffLines(linesOf(before), linesOf(after));
}

/** Lines compared in full, between a common beginning and a common end; more are shown as taken away and added. */
const COMPARED_MAX = 2000;

/** Lines of two texts: those that both have in order, and the others. */
export function diffLines(one: string[], other: string[]): DiffLine[] {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  const middle = diffMiddle(one.slice(start, one.length - end), other.slice(start, other.length - end));
  const same = (lines: string[]): DiffLine[] => lines.map(text => ({ sign: ' ', text }));
  return [...same(one.slice(0, start)), ...middle, ...same(end === 0 ? [] : one.slice(-end))];
}

/** Equal lines that stay on each side of a change, where a difference is long. */
const CONTEXT_LINES = 3;
const UNFOLDED_MAX = 200;

/** A long difference without most of the lines that are equal; a line says how many are left out. */
export function foldLines(lines: DiffLine[]): DiffLine[] {
  if (lines.length <= UNFOLDED_MAX) return lines;
  const isKept = new Array<boolean>(lines.length).fill(false);
  lines.forEach((it, at) => {
    if (it.sign !== ' ') isKept.fill(true, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1);
  });
  const found: DiffLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (isKept[at]) {
      found.push(lines[at]!);
      continue;
    }
    const start = at;
    while (at + 1 < lines.length && !isKept[at + 1]) at++;
    found.push({ sign: ' ', text: `… ${(at - start + 1).toLocaleString('en')} equal lines` });
  }
  return found;
}

function diffMiddle(one: string[], other: string[]): DiffLine[] {
  if (one.length > COMPARED_MAX || other.length > COMPARED_MAX) {
    return [...one.map((text): DiffLine => ({ sign: '-', text })), ...other.map((text): DiffLine => ({ sign: '+', text }))];
  }
  const table = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let a = one.length - 1; a >= 0; a--) {
    for (let b = other.length - 1; b >= 0; b--) table[a]![b] = one[a] === other[b] ? table[a + 1]![b + 1]! + 1 : Math.max(table[a + 1]![b]!, table[a]![b + 1]!);
  }
  const found: DiffLine[] = [];
  let [a, b] = [0, 0];
  while (a < one.length || b < other.length) {
    if (a < one.length && b < other.length && one[a] === other[b]) found.push({ sign: ' ', text: one[a++]! }), b++;
    else if (a < one.length && (b === other.length || table[a + 1]![b]! >= table[a]![b + 1]!)) found.push({ sign: '-', text: one[a++]! });
    else found.push({ sign: '+', text: other[b++]! });
  }
  return found;
}
