// Tools of agents as the caller of the page has them, read by the protocol that agents speak, and how to connect one.

import { useCaller, callerWords } from '../server/caller';
import type { Caller } from '../server/caller';
import { SecretNeeded, sentHeaders, sentSecret } from '../server/requests';
import type { PageProps } from '../shell/shell';
import { useLoaded } from '../shell/use-loaded';
import { loadDocuments } from './saved';
import { SECRET_VARIABLE, shellText, TOKEN_VARIABLE } from '../editor/code/snippet';

/** Source: the Model Context Protocol, revision 2025-11-25. */
const VERSION = '2025-11-25';
/** Pages of tools that are read; a server has at most `tools_max` of them. */
const PAGES_MAX = 20;

interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: { properties?: Record<string, object>; required?: string[] };
  outputSchema?: object;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}

interface Reply {
  result?: { tools: Tool[]; nextCursor?: string };
  error?: { message: string };
  errors?: { message: string }[];
}

/** The tools, or nothing where agents are not served. */
async function loadTools({ token }: Caller): Promise<{ tools: Tool[] } | null> {
  const { agents } = await loadDocuments(0, '');
  if (!agents) return null;
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const response = await fetch(new URL('/mcp', location.origin), {
      method: 'POST',
      headers: { ...sentHeaders(), 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION },
      body: JSON.stringify({ jsonrpc: '2.0', id: page + 1, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }),
    });
    const reply = await response.json() as Reply;
    const words = reply.error?.message ?? reply.errors?.[0]?.message ?? `The server answered ${response.status}.`;
    // A token that is refused is not mended by a secret.
    if (response.status === 401 && token === undefined) throw new SecretNeeded(words);
    if (!reply.result) throw new Error(words);
    tools.push(...reply.result.tools);
    cursor = reply.result.nextCursor;
    if (cursor === undefined) break;
  }
  return { tools };
}

function hintWords({ annotations }: Tool): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
  const words = [readOnlyHint ? 'only reads' : 'changes data', ...(destructiveHint ? ['may destroy'] : []), ...(idempotentHint ? ['may be repeated'] : []), ...(openWorldHint ? ['asks others'] : [])];
  return words.join(', ');
}

function ToolView({ tool }: { tool: Tool }) {
  const required = new Set(tool.inputSchema.required);
  const names = Object.keys(tool.inputSchema.properties ?? {}).map(it => (required.has(it) ? `${it}!` : it));
  return (
    <li>
      <details>
        <summary><b>{tool.name}</b> <code>({names.join(', ')})</code> <span className="weir-note">{hintWords(tool)}</span></summary>
        {tool.description && <p>{tool.description}</p>}
        <h3>Arguments</h3>
        <pre className="weir-code" tabIndex={0} aria-label={`Arguments of ${tool.name}`}>{JSON.stringify(tool.inputSchema, null, 2)}</pre>
        {tool.outputSchema && <><h3>Answer</h3><pre className="weir-code" tabIndex={0} aria-label={`Answer of ${tool.name}`}>{JSON.stringify(tool.outputSchema, null, 2)}</pre></>}
      </details>
    </li>
  );
}

/** A header by which an agent says who it is. */
interface AgentHeader {
  name: string;
  value: string;
  /** The variable of the environment whose content follows the value. */
  variable: string | null;
}

function headersOf({ token, role, variables }: Caller): AgentHeader[] {
  const others = Object.entries({ ...(role ? { 'x-hasura-role': role } : {}), ...variables }).map(([name, value]) => ({ name, value, variable: null }));
  if (token !== undefined) return [{ name: 'authorization', value: 'Bearer ', variable: TOKEN_VARIABLE }, ...others];
  return sentSecret() ? [{ name: 'x-hasura-admin-secret', value: '', variable: SECRET_VARIABLE }, ...others] : others;
}

/** The commands and the file by which agents connect; credentials are read from the environment. */
function Connect({ headers }: { headers: AgentHeader[] }) {
  const url = new URL('/mcp', location.origin).href;
  const options = headers.map(({ name, value, variable }) => ` --header ${variable === null ? shellText(`${name}: ${value}`) : `"${name}: ${value}$${variable}"`}`).join('');
  const pairs = headers.map(({ name, value, variable }) => [name, variable === null ? value : `${value}\${${variable}}`]);
  const file = { mcpServers: { weir: { type: 'http', url, ...(headers.length === 0 ? {} : { headers: Object.fromEntries(pairs) }) } } };
  return (
    <section aria-label="Connect an agent">
      <h2>Connect an agent</h2>
      <p>Claude Code:</p>
      <pre className="weir-code" tabIndex={0} aria-label="Command">{`claude mcp add --transport http weir ${url}${options}`}</pre>
      <p>A file of servers, as <code>.mcp.json</code>:</p>
      <pre className="weir-code" tabIndex={0} aria-label="File">{JSON.stringify(file, null, 2)}</pre>
    </section>
  );
}

const EXAMPLE = `operations:
  mcp:
    enabled: true
    schema_tools: [search, introspect]`;

export function AgentsPage({ onLocked }: PageProps) {
  const caller = useCaller();
  const { value: loaded, failure } = useLoaded(async () => ({ caller, agents: await loadTools(caller) }), [caller], onLocked);
  if (failure !== null) return <p role="alert" className="weir-bad">{failure}</p>;
  if (loaded?.caller !== caller) return <p className="weir-note">Reading the tools …</p>;
  if (!loaded.agents) {
    return (
      <div className="weir-empty">
        <p><b>Agents are not served.</b></p>
        <p>In weir.yaml, this makes saved operations tools of agents at <code>/mcp</code>:</p>
        <pre className="weir-code" tabIndex={0} aria-label="Example">{EXAMPLE}</pre>
      </div>
    );
  }
  const { tools } = loaded.agents;
  return (
    <>
      <p className="weir-note" data-testid="tools-count">{tools.length} {tools.length === 1 ? 'tool' : 'tools'} of {callerWords(caller)}; <i>Run as</i> shows those of another role.</p>
      {tools.length === 0 && <div className="weir-empty"><p><b>This caller has no tool.</b></p><p>REST endpoints, collections and files of documents are tools, as far as the role sees what they ask for; <code>schema_tools</code> adds tools over the schema.</p></div>}
      {tools.length > 0 && <h2>Tools</h2>}
      <ul className="weir-list" data-testid="tools">{tools.map(it => <ToolView key={it.name} tool={it} />)}</ul>
      <Connect headers={headersOf(caller)} />
    </>
  );
}
