// The value of an argument in the tree: a choice or a field, by its type, and a button that makes a variable of it.

import { useEffect, useState } from 'react';
import { getNullableType, isEnumType, isInputObjectType, isNonNullType } from 'graphql';
import type { GraphQLInputType } from 'graphql';
import { literalOf, writtenOf } from './literals';
import type { ArgumentRow } from './rows';

/** Choices of a type that has few values. */
function choicesOf(type: GraphQLInputType): string[] | null {
  const inner = getNullableType(type);
  const none = isNonNullType(type) ? [] : ['null'];
  if (isEnumType(inner)) return [...inner.getValues().map(it => it.name), ...none];
  return 'name' in inner && inner.name === 'Boolean' ? ['true', 'false', ...none] : null;
}

interface Props {
  row: ArgumentRow;
  onValue: (literal: string) => void;
  onVariable: () => void;
}

export function ValueInput({ row, onValue, onVariable }: Props) {
  const shown = writtenOf(row.literal ?? '');
  const [text, setText] = useState(shown);
  const [isWrong, setIsWrong] = useState(false);
  useEffect(() => (setText(shown), setIsWrong(false)), [shown]);
  const isVariable = shown.startsWith('$');
  const choices = choicesOf(row.input);
  const label = `Value of ${row.value.join('.')}`;
  const commit = () => {
    if (text === shown) return;
    const literal = literalOf(row.input, text);
    setIsWrong(literal === null);
    if (literal !== null) onValue(literal);
  };
  // Objects in lists are written in the text.
  const isText = isInputObjectType(getNullableType(row.input)) || (row.literal ?? '').startsWith('[{') || (row.literal ?? '').startsWith('"""');
  return (
    <span className="weir-tree-value">
      {isVariable || isText ? <code>{row.literal}</code> : choices ? (
        <select aria-label={label} tabIndex={-1} value={shown} onChange={event => onValue(event.target.value)}>
          {choices.map(it => <option key={it}>{it}</option>)}
        </select>
      ) : (
        <input
          aria-label={label} tabIndex={-1} aria-invalid={isWrong || undefined} title={isWrong ? `This is no ${row.type}` : undefined} spellCheck={false} autoComplete="off" value={text}
          onChange={event => setText(event.target.value)} onBlur={commit} onKeyDown={event => event.key === 'Enter' && (commit(), event.preventDefault())}
        />
      )}
      {!isVariable && <button type="button" tabIndex={-1} title="Make it a variable" aria-label={`Make ${row.value.join('.')} a variable`} onClick={onVariable}>$</button>}
    </span>
  );
}
