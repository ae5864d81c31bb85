// Sources with all their tables, tracked or not, by schema.

import { useState } from 'react';
import { addressOf, Link } from '../shell/place';
import type { Served } from '../metadata/served';
import { isServed } from './catalog';
import type { Catalog } from './catalog';
import { schemaAddress } from './context';
import { shownName } from '../metadata/table-name';

interface Props {
  served: Served;
  /** The source that is open, with what its database has. */
  source: string;
  catalog: Catalog | null;
  table: string | undefined;
  onOpen: () => void;
}

export function SchemaTree({ served, source, catalog, table, onOpen }: Props) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const open = served.sources.find(it => it.name === source);
  const tables = (catalog?.tables ?? []).filter(it => shownName(it).toLowerCase().includes(wanted));
  const schemas = [...new Set(tables.map(it => it.schema))];
  return (
    <nav className="weir-tree" aria-label="Sources and tables">
      <input className="weir-field" type="search" aria-label="Search tables" placeholder="Search tables" value={text} onChange={event => setText(event.target.value)} />
      {catalog && wanted !== '' && tables.length === 0 && <p className="weir-note">No table has this in its name.</p>}
      {served.sources.map(({ name }) => (
        <section key={name}>
          <h2><Link to={addressOf(['schema', name])} aria-current={name === source && table === undefined ? 'page' : undefined} onClick={onOpen}>{name}</Link></h2>
          {name === source && open && schemas.map(schema => (
            <div key={schema}>
              {schemas.length > 1 && <h3>{schema}</h3>}
              <ul>
                {tables.filter(it => it.schema === schema).map(it => {
                  const isThere = catalog?.kind === 'native' || isServed(open, it);
                  return (
                    <li key={shownName(it)}>
                      <Link to={schemaAddress(name, shownName(it))} aria-current={shownName(it) === table ? 'page' : undefined} onClick={onOpen}>
                        <span>{it.name}</span>{!isThere && <span className="weir-count">not tracked</span>}
                      </Link>
                    </li>
                  );
                })}
              </ul>
            </div>
          ))}
        </section>
      ))}
    </nav>
  );
}
