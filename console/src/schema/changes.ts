// Changes of what is tracked: tables, relationships, computed fields and functions.

import { bulkRequest, yamlOf } from '../metadata/change';
import type { MetadataChange } from '../metadata/change';
import { PERMISSIONS } from '../metadata/served';
import type { Json, Permission, ServedComputedField, ServedFunction, ServedRelationship, ServedTable } from '../metadata/served';
import type { NewRelationship } from './suggestions';
import { shownName } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';

export interface ChangeBase {
  source: string;
  version: number | null;
}

interface ChangeParts {
  title: string;
  commands: unknown[];
  before: unknown;
  after: unknown;
  /** The entry for a file that the server does not write, and where it belongs. */
  yaml: unknown;
  place: string;
  asksName?: string;
}

/** Entries have no absent members, so they are JSON as they are; digits of their numbers stay. */
const plain = (value: unknown) => value as Json;

const changeOf = (base: ChangeBase, it: ChangeParts): MetadataChange => ({
  title: it.title,
  request: bulkRequest(it.commands, base.version),
  before: plain(it.before),
  after: plain(it.after),
  yaml: yamlOf(plain(it.yaml)),
  place: it.place,
  ...(it.asksName === undefined ? {} : { asksName: it.asksName }),
});

const belowTables = ({ source }: ChangeBase) => `below \`tables\` of the source \`${source}\``;

export const trackTables = (base: ChangeBase, tables: (string | QualifiedName)[]): MetadataChange => changeOf(base, {
  title: tables.length === 1 ? `Track ${shownName(tables[0]!)}` : `Track ${tables.length} tables`,
  commands: tables.map(table => ({ type: 'pg_track_table', args: { source: base.source, table } })),
  before: null,
  after: tables.map(table => ({ table })),
  yaml: tables.map(table => ({ table })),
  place: belowTables(base),
});

/** An entry as the metadata has it, without what the server says of it. */
function entryWithoutFaults(entry: ServedTable): ServedTable {
  const kept = { ...entry };
  for (const kind of PERMISSIONS) {
    const entries = entry[kind];
    if (entries) kept[kind] = entries.map(({ fault: _, ...it }) => it);
  }
  return kept;
}

export const untrackTable = (base: ChangeBase, entry: ServedTable, cascade: boolean): MetadataChange => changeOf(base, {
  title: `Untrack ${shownName(entry.table)}`,
  commands: [{ type: 'pg_untrack_table', args: { source: base.source, table: entry.table, cascade } }],
  before: entryWithoutFaults(entry),
  after: null,
  yaml: [{ table: entry.table }],
  place: `take the entry of this table away, ${belowTables(base)}`,
  asksName: shownName(entry.table),
});

const listOf = (kind: NewRelationship['kind']) => `${kind}_relationships` as const;

/** An entry with its relationships alone. */
function relationshipPart(entry: ServedTable, more: NewRelationship[] = []): Permission {
  const part: Record<string, unknown> = { table: entry.table };
  for (const kind of ['object', 'array'] as const) {
    const list = [...(entry[listOf(kind)] ?? []), ...more.filter(it => it.kind === kind).map(it => it.relationship)];
    if (list.length > 0) part[listOf(kind)] = list;
  }
  return part as Permission;
}

export function addRelationships(base: ChangeBase, added: NewRelationship[]): MetadataChange {
  const entries = [...new Set(added.map(it => it.entry))];
  const parts = entries.map(entry => relationshipPart(entry, added.filter(it => it.entry === entry)));
  return changeOf(base, {
    title: added.length === 1 ? `Add ${added[0]!.relationship.name} to ${shownName(added[0]!.entry.table)}` : `Add ${added.length} relationships`,
    commands: added.map(it => ({ type: `pg_create_${it.kind}_relationship`, args: { source: base.source, table: it.entry.table, ...it.relationship } })),
    before: entries.map(it => relationshipPart(it)),
    after: parts,
    yaml: parts,
    place: `${belowTables(base)}, in place of the same lists of the table`,
  });
}

/** The entry's relationships with one of them replaced, or taken away. */
function replaced(entry: ServedTable, old: ServedRelationship, next: ServedRelationship | null): Permission {
  const list = (all: ServedRelationship[] | undefined) => (all ?? []).flatMap(it => (it.name !== old.name ? [it] : next ? [next] : []));
  return relationshipPart({ ...entry, object_relationships: list(entry.object_relationships), array_relationships: list(entry.array_relationships) });
}

export function renameRelationship(base: ChangeBase, entry: ServedTable, old: ServedRelationship, name: string): MetadataChange {
  const after = replaced(entry, old, { ...old, name });
  return changeOf(base, {
    title: `Rename ${old.name} of ${shownName(entry.table)}`,
    commands: [{ type: 'pg_rename_relationship', args: { source: base.source, table: entry.table, name: old.name, new_name: name } }],
    before: relationshipPart(entry),
    after,
    yaml: [after],
    place: `${belowTables(base)}, in place of the same lists of the table; conditions of permissions have the new name too`,
  });
}

export function dropRelationship(base: ChangeBase, entry: ServedTable, old: ServedRelationship): MetadataChange {
  const after = replaced(entry, old, null);
  return changeOf(base, {
    title: `Remove ${old.name} of ${shownName(entry.table)}`,
    commands: [{ type: 'pg_drop_relationship', args: { source: base.source, table: entry.table, relationship: old.name } }],
    before: relationshipPart(entry),
    after,
    yaml: [after],
    place: `${belowTables(base)}, in place of the same lists of the table`,
    asksName: old.name,
  });
}

const withFields = (entry: ServedTable, fields: ServedComputedField[]) => ({ table: entry.table, ...(fields.length > 0 ? { computed_fields: fields } : {}) });

export function addComputedField(base: ChangeBase, entry: ServedTable, field: ServedComputedField): MetadataChange {
  const known = entry.computed_fields ?? [];
  return changeOf(base, {
    title: `Add ${field.name} to ${shownName(entry.table)}`,
    commands: [{ type: 'pg_add_computed_field', args: { source: base.source, table: entry.table, ...field } }],
    before: withFields(entry, known),
    after: withFields(entry, [...known, field]),
    yaml: [withFields(entry, [...known, field])],
    place: belowTables(base),
  });
}

export function dropComputedField(base: ChangeBase, entry: ServedTable, field: ServedComputedField): MetadataChange {
  const known = entry.computed_fields ?? [];
  const kept = known.filter(it => it.name !== field.name);
  return changeOf(base, {
    title: `Remove ${field.name} of ${shownName(entry.table)}`,
    commands: [{ type: 'pg_drop_computed_field', args: { source: base.source, table: entry.table, name: field.name } }],
    before: withFields(entry, known),
    after: withFields(entry, kept),
    yaml: [withFields(entry, kept)],
    place: belowTables(base),
    asksName: field.name,
  });
}

export const trackFunction = (base: ChangeBase, added: ServedFunction): MetadataChange => changeOf(base, {
  title: `Track function ${shownName(added.function)}`,
  commands: [{ type: 'pg_track_function', args: { source: base.source, ...added } }],
  before: null,
  after: added,
  yaml: [added],
  place: `below \`functions\` of the source \`${base.source}\``,
});

export const untrackFunction = (base: ChangeBase, known: ServedFunction): MetadataChange => changeOf(base, {
  title: `Untrack function ${shownName(known.function)}`,
  commands: [{ type: 'pg_untrack_function', args: { source: base.source, function: known.function } }],
  before: known,
  after: null,
  yaml: [known],
  place: `take this entry out of \`functions\` of the source \`${base.source}\``,
  asksName: shownName(known.function),
});
