// The texts of GraphiQL's editors, and changes of them that Undo takes back.

import { useEffect, useState } from 'react';
import { useGraphiQL } from '@graphiql/react';

type Which = 'queryEditor' | 'variableEditor';

/** The text of an editor, and a function that changes it as typing would. */
export function useEditorText(which: Which): [string, (text: string) => void] {
  const editor = useGraphiQL(state => state[which]);
  const [text, setText] = useState(() => editor?.getValue() ?? '');
  useEffect(() => {
    if (!editor) return;
    const read = () => setText(editor.getValue());
    read();
    const models = editor.onDidChangeModel(read);
    const edits = editor.onDidChangeModelContent(read);
    return () => (models.dispose(), edits.dispose());
  }, [editor]);
  const change = (next: string) => {
    const model = editor?.getModel();
    if (!editor || !model || next === model.getValue()) return;
    editor.pushUndoStop();
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text: next }], () => null);
    editor.pushUndoStop();
  };
  return [text, change];
}
