// Names by `naming_convention: graphql-default`, and the plain ones that metadata and this console have for the same.

const BUILT_IN = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** `_is_null` as `_isNull`. */
export const camelName = (name: string) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A name of the API as a table has it. */
export const spelled = (table: { isCamel: boolean }, name: string) => (table.isCamel ? camelName(name) : name);

/** The plain name of an operator. */
export const plainOperator = (isCamel: boolean, name: string) => (isCamel ? name.replace(/[A-Z]/g, it => `_${it.toLowerCase()}`) : name);

/** The plain name of a scalar: `timestamptz` for `Timestamptz`. */
export const plainType = (isCamel: boolean, name: string) => (isCamel && !BUILT_IN.has(name) ? name[0]!.toLowerCase() + name.slice(1) : name);

/** A way of order: the convention has enums in capitals. */
export const spelledWay = (table: { isCamel: boolean }, way: string) => (table.isCamel ? way.toUpperCase() : way);

/** A filter with the operators as the API of the table has them; what an operator takes stays as it is. */
export function spelledFilter(table: { isCamel: boolean }, filter: Record<string, unknown>): Record<string, unknown> {
  if (!table.isCamel) return filter;
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    return typeof value === 'object' && value !== null ? spelledFilter(table, value as Record<string, unknown>) : value;
  };
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => {
    const isOperator = key.startsWith('_') && !['_and', '_or', '_not'].includes(key);
    return isOperator ? [camelName(key), value] : [key, inner(value)];
  }));
}
