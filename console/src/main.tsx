// The console: GraphiQL, the panels of plans and pushes, the page of operations, the caller of its requests, the secret dialog.

import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { GraphiQL } from 'graphiql';
import type { GraphiQLPlugin } from '@graphiql/react';
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { buildClientSchema, getIntrospectionQuery, getOperationAST, parse, introspectionFromSchema, lexicographicSortSchema } from 'graphql';
import type { IntrospectionQuery } from 'graphql';
import { OperationsPage } from './operations-page';
import { PlanPanel } from './plan-panel';
import { pushPlugin, ShowPushes } from './push-panel';
import { RunAs } from './run-as';
import { SecretDialog } from './secret-dialog';
import { forgetSecret, lacksSecret, run, SecretNeeded, sentSecret, setSecret, wordsOf } from './requests';
import type { LastRequest } from './requests';
import { starterQuery } from './starter';
import { subscribe } from './subscriptions';
import logo from './weir.svg';

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

/** GraphiQL's name of its own question for the schema. */
const INTROSPECTION = 'IntrospectionQuery';

/** The same schema with types, fields and arguments in the order of their names, as documentation is read. */
function sorted(data: IntrospectionQuery): IntrospectionQuery {
  const schema = lexicographicSortSchema(buildClientSchema(data));
  return introspectionFromSchema(schema, { inputValueDeprecation: true, schemaDescription: true });
}

/** True if the operation is a subscription. What cannot be parsed is none: the server says what is wrong with it. */
function isSubscription({ query, operationName }: FetcherParams): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false;
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

/** The page that the fragment of the address names; the editor without one. */
function useFragment(): string {
  const listen = (told: () => void) => (addEventListener('hashchange', told), () => removeEventListener('hashchange', told));
  return useSyncExternalStore(listen, () => location.hash);
}

/** Narrow screens begin with the editor alone; the plan is a touch away. */
const isNarrow = matchMedia('(max-width: 700px)').matches;

function Console() {
  const [first, setFirst] = useState<IntrospectionQuery | null>(null);
  const [lock, setLock] = useState<{ refusal: string | null } | null>(null);
  const fragment = useFragment();
  // The page was opened as a role for callers without a secret: it goes on as that role, or with the secret.
  const [isGuest, setIsGuest] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  // GraphiQL asks for the schema when it opens; the page has it by then.
  const unread = useRef<IntrospectionQuery | null>(null);

  const locked = useCallback((error: SecretNeeded) => setLock({ refusal: sentSecret() ? error.message : null }), []);
  const open = () => {
    loadSchema().then(
      data => {
        unread.current = data;
        setFirst(data);
        setLock(null);
        void lacksSecret().then(setIsGuest);
      },
      error => (error instanceof SecretNeeded ? locked(error) : setFailure(String(error.message ?? error))),
    );
  };
  useEffect(open, []);

  const fetcher: Fetcher = useMemo(
    () => async (params, options) => {
      const asksSchema = params.operationName === INTROSPECTION;
      if (asksSchema && unread.current) {
        const data = sorted(unread.current);
        unread.current = null;
        return { data: { ...data } };
      }
      const headers = options?.headers as Record<string, string> | undefined;
      if (isSubscription(params)) return subscribe(params, headers);
      try {
        const { answer, last } = await run(params, headers);
        if (!asksSchema) remember(last);
        return asksSchema && answer.data ? { ...answer, data: sorted(answer.data) } : answer;
      } catch (error) {
        if (error instanceof SecretNeeded) locked(error);
        throw error;
      }
    },
    [],
  );

  useEffect(() => {
    if (!first) return;
    document.documentElement.classList.add('weir-opening');
    showEditor();
  }, [first]);
  const starter = useMemo(() => first && starterQuery(buildClientSchema(first)), [first]);
  if (lock) {
    const cancel = () => (forgetSecret(), open());
    return (
      <SecretDialog
        refusal={lock.refusal}
        onSecret={secret => (setSecret(secret), open())}
        onCancel={isGuest ? cancel : undefined}
      />
    );
  }
  if (failure) return <p className="weir-failure" role="alert">{failure}</p>;
  if (fragment === '#operations') return <OperationsPage onLocked={locked} />;
  if (!starter) return <p className="weir-failure">Reading the schema …</p>;
  return (
    <GraphiQL
      fetcher={fetcher}
      defaultQuery={starter}
      plugins={[HISTORY_PLUGIN, planPlugin, pushPlugin]}
      visiblePlugin={isNarrow ? undefined : 'Plan'}
      inputValueDeprecation
      schemaDescription
      shouldPersistHeaders={false}
    >
      <GraphiQL.Logo>
        {isGuest && (
          <button type="button" className="weir-secret" onClick={() => setLock({ refusal: null })}>
            Admin secret
          </button>
        )}
        <a className="weir-link" href="#operations">Operations</a>
        <RunAs />
        <ShowPushes isNarrow={isNarrow} />
        <img src={logo} alt="" width="20" height="20" /> <b>Weir</b>
      </GraphiQL.Logo>
    </GraphiQL>
  );
}

createRoot(document.getElementById('root')!).render(<Console />);
