// Dialogs about rows of another table: one row that a foreign key leads to, and a choice among all.

import { useEffect, useState } from 'react';
import { ask } from '../server/requests';
import { Link } from '../shell/place';
import { Modal } from '../shell/modal';
import type { Column, Table } from './catalog';
import { CellValue, valueText } from './cells';
import { equalConditions, tableAddress, useModel } from './model';
import { pageOperation, rowsOf } from './page-query';
import type { PageWish, Row } from './page-query';

/** Rows that a choice shows; the search finds the others. */
const CHOICES_MAX = 30;

function useRowsOf(wish: PageWish): { rows: Row[] | null; failure: string | null } {
  const [found, setFound] = useState<{ rows: Row[] | null; failure: string | null }>({ rows: null, failure: null });
  const operation = pageOperation(wish);
  const key = JSON.stringify(operation);
  useEffect(() => {
    let isCurrent = true;
    ask(operation.query, operation.variables).then(
      data => isCurrent && setFound({ rows: rowsOf(data, wish).rows, failure: null }),
      error => isCurrent && setFound({ rows: null, failure: String(error.message ?? error) }),
    );
    return () => void (isCurrent = false);
  }, [key]);
  return found;
}

const equalTo = (table: Table, column: string, value: unknown) =>
  table.dialect === 'native' ? { [column]: [value] } : { [column]: { _eq: value } };

export function RowValues({ table, row }: { table: Table; row: Row }) {
  return (
    <table className="weir-diff">
      <tbody>{table.columns.map(it => <tr key={it.name}><th scope="row">{it.name}</th><td><CellValue column={it} value={row[it.name]} /></td></tr>)}</tbody>
    </table>
  );
}

/** The row that has this value in its column. */
export function Peek({ table, column, value, onClose }: { table: Table; column: string; value: unknown; onClose: () => void }) {
  const model = useModel();
  const { rows, failure } = useRowsOf({
    table, columns: table.columns.map(it => it.name), filter: equalTo(table, column, value), sort: null, cursor: { at: 'first' }, rows: 1,
  });
  const row = rows?.[0];
  return (
    <Modal title={`${table.name} ${valueText(value)}`} onClose={onClose}>
      {failure && <p role="alert" className="weir-bad">{failure}</p>}
      {rows && !row && <p>No row of {table.name} that this caller may see has {column} {valueText(value)}.</p>}
      {row && <RowValues table={table} row={row} />}
      <p className="weir-actions">
        <Link data-first className="weir-button weir-first" to={tableAddress(model, table, equalConditions(table, [[column, value]]))} onClick={onClose}>Open in {table.name}</Link>
        <button type="button" className="weir-button" onClick={onClose}>Close</button>
      </p>
    </Modal>
  );
}

/** Columns that say which row it is: texts first. */
const tellingColumns = (table: Table, column: string): Column[] => {
  const texts = table.columns.filter(it => it.name !== column && !it.isList && /^(String|ID|citext|varchar|bpchar)$/.test(it.type));
  return [...texts, ...table.columns.filter(it => it.name !== column && !texts.includes(it))].slice(0, 3);
};

/** A choice among the rows of a table, searched by its texts. */
export function RowPicker({ table, column, onPick, onClose }: { table: Table; column: string; onPick: (value: unknown) => void; onClose: () => void }) {
  const [text, setText] = useState('');
  const telling = tellingColumns(table, column);
  const searched = telling.filter(it => it.type === 'String' && table.dialect === 'relational');
  const pattern = `%${text.trim().replace(/[\\%_]/g, '\\$&')}%`;
  const filter = text.trim() && searched.length > 0 ? { _or: searched.map(it => ({ [it.name]: { _ilike: pattern } })) } : null;
  const { rows, failure } = useRowsOf({
    table, columns: [column, ...telling.map(it => it.name)], filter, sort: null, cursor: { at: 'first' }, rows: CHOICES_MAX,
  });
  return (
    <Modal title={`Pick a row of ${table.name}`} onClose={onClose}>
      {searched.length > 0 && (
        <label>Search <input className="weir-field" data-first placeholder={searched.map(it => it.name).join(', ')} value={text} onChange={event => setText(event.target.value)} /></label>
      )}
      {failure && <p role="alert" className="weir-bad">{failure}</p>}
      {rows?.length === 0 && <p>No row is found.</p>}
      <ul className="weir-choices">
        {rows?.map(row => (
          <li key={valueText(row[column])}>
            <button type="button" onClick={() => onPick(row[column])}>
              <b>{valueText(row[column])}</b> {telling.map(it => valueText(row[it.name])).filter(Boolean).join(' · ')}
            </button>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
