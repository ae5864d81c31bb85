// The page of the API: GraphiQL with the panels of plans and pushes.

import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './editor.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import { GraphiQL } from 'graphiql';
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { GraphiQLPlugin } from '@graphiql/react';
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { buildClientSchema, getIntrospectionQuery, getOperationAST, parse, introspectionFromSchema, lexicographicSortSchema } from 'graphql';
import type { IntrospectionQuery, OperationDefinitionNode } from 'graphql';
import { PlanPanel } from './plan-panel';
import { pushPlugin, ShowPushes } from './push-panel';
import { useCaller } from '../server/caller';
import { run, SecretNeeded, wordsOf } from '../server/requests';
import type { LastRequest } from '../server/requests';
import { subscribe } from '../server/subscriptions';
import { addressOf, go, place } from '../shell/place';
import type { PageProps } from '../shell/shell';
import { codePlugin } from './code/code-panel';
import { treePlugin } from './tree/query-tree';
import { takeHandedOver } from './hand-over';
import { keepTabsPlain } from './plain-tabs';
import { starterQuery } from './starter';

// The panel lives inside GraphiQL's plugin slot, which is rendered by GraphiQL: a listener tells it of new requests.
let lastRequest: LastRequest | null = null;
const listeners = new Set<(last: LastRequest) => void>();

function remember(last: LastRequest) {
  lastRequest = last;
  listeners.forEach(listener => listener(last));
}

function PlanContent() {
  const [last, setLast] = useState(lastRequest);
  useEffect(() => {
    listeners.add(setLast);
    return () => void listeners.delete(setLast);
  }, []);
  return <PlanPanel last={last} />;
}

function PlanIcon() {
  return (
    <svg viewBox="0 0 24 24" width="1em" height="1em" fill="none" stroke="currentColor" strokeWidth="1.6">
      <path d="M5 4h6v5H5zM13 15h6v5h-6zM8 9v8.500h5" />
    </svg>
  );
}

const planPlugin: GraphiQLPlugin = { title: 'Plan', icon: PlanIcon, content: PlanContent };

/** GraphiQL closes the panel that is open when it is given other plugins. */
const PLUGINS = [HISTORY_PLUGIN, treePlugin, planPlugin, codePlugin, pushPlugin];

/** GraphiQL's name of its own question for the schema. */
const INTROSPECTION = 'IntrospectionQuery';

/** The same schema with types, fields and arguments in the order of their names, as documentation is read. */
function sorted(data: IntrospectionQuery): IntrospectionQuery {
  const schema = lexicographicSortSchema(buildClientSchema(data));
  return introspectionFromSchema(schema, { inputValueDeprecation: true, schemaDescription: true });
}

/** The operation if it is a subscription. What cannot be parsed is none: the server says what is wrong with it. */
function subscriptionOf({ query, operationName }: FetcherParams): OperationDefinitionNode | null {
  try {
    const operation = getOperationAST(parse(query), operationName);
    return operation?.operation === 'subscription' ? operation : null;
  } catch {
    return null;
  }
}

async function loadSchema(): Promise<IntrospectionQuery> {
  const query = getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true });
  const { answer } = await run({ query, operationName: INTROSPECTION });
  if (!answer.data) throw new Error(wordsOf(answer) ?? 'The server gave no schema.');
  return answer.data;
}

/** Frames after which the editor is shown, coloured or not. */
const FRAMES_MAX = 60;

/** Shows the editor once its text has its colours. */
function showEditor(frames = 0) {
  const isColoured = document.querySelector('.graphiql-query-editor .view-lines [class*="mtk"]:not(.mtk1)');
  if (isColoured || frames === FRAMES_MAX) document.documentElement.classList.remove('weir-opening');
  else requestAnimationFrame(() => showEditor(frames + 1));
}

/** Reads the schema again when the caller of the page changes. */
function FollowCaller() {
  const { introspect } = useGraphiQLActions();
  const caller = useCaller();
  const shown = useRef(caller);
  useEffect(() => {
    if (shown.current === caller) return;
    shown.current = caller;
    void introspect();
  }, [caller]);
  return null;
}

/** Gives the editor the system's colours when these change, unless others were chosen. */
function FollowSystem() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL(state => state.theme);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => theme === null && setTheme(null);
    dark.addEventListener('change', follow);
    return () => dark.removeEventListener('change', follow);
  }, [theme]);
  return null;
}

/** The operation of another page, or of the address. */
function takeOperation() {
  const query = place().search.get('query');
  return takeHandedOver() ?? (query === null ? null : { query, variables: place().search.get('variables') ?? '' });
}

/** Narrow screens begin with the editor alone; the plan is a touch away. */
const isNarrow = matchMedia('(max-width: 700px)').matches;

export default function EditorPage({ onLocked }: PageProps) {
  const [first, setFirst] = useState<IntrospectionQuery | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  // GraphiQL asks for the schema when it opens; the page has it by then.
  const unread = useRef<IntrospectionQuery | null>(null);
  const handedOver = useMemo(takeOperation, []);
  // From here on the tabs of the editor keep the text.
  useEffect(() => void (place().search.has('query') && go(addressOf(['api']), { replace: true })), []);

  useEffect(() => {
    loadSchema().then(
      data => {
        unread.current = data;
        setFirst(data);
      },
      error => (error instanceof SecretNeeded ? onLocked(error) : setFailure(String(error.message ?? error))),
    );
  }, []);

  const fetcher: Fetcher = useMemo(
    () => async (params, options) => {
      const asksSchema = params.operationName === INTROSPECTION;
      if (asksSchema && unread.current) {
        const data = sorted(unread.current);
        unread.current = null;
        return { data: { ...data } };
      }
      const headers = options?.headers as Record<string, string> | undefined;
      const subscription = subscriptionOf(params);
      // GraphiQL reads the name a moment after it was written.
      if (subscription) return subscribe({ ...params, operationName: params.operationName ?? subscription.name?.value ?? null }, headers);
      try {
        const { answer, last } = await run(params, headers);
        if (!asksSchema) remember(last);
        return asksSchema && answer.data ? { ...answer, data: sorted(answer.data) } : answer;
      } catch (error) {
        if (error instanceof SecretNeeded) onLocked(error);
        throw error;
      }
    },
    [],
  );

  useEffect(() => {
    if (!first) return;
    document.documentElement.classList.add('weir-opening');
    showEditor();
    return keepTabsPlain(document.getElementById('page')!);
  }, [first]);
  const starter = useMemo(() => first && starterQuery(buildClientSchema(first)), [first]);
  if (failure) return <main id="page" className="weir-page"><h1>API</h1><p role="alert">{failure}</p></main>;
  if (!starter) return <main id="page" className="weir-page"><p className="weir-note">Reading the schema …</p></main>;
  return (
    <main id="page" tabIndex={-1} className="weir-editor">
      <h1 className="weir-hidden">API</h1>
      <GraphiQL
        fetcher={fetcher}
        defaultQuery={starter}
        {...(handedOver ? { initialQuery: handedOver.query, initialVariables: handedOver.variables } : {})}
        plugins={PLUGINS}
        visiblePlugin={isNarrow ? undefined : 'Plan'}
        inputValueDeprecation
        schemaDescription
        shouldPersistHeaders={false}
      >
        <GraphiQL.Logo>
          <FollowCaller />
          <FollowSystem />
          <ShowPushes isNarrow={isNarrow} />
        </GraphiQL.Logo>
      </GraphiQL>
    </main>
  );
}
