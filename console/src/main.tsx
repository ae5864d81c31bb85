// The console: GraphiQL, the plan panel, the secret dialog.

import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './console.css';
import { createRoot } from 'react-dom/client';
import { useEffect, useMemo, useRef, useState } from 'react';
import { GraphiQL } from 'graphiql';
import type { GraphiQLPlugin } from '@graphiql/react';
import type { Fetcher } from '@graphiql/toolkit';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { PlanPanel } from './plan-panel';
import { SecretDialog } from './secret-dialog';
import { run, SecretNeeded, setSecret } from './requests';
import type { LastRequest } from './requests';
import { starterQuery } from './starter';
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

async function loadSchema(): Promise<GraphQLSchema> {
  const { answer } = await run({ query: getIntrospectionQuery({ inputValueDeprecation: true }) });
  if (!answer.data) throw new Error(answer.errors?.[0]?.message ?? 'the server gave no schema');
  return buildClientSchema(answer.data);
}

function Console() {
  const [schema, setSchema] = useState<GraphQLSchema | null>(null);
  const [locked, setLocked] = useState<'no' | 'yes' | 'refused'>('no');
  const [failure, setFailure] = useState<string | null>(null);
  const tries = useRef(0);

  const open = () => {
    loadSchema().then(
      it => (setSchema(it), setLocked('no')),
      error =>
        error instanceof SecretNeeded
          ? setLocked(tries.current++ === 0 ? 'yes' : 'refused')
          : setFailure(String(error.message ?? error)),
    );
  };
  useEffect(open, []);

  const fetcher: Fetcher = useMemo(
    () => async (params, options) => {
      const { answer, last } = await run(params, options?.headers as Record<string, string> | undefined);
      remember(last);
      return answer;
    },
    [],
  );

  if (locked !== 'no') {
    return <SecretDialog refused={locked === 'refused'} onSecret={secret => (setSecret(secret), open())} />;
  }
  if (failure) return <p className="weir-failure" role="alert">{failure}</p>;
  if (!schema) return <p className="weir-failure">Reading the schema …</p>;
  return (
    <GraphiQL
      fetcher={fetcher}
      schema={schema}
      defaultQuery={starterQuery(schema)}
      plugins={[planPlugin]}
      visiblePlugin="Plan"
      referencePlugin={undefined}
      shouldPersistHeaders={false}
    >
      <GraphiQL.Logo>
        <img src={logo} alt="" width="20" height="20" /> <b>Weir</b>
      </GraphiQL.Logo>
    </GraphiQL>
  );
}

createRoot(document.getElementById('root')!).render(<Console />);
