// Relationships that foreign keys suggest and the metadata does not have yet.

import type { ServedRelationship, ServedSource, ServedTable } from '../metadata/served';
import { entryOfTable, findByName, isUniqueKey } from './catalog';
import type { Catalog, CatalogKey, CatalogTable } from './catalog';
import { graphqlName, isTable, shownName } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';

export interface NewRelationship {
  /** The entry that gets it. */
  entry: ServedTable;
  kind: 'object' | 'array';
  relationship: ServedRelationship;
  /** Where it leads to. */
  target: string;
}

const listOf = (columns: string | string[] | undefined): string[] => (columns === undefined ? [] : typeof columns === 'string' ? [columns] : columns);

const areSame = (one: string[], other: string[]) => one.length === other.length && one.every(it => other.includes(it));

export const relationshipsOf = (entry: ServedTable): ServedRelationship[] => [...(entry.object_relationships ?? []), ...(entry.array_relationships ?? [])];

/** The key that a relationship follows; columns are those of the table that holds the key. */
export function keyOf(relationship: ServedRelationship): { columns: string[]; remote: string | QualifiedName | null } | null {
  const on = relationship.using.foreign_key_constraint_on;
  if (on === undefined) return null;
  if (typeof on === 'string' || Array.isArray(on)) return { columns: listOf(on), remote: null };
  return { columns: [...listOf(on.column), ...listOf(on.columns)], remote: on.table };
}

/** True if an entry has a relationship by a key of its own, or by the key of `remote` that leads to it. */
function hasRelationship(entry: ServedTable, columns: string[], remote: CatalogTable | null): boolean {
  return relationshipsOf(entry).some(it => {
    const key = keyOf(it);
    if (!key || !areSame(key.columns, columns)) return false;
    return remote === null ? key.remote === null : key.remote !== null && isTable(key.remote, remote);
  });
}

const plural = (name: string) => (/s$/.test(name) ? name : /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`);

/** A name of GraphQL that the table has for nothing else. */
export function freeName(wanted: string, columns: string[], taken: Set<string>): string {
  // Of a name without a Latin letter nothing can stand in GraphQL.
  const name = graphqlName(wanted) ?? 'related';
  const by = columns.flatMap(it => graphqlName(it) ?? []).join('_') || 'key';
  const candidates = [name, `${name}_by_${by}`];
  for (const it of candidates) if (!taken.has(it)) return it;
  let at = 2;
  while (taken.has(`${candidates[1]}_${at}`)) at++;
  return `${candidates[1]}_${at}`;
}

/** All relationships between served tables that foreign keys suggest; those that touch `only`, if it is there. */
export function suggestionsOf(catalog: Catalog, source: ServedSource, only?: CatalogTable): NewRelationship[] {
  const found: NewRelationship[] = [];
  const taken = new Map<ServedTable, Set<string>>();
  const takenOf = (entry: ServedTable, table: CatalogTable) => {
    const known = taken.get(entry) ?? new Set([...table.columns.map(it => it.name), ...relationshipsOf(entry).map(it => it.name), ...(entry.computed_fields ?? []).map(it => it.name), ...(entry.remote_relationships ?? []).map(it => it.name)]);
    taken.set(entry, known);
    return known;
  };
  const add = (entry: ServedTable, table: CatalogTable, kind: 'object' | 'array', wanted: string, key: CatalogKey, relationship: ServedRelationship['using'], target: string) => {
    const names = takenOf(entry, table);
    const name = freeName(wanted, key.columns, names);
    names.add(name);
    found.push({ entry, kind, relationship: { name, using: relationship }, target });
  };
  for (const table of catalog.tables) {
    for (const key of table.foreignKeys) {
      const target = findByName(catalog, key.table);
      const own = entryOfTable(source, table);
      const other = target && entryOfTable(source, target);
      if (!own || !target || !other) continue;
      const [column] = key.columns;
      const [columnsAlone, one] = [key.columns.length > 1 ? key.columns : column!, key.columns.length === 1];
      if ((!only || only === table) && !hasRelationship(own, key.columns, null)) {
        const stem = one ? /^(.+?)_?id$/i.exec(column!)?.[1] : undefined;
        add(own, table, 'object', stem ?? target.name, key, { foreign_key_constraint_on: columnsAlone }, shownName(target));
      }
      if ((!only || only === target) && !hasRelationship(other, key.columns, table)) {
        const isOne = isUniqueKey(table, key.columns);
        const using = { foreign_key_constraint_on: { table: own.table, ...(one ? { column: column! } : { columns: key.columns }) } };
        add(other, target, isOne ? 'object' : 'array', isOne ? table.name : plural(graphqlName(table.name) ?? 'related'), key, using, shownName(table));
      }
    }
  }
  return found;
}
