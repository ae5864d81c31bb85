// The grid of rows: rendered for what is in sight, walked by arrow keys, with rows that expand in place.

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { Column, Table } from './catalog';
import { CellValue, isNumeric } from './cells';
import type { Row, Sort } from './page-query';
import type { ForeignKeys } from './sources';
import { hasKey } from './writes';

const ROW_HEIGHT = 32;
/** Columns before those of the table: selection and expansion. */
const LEADING = 2;

export interface GridProps {
  table: Table;
  columns: Column[];
  rows: Row[];
  sort: Sort | null;
  foreignKeys: ForeignKeys;
  selected: Set<string>;
  expanded: string | null;
  /** Cells that changed under one's eyes: `key column`. */
  flashed: Set<string>;
  keyOf: (row: Row) => string;
  onSort: (column: string) => void;
  onSelect: (key: string, isSelected: boolean) => void;
  onExpand: (key: string | null) => void;
  onOpen: (row: Row, column: Column, cell: HTMLElement) => void;
  onPeek: (row: Row, column: string) => void;
  renderDetail: (row: Row) => ReactNode;
}

function width(column: Column): number {
  if (isNumeric(column) || column.type === 'Boolean') return 120;
  return /^(uuid|timestamp|timestamptz|DateTime)$/.test(column.type) ? 210 : 230;
}

/** A number of related rows has the name of the relationship. */
const titleOf = (column: Column) => (column.counts === undefined ? column.name : `# ${column.counts}`);

const sortOf = (sort: Sort | null, name: string) => {
  if (sort?.column !== name) return 'none';
  return sort.isDescending ? 'descending' : 'ascending';
};

