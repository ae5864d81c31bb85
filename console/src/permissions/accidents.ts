// Tables that a role reaches only by accident: what its permissions open although nobody may have meant it.

import type { SourceEntries } from '../data/sources';
import type { Tables } from '../data/catalog';
import { findServed } from '../metadata/served';
import { heldBy, parentsWith } from './granted';
import type { Permission, Served } from '../metadata/served';
import type { Kind } from './granted';

export interface Accident {
  source: string;
  table: string;
  role: string;
  kind: Kind;
  words: string;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** The permission to read that a role has, its own or by its parents. */
function reads(served: Served, source: string, entry: SourceEntries['entries'][number], role: string): Permission[] {
  const table = entry.qualified ? findServed(served, source, entry.qualified) : undefined;
  const own = heldBy(table, 'select', role);
  return (own ? [own] : parentsWith(served, table, 'select', role)).map(it => it.permission);
}

export function accidentsOf(served: Served, sources: SourceEntries[], tables: Tables, roles: string[]): Accident[] {
  const found: Accident[] = [];
  for (const role of roles) {
    for (const { source, entries } of sources) {
      for (const entry of entries) {
        const permissions = reads(served, source, entry, role);
        const say = (kind: Kind, words: string) => found.push({ source, table: entry.table.name, role, kind, words });
        const table = entry.qualified ? findServed(served, source, entry.qualified) : undefined;
        if (permissions.length === 0) {
          for (const kind of ['update', 'delete'] as const) {
            if (heldBy(table, kind, role)) say(kind, `may ${kind} rows that it cannot read`);
          }
          continue;
        }
        const isCounted = permissions.some(it => it.allow_aggregations === true);
        if (isCounted && permissions.every(it => isEmptyList(it.columns))) say('select', 'sees no column, but counts the rows through aggregates');
        if (!permissions.every(it => isEmptyList(it.query_root_fields))) continue;
        if (!permissions.every(it => isEmptyList(it.subscription_root_fields))) say('select', 'has no field of queries, but those of subscriptions');
        // Without a field at the root, rows come by the relationships of other tables.
        const ways = entries.flatMap(from => (reads(served, source, from, role).length === 0 ? [] : from.table.relationships.flatMap(way => (
          tables.get(way.table) === entry.table ? [`${from.table.name}.${way.name}${way.isList && isCounted ? ` and ${way.name}_aggregate` : ''}`] : []
        ))));
        if (ways.length > 0) say('select', `has no field of queries, but is reached through ${ways.join(', ')}`);
      }
    }
  }
  return found;
}
