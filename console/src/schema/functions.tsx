// Functions: those that give rows, as root fields of a source; those that take a row, as computed fields of its table.

import type { ServedTable } from '../metadata/served';
import { entryOfTable, qualifiedName } from './catalog';
import type { CatalogFunction, CatalogTable } from './catalog';
import { addComputedField, dropComputedField, trackFunction, untrackFunction } from './changes';
import type { SchemaContext } from './context';
import { isTable, metadataName, shownName } from '../metadata/table-name';
import type { QualifiedName } from '../metadata/table-name';

const signature = (it: CatalogFunction) => `${shownName(qualifiedName(it))}(${it.arguments}) → ${it.returns}`;

function Signature({ it }: { it: CatalogFunction }) {
  return <><code>{signature(it)}</code> <span className="weir-note">{it.volatility}{it.comment !== null && `: ${it.comment}`}</span></>;
}

export function ComputedFields({ context, table }: { context: SchemaContext; table: CatalogTable }) {
  const { base, catalog, source, onChange } = context;
  const entry = entryOfTable(source, table);
  const own = entry?.computed_fields ?? [];
  const candidates = catalog.functions.filter(it => it.argumentTables?.some(at => isTable(at, table)) && !own.some(field => isTable(field.definition.function, qualifiedName(it))));
  if (catalog.functions.length === 0 && own.length === 0) return null;
  const target: ServedTable = entry ?? { table: metadataName(qualifiedName(table)) };
  return (
    <section className="weir-part" aria-label="Computed fields">
      <h2>Computed fields</h2>
      {own.length === 0 && candidates.length === 0 && <p className="weir-note">A function that takes a row of this table can be a field of it; the database has none.</p>}
      <ul className="weir-list" data-testid="computed">
        {own.map(it => (
          <li key={it.name}>
            <b>{it.name}</b> by <code>{shownName(it.definition.function)}</code>{' '}
            <button type="button" className="weir-button" aria-label={`Remove ${it.name}`} onClick={() => onChange(dropComputedField(base, target, it))}>Remove</button>
          </li>
        ))}
        {candidates.map((it, at) => (
          <li key={at}>
            <button
              type="button" className="weir-button" aria-label={`Track ${it.name} as a field`}
              onClick={() => onChange(addComputedField(base, target, { name: it.name, definition: { function: metadataName(qualifiedName(it)) } }))}
            >
              Track
            </button> <Signature it={it} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Functions({ context }: { context: SchemaContext }) {
  const { base, catalog, source, onChange } = context;
  const isTracked = (it: QualifiedName) => source.functions.some(known => isTable(known.function, it));
  const candidates = catalog.functions.filter(it => it.returnsTable !== null && !isTracked(qualifiedName(it)));
  if (catalog.functions.length === 0 && source.functions.length === 0) {
    return <section className="weir-part" aria-label="Functions"><h2>Functions</h2><p className="weir-note">The database has no functions that give rows.</p></section>;
  }
  const track = (it: CatalogFunction, kind: 'query' | 'mutation') => onChange(trackFunction(base, {
    function: metadataName(qualifiedName(it)),
    ...(it.volatility === 'volatile' ? { configuration: { exposed_as: kind } } : {}),
  }));
  return (
    <section className="weir-part" aria-label="Functions">
      <h2>Functions</h2>
      <ul className="weir-list" data-testid="functions">
        {source.functions.map(it => {
          const known = catalog.functions.find(at => isTable(it.function, qualifiedName(at)));
          return (
            <li key={shownName(it.function)}>
              <b>{shownName(it.function)}</b> {known ? <Signature it={known} /> : <span className="weir-bad">is not in the database</span>}{' '}
              <button type="button" className="weir-button" aria-label={`Untrack ${shownName(it.function)}`} onClick={() => onChange(untrackFunction(base, it))}>Untrack</button>
            </li>
          );
        })}
        {candidates.map((it, at) => (
          <li key={at}>
            {it.volatility === 'volatile' ? (
              <>
                <button type="button" className="weir-button" aria-label={`Track as a mutation: ${it.name}`} onClick={() => track(it, 'mutation')}>Track as a mutation</button>{' '}
                <button type="button" className="weir-button" aria-label={`Track as a query: ${it.name}`} onClick={() => track(it, 'query')}>as a query</button>
              </>
            ) : <button type="button" className="weir-button" aria-label={`Track ${it.name}`} onClick={() => track(it, 'query')}>Track</button>} <Signature it={it} />
          </li>
        ))}
      </ul>
    </section>
  );
}
