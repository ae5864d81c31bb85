// A value in a line of text: null and the empty text are told apart.

import { valueText } from './cells';

export function Shown({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <i className="weir-null">null</i>;
  return value === '' ? <i className="weir-null">empty</i> : <>{valueText(value).slice(0, 300)}</>;
}
