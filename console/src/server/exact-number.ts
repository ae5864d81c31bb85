// Numbers of answers with all of their digits: JavaScript would round them, or drop the zeros at their end.

type Raw = { rawJSON?: (text: string) => unknown };

/** A number whose digits JavaScript would not keep. Written as JSON it is what the server sent. */
export class ExactNumber {
  constructor(readonly digits: string) {}

  toString() {
    return this.digits;
  }

  /** A number where the browser can write it; elsewhere a text, which the server takes for a number. */
  toJSON(): unknown {
    return (JSON as Raw).rawJSON?.(this.digits) ?? this.digits;
  }
}

/** True unless the value has parts. */
export const isScalar = (value: unknown): value is null | undefined | boolean | number | string | ExactNumber => typeof value !== 'object' || value === null || value instanceof ExactNumber;

/** Keeps the digits of a number while JSON is read. */
export function exactNumber(this: unknown, _: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  return typeof value !== 'number' || source === undefined || String(value) === source ? value : new ExactNumber(source);
}

/** Reads JSON with the digits of its numbers. */
export const parseExact = (text: string): unknown => JSON.parse(text, exactNumber as Parameters<typeof JSON.parse>[1]);
