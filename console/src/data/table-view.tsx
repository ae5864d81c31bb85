// The rows of one table: filter, tools, grid, pages, and the dialogs that change rows.

import { useEffect, useMemo, useRef, useState } from 'react';
import { handOver } from '../editor/hand-over';
import { ask } from '../server/requests';
import { addressOf, go, usePlace } from '../shell/place';
import type { Column } from './catalog';
import { CellPanel } from './cell-panel';
import { valueText } from './cells';
import { FilterBar } from './filter-bar';
import { faultOf, filterOf, operandsOf } from './filters';
import type { Condition } from './filters';
import { Grid } from './grid';
import { ImportDialog } from './import-dialog';
import { InsertForm } from './insert-form';
import { useModel } from './model';
import { canPage, countIn, countOperation, pageOperation, PAGE_ROWS } from './page-query';
import type { PageWish, Row } from './page-query';
import { Pager } from './pager';
import { Review } from './review';
import { RowDetail } from './row-detail';
import { Peek } from './row-dialogs';
import { loadFacts } from './sources';
import type { Entry, TableFacts } from './sources';
import { Toolbar } from './toolbar';
import { exportRows, saveFile } from './transfer';
import type { Format } from './transfer';
import { useRows } from './use-rows';
import { openState, readState, rememberColumns } from './view-state';
import type { ViewState } from './view-state';
import { deleteRows, send } from './writes';
import type { Change, Outcome } from './writes';

type Dialog =
  | { kind: 'insert'; from: Row | null }
  | { kind: 'import' }
  | { kind: 'cell'; row: Row; column: Column; cell: HTMLElement }
  | { kind: 'peek'; column: string; value: unknown };

const NO_FACTS: TableFacts = { foreignKeys: new Map(), isView: false, isLoaded: false };

/** The words on a table whose rows cannot be changed, or are not paged. */
function obstacleWords(facts: TableFacts, hasKey: boolean, mayWrite: boolean): string | null {
  if (!hasKey) return `${facts.isView ? 'This is a view' : 'This table has no primary key that this caller may see'}: its first ${PAGE_ROWS} rows are shown, and none can be changed here. A filter finds the others.`;
  return mayWrite ? null : 'This caller may only read.';
}

function useCount(wish: PageWish, fault: string | null, round: number): number | null {
  const { table, filter } = wish;
  const [count, setCount] = useState<number | null>(null);
  const operation = table.aggregate === null || fault !== null ? null : countOperation([table], filter);
  const key = JSON.stringify(operation);
  useEffect(() => {
    setCount(null);
    if (!operation) return;
    let isCurrent = true;
    ask(operation.query, operation.variables).then(data => isCurrent && setCount(countIn(data, 0)), () => undefined);
    return () => void (isCurrent = false);
  }, [key, round]);
  return count;
}

/** Gives the focus back to the cell when the last dialog closes and nobody has it. */
function useFocusBack(isOpen: boolean) {
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) {
      document.querySelector<HTMLElement>('.weir-grid [data-cell][tabindex="0"]')?.focus();
    }
    wasOpen.current = isOpen;
  }, [isOpen]);
}

