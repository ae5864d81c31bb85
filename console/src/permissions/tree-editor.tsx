// The tree of conditions: groups and lines that are clicked together.

import { useState } from 'react';
import { ConditionLine } from '../data/filter-bar';
import type { Operand } from '../data/filters';
import { parseExact } from '../server/exact-number';
import type { Scope, TreeNode } from './condition-tree';
import type { Json } from '../metadata/served';
import { tableName } from '../metadata/table-name';

interface Props {
  node: TreeNode;
  scope: Scope;
  /** Tables in which a row can be looked for. */
  tables: Json[];
  onChange: (next: TreeNode) => void;
  onRemove?: () => void;
  label: string;
}

const WORDS = { all: 'all of', any: 'any of', not: 'not' } as const;

function firstTest(operands: Operand[]): TreeNode {
  const first = operands[0];
  const operator = first?.operators[0];
  if (!first || !operator) return { kind: 'raw', json: {} };
  return { kind: 'test', condition: { path: first.path, operator: operator.name, value: '' } };
}

/** What a group says before its parts. */
function Head({ node, onChange, tables, label }: Pick<Props, 'node' | 'onChange' | 'tables' | 'label'>) {
  switch (node.kind) {
    case 'all': case 'any': case 'not':
      return (
        <select
          className="weir-field" aria-label={`Kind of ${label}`} value={node.kind}
          onChange={event => {
            const kind = event.target.value as 'all' | 'any' | 'not';
            const parts = node.parts;
            if (kind === 'not') onChange({ kind, parts: [parts.length === 1 ? parts[0]! : { kind: 'all', parts }] });
            else onChange({ kind, parts: [...parts] });
          }}
        >
          {Object.entries(WORDS).map(([kind, words]) => <option key={kind} value={kind}>{words}</option>)}
        </select>
      );
    case 'related': return <span>a row of <b>{node.name}</b> has all of</span>;
    case 'exists':
      return (
        <label className="weir-inline">
          there is a row in
          <select
            className="weir-field" value={JSON.stringify(node.table)}
            onChange={event => onChange({ kind: 'exists', table: parseExact(event.target.value) as Json, parts: [] })}
          >
            {!tables.some(it => JSON.stringify(it) === JSON.stringify(node.table)) && <option value={JSON.stringify(node.table)}>{tableName(node.table as string)}</option>}
            {tables.map(it => <option key={JSON.stringify(it)} value={JSON.stringify(it)}>{tableName(it as string)}</option>)}
          </select>
          with all of
        </label>
      );
    default: return null;
  }
}

interface AddProps {
  operands: Operand[];
  tables: Json[];
  label: string;
  onAdd: (node: TreeNode) => void;
}

function Add({ operands, tables, label, onAdd }: AddProps) {
  const ways = [...new Set(operands.filter(it => it.path.length > 1).map(it => it.path[0]!))];
  const add = (choice: string) => {
    if (choice === 'test') onAdd(firstTest(operands));
    else if (choice === 'any' || choice === 'all') onAdd({ kind: choice, parts: [firstTest(operands)] });
    else if (choice === 'not') onAdd({ kind: 'not', parts: [firstTest(operands)] });
    else if (choice === 'exists') onAdd({ kind: 'exists', table: tables[0] ?? '', parts: [] });
    else if (choice.startsWith('related ')) onAdd({ kind: 'related', name: choice.slice(8), parts: [] });
  };
  return (
    <span className="weir-add">
      <button type="button" className="weir-button" disabled={operands.length === 0} aria-label={`Add a condition to ${label}`} onClick={() => add('test')}>+ Condition</button>
      <select className="weir-field" aria-label={`Add a group to ${label}`} value="" onChange={event => add(event.target.value)}>
        <option value="" disabled>+ Group …</option>
        <option value="all">all of</option>
        <option value="any">any of</option>
        <option value="not">not</option>
        {ways.map(it => <option key={it} value={`related ${it}`}>a row of {it}</option>)}
        {tables.length > 0 && <option value="exists">a row of any table</option>}
      </select>
    </span>
  );
}

/** A part that the tree has no form for. */
function RawLine({ json, label, onChange, onRemove }: { json: Json; label: string; onChange: (json: Json) => void; onRemove?: () => void }) {
  const [text, setText] = useState(JSON.stringify(json));
  const [error, setError] = useState<string | null>(null);
  const commit = () => {
    if (text === JSON.stringify(json)) return;
    try {
      onChange(parseExact(text) as Json);
      setError(null);
    } catch {
      setError('JSON is expected');
    }
  };
  return (
    <div className="weir-condition">
      <input className="weir-field weir-raw" aria-label={`JSON of ${label}`} value={text} onChange={event => setText(event.target.value)} onBlur={commit} />
      {onRemove && <button type="button" className="weir-button" aria-label={`Remove ${label}`} onClick={onRemove}>✕</button>}
      {error && <span role="alert" className="weir-bad">{error}</span>}
    </div>
  );
}

export function TreeEditor({ node, scope, tables, onChange, onRemove, label }: Props) {
  const [added, setAdded] = useState(-1);
  if (node.kind === 'test') {
    return <ConditionLine operands={scope.operands} condition={node.condition} isNew={false} commitsAtOnce onChange={condition => onChange({ kind: 'test', condition })} onRemove={() => onRemove?.()} />;
  }
  if (node.kind === 'raw') return <RawLine key={JSON.stringify(node.json)} json={node.json} label={label} onChange={json => onChange({ kind: 'raw', json })} onRemove={onRemove} />;
  const inner = node.kind === 'related' ? scope.scopeBelow(node.name) : node.kind === 'exists' ? scope.scopeIn(node.table) : scope;
  const parts: TreeNode[] = node.parts;
  const withParts = (next: TreeNode[]): TreeNode => {
    if (node.kind === 'not') return { kind: 'not', parts: [next[0] ?? { kind: 'all', parts: [] }] };
    return { ...node, parts: next } as TreeNode;
  };
  const set = (next: TreeNode[]) => onChange(withParts(next));
  return (
    <section className="weir-group" aria-label={label}>
      <div className="weir-group-head">
        <Head node={node} onChange={onChange} tables={tables} label={label} />
        {parts.length === 0 && <span className="weir-note">{node.kind === 'any' ? 'nothing: no row' : 'nothing: every row'}</span>}
        <span className="weir-space" />
        {onRemove && <button type="button" className="weir-button" aria-label={`Remove ${label}`} onClick={onRemove}>✕</button>}
      </div>
      <ul>
        {parts.map((it, at) => (
          <li key={`${at} ${parts.length}`} data-new={at === added || undefined}>
            <TreeEditor
              node={it} scope={inner} tables={tables} label={`${label} › ${at + 1}`}
              onChange={next => set(parts.map((old, place) => (place === at ? next : old)))}
              onRemove={() => set(parts.filter((_, place) => place !== at))}
            />
          </li>
        ))}
      </ul>
      {!(node.kind === 'not' && parts.length > 0) && (
        <Add operands={inner.operands} tables={tables} label={label} onAdd={it => (setAdded(parts.length), set([...parts, it]))} />
      )}
    </section>
  );
}
