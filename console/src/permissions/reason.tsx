// Why a role sees a row or does not: its conditions with their truth for this row.

import { Modal } from '../shell/modal';
import type { Condition, Judgement } from './judgement';

const MARKS = { true: '✓', false: '✗', unknown: '?', unasked: '·' };
const WORDS = { true: 'true', false: 'false', unknown: 'unknown: a value is null', unasked: 'not asked' };
const GROUPS = { all: 'all of', any: 'one of', not: 'not', exists: 'another row has', test: '' };

function ConditionTruth({ condition, isElsewhere }: { condition: Condition; isElsewhere: boolean }) {
  const missing = condition.missing.length > 0 && condition.parts.length === 0 ? `; ${condition.missing.join(', ')} is missing` : '';
  const words = isElsewhere && condition.truth !== 'unasked' ? (condition.truth === 'true' ? 'some such row has it' : 'no such row has it') : WORDS[condition.truth];
  return (
    <li data-truth={condition.truth}>
      <span className={`weir-truth weir-truth-${condition.truth}`} aria-hidden="true">{MARKS[condition.truth]}</span>
      {condition.role !== null && <b>{condition.role}: </b>}
      {condition.parts.length > 0 ? <span>{GROUPS[condition.kind]}</span> : <code>{condition.text}</code>}
      <span className="weir-note"> {words}{missing}</span>
      {condition.parts.length > 0 && (
        <ul>
          {condition.parts.map((it, at) => <ConditionTruth key={at} condition={it} isElsewhere={isElsewhere || condition.kind === 'exists'} />)}
        </ul>
      )}
    </li>
  );
}

/** The innermost conditions for which a condition does not hold. */
export function culprits(condition: Condition): string[] {
  if (condition.truth === 'true' || condition.truth === 'unasked') return [];
  if (condition.kind === 'exists' || condition.kind === 'not' || condition.parts.length === 0) return [condition.text];
  const below = condition.parts.flatMap(culprits);
  return below.length > 0 ? below : [condition.text];
}

/** What a row is judged for, in words. */
export interface Verb {
  yes: string;
  no: string;
  states: { seen: string; hidden: string; unknown: string };
}

function summary(role: string, { yes, no }: Verb, { exists, granted, missing, visible, condition }: Judgement): string {
  if (!exists) return 'There is no such row.';
  if (!granted) return `${role} has no permission to read this table.`;
  if (missing.length > 0) return `${role} is refused: the session variable ${missing.join(', ')} is missing.`;
  if (visible) return `${role} ${yes} this row.`;
  const hiding = culprits(condition);
  return `${role} ${no} this row: ${hiding.length > 1 && condition.kind === 'any' ? 'none of these holds: ' : ''}${hiding.join('; ')}.`;
}

interface Props {
  role: string;
  verb: Verb;
  rowName: string;
  judgement: Judgement;
  onClose: () => void;
}

export function Reason({ role, verb, rowName, judgement, onClose }: Props) {
  const hidden = judgement.columns.filter(it => !it.granted);
  const guarded = judgement.columns.filter(it => it.granted && it.shownIf !== null);
  return (
    <Modal title={`${rowName} as ${role}`} onClose={onClose}>
      <p role="status" className="weir-reason" data-testid="reason">{summary(role, verb, judgement)}</p>
      {judgement.granted && (
        <>
          <h3>Conditions</h3>
          <ul className="weir-truths" data-testid="truths"><ConditionTruth condition={judgement.condition} isElsewhere={false} /></ul>
        </>
      )}
      {judgement.cut && <p className="weir-note">The condition has more than 100 parts; the others are not asked one by one.</p>}
      {judgement.granted && hidden.length > 0 && <p>Columns that it does not see: {hidden.map(it => it.name).join(', ')}.</p>}
      {guarded.length > 0 && (
        <>
          <h3>Columns that depend on the row</h3>
          <ul className="weir-truths">
            {guarded.map(it => <li key={it.name}><b>{it.name}</b> is {it.shownIf!.truth === 'true' ? 'shown' : 'null'}:<ul><ConditionTruth condition={it.shownIf!} isElsewhere={false} /></ul></li>)}
          </ul>
        </>
      )}
      {judgement.limit !== null && <p className="weir-note">A list shows at most {judgement.limit} of its rows.</p>}
      <p className="weir-actions"><button type="button" className="weir-button weir-first" data-first onClick={onClose}>Close</button></p>
    </Modal>
  );
}