export function TableView({ source, entry }: { source: string; entry: Entry }) {
  const model = useModel();
  const { table } = entry;
  const { search } = usePlace();
  const state = useMemo(() => readState(search, source, table), [search, source, table]);
  const [facts, setFacts] = useState<TableFacts>(NO_FACTS);
  const [isLive, setIsLive] = useState(false);
  const [selected, setSelected] = useState(new Map<string, Row>());
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [changes, setChanges] = useState<Change[]>([]);
  const [undo, setUndo] = useState<Change[]>([]);
  const [unread, setUnread] = useState<string[]>([]);
  const [told, setTold] = useState<{ words: string; isBad: boolean } | null>(null);
  const [exported, setExported] = useState<number | null>(null);
  const [round, setRound] = useState(0);
  const isExporting = useRef(false);

  useEffect(() => {
    let isCurrent = true;
    void loadFacts(model.sources, source, entry).then(it => isCurrent && setFacts(it));
    return () => void (isCurrent = false);
  }, [model, source, entry]);
  useEffect(() => () => void (isExporting.current = false), []);
  useFocusBack(dialog !== null || changes.length > 0);

  const operands = useMemo(() => operandsOf(model.schema, model.tables, table), [model, table]);
  const chosen = state.columns ? [...table.columns, ...table.counts].filter(it => state.columns!.includes(it.name)) : table.columns;
  const columns = chosen.filter(it => !unread.includes(it.name));
  const wish: PageWish = {
    table, columns: [...new Set([...table.columns, ...columns].map(it => it.name))].filter(it => !unread.includes(it)), filter: filterOf(state.conditions, operands, table.dialect),
    sort: state.sort, cursor: state.cursor, rows: PAGE_ROWS,
  };
  // A key of several columns is a list, so that no two rows have one text.
  const keyOf = (row: Row) => (table.key.length === 1 ? valueText(row[table.key[0]!]) : JSON.stringify(table.key.map(it => row[it])));
  const fault = faultOf(state.conditions, operands);
  const found = useRows(wish, fault, isLive, keyOf, error => (setIsLive(false), setTold({ words: error.message, isBad: true })));
  const count = useCount(wish, fault, round);
  const unreadable = found.failure?.column ?? null;
  const isLeftOut = unreadable !== null && wish.columns.includes(unreadable) && !table.key.includes(unreadable);

  const change = (next: Partial<ViewState>) => {
    setSelected(new Map());
    openState(source, table, { ...state, ...next });
  };
  const first: Partial<ViewState> = { cursor: table.dialect === 'native' ? { at: 'offset', offset: 0 } : { at: 'first' }, expanded: null };
  const sortBy = (column: string) => {
    const { sort } = state;
    const isDescending = sort?.column === column;
    change({ ...first, sort: isDescending && sort.isDescending ? null : { column, isDescending } });
  };
  const filterBy = (column: string, value: unknown) => {
    const operators = operands.find(it => it.path.join('.') === column)?.operators.map(it => it.name) ?? [];
    const choose = (): Condition | null => {
      if (value === null || value === undefined) return operators.includes('_is_null') ? { path: [column], operator: '_is_null', value: 'true' } : null;
      const text = valueText(value);
      const equal = (text === '' ? ['_in'] : ['_eq', 'eq', '']).find(it => operators.includes(it));
      return equal === undefined ? null : { path: [column], operator: equal, value: text === '' ? '[""]' : text };
    };
    const condition = choose();
    setDialog(null);
    if (condition) change({ ...first, conditions: [...state.conditions, condition] });
    else setTold({ words: `The API has no filter by equality for ${column}.`, isBad: true });
  };
  const refresh = () => {
    found.reload();
    setRound(it => it + 1);
  };

  /** Ends a change that was sent: the rest of an import follows, and the outcome is told. */
  const finish = async (outcome: Outcome, sent: Change) => {
    const rest = changes.slice(1);
    setChanges([]);
    setDialog(null);
    setSelected(new Map());
    let affected = outcome.affected;
    let words: string | null = null;
    // The last first: rows may lead to rows of the parts before.
    const undone = [outcome.undo];
    for (const next of rest) {
      setTold({ words: `${affected.toLocaleString('en')} rows …`, isBad: false });
      try {
        const part = await send(next);
        affected += part.affected;
        undone.unshift(part.undo);
      } catch (error) {
        const isUndone = undone.every(it => it.length > 0);
        words = `${affected.toLocaleString('en')} rows are changed, ${isUndone ? 'which Undo takes back' : 'and stay so'}; then: ${error instanceof Error ? error.message : String(error)}`;
        break;
      }
    }
    setUndo(undone.every(it => it.length > 0) ? undone.flat() : []);
    const isShort = affected < [sent, ...rest].reduce((sum, it) => sum + it.expected, 0);
    if (words === null) {
      words = isShort
        ? `${affected === 0 ? 'Nothing was changed' : `Only ${affected} rows were changed`}: somebody else changed it first. The rows are as they are now.`
        : `${affected.toLocaleString('en')} ${affected === 1 ? 'row' : 'rows'} changed.`;
    }
    setTold({ words, isBad: isShort });
    refresh();
  };
  const startExport = (format: Format) => {
    if (fault !== null) return setTold({ words: fault, isBad: true });
    isExporting.current = true;
    setExported(0);
    exportRows({ ...wish, columns: columns.map(it => it.name) }, format, rows => (setExported(rows), isExporting.current)).then(
      file => file && saveFile(file, `${table.name}.${format}`),
      error => setTold({ words: String(error.message ?? error), isBad: true }),
    ).finally(() => setExported(null));
  };
  const openEditor = () => {
    const operation = pageOperation({ ...wish, columns: columns.map(it => it.name) });
    handOver(operation.query, operation.variables);
    go(addressOf(['api']));
  };
  const words = obstacleWords(facts, table.key.length > 0, Boolean(table.insert ?? table.update ?? table.remove));
  const isEmpty = found.rows?.length === 0;
  return (
    <div className="weir-table">
      <h1>{table.name}</h1>
      <Toolbar
        table={table} columns={columns.map(it => it.name)} selectedCount={selected.size} isLive={isLive} undoTitle={undo[0]?.title ?? null} exported={exported}
        onInsert={() => setDialog({ kind: 'insert', from: null })}
        onDuplicate={() => setDialog({ kind: 'insert', from: [...selected.values()][0]! })}
        onDelete={() => setChanges(deleteRows(table, [...selected.values()]))}
        onUndo={() => setChanges(undo)}
        onImport={() => setDialog({ kind: 'import' })}
        onExport={startExport}
        onStopExport={() => void (isExporting.current = false)}
        onColumns={next => (rememberColumns(source, table, next), change({ columns: next }))}
        onLive={() => setIsLive(!isLive)}
        onEditor={openEditor}
        onReload={refresh}
      />
      <FilterBar operands={operands} conditions={state.conditions} onChange={conditions => change({ ...first, conditions })} />
      {words && <p className="weir-note">{words}</p>}
      <p role="status" className={told?.isBad ? 'weir-told weir-bad' : 'weir-told'}>{told?.words ?? ''}</p>
      {found.failure && <p role="alert" className="weir-bad">{found.failure.words} <button type="button" className="weir-button" onClick={refresh}>Try again</button>{isLeftOut && <> <button type="button" className="weir-button" onClick={() => setUnread([...unread, unreadable!])}>Show the rows without {unreadable}</button></>}</p>}
      {unread.length > 0 && <p className="weir-note">Left out, as a value cannot be read: {unread.join(', ')}. <button type="button" className="weir-button" onClick={() => setUnread([])}>Read it again</button></p>}
      {found.rows && !isEmpty && (
        <Grid
          table={table} columns={columns} rows={found.rows} sort={state.sort} foreignKeys={facts.foreignKeys} selected={new Set(selected.keys())}
          expanded={state.expanded} flashed={found.flashed} keyOf={keyOf}
          onSort={sortBy}
          onSelect={(key, isSelected) => {
            const next = new Map(selected);
            const row = found.rows!.find(it => keyOf(it) === key);
            if (isSelected && row) next.set(key, row);
            else next.delete(key);
            setSelected(next);
          }}
          onExpand={expanded => openState(source, table, { ...state, expanded })}
          onOpen={(row, column, cell) => setDialog({ kind: 'cell', row, column, cell })}
          onPeek={(row, column) => setDialog({ kind: 'peek', column, value: row[column] })}
          renderDetail={row => <RowDetail table={table} row={row} />}
        />
      )}
      {isEmpty && (
        <div className="weir-empty">
          <p>{state.conditions.length > 0 ? 'No row meets these conditions.' : 'There are no rows here.'}</p>
          {state.conditions.length > 0 && <button type="button" className="weir-button" onClick={() => change({ ...first, conditions: [] })}>Clear the filter</button>}
          {table.insert && state.conditions.length === 0 && <p className="weir-note">Insert the first by a form, or import a CSV.</p>}
        </div>
      )}
      {!found.rows && !found.failure && <p className="weir-note">Reading …</p>}
      <Pager wish={wish} rows={found.rows ?? []} hasMore={found.hasMore} count={count} isPaged={canPage(table) || table.dialect === 'native'} onGo={cursor => change({ cursor, expanded: null })} />
      {dialog?.kind === 'insert' && <InsertForm table={table} facts={facts} from={dialog.from} onChange={it => setChanges([it])} onClose={() => setDialog(null)} />}
      {dialog?.kind === 'import' && <ImportDialog table={table} facts={facts} onChange={setChanges} onClose={() => setDialog(null)} />}
      {dialog?.kind === 'peek' && facts.foreignKeys.has(dialog.column) && (
        <Peek table={facts.foreignKeys.get(dialog.column)!.table} column={facts.foreignKeys.get(dialog.column)!.column} value={dialog.value} onClose={() => setDialog(null)} />
      )}
      {dialog?.kind === 'cell' && (
        <CellPanel
          table={table} row={dialog.row} column={dialog.column} facts={facts} cell={dialog.cell}
          onChange={it => setChanges([it])} onFilter={filterBy}
          onPeek={() => setDialog({ kind: 'peek', column: dialog.column.name, value: dialog.row[dialog.column.name] })}
          onClose={() => setDialog(null)}
        />
      )}
      {changes[0] && <Review change={changes[0]} restCount={changes.length - 1} onSent={(outcome, sent) => void finish(outcome, sent)} onClose={() => setChanges([])} />}
    </div>
  );
}
