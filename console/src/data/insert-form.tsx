// A form for a new row. What is left at "default" is not sent, so the database decides.

import { useState } from 'react';
import { Modal } from '../shell/modal';
import type { Column, Table } from './catalog';
import { valueText } from './cells';
import type { Row } from './page-query';
import { RowPicker } from './row-dialogs';
import type { TableFacts } from './sources';
import { draftOf, draftValue, ValueField } from './value-field';
import type { Draft, Mode } from './value-field';
import { insertRows } from './writes';
import type { Change } from './writes';

interface Props {
  table: Table;
  facts: TableFacts;
  /** The row that is duplicated. */
  from: Row | null;
  onChange: (change: Change) => void;
  onClose: () => void;
}

/** Columns that may be inserted; what the schema's type does not have, a column of the input alone, is known by its input. */
function insertable(table: Table): Column[] {
  return table.insert!.columns.map(input => table.columns.find(it => it.name === input.name) ?? {
    name: input.name, type: input.type.replace(/[[\]!]/g, ''), isList: input.type.startsWith('['), isNullable: !input.isRequired, isSortable: false,
  });
}

export function InsertForm({ table, facts, from, onChange, onClose }: Props) {
  const columns = insertable(table);
  const [drafts, setDrafts] = useState<Record<string, Draft>>(() => Object.fromEntries(columns.map(column => {
    const isCopied = from !== null && column.name in from && !table.key.includes(column.name);
    return [column.name, isCopied ? draftOf(column, from[column.name]) : { mode: 'default', text: '' }];
  })));
  const [isChecked, setIsChecked] = useState(false);
  const [picking, setPicking] = useState<string | null>(null);
  const read = columns.map(column => ({ column, read: draftValue(column, drafts[column.name]!) }));
  const errors = new Map(read.flatMap(it => (it.read && 'error' in it.read ? [[it.column.name, it.read.error] as const] : [])));
  const set = (name: string, draft: Draft) => setDrafts({ ...drafts, [name]: draft });
  const submit = () => {
    setIsChecked(true);
    if (errors.size > 0) return;
    const row = Object.fromEntries(read.flatMap(it => (it.read && 'value' in it.read ? [[it.column.name, it.read.value]] : [])));
    onChange(insertRows(table, [row]));
  };
  const target = picking === null ? undefined : facts.foreignKeys.get(picking);
  return (
    <Modal title={from ? `Duplicate a row of ${table.name}` : `Insert into ${table.name}`} onClose={onClose}>
      <form
        noValidate
        onSubmit={event => {
          event.preventDefault();
          submit();
        }}
      >
        {columns.map((column, at) => {
          const modes: Mode[] = column.isNullable ? ['default', 'null', 'value'] : ['default', 'value'];
          return (
            <ValueField
              key={column.name} column={column} draft={drafts[column.name]!} modes={modes} isFirst={at === 0}
              error={isChecked ? errors.get(column.name) : undefined} onChange={draft => set(column.name, draft)}
              onPick={facts.foreignKeys.has(column.name) ? () => setPicking(column.name) : undefined}
            />
          );
        })}
        <p className="weir-actions">
          <button type="submit" className="weir-button weir-first">Show the request</button>
          <button type="button" className="weir-button" onClick={onClose}>Cancel</button>
        </p>
      </form>
      {picking !== null && target && (
        <RowPicker
          table={target.table} column={target.column}
          onPick={value => (set(picking, { mode: 'value', text: valueText(value) }), setPicking(null))}
          onClose={() => setPicking(null)}
        />
      )}
    </Modal>
  );
}
