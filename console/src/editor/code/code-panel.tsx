// The panel with the operation of the editor as code, the type of its answer, and ways to keep and share it.

import { useMemo, useState } from 'react';
import { useGraphiQL } from '@graphiql/react';
import type { GraphiQLPlugin } from '@graphiql/react';
import { parse } from 'graphql';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { useCaller } from '../../server/caller';
import type { Caller } from '../../server/caller';
import { parseExact } from '../../server/exact-number';
import { sentSecret } from '../../server/requests';
import { addressOf, go } from '../../shell/place';
import { useEditorText } from '../editor-text';
import { answerType } from './answer-type';
import { curlCode, goCode, pythonCode, rustCode } from './others';
import { apolloCode, fetchCode, urqlCode } from './scripts';
import type { Snippet } from './snippet';

const LANGUAGES: { name: string; title: string; write: (it: Snippet) => string }[] = [
  { name: 'curl', title: 'curl', write: curlCode },
  { name: 'fetch', title: 'fetch', write: fetchCode },
  { name: 'apollo', title: 'Apollo Client', write: apolloCode },
  { name: 'urql', title: 'urql', write: urqlCode },
  { name: 'python', title: 'Python (gql)', write: pythonCode },
  { name: 'go', title: 'Go', write: goCode },
  { name: 'rust', title: 'Rust', write: rustCode },
];

const TYPES = 'types';

interface Operation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  count: number;
}

function operationOf(text: string, name: string | undefined): Operation | null {
  try {
    const document = parse(text);
    const all = document.definitions.filter((it): it is OperationDefinitionNode => it.kind === 'OperationDefinition');
    const operation = all.find(it => it.name?.value === name) ?? all[0];
    return operation ? { document, operation, count: all.length } : null;
  } catch {
    return null;
  }
}

/** The variables; words where the text is no object of JSON. */
function variablesOf(text: string): { [key: string]: unknown } | null | string {
  if (text.trim() === '') return null;
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as { [key: string]: unknown } : 'The variables are no JSON object.';
  } catch (error) {
    return `The variables are no JSON: ${(error as Error).message}`;
  }
}

function snippetOf(query: string, { operation, count }: Operation, variables: { [key: string]: unknown } | null, caller: Caller): Snippet {
  const name = operation.name?.value ?? null;
  return {
    url: new URL('/graphql', location.origin).href,
    query: query.replaceAll('\r\n', '\n').trim(),
    operationName: count > 1 ? name : null,
    name: name ?? 'Operation',
    kind: operation.operation,
    variables: variables && Object.keys(variables).length > 0 ? variables : null,
    headers: { ...(caller.role ? { 'x-hasura-role': caller.role } : {}), ...caller.variables },
    credential: caller.token !== undefined ? 'token' : sentSecret() ? 'secret' : null,
  };
}

/** Code or types, or why there are none. */
function write(language: string, schema: GraphQLSchema | null | undefined, found: Operation, snippet: Snippet): { text: string } | { words: string } {
  if (language !== TYPES) return { text: LANGUAGES.find(it => it.name === language)!.write(snippet) };
  if (!schema) return { words: 'The schema is not there yet.' };
  try {
    return { text: answerType(schema, found.document, found.operation) };
  } catch (error) {
    return { words: (error as Error).message };
  }
}

function CodeContent() {
  const [text] = useEditorText('queryEditor');
  const [variableText] = useEditorText('variableEditor');
  const schema = useGraphiQL(state => state.schema);
  const operationName = useGraphiQL(state => state.operationName);
  const caller = useCaller();
  const [language, setLanguage] = useState('curl');
  const [copied, setCopied] = useState('');
  const found = useMemo(() => operationOf(text, operationName), [text, operationName]);
  const variables = variablesOf(variableText);
  const isGood = typeof variables !== 'string';
  const written = found && isGood ? write(language, schema, found, snippetOf(text, found, variables, caller)) : null;
  const copy = (what: string, of: string) => void navigator.clipboard.writeText(what).then(() => setCopied(of), () => setCopied(''));
  const address = addressOf(['api'], { query: text, variables: variableText.trim() });
  return (
    <div className="weir-plan weir-code-panel">
      <h2>Code</h2>
      {!found && <p role="status">Write an operation without mistakes to have it as code.</p>}
      {!isGood && <p role="alert">{variables}</p>}
      {found && (
        <>
          <p className="weir-actions">
            <label>
              Language{' '}
              <select value={language} onChange={event => (setLanguage(event.target.value), setCopied(''))}>
                {LANGUAGES.map(it => <option key={it.name} value={it.name}>{it.title}</option>)}
                <option value={TYPES}>TypeScript types</option>
              </select>
            </label>
            {written && 'text' in written && <button type="button" className="weir-button weir-first" onClick={() => copy(written.text, 'code')}>{copied === 'code' ? 'Copied' : 'Copy'}</button>}
          </p>
          {written && 'words' in written && <p role="alert">{written.words}</p>}
          {written && 'text' in written && <pre tabIndex={0} aria-label="Code" data-testid="code">{written.text}</pre>}
          <p className="weir-note">Secrets are read from the environment; headers of the editor are not part of it.</p>
          <h3>Keep it</h3>
          <p className="weir-actions">
            <button type="button" className="weir-button" onClick={() => go(addressOf(['api', 'saved'], { save: 'allow', query: text }))}>Save for the allow list</button>
            <button type="button" className="weir-button" onClick={() => go(addressOf(['api', 'saved'], { save: 'rest', query: text }))}>Save as a REST endpoint</button>
            <button type="button" className="weir-button" onClick={() => copy(new URL(address, location.origin).href, 'address')}>{copied === 'address' ? 'Copied' : 'Copy the address'}</button>
          </p>
        </>
      )}
    </div>
  );
}

function CodeIcon() {
  return (
    <svg viewBox="0 0 24 24" width="1em" height="1em" fill="none" stroke="currentColor" strokeWidth="1.6">
      <path d="M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16" />
    </svg>
  );
}

export const codePlugin: GraphiQLPlugin = { title: 'Code', icon: CodeIcon, content: CodeContent };
