// A change of permissions: its commands, the lines that differ, and the YAML for a file that the server does not write.

import type { QualifiedName } from '../data/sources';
import { isScalar } from '../server/exact-number';
import { isSame } from './served';
import type { InheritedRole, Json, Kind, Permission, PermissionEntry } from './served';

export interface MetadataChange {
  title: string;
  /** What is sent to /v1/metadata. */
  request: { [key: string]: unknown };
  before: Json;
  after: Json;
  /** What to write instead, and where. */
  yaml: string;
  place: string;
  /** A text that has to be written before it is sent. */
  asksName?: string;
}

export interface PermissionPlace {
  source: string;
  /** As the metadata names it. */
  table: string | QualifiedName;
  kind: Kind;
  role: string;
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

/** The permission without keys that say what is so anyway. */
export function cleaned(permission: Permission): Permission {
  const kept = Object.entries(permission).filter(([key, value]) => {
    if (value === undefined) return false;
    if (key === 'allow_aggregations' || key === 'backend_only') return value === true;
    if (key === 'limit') return value !== null;
    if (key === 'set') return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    return true;
  });
  return Object.fromEntries(kept);
}

const words = ({ role, kind, table }: PermissionPlace) => `${kind} of ${role} on ${typeof table === 'string' ? table : table.name}`;

function request(args: unknown[], version: number | null) {
  return { type: 'bulk', args, ...(version === null ? {} : { resource_version: version }) };
}

/** Gives a role a permission, in place of the one that it has. */
export function setPermission(place: PermissionPlace, before: PermissionEntry | undefined, permission: Permission, version: number | null): MetadataChange {
  const { source, table, kind, role } = place;
  const after = cleaned(permission);
  const target = { source, table, role };
  const comment: Permission = before?.comment === undefined ? {} : { comment: before.comment };
  const commands = [
    ...(before ? [{ type: `pg_drop_${kind}_permission`, args: target }] : []),
    { type: `pg_create_${kind}_permission`, args: { ...target, permission: after, ...comment } },
  ];
  return {
    title: `${before ? 'Change' : 'New'}: ${words(place)}`,
    request: request(commands, version),
    before: before?.permission ?? null,
    after,
    yaml: yamlOf([{ table: table as Json, [`${kind}_permissions`]: [{ role, permission: after, ...comment }] }]),
    place: `below \`tables\` of the source \`${source}\`${before ? `, in place of the entry of ${role} in \`${kind}_permissions\`` : ''}`,
  };
}

export function dropPermission(place: PermissionPlace, before: PermissionEntry, version: number | null): MetadataChange {
  const { source, table, kind, role } = place;
  return {
    title: `Remove: ${words(place)}`,
    request: request([{ type: `pg_drop_${kind}_permission`, args: { source, table, role } }], version),
    before: before.permission,
    after: null,
    yaml: yamlOf([{ role, permission: before.permission }]),
    place: `take this entry out of \`${kind}_permissions\` of the table, below \`tables\` of the source \`${source}\``,
    asksName: role,
  };
}

export function setInherited(role: InheritedRole, before: InheritedRole | undefined, version: number | null): MetadataChange {
  const commands = [
    ...(before ? [{ type: 'drop_inherited_role', args: { role_name: role.role_name } }] : []),
    { type: 'add_inherited_role', args: role },
  ];
  return {
    title: `${before ? 'Change' : 'New'}: role ${role.role_name}`,
    request: request(commands, version),
    before: before ? { ...before } : null,
    after: { ...role },
    yaml: yamlOf([{ ...role }]),
    place: 'below `inherited_roles`, at the top level',
  };
}

export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** Lines of two texts: those that both have in order, and the others. */
export function diffOf(before: Json, after: Json): DiffLine[] {
  const lines = (value: Json) => (value === null ? [] : yamlOf(value).split('\n'));
  const [one, other] = [lines(before), lines(after)];
  if (isSame(before, after)) return one.map(text => ({ sign: ' ', text }));
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
