// The parts of a table that only its database changes: columns, keys, checks, indexes and triggers.

import { Link } from '../shell/place';
import { findByName, keysTo } from './catalog';
import type { Catalog, CatalogColumn, CatalogTable } from './catalog';
import { schemaAddress } from './context';
import { shownName } from '../metadata/table-name';

/** How a value comes about that nobody gives. */
function originOf(it: CatalogColumn): string {
  if (it.generated !== null) return `generated: ${it.generated}`;
  if (it.identity !== null) return `identity, ${it.identity}`;
  return it.default ?? '';
}

const marksOf = (table: CatalogTable, column: string) => [
  ...table.constraints.filter(it => it.columns?.includes(column)).map(it => it.kind),
  ...(table.foreignKeys.some(it => it.columns.includes(column)) ? [table.kind === 'type' || table.kind === 'interface' ? 'edge' : 'foreign key'] : []),
];

export function Columns({ table }: { table: CatalogTable }) {
  const isOfTypes = table.kind === 'type' || table.kind === 'interface';
  return (
    <section className="weir-part" aria-labelledby="schema-columns">
      <h2 id="schema-columns">{isOfTypes ? 'Fields' : 'Columns'}</h2>
      <div className="weir-wide" tabIndex={0} role="region" aria-label={isOfTypes ? 'Table of fields' : 'Table of columns'}>
        <table className="weir-facts" data-testid="columns">
          <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Null</th>{!isOfTypes && <th scope="col">Default</th>}<th scope="col">Key</th><th scope="col">Comment</th></tr></thead>
          <tbody>
            {table.columns.map(it => (
              <tr key={it.name}>
                <th scope="row">{it.name}</th>
                <td><code>{it.type || '(none)'}</code></td>
                <td>{it.nullable ? 'yes' : 'no'}</td>
                {!isOfTypes && <td><code>{originOf(it)}</code></td>}
                <td>{[...new Set(marksOf(table, it.name))].join(', ')}</td>
                <td>{it.comment}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface FactsProps {
  title: string;
  empty: string;
  items: { name: string | null; note: string; text: string }[];
}

function Facts({ title, empty, items }: FactsProps) {
  return (
    <section className="weir-part" aria-label={title}>
      <h2>{title}</h2>
      {items.length === 0 ? <p className="weir-note">{empty}</p> : (
        <ul className="weir-list">
          {items.map((it, at) => <li key={at}>{it.name !== null && <b>{it.name}</b>} {it.note && <span className="weir-note">{it.note}</span>} <code>{it.text}</code></li>)}
        </ul>
      )}
    </section>
  );
}

function KeyList({ source, catalog, table }: { source: string; catalog: Catalog; table: CatalogTable }) {
  const incoming = keysTo(catalog, table);
  const link = (to: string, isThere: boolean) => (isThere ? <Link to={schemaAddress(source, to)}>{to}</Link> : <>{to}</>);
  return (
    <>
      <section className="weir-part" aria-label="Foreign keys">
        <h2>Foreign keys</h2>
        {table.foreignKeys.length === 0 && <p className="weir-note">No foreign key leads from this table.</p>}
        <ul className="weir-list">
          {table.foreignKeys.map((it, at) => (
            <li key={at}>{it.name !== null && <b>{it.name}</b>} to {link(shownName(it.table), findByName(catalog, it.table) !== undefined)} <code>{it.definition}</code></li>
          ))}
        </ul>
      </section>
      {incoming.length > 0 && (
        <section className="weir-part" aria-label="Referred to by">
          <h2>Referred to by</h2>
          <ul className="weir-list">
            {incoming.map(({ table: other, key }, at) => <li key={at}>{link(shownName(other), true)} <code>({key.columns.join(', ')})</code></li>)}
          </ul>
        </section>
      )}
    </>
  );
}

/** The links of a native type: fields that lead to other types. */
function EdgeList({ source, catalog, table }: { source: string; catalog: Catalog; table: CatalogTable }) {
  const incoming = keysTo(catalog, table);
  return (
    <section className="weir-part" aria-label="Edges">
      <h2>Edges</h2>
      {table.foreignKeys.length + incoming.length === 0 && <p className="weir-note">No field leads to another type.</p>}
      <ul className="weir-list">
        {table.foreignKeys.map(it => <li key={it.name}><b>{it.name}</b> to {it.definition} <Link to={schemaAddress(source, it.table.name)}>{it.table.name}</Link></li>)}
        {incoming.map(({ table: other, key }, at) => <li key={at}>from <Link to={schemaAddress(source, other.name)}>{other.name}</Link> by <b>{key.name}</b></li>)}
      </ul>
    </section>
  );
}

export function DatabaseFacts({ source, catalog, table }: { source: string; catalog: Catalog; table: CatalogTable }) {
  if (catalog.kind === 'native') {
    return (
      <>
        <Columns table={table} />
        <EdgeList source={source} catalog={catalog} table={table} />
      </>
    );
  }
  return (
    <>
      <Columns table={table} />
      <Facts title="Keys and checks" empty="The table has no key and no check." items={table.constraints.map(it => ({ name: it.name, note: it.kind, text: it.definition }))} />
      <KeyList source={source} catalog={catalog} table={table} />
      <Facts
        title="Indexes" empty="The table has no index."
        items={table.indexes.map(it => ({ name: it.name, note: it.primary ? 'primary key' : it.unique ? 'unique' : '', text: it.definition }))}
      />
      <Facts title="Triggers" empty="The table has no trigger." items={table.triggers.map(it => ({ name: it.name, note: it.enabled ? '' : 'disabled', text: it.definition }))} />
    </>
  );
}
