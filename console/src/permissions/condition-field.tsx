// The condition of a permission: as a tree, or as JSON.

import { useMemo, useState } from 'react';
import { isScalar, parseExact } from '../server/exact-number';
import { readTree, writeTree } from './condition-tree';
import type { TreeNode } from './condition-tree';
import { TreeEditor } from './tree-editor';
import type { Json } from '../metadata/served';
import type { TableContext } from './table-context';

interface Props {
  title: string;
  note: string;
  value: Json;
  context: TableContext;
  tables: Json[];
  /** Words on what is not whole come beside the value that can be read. */
  onChange: (value: Json, fault: string | null) => void;
}

export function ConditionField({ title, note, value, context, tables, onChange }: Props) {
  const read = (json: Json) => readTree(json, context);
  const [isJson, setIsJson] = useState(false);
  const [tree, setTree] = useState<TreeNode>(() => read(value));
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const written = useMemo(() => writeTree(tree, context), [tree, context]);
  const [error, setError] = useState<string | null>(null);
  const fault = isJson ? error : written.fault;
  const take = (next: TreeNode) => {
    // The whole is a group, so that there is always a place to add to.
    const now = writeTree(next, context);
    setTree(next);
    setText(JSON.stringify(now.json, null, 2));
    onChange(now.json, now.fault);
  };
  const takeText = (next: string) => {
    setText(next);
    try {
      const json = parseExact(next) as Json;
      if (isScalar(json) || Array.isArray(json)) throw new Error();
      setError(null);
      setTree(read(json));
      onChange(json, null);
    } catch {
      const words = 'JSON of an object is expected';
      setError(words);
      onChange(value, words);
    }
  };
  const root: TreeNode = tree.kind === 'all' || tree.kind === 'any' ? tree : { kind: 'all', parts: [tree] };
  return (
    <section className="weir-part" aria-label={title}>
      <div className="weir-part-head">
        <h2>{title}</h2>
        <button type="button" className="weir-button" aria-pressed={!isJson} disabled={isJson && error !== null} onClick={() => setIsJson(false)}>Tree</button>
        <button type="button" className="weir-button" aria-pressed={isJson} onClick={() => (setError(null), setIsJson(true))}>JSON</button>
      </div>
      <p className="weir-note">{note}</p>
      {isJson
        ? <textarea className="weir-field" aria-label={`${title} as JSON`} rows={Math.min(14, text.split('\n').length + 1)} spellCheck={false} value={text} onChange={event => takeText(event.target.value)} />
        : <TreeEditor node={root} scope={context} tables={tables} label={`${title}: conditions`} onChange={take} />}
      {fault !== null && <p role="alert" className="weir-bad">{fault}</p>}
    </section>
  );
}
