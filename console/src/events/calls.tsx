// The log of calls of one event: request, status, answer.

import { jsonOf } from '../editor/code/snippet';
import { headerWords, timeText } from './event-log';
import type { Call } from './event-log';

/** Characters of a body that are shown; the log keeps up to 256 KiB. */
const SHOWN_MAX = 20_000;

const cut = (text: string) => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}\n… ${(text.length - SHOWN_MAX).toLocaleString('en')} more characters` : text);

/** JSON with indents; another text as it is. */
export function Code({ label, value }: { label: string; value: unknown }) {
  return <pre className="weir-code" tabIndex={0} aria-label={label}>{cut(typeof value === 'string' ? value : jsonOf(value ?? null, 2))}</pre>;
}

function CallEntry({ call }: { call: Call }) {
  const status = call.http_status ?? call.status ?? null;
  const isGood = status !== null && status >= 200 && status < 300;
  const { data } = call.response ?? {};
  return (
    <li>
      <details>
        <summary><span className={isGood ? undefined : 'weir-bad'}>{status ?? 'no answer'}</span> at {timeText(call.created_at)}</summary>
        <h4>Request</h4>
        <p className="weir-note">Headers: {headerWords(call.request?.headers) || 'none'}</p>
        <Code label="Request body" value={call.request?.payload} />
        <h4>Answer</h4>
        <Code label="Answer" value={data?.body ?? data?.message ?? ''} />
      </details>
    </li>
  );
}

export function Calls({ calls }: { calls: Call[] }) {
  return (
    <>
      <h3>Calls</h3>
      {calls.length === 0 ? <p className="weir-note">It was not called yet.</p> : <ul className="weir-list" data-testid="calls">{calls.map(it => <CallEntry key={it.id} call={it} />)}</ul>}
    </>
  );
}
