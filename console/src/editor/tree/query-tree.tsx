// The tree that builds an operation by clicks: fields of the caller's schema, arguments by their types.
//
// The text of the editor is the only state: the tree shows what stands there, and each click is an edit of it that Undo takes back.

import { useMemo, useState } from 'react';
import { useGraphiQL } from '@graphiql/react';
import type { GraphiQLPlugin } from '@graphiql/react';
import { OperationTypeNode, parse } from 'graphql';
import type { GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { addSelection, find, isBlank, readText, removeSelection, removeValue, setValue, useVariable as declareVariable } from './document';
import type { Written } from './document';
import { firstLeaf, selectionOf, startLiteral } from './literals';
import { ROWS_MAX, rowsOf, spreadsAt } from './rows';
import type { ArgumentRow, Row } from './rows';
import { ValueInput } from './value-input';
import { useEditorText } from '../editor-text';
import './tree.css';

const INDENT_PX = 14;

/** An operation that is not in the text yet. */
function newOperation(kind: string): Written {
  return readText(`${kind} { __typename }`, 0)!;
}

/** The text with a new operation of this kind at its end. */
function appendOperation(text: string, kind: string, field: string, selection: string): string {
  const name = field.charAt(0).toUpperCase() + field.slice(1);
  const before = text.trim() === '' ? '' : `${text.trimEnd()}\n\n`;
  return `${before}${kind} ${name} {\n  ${selection.replaceAll('\n', '\n  ')}\n}\n`;
}

function operationsOf(text: string): OperationDefinitionNode[] {
  try {
    return parse(text).definitions.filter((it): it is OperationDefinitionNode => it.kind === 'OperationDefinition');
  } catch {
    return [];
  }
}

/** What a click on a row makes of the text. */
function toggled(written: Written, schema: GraphQLSchema, row: Row): string {
  if (row.kind === 'argument') {
    if (row.isChosen) return removeValue(written, row.path, row.value);
    const { text } = ensured(written, schema, row.path);
    return setValue(readText(text, indexOf(written)) ?? written, row.path, row.value, startLiteral(row.input));
  }
  if (row.isChosen) return removeSelection(written, row.path);
  const parent = row.path.slice(0, -1);
  if (row.kind === 'on') return addSelection(ensured(written, schema, parent), parent, `... on ${row.name} {\n  ${firstLeaf(row.target)}\n}`);
  const field = 'getFields' in row.parent ? (row.parent.getFields() as Record<string, Parameters<typeof selectionOf>[0]>)[row.name] : undefined;
  return field ? addSelection(ensured(written, schema, parent), parent, selectionOf(field)) : written.text;
}

const indexOf = (written: Written) => operationsOf(written.text).findIndex(it => it.loc!.start === written.operation.loc!.start);

/** The document with all fields of a path, each with the arguments that it requires. */
function ensured(written: Written, schema: GraphQLSchema, path: Row['path']): Written {
  let current = written;
  for (let depth = 1; depth <= path.length; depth++) {
    if (find(current, path.slice(0, depth))) continue;
    const row = rowsOf(schema, current, openTo(path), '').rows.find(it => it.kind !== 'argument' && it.path.length === depth && it.path.every((step, at) => step.name === path[at]!.name && step.kind === path[at]!.kind));
    if (!row) return current;
    current = readText(toggled(current, schema, row), indexOf(written)) ?? current;
  }
  return current;
}

/** The keys of what has to be open for the rows of a path. */
function openTo(path: Row['path']): Set<string> {
  return new Set(path.map((_, at) => path.slice(0, at + 1).map(it => `${it.kind === 'on' ? '~' : ''}${it.name}`).join('/')));
}

interface ItemProps {
  row: Row;
  isCurrent: boolean;
  onFocus: () => void;
  onToggle: () => void;
  onOpen: () => void;
  onValue: (literal: string) => void;
  onVariable: () => void;
}

function Item({ row, isCurrent, onFocus, onToggle, onOpen, onValue, onVariable }: ItemProps) {
  return (
    <li
      role="treeitem" id={`tree-${row.key}`} data-key={row.key} tabIndex={isCurrent ? 0 : -1}
      aria-level={row.level} aria-setsize={row.size} aria-posinset={row.place} aria-checked={row.isChosen}
      aria-expanded={row.hasChildren ? row.isOpen : undefined}
      className={`weir-tree-row weir-tree-${row.kind}`} style={{ paddingLeft: 4 + (row.level - 1) * INDENT_PX }}
      onFocus={onFocus}
    >
      <span className="weir-tree-twist" aria-hidden="true" onClick={onOpen}>{row.hasChildren ? (row.isOpen ? '▾' : '▸') : ''}</span>
      <span className="weir-tree-name" onClick={onToggle}>
        <span className="weir-tree-check" aria-hidden="true">{row.isChosen ? '✓' : ''}</span>
        {row.kind === 'on' && '… on '}{row.name}
        {row.kind === 'argument' && <span className="weir-hidden">argument {row.literal ?? 'not given'}</span>}
      </span>
      {row.kind === 'argument' && row.isChosen && !row.isOpen ? <ValueInput row={row} onValue={onValue} onVariable={onVariable} /> : <span className="weir-tree-type">{row.type}</span>}
    </li>
  );
}

/** Focus, opening and closing by keys, as trees have them. Source: WAI-ARIA authoring practices, tree view. */
function keyTarget(key: string, rows: Row[], at: number, open: (row: Row, isOpen: boolean) => void): number {
  const row = rows[at]!;
  switch (key) {
    case 'ArrowDown': return Math.min(at + 1, rows.length - 1);
    case 'ArrowUp': return Math.max(at - 1, 0);
    case 'Home': return 0;
    case 'End': return rows.length - 1;
    case 'ArrowRight':
      if (!row.hasChildren) return at;
      if (row.isOpen) return Math.min(at + 1, rows.length - 1);
      open(row, true);
      return at;
    case 'ArrowLeft': {
      if (row.isOpen) {
        open(row, false);
        return at;
      }
      const parent = rows.slice(0, at).findLastIndex(it => it.level < row.level);
      return parent < 0 ? at : parent;
    }
    default: return -1;
  }
}

function Tree({ schema, text, onChange }: { schema: GraphQLSchema; text: string; onChange: (text: string) => void }) {
  const operations = operationsOf(text);
  const [target, setTarget] = useState('0');
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState('');
  const isNew = operations.length === 0 || Number.isNaN(Number(target));
  const kind = Number.isNaN(Number(target)) ? target : 'query';
  const written = isNew ? newOperation(kind) : readText(text, Number(target))!;
  const { rows, hidden } = useMemo(() => rowsOf(schema, written, open, search), [schema, text, target, open, search]);
  const at = Math.max(0, rows.findIndex(it => it.key === current));
  const setIsOpen = (row: Row, isOpen: boolean) => setOpen(before => new Set(isOpen ? [...before, row.key] : [...before].filter(it => it !== row.key)));
  const toggle = (row: Row) => {
    // A chosen field shows the fields below it.
    if (!row.isChosen && row.hasChildren) setIsOpen(row, true);
    setCurrent(row.key);
    if (!isNew) return onChange(toggled(written, schema, row));
    if (row.kind === 'on') return;
    const field = schema.getRootType(written.operation.operation)?.getFields()[row.path[0]!.name];
    if (!field) return;
    const next = appendOperation(text, kind, field.name, selectionOf(field));
    setTarget(String(operations.length));
    const made = readText(next, operations.length);
    const isRoot = row.kind === 'field' && row.path.length === 1;
    onChange(isRoot || !made ? next : toggled(made, schema, { ...row, isChosen: false }));
  };
  const press = (event: React.KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('input, select, button')) {
      if (event.key === 'Escape') document.getElementById(`tree-${current}`)?.focus();
      return;
    }
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ') toggle(row);
    else if (event.key === 'Enter') {
      const input = document.getElementById(`tree-${row.key}`)?.querySelector<HTMLElement>('input, select');
      if (input) input.focus();
      else toggle(row);
    } else {
      const next = keyTarget(event.key, rows, at, setIsOpen);
      if (next < 0) return;
      const { key } = rows[next]!;
      setCurrent(key);
      document.getElementById(`tree-${key}`)?.focus();
    }
    event.preventDefault();
  };
  const spreads = spreadsAt(written, []);
  return (
    <>
      <div className="weir-tree-tools">
        <label>
          <span className="weir-hidden">Operation</span>
          <select value={operations.length === 0 && !Number.isNaN(Number(target)) ? 'query' : target} onChange={event => setTarget(event.target.value)}>
            {operations.map((it, place) => <option key={place} value={String(place)}>{it.operation} {it.name?.value ?? ''}</option>)}
            {Object.values(OperationTypeNode).filter(it => schema.getRootType(it)).map(it => <option key={it} value={it}>new {it}</option>)}
          </select>
        </label>
        <input type="search" placeholder="Search fields" aria-label="Search fields" value={search} onChange={event => setSearch(event.target.value)} />
      </div>
      {spreads.length > 0 && <p className="weir-note">Fields of {spreads.join(', ')} come with it and are edited in the text.</p>}
      <ul role="tree" aria-label="Fields" aria-multiselectable="true" className="weir-tree-list" onKeyDown={press} data-testid="query-tree">
        {rows.map((row, place) => (
          <Item
            key={row.key} row={row} isCurrent={place === at} onFocus={() => setCurrent(row.key)}
            onToggle={() => toggle(row)} onOpen={() => row.hasChildren && setIsOpen(row, !row.isOpen)}
            onValue={literal => onChange(setValue(written, row.path, (row as ArgumentRow).value, literal))}
            onVariable={() => onChange(declareVariable(written, row.path, (row as ArgumentRow).value, String((row as ArgumentRow).input)))}
          />
        ))}
      </ul>
      {rows.length === 0 && <p className="weir-note">No field has this in its name.</p>}
      {hidden > 0 && <p className="weir-note">{hidden.toLocaleString('en')} more, beyond {ROWS_MAX}: use the search.</p>}
    </>
  );
}

function TreeContent() {
  const schema = useGraphiQL(state => state.schema);
  const [text, change] = useEditorText('queryEditor');
  if (!schema) return <div className="weir-plan"><h2>Build</h2><p>The schema is not there yet.</p></div>;
  const isReadable = isBlank(text) || readText(text, 0) !== null;
  return (
    <div className="weir-plan weir-query-tree">
      <h2>Build</h2>
      {isReadable ? <Tree schema={schema} text={text} onChange={change} /> : <p role="status">The text has a mistake: mend it, and the tree shows what stands in it.</p>}
    </div>
  );
}

function TreeIcon() {
  return (
    <svg viewBox="0 0 24 24" width="1em" height="1em" fill="none" stroke="currentColor" strokeWidth="1.6">
      <path d="M4 5h6M8 12h6M8 19h6M6 5v14h2M6 12h2M18 9v6M15 12h6" />
    </svg>
  );
}

export const treePlugin: GraphiQLPlugin = { title: 'Build', icon: TreeIcon, content: TreeContent };