export function Grid(props: GridProps) {
  const { table, columns, rows, sort, selected, expanded, keyOf } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: -1, column: LEADING });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: at => (rows[at] && hasKey(table, rows[at]) ? keyOf(rows[at]) : at),
    overscan: 8,
    // Rows begin below the header, which stays in sight.
    paddingStart: ROW_HEIGHT,
    scrollPaddingStart: ROW_HEIGHT,
  });
  const widths = columns.map(width);
  const template = `36px 36px ${widths.map(it => `minmax(${it}px, ${it}fr)`).join(' ')}`;
  const whole = 72 + widths.reduce((sum, it) => sum + it, 0);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    setActive({ row: -1, column: LEADING });
  }, [rows[0] && keyOf(rows[0]), table]);

  const focusCell = (row: number, column: number) => {
    setActive({ row, column });
    if (row >= 0) virtual.scrollToIndex(row);
    // The cell may have to be rendered first.
    const find = (tries: number) => requestAnimationFrame(() => {
      const cell = scroller.current?.querySelector<HTMLElement>(`[data-cell="${row} ${column}"]`);
      if (cell) cell.focus();
      else if (tries > 0) find(tries - 1);
    });
    find(20);
  };
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const last = LEADING + columns.length - 1;
    const { row, column } = active;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 320) / ROW_HEIGHT) - 2);
    const target: Record<string, [number, number]> = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: event.ctrlKey ? [-1, column] : [row, 0], End: event.ctrlKey ? [rows.length - 1, column] : [row, last],
    };
    const next = target[event.key];
    if (!next || (event.target as HTMLElement).closest('.weir-detail')) return;
    event.preventDefault();
    focusCell(Math.max(-1, Math.min(rows.length - 1, next[0])), Math.max(0, Math.min(last, next[1])));
  };
  const cellProps = (row: number, column: number) => ({
    'data-cell': `${row} ${column}`,
    tabIndex: active.row === row && active.column === column ? 0 : -1,
    onFocus: () => (active.row === row && active.column === column ? undefined : setActive({ row, column })),
  });
  const isRendered = active.row === -1 || virtual.getVirtualItems().some(it => it.index === active.row);
  return (
    <div
      ref={scroller}
      className="weir-grid"
      role="grid"
      aria-label={`Rows of ${table.name}`}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length + LEADING}
      // Where the active cell is out of sight the grid itself takes the focus, and gives it on.
      tabIndex={isRendered ? -1 : 0}
      onFocus={event => event.target === event.currentTarget && !isRendered && focusCell(active.row, active.column)}
      onKeyDown={move}
    >
      <div role="rowgroup" className="weir-rows" style={{ height: Math.max(virtual.getTotalSize(), ROW_HEIGHT), minWidth: whole }}>
        <div role="row" aria-rowindex={1} className="weir-row weir-head" style={{ gridTemplateColumns: template }}>
          <div role="columnheader" {...cellProps(-1, 0)}><span className="weir-hidden">selected</span></div>
          <div role="columnheader" {...cellProps(-1, 1)}><span className="weir-hidden">expand</span></div>
          {columns.map((column, at) => (
            <div
              key={column.name}
              role="columnheader"
              className={isNumeric(column) ? 'weir-ms' : undefined}
              aria-sort={column.isSortable ? sortOf(sort, column.name) : undefined}
              title={`${column.type}${column.isNullable ? '' : ', not null'}${table.key.includes(column.name) ? ', key' : ''}`}
              {...cellProps(-1, LEADING + at)}
              onKeyDown={event => column.isSortable && event.key === 'Enter' && props.onSort(column.name)}
            >
              {column.isSortable
                ? <button type="button" tabIndex={-1} onClick={() => props.onSort(column.name)}>{titleOf(column)}</button>
                : <span>{titleOf(column)}</span>}
              {sort?.column === column.name && <span aria-hidden="true">{sort.isDescending ? ' ↓' : ' ↑'}</span>}
              {table.key.includes(column.name) && <span className="weir-note" aria-hidden="true"> key</span>}
            </div>
          ))}
        </div>
        {virtual.getVirtualItems().map(item => {
          const row = rows[item.index];
          if (!row) return null;
          const key = keyOf(row);
          const isKeyed = hasKey(table, row);
          const isOpen = isKeyed && expanded === key;
          return (
            <div key={item.key} data-index={item.index} ref={virtual.measureElement} role="presentation" className="weir-place" style={{ transform: `translateY(${item.start}px)`, minWidth: whole }}>
              <div role="row" aria-rowindex={item.index + 2} aria-selected={isKeyed && selected.has(key)} className={isKeyed && selected.has(key) ? 'weir-row weir-chosen' : 'weir-row'} style={{ gridTemplateColumns: template }}>
                <div
                  role="gridcell" {...cellProps(item.index, 0)}
                  onKeyDown={event => event.key === ' ' && isKeyed && (event.preventDefault(), props.onSelect(key, !selected.has(key)))}
                >
                  {isKeyed && <input type="checkbox" tabIndex={-1} aria-label={`Select row ${key}`} checked={selected.has(key)} onChange={event => props.onSelect(key, event.target.checked)} />}
                </div>
                <div
                  role="gridcell" {...cellProps(item.index, 1)}
                  onKeyDown={event => (event.key === ' ' || event.key === 'Enter') && isKeyed && (event.preventDefault(), props.onExpand(isOpen ? null : key))}
                >
                  {isKeyed && <button type="button" tabIndex={-1} aria-label={`Expand row ${key}`} aria-expanded={isOpen} onClick={() => props.onExpand(isOpen ? null : key)}>{isOpen ? '▾' : '▸'}</button>}
                </div>
                {columns.map((column, at) => {
                  const value = row[column.name];
                  const leads = props.foreignKeys.has(column.name) && value !== null && value !== undefined;
                  return (
                    <div
                      key={column.name}
                      role="gridcell"
                      className={[isNumeric(column) ? 'weir-ms' : '', props.flashed.has(`${key} ${column.name}`) ? 'weir-flash' : ''].join(' ')}
                      title={isNumeric(column) && value !== null && value !== undefined ? String(value) : undefined}
                      {...cellProps(item.index, LEADING + at)}
                      onDoubleClick={event => props.onOpen(row, column, event.currentTarget)}
                      onKeyDown={event => {
                        if (event.key === 'Enter' || event.key === 'F2') {
                          event.preventDefault();
                          props.onOpen(row, column, event.currentTarget);
                        }
                      }}
                    >
                      {leads
                        ? <button type="button" tabIndex={-1} className="weir-key" title={`Row of ${props.foreignKeys.get(column.name)!.table.name}`} onClick={() => props.onPeek(row, column.name)}><CellValue column={column} value={value} /></button>
                        : <CellValue column={column} value={value} />}
                    </div>
                  );
                })}
              </div>
              {isOpen && (
                <div role="row" className="weir-detail"><div role="gridcell" aria-colspan={columns.length + LEADING}>{props.renderDetail(row)}</div></div>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
