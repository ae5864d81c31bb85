// CSV by RFC 4180, written and read. Null is nothing between two commas, the empty text is two quotes, so both come back.

/** A field: its text, or null where nothing is written. */
export type Field = string | null;

export function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (values: unknown[]) => `${values.map(csvField).join(',')}\r\n`;

/** The lines of a text with the number of the line on which each begins; an error if a quote has no end. */
export function parseCsv(text: string): { line: number; fields: Field[] }[] {
  const rows: { line: number; fields: Field[] }[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let fields: Field[] = [];
  let begun = 1;
  const end = () => {
    // A line with nothing on it is none.
    if (fields.length > 1 || fields[0] !== null) rows.push({ line: begun, fields });
    fields = [];
    begun = line;
  };
  while (at <= text.length) {
    let field: Field = null;
    if (text[at] === '"') {
      let value = '';
      at++;
      while (at < text.length && (text[at] !== '"' || text[at + 1] === '"')) {
        if (text[at] === '"') at++;
        if (text[at] === '\n') line++;
        value += text[at++];
      }
      if (at >= text.length) throw new Error(`The quote that begins in line ${begun} has no end.`);
      at++;
      field = value;
    }
    const from = at;
    while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
    const plain = text.slice(from, at).replace(/\r$/, '');
    if (plain !== '') field = (field ?? '') + plain;
    fields.push(field);
    if (text[at] === ',') {
      at++;
      continue;
    }
    if (text[at] === '\n') line++;
    at++;
    end();
  }
  return rows;
}
