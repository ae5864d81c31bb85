// The command that makes a one-off event.

import type { Command } from '../metadata/review-command';
import type { ServedHeader } from '../metadata/served';
import { parseExact } from '../server/exact-number';

export interface OneOff {
  webhook: string;
  time: string;
  payload: string;
  comment: string;
  headers: string;
  retries: string;
}

export const EMPTY: OneOff = { webhook: '', time: '', payload: '{}', comment: '', headers: '', retries: '0' };

/** Headers by lines `Name: VARIABLE`; their values are in the environment of the server. */
export function headersOf(text: string): { headers: ServedHeader[]; fault: string | null } {
  const lines = text.split('\n').map(it => it.trim()).filter(Boolean);
  const headers = lines.flatMap(line => {
    const [, name, variable] = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*([A-Za-z_]\w*)$/.exec(line) ?? [];
    return name === undefined || variable === undefined ? [] : [{ name, value_from_env: variable }];
  });
  return { headers, fault: headers.length < lines.length ? 'A header is a line: its name, a colon, the name of a variable.' : null };
}

/** The payload, or why it is none. */
function readPayload(text: string): { payload: unknown; fault: string | null } {
  try {
    return { payload: text.trim() === '' ? null : parseExact(text), fault: null };
  } catch (error) {
    return { payload: null, fault: `The payload is no JSON: ${(error as Error).message}` };
  }
}

/** What is wrong with the form, or the command that it makes. */
export function commandOf(form: OneOff): { command: Command | null; fault: string | null } {
  const { payload, fault } = readPayload(form.payload);
  const { headers, fault: headerFault } = headersOf(form.headers);
  const at = new Date(form.time.endsWith('Z') ? form.time : `${form.time}Z`);
  const retries = Number(form.retries);
  const wrong = (words: string) => ({ command: null, fault: words });
  if (form.webhook.trim() === '') return wrong('It needs a webhook.');
  if (form.time === '' || Number.isNaN(at.getTime())) return wrong('It needs a time.');
  if (fault !== null || headerFault !== null) return wrong((fault ?? headerFault)!);
  if (!Number.isInteger(retries) || retries < 0) return wrong('Further tries are a whole number.');
  const args = {
    webhook: form.webhook.trim(),
    schedule_at: at.toISOString(),
    payload,
    ...(headers.length === 0 ? {} : { headers }),
    ...(form.comment.trim() === '' ? {} : { comment: form.comment.trim() }),
    ...(retries === 0 ? {} : { retry_conf: { num_retries: retries } }),
  };
  return { command: { title: 'Make a one-off event', words: 'The webhook is called at this time; a time that is over is called at once, unless it is over for more than six hours: such an event is never called.', request: { type: 'create_scheduled_event', args } }, fault: null };
}
