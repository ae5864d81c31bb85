// react-admin's data provider for Hasura, as its pages call it. It reads the schema first and makes its queries from it.

import hasura from 'ra-data-hasura';
import { check, end, same, url } from '../checks.mjs';

const build = hasura.default ?? hasura;
const provider = await build({ clientOptions: { uri: url } });
const resource = 'album';
const titles = ({ data }) => data.map(it => it.title);
const sort = { field: 'id', order: 'ASC' };
const page = { page: 1, perPage: 10 };

await check('a list with filters, order and page', async () => {
  const found = await provider.getList(resource, {
    pagination: { page: 2, perPage: 2 },
    sort: { field: 'year', order: 'DESC' },
    filter: { 'year@_gte': 2002 },
  });
  same([titles(found), found.total], [['Delta'], 3]);
});

await check('conditions', async () => {
  const of = async filter => titles(await provider.getList(resource, { pagination: page, sort, filter }));
  same(await of({ 'title@_ilike': 'eta' }), ['Beta', 'Zeta', 'Eta']);
  same(await of({ 'album_artist#name@_eq': 'Cyd' }), ['Epsilon', 'Zeta']);
  same(await of({ 'year@_in': [1999, 1987] }), ['Alpha', 'Zeta']);
});

await check('one and many by their ids, and those that refer to one', async () => {
  same((await provider.getOne(resource, { id: 3 })).data.title, 'Gamma');
  same(titles(await provider.getMany(resource, { ids: [1, 7] })), ['Alpha', 'Eta']);
  const target = { target: 'artist_id', id: 2, pagination: page, sort, filter: {} };
  const found = await provider.getManyReference(resource, target);
  same([titles(found), found.total], [['Gamma', 'Delta'], 2]);
});

await check('an insert, an update and a delete', async () => {
  const made = await provider.create(resource, { data: { title: 'Rho', year: 2024, artist_id: 1 } });
  const { id } = made.data;
  const changed = await provider.update(resource, { id, data: { ...made.data, title: 'Tau' }, previousData: made.data });
  same([changed.data.title, changed.data.year], ['Tau', 2024]);
  await provider.updateMany(resource, { ids: [id], data: { year: 2025 } });
  same((await provider.getOne(resource, { id })).data.year, 2025);
  same((await provider.delete(resource, { id, previousData: changed.data })).data.title, 'Tau');
  same(titles(await provider.getList(resource, { pagination: page, sort, filter: { 'title@_eq': 'Tau' } })), []);
  const other = await provider.create(resource, { data: { title: 'Phi', year: 2024, artist_id: 1 } });
  same((await provider.deleteMany(resource, { ids: [other.data.id] })).data, [other.data.id]);
});

end('react-admin');
