// Saved operations: collections and the allow list, REST endpoints, and documents, whichever file says so.

import { askOperator, command } from '../server/requests';

export interface NamedQuery {
  name: string;
  query: string;
}

export interface QueryCollection {
  name: string;
  comment?: string;
  definition: { queries: NamedQuery[] };
}

export interface AllowlistEntry {
  collection: string;
  scope?: { global: boolean; roles?: string[] };
}

export interface EndpointEntry {
  name: string;
  url: string;
  methods: string[];
  comment?: string;
  definition: { query: { collection_name: string; query_name: string } };
}

/** What the metadata say; the settings of weir.yaml are not among it. */
export interface SavedMetadata {
  query_collections: QueryCollection[];
  allowlist: AllowlistEntry[];
  rest_endpoints: EndpointEntry[];
}

export type Origin = 'metadata' | 'settings' | 'file';

export interface ServedCollection {
  name: string;
  origin: Origin;
  file: string | null;
  documents: number;
  allowed: { global: boolean; roles: string[] } | null;
}

export interface Declared {
  name: string;
  type: string;
  list: boolean;
  nullable: boolean;
  default: string | null;
}

export interface ServedEndpoint {
  name: string;
  comment: string | null;
  url: string;
  methods: string[];
  query: string;
  origin: Origin;
  variables: Declared[];
}

export interface StoredDocument {
  name: string;
  collection: string;
  hash: string;
  ids: string[];
  text: string;
}

/** A page of documents, with everything that is served beside them. */
export interface DocumentsPage {
  documents: StoredDocument[];
  total: number;
  next: number | null;
  allow_list: boolean;
  require_id: boolean;
  automatic: boolean;
  agents: boolean;
  collections: ServedCollection[];
  endpoints: ServedEndpoint[];
}

export const loadDocuments = (after: number, search: string) => askOperator<DocumentsPage>('/admin/documents', { after, search });

export interface Saved {
  page: DocumentsPage;
  metadata: SavedMetadata;
  /** Where changes are written; null: there is no such place. */
  file: string | null;
  version: number | null;
  /** Entries that the server left out, with the reasons. */
  faults: { name: string; reason: string }[];
}

interface State {
  served?: { metadata: string | null };
  inconsistent_objects?: { type: string; name: string; reason: string }[];
}

/** Nothing where this address has no metadata API. */
export async function loadSaved(): Promise<Saved | null> {
  const state = await command<State>('dump_internal_state', {});
  if (!state?.served) return null;
  const [exported, page] = await Promise.all([
    command<{ resource_version?: number; metadata?: Partial<SavedMetadata> }>('export_metadata', {}, 2),
    loadDocuments(0, ''),
  ]);
  const { query_collections = [], allowlist = [], rest_endpoints = [] } = exported?.metadata ?? {};
  const faults = (state.inconsistent_objects ?? []).filter(it => /endpoint|collection|query|allowlist/.test(it.type));
  return { page, metadata: { query_collections, allowlist, rest_endpoints }, file: state.served.metadata, version: exported?.resource_version ?? null, faults };
}
