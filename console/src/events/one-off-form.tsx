// The form of a one-off event: a webhook that is called once, at a time.

import { useState } from 'react';
import type { Command } from '../metadata/review-command';
import { addressOf, go } from '../shell/place';
import { commandOf, EMPTY } from './one-off';
import type { OneOff } from './one-off';

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
