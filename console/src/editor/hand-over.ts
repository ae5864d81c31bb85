// An operation that another page opens in the editor.

interface Operation {
  query: string;
  variables: string;
}

let waiting: Operation | null = null;

export function handOver(query: string, variables: unknown) {
  waiting = { query, variables: JSON.stringify(variables, null, 2) };
}

/** The operation, once. */
export function takeHandedOver(): Operation | null {
  const taken = waiting;
  waiting = null;
  return taken;
}
