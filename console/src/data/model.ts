// What the Data page knows: the caller's schema, its tables, and the sources they are of.

import { createContext, useContext } from 'react';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import type { GraphQLSchema, IntrospectionQuery } from 'graphql';
import type { Caller } from '../server/caller';
import { ask } from '../server/requests';
import { tablesOf } from './catalog';
import type { Table, Tables } from './catalog';
import { loadOperatorFacts, loadSources } from './sources';
import type { Entry, SourceEntries } from './sources';
import { addressOf } from '../shell/place';
import { writeConditions } from './filters';
import type { Condition } from './filters';

export interface Model {
  schema: GraphQLSchema;
  tables: Tables;
  sources: SourceEntries[];
}

/** What `as` sees; the caller of the page if nobody is named. */
export async function loadModel(as?: Caller): Promise<Model> {
  const [introspected, facts] = await Promise.all([
    ask<IntrospectionQuery>(getIntrospectionQuery({ descriptions: false }), {}, as),
    loadOperatorFacts(),
  ]);
  const schema = buildClientSchema(introspected, { assumeValid: true });
  const tables = tablesOf(schema);
  return { schema, tables, sources: await loadSources(tables, facts) };
}

const ModelContext = createContext<Model | null>(null);
export const ModelProvider = ModelContext.Provider;

export function useModel(): Model {
  const model = useContext(ModelContext);
  if (!model) throw new Error('the Data page has no schema');
  return model;
}

export function findEntry(model: Model, source: string, name: string): Entry | undefined {
  return model.sources.find(it => it.source === source)?.entries.find(it => it.table.name === name);
}

export const sourceOf = (model: Model, table: Table) =>
  model.sources.find(it => it.entries.some(entry => entry.table === table))?.source ?? 'graph';

/** The address of a table, with the conditions that the rows have to meet. */
export const tableAddress = (model: Model, table: Table, conditions: Condition[] = []) =>
  addressOf(['data', sourceOf(model, table), table.name], { filter: writeConditions(conditions) });

/** Conditions for columns to be equal to values; the operator is that of the table's dialect. */
export const equalConditions = (table: Table, pairs: [column: string, value: unknown][]): Condition[] =>
  pairs.map(([column, value]) => ({ path: [column], operator: table.dialect === 'native' ? '' : '_eq', value: String(value) }));
