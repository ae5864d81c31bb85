// Parts of an operation that all snippets use, and string literals of each language.
//
// No secret is pasted: where the page sends one, the code reads it from the environment.

import { ExactNumber } from '../../server/exact-number';

export type Kind = 'query' | 'mutation' | 'subscription';

export interface Snippet {
  url: string;
  query: string;
  /** Null: the document has one operation, or none has a name. */
  operationName: string | null;
  name: string;
  kind: Kind;
  /** Values with all digits of their numbers; null where there are none. */
  variables: { [key: string]: unknown } | null;
  /** Headers that say as whom: role and session variables. */
  headers: Record<string, string>;
  /** The credential that has to be added. */
  credential: 'secret' | 'token' | null;
}

export const SECRET_VARIABLE = 'WEIR_ADMIN_SECRET';
export const TOKEN_VARIABLE = 'WEIR_TOKEN';

/** JSON with all digits. */
export function jsonOf(value: unknown, indent?: number): string {
  if (value instanceof ExactNumber) return value.digits;
  const step = indent === undefined ? '' : ' '.repeat(indent);
  const write = (it: unknown, space: string): string => {
    if (it instanceof ExactNumber) return it.digits;
    if (typeof it !== 'object' || it === null) return JSON.stringify(it);
    const isList = Array.isArray(it);
    const parts = isList ? it.map(item => write(item, space + step)) : Object.entries(it).map(([key, item]) => `${JSON.stringify(key)}:${step && ' '}${write(item, space + step)}`);
    if (parts.length === 0) return isList ? '[]' : '{}';
    const inner = step ? `\n${space}${step}${parts.join(`,\n${space}${step}`)}\n${space}` : parts.join(',');
    return isList ? `[${inner}]` : `{${inner}}`;
  };
  return write(value, '');
}

/** The body of a request as JSON. */
export function bodyOf({ query, operationName, variables }: Snippet): string {
  return jsonOf({ query, ...(operationName === null ? {} : { operationName }), ...(variables === null ? {} : { variables }) });
}

/** A text in one line of JSON's escapes, which JavaScript, Python and Go read too. */
export const lineText = (text: string) => JSON.stringify(text.toWellFormed()).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

export const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A template of JavaScript without a place for values. */
export const templateText = (text: string) => `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;

export const pythonText = (text: string) => `"""\n${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}\n"""`;

/** Go's raw strings have no backquotes, and leave carriage returns out. */
export const goText = (text: string) => (text.includes('`') ? lineText(text) : `\`${text}\``);

/** A raw string of Rust, with as many number signs as its text needs. */
export function rustText(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/"(#*)/g)].map(it => it[1]!.length + 1));
  const signs = '#'.repeat(longest);
  return `r${signs}"${text}"${signs}`;
}

/** A number whose digits JavaScript would round is sent as a text, which the server takes for a number. */
function scriptNumber({ digits }: ExactNumber): string {
  return digits.replace(/[^0-9]/g, '').replace(/^0+/, '').length > 15 ? lineText(digits) : digits;
}

/** A value as source of JavaScript. */
export function scriptValue(value: unknown, space = ''): string {
  if (value instanceof ExactNumber) return scriptNumber(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? lineText(value) : JSON.stringify(value);
  const parts = Array.isArray(value) ? value.map(it => scriptValue(it, `${space}  `)) : Object.entries(value).map(([key, it]) => `${keyText(key)}: ${scriptValue(it, `${space}  `)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return `${open}\n${space}  ${parts.join(`,\n${space}  `)},\n${space}${close}`;
}

// This key would set the prototype.
const keyText = (key: string) => (key === '__proto__' ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : lineText(key));

/** A value as source of Python. */
export function pythonValue(value: unknown, space = ''): string {
  if (value instanceof ExactNumber) return value.digits;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return typeof value === 'string' ? lineText(value) : JSON.stringify(value);
  const parts = Array.isArray(value) ? value.map(it => pythonValue(it, `${space}    `)) : Object.entries(value).map(([key, it]) => `${lineText(key)}: ${pythonValue(it, `${space}    `)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return `${open}\n${space}    ${parts.join(`,\n${space}    `)},\n${space}${close}`;
}

export const credentialHeader = ({ credential }: Snippet) => (credential === 'token' ? 'authorization' : 'x-hasura-admin-secret');
export const credentialVariable = ({ credential }: Snippet) => (credential === 'token' ? TOKEN_VARIABLE : SECRET_VARIABLE);
