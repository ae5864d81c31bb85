// The name that has to be written before a change that takes something away.

interface Props {
  name: string;
  written: string;
  onWrite: (text: string) => void;
}

export function AskName({ name, written, onWrite }: Props) {
  return (
    <label>
      Write <b>{name}</b> to go on
      <input className="weir-field" data-first autoComplete="off" value={written} onChange={event => onWrite(event.target.value)} />
    </label>
  );
}
