// Import of a CSV: columns matched, first rows shown, a dry run, and the request before it is sent.

import { useState } from 'react';
import { Modal } from '../shell/modal';
import type { Table } from './catalog';
import { parseCsv } from './csv';
import type { Field } from './csv';
import type { TableFacts } from './sources';
import { dryRun, IMPORT_BYTES_MAX, IMPORT_ROWS, IMPORT_ROWS_MAX, prepareRows } from './transfer';
import type { Fault } from './transfer';
import { insertRows } from './writes';
import type { Change } from './writes';

const PREVIEW_ROWS = 5;
const FAULTS_SHOWN_MAX = 50;

interface Props {
  table: Table;
  facts: TableFacts;
  /** Changes of at most `IMPORT_ROWS` rows each; the first is shown, and all are sent. */
  onChange: (changes: Change[]) => void;
  onClose: () => void;
}

interface Loaded {
  name: string;
  header: string[];
  lines: { line: number; fields: Field[] }[];
}

/** The text of a file. Bytes that are no UTF-8 are told: read as something else they would become other letters. */
async function textOf(file: File): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error('The file is not UTF-8: save it as UTF-8 (in Excel: “CSV UTF-8”).');
  }
}

async function read(file: File): Promise<Loaded> {
  if (file.size > IMPORT_BYTES_MAX) throw new Error('The file is larger than 64 MiB: import it in parts.');
  const [head, ...lines] = parseCsv(await textOf(file));
  if (!head || lines.length === 0) throw new Error('The file has no rows below its header.');
  if (lines.length > IMPORT_ROWS_MAX) throw new Error(`The file has more than ${IMPORT_ROWS_MAX.toLocaleString('en')} rows: import it in parts.`);
  return { name: file.name, header: head.fields.map(it => it ?? ''), lines };
}

export function ImportDialog({ table, facts, onChange, onClose }: Props) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [columns, setColumns] = useState<(string | null)[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [tried, setTried] = useState<{ columns: (string | null)[]; faults: Fault[] } | null>(null);
  const [isTrying, setIsTrying] = useState(false);
  const names = table.insert!.columns.map(it => it.name);
  const open = (file: File) => read(file).then(
    it => {
      setLoaded(it);
      setFailure(null);
      setTried(null);
      setColumns(it.header.map(title => names.find(name => name.toLowerCase() === title.trim().toLowerCase()) ?? null));
    },
    error => (setLoaded(null), setFailure(String(error.message ?? error))),
  );
  const prepared = loaded && prepareRows(table, loaded.lines, columns);
  const tryIt = async () => {
    if (!loaded || !prepared) return;
    setIsTrying(true);
    try {
      // Wrong values are told first: the server could not even be asked for them.
      const faults = prepared.faults.length > 0 ? prepared.faults : await dryRun(table, loaded.lines, prepared, facts.foreignKeys);
      setTried({ columns, faults });
      setFailure(null);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    setIsTrying(false);
  };
  const isTried = tried?.columns === columns;
  const review = () => {
    const rows = prepared!.rows;
    const parts = Array.from({ length: Math.ceil(rows.length / IMPORT_ROWS) }, (_, at) => rows.slice(at * IMPORT_ROWS, (at + 1) * IMPORT_ROWS));
    onChange(parts.map(it => insertRows(table, it)));
  };
  return (
    <Modal title={`Import into ${table.name}`} onClose={onClose}>
      <p>
        <label>CSV with a header <input type="file" accept=".csv,text/csv" onChange={event => event.target.files?.[0] && void open(event.target.files[0])} /></label>
      </p>
      <p className="weir-note">Nothing between two commas is null; two quotes are the empty text.</p>
      {failure && <p role="alert" className="weir-bad">{failure}</p>}
      {loaded && (
        <>
          <div className="weir-wide" tabIndex={0} role="region" aria-label="First rows">
            <table className="weir-diff">
              <thead>
                <tr>
                  {loaded.header.map((title, at) => (
                    <th key={at}>
                      {title}
                      <select
                        className="weir-field" aria-label={`${title} goes to`} value={columns[at] ?? ''}
                        onChange={event => setColumns(columns.map((old, place) => (place === at ? event.target.value || null : old)))}
                      >
                        <option value="">leave out</option>
                        {names.map(it => <option key={it}>{it}</option>)}
                      </select>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {loaded.lines.slice(0, PREVIEW_ROWS).map(({ line, fields }) => (
                  <tr key={line}>{loaded.header.map((_, at) => <td key={at}>{fields[at] ?? <i className="weir-null">null</i>}</td>)}</tr>
                ))}
              </tbody>
            </table>
          </div>
          <p role="status">
            {loaded.lines.length.toLocaleString('en')} rows.{' '}
            {isTried && (tried.faults.length === 0 ? 'The dry run found nothing wrong.' : `The dry run found ${tried.faults.length.toLocaleString('en')} faults:`)}
          </p>
          {isTried && tried.faults.length > 0 && (
            <ul className="weir-faults">{tried.faults.slice(0, FAULTS_SHOWN_MAX).map((it, at) => <li key={at}>line {it.line}: {it.words}</li>)}</ul>
          )}
        </>
      )}
      <p className="weir-actions">
        <button type="button" className="weir-button" disabled={!loaded || isTrying || !facts.isLoaded || columns.every(it => it === null)} onClick={() => void tryIt()}>Dry run</button>
        <button type="button" className="weir-button weir-first" disabled={!isTried || tried.faults.length > 0} onClick={review}>Show the request</button>
        <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
      </p>
    </Modal>
  );
}
