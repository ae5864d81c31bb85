// refine's data provider for Hasura, as its pages call it.

import dataProvider, { GraphQLClient } from '@refinedev/hasura';
import { check, end, same, url } from '../checks.mjs';

const provider = dataProvider(new GraphQLClient(url), { idType: 'Int' });
const resource = 'album';
const meta = { fields: ['id', 'title', 'year', { album_artist: ['name'] }] };
const titles = ({ data }) => data.map(it => it.title);

await check('a list with filters, order and page', async () => {
  const found = await provider.getList({
    resource,
    pagination: { currentPage: 2, pageSize: 2, mode: 'server' },
    sorters: [{ field: 'title', order: 'desc' }],
    filters: [{ field: 'year', operator: 'gte', value: 2000 }],
    meta,
  });
  same([titles(found), found.total], [['Epsilon', 'Delta'], 5]);
  same(found.data[1].album_artist, { name: 'Bob' });
});

await check('conditions of every kind', async () => {
  const of = async filters => titles(await provider.getList({ resource, filters, sorters: [{ field: 'id', order: 'asc' }], meta }));
  same(await of([{ field: 'title', operator: 'contains', value: 'ta' }]), ['Beta', 'Delta', 'Zeta', 'Eta']);
  same(await of([{ field: 'title', operator: 'startswith', value: 'e' }]), ['Epsilon', 'Eta']);
  same(await of([{ field: 'album_artist.name', operator: 'eq', value: 'Cyd' }]), ['Epsilon', 'Zeta']);
  same(await of([{ field: 'year', operator: 'in', value: [1999, 1987] }]), ['Alpha', 'Zeta']);
  same(await of([{ field: 'year', operator: 'nin', value: [1999, 2001, 2010, 2015, 2020] }]), ['Zeta']);
  same(await of([{ field: 'title', operator: 'null', value: true }]), []);
  const either = [{ field: 'year', operator: 'lt', value: 1990 }, { field: 'title', operator: 'eq', value: 'Eta' }];
  same(await of([{ operator: 'or', value: either }]), ['Zeta', 'Eta']);
});

await check('one and many by their ids', async () => {
  same((await provider.getOne({ resource, id: 3, meta })).data, { id: 3, title: 'Gamma', year: 2001, album_artist: { name: 'Bob' } });
  same(titles(await provider.getMany({ resource, ids: [1, 7], meta })), ['Alpha', 'Eta']);
});

await check('an insert, an update and a delete', async () => {
  const made = await provider.create({ resource, variables: { title: 'Mu', year: 2024, artist_id: 1 }, meta });
  const { id } = made.data;
  const changed = await provider.update({ resource, id, variables: { title: 'Nu' }, meta });
  same([changed.data.title, changed.data.year], ['Nu', 2024]);
  same((await provider.deleteOne({ resource, id, meta })).data.title, 'Nu');
  same((await provider.getOne({ resource, id, meta })).data, null);
});

await check('many inserts, updates and deletes', async () => {
  const album = title => ({ title, year: 2024, artist_id: 2 });
  const made = await provider.createMany({ resource, variables: [album('Xi'), album('Pi')], meta });
  const ids = made.data.map(it => it.id);
  same(titles(made), ['Xi', 'Pi']);
  await provider.updateMany({ resource, ids, variables: { year: 2025 }, meta });
  const removed = await provider.deleteMany({ resource, ids, meta });
  same(removed.data.map(it => it.year), [2025, 2025]);
});

end('refine');
