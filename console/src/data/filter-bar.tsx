// Conditions clicked together: column, operator by its type, value.

import { useId, useMemo, useState } from 'react';
import type { Condition, Operand } from './filters';
import { conditionValue, operatorWords } from './filters';

export const pathWords = (path: string[]) => path.join(' › ');

interface ConditionProps {
  operands: Operand[];
  condition: Condition;
  isNew: boolean;
  /** A click that follows meets a page that stands still. */
  commitsAtOnce?: boolean;
  onChange: (next: Condition) => void;
  onRemove: () => void;
}

/** One condition. Its value counts once the field is left or Enter is pressed, unless it counts while it is written. */
export function ConditionLine({ operands, condition, isNew, commitsAtOnce, onChange, onRemove }: ConditionProps) {
  const id = useId();
  const [text, setText] = useState(condition.value);
  const operand = operands.find(it => it.path.join('.') === condition.path.join('.'));
  const operator = operand?.operators.find(it => it.name === condition.operator);
  const groups = useMemo(() => Map.groupBy(operands, it => pathWords(it.path.slice(0, -1))), [operands]);
  const choosePath = (joined: string) => {
    const next = operands.find(it => it.path.join('.') === joined)!;
    const kept = next.operators.find(it => it.name === condition.operator) ?? next.operators[0]!;
    onChange({ path: next.path, operator: kept.name, value: text });
  };
  const read = operator && text !== '' ? conditionValue({ ...condition, value: text }, operator) : null;
  const error = read && 'error' in read ? read.error : null;
  const choices = operator?.values ?? (operator?.type === 'Boolean' ? ['true', 'false'] : null);
  const commit = (value: string) => value !== condition.value && onChange({ ...condition, value });
  return (
    <form
      className="weir-condition"
      onSubmit={event => {
        event.preventDefault();
        commit(text);
      }}
    >
      <select aria-label="Column" className="weir-field" autoFocus={isNew} value={condition.path.join('.')} onChange={event => choosePath(event.target.value)}>
        {!operand && <option value={condition.path.join('.')}>{pathWords(condition.path)} (unknown)</option>}
        {[...groups].map(([group, members]) => {
          const options = members.map(it => <option key={it.path.join('.')} value={it.path.join('.')}>{pathWords(it.path)}</option>);
          return group === '' ? options : <optgroup key={group} label={group}>{options}</optgroup>;
        })}
      </select>
      <select aria-label="Operator" className="weir-field" value={condition.operator} onChange={event => onChange({ ...condition, operator: event.target.value, value: text })}>
        {operand?.operators.map(it => <option key={it.name} value={it.name}>{operatorWords(it.name) || 'is one of'}</option>)}
      </select>
      {choices && !operator?.isList && !operator?.takesSession ? (
        <select aria-label="Value" className="weir-field" value={text} onChange={event => (setText(event.target.value), commit(event.target.value))}>
          <option value="" disabled>value</option>
          {choices.map(it => <option key={it}>{it}</option>)}
        </select>
      ) : (
        <input
          aria-label="Value" className="weir-field" value={text} autoComplete="off" placeholder={operator?.isList ? 'a, b, c' : ''}
          aria-invalid={error ? true : undefined} aria-describedby={error ? `${id}-error` : undefined}
          onChange={event => (setText(event.target.value), commitsAtOnce && commit(event.target.value))} onBlur={() => commit(text)}
        />
      )}
      <button type="button" className="weir-button" aria-label={`Remove the condition on ${pathWords(condition.path)}`} onClick={onRemove}>✕</button>
      {error && <span id={`${id}-error`} className="weir-bad" role="alert">{error}</span>}
    </form>
  );
}

interface Props {
  operands: Operand[];
  conditions: Condition[];
  onChange: (next: Condition[]) => void;
}

export function FilterBar({ operands, conditions, onChange }: Props) {
  const [added, setAdded] = useState(-1);
  const add = () => {
    const first = operands[0];
    const operator = first?.operators[0];
    if (!first || !operator) return;
    setAdded(conditions.length);
    onChange([...conditions, { path: first.path, operator: operator.name, value: '' }]);
  };
  if (operands.length === 0) return null;
  return (
    <section className="weir-filter" aria-label="Filter">
      {conditions.map((it, at) => (
        <ConditionLine
          key={`${at} ${conditions.length}`} operands={operands} condition={it} isNew={at === added}
          onChange={next => onChange(conditions.map((old, place) => (place === at ? next : old)))}
          onRemove={() => (setAdded(-1), onChange(conditions.filter((_, place) => place !== at)))}
        />
      ))}
      <button type="button" className="weir-button" onClick={add}>+ Filter</button>
      {conditions.length > 0 && <button type="button" className="weir-button" onClick={() => onChange([])}>Clear</button>}
    </section>
  );
}
