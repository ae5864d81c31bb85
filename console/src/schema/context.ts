// What the parts of the page share: the source that is open, what its database has, and how a change is reviewed.

import type { Model } from '../data/model';
import { addressOf } from '../shell/place';
import type { MetadataChange } from '../metadata/change';
import type { Served, ServedSource } from '../metadata/served';
import type { Catalog } from './catalog';
import type { ChangeBase } from './changes';
import type { QualifiedName } from '../metadata/table-name';

export interface SchemaContext {
  served: Served;
  source: ServedSource;
  catalog: Catalog;
  model: Model;
  base: ChangeBase;
  onChange: (change: MetadataChange) => void;
}

export const schemaAddress = (source: string, table: string, more: Record<string, string> = {}) => addressOf(['schema', source, table], more);

/** The table of the API that shows the rows, and its name there; nothing where the API has none. */
export function apiTable({ model, source }: SchemaContext, table: QualifiedName) {
  const entries = model.sources.find(it => it.source === source.name)?.entries ?? [];
  return entries.find(it => (it.qualified ? it.qualified.name === table.name && (it.qualified.schema ?? '') === (table.schema ?? '') : it.table.name === table.name))?.table;
}
