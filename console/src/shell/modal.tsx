// A dialog above the page. The browser keeps the focus in it, closes it by Escape, and gives the focus back.

import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function Modal({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    // A dialog that is not shown yet takes no focus, so its first field has it from here.
    element?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className="weir-modal"
      aria-labelledby={id}
      onCancel={event => {
        // A dialog within this one closes alone.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
      onKeyDown={event => event.stopPropagation()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="weir-button" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      {children}
    </dialog>
  );
}
