// The form of a one-off event: a webhook that is called once, at a time.

import { useState } from 'react';
import type { Command } from '../metadata/review-command';
import { parseExact } from '../server/exact-number';
import { addressOf, go } from '../shell/place';
import { EMPTY, headersOf } from './schedules';
import type { OneOff } from './schedules';

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
  return { command: { title: 'Make a one-off event', words: 'The webhook is called at this time; a time that is over is called at once.', request: { type: 'create_scheduled_event', args } }, fault: null };
}

export function OneOffForm({ onCommand }: { onCommand: (command: Command) => void }) {
  const [form, setForm] = useState<OneOff>(EMPTY);
  const { command, fault } = commandOf(form);
  const isTouched = form !== EMPTY;
  const field = (key: keyof OneOff) => ({ className: 'weir-field', autoComplete: 'off', spellCheck: false, value: form[key], onChange: (event: { target: { value: string } }) => setForm({ ...form, [key]: event.target.value }) });
  return (
    <form className="weir-part weir-save" aria-label="New one-off event" onSubmit={event => (event.preventDefault(), command !== null && onCommand(command))}>
      <h2>New one-off event</h2>
      <div className="weir-fields-beside">
        <label>Webhook<input placeholder="https://… or {{VARIABLE}}/path" {...field('webhook')} /></label>
        <label>Time, UTC<input type="datetime-local" step="1" {...field('time')} /></label>
        <label>Further tries<input inputMode="numeric" {...field('retries')} /></label>
        <label>Comment<input {...field('comment')} /></label>
      </div>
      <label>Payload, JSON<textarea rows={4} {...field('payload')} /></label>
      <label>Headers, a line each: name and variable of the server’s environment<textarea rows={2} placeholder="Authorization: HOOK_TOKEN" {...field('headers')} /></label>
      {isTouched && fault !== null && <p role="alert" className="weir-bad">{fault}</p>}
      <p className="weir-actions">
        <button type="submit" className="weir-button weir-first" disabled={command === null}>Review the request</button>
        <button type="button" className="weir-button" onClick={() => go(addressOf(['events', 'schedules']))}>Close</button>
      </p>
    </form>
  );
}
