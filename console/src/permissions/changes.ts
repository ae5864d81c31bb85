// Changes of permissions and of inherited roles.

import { bulkRequest, yamlOf } from '../metadata/change';
import type { MetadataChange } from '../metadata/change';
import type { InheritedRole, Json, Permission, PermissionEntry } from '../metadata/served';
import type { Kind } from './granted';
import type { QualifiedName } from '../metadata/table-name';

export interface PermissionPlace {
  source: string;
  /** As the metadata names it. */
  table: string | QualifiedName;
  kind: Kind;
  role: string;
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
    request: bulkRequest(commands, version),
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
    request: bulkRequest([{ type: `pg_drop_${kind}_permission`, args: { source, table, role } }], version),
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
    request: bulkRequest(commands, version),
    before: before ? { ...before } : null,
    after: { ...role },
    yaml: yamlOf([{ ...role }]),
    place: 'below `inherited_roles`, at the top level',
  };
}

export const dropInherited = (role: InheritedRole, version: number | null): MetadataChange => ({
  title: `Remove: role ${role.role_name}`,
  request: bulkRequest([{ type: 'drop_inherited_role', args: { role_name: role.role_name } }], version),
  before: { ...role },
  after: null,
  yaml: yamlOf([{ ...role }]),
  place: 'take this entry out of `inherited_roles`, at the top level',
  asksName: role.role_name,
});
