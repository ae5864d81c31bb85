// GraphiQL's tabs are list items with the role of a tab around two buttons, which screen readers cannot enter.
//
// Here they are what they look like: a list with buttons, of which one is current.

function mend(root: Element) {
  root.querySelectorAll('.graphiql-tabs[role]').forEach(it => it.removeAttribute('role'));
  root.querySelectorAll('.graphiql-tab[role]').forEach(it => it.removeAttribute('role'));
  root.querySelectorAll('.graphiql-tab[aria-selected]').forEach(it => {
    const isCurrent = it.getAttribute('aria-selected') === 'true';
    it.removeAttribute('aria-selected');
    it.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', String(isCurrent));
  });
}

/** Mends the tabs of an editor now and whenever they change, until the function that is returned is called. */
export function keepTabsPlain(root: Element): () => void {
  const observer = new MutationObserver(() => mend(root));
  observer.observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-selected', 'role'] });
  mend(root);
  return () => observer.disconnect();
}
