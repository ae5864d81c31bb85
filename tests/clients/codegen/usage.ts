// The generated documents in use. The compiler checks the types, and running it the answers.

import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
// @ts-expect-error The helpers are plain JavaScript.
import { check, end, same, url } from './checks.mjs';
import { AddAlbumDocument, AlbumsDocument, ChangeAlbumDocument, RemoveAlbumsDocument } from './shop.js';

async function ask<R, V>(document: TypedDocumentNode<R, V>, variables: V): Promise<R> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: print(document), variables, operationName: '' }),
  });
  const { data, errors } = (await answer.json()) as { data: R; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

await check('a query with variables', async () => {
  const found = await ask(AlbumsDocument, {
    where: { year: { _gte: 2000 }, album_artist: { name: { _in: ['Ada', 'Bob'] } } },
    order_by: [{ year: 'desc' }, { title: 'asc' }],
    limit: 2,
    offset: 1,
  });
  const titles: string[] = found.album.map(it => `${it.title} ${it.year} ${it.album_artist.name}`);
  same(titles, ['Delta 2010 Bob', 'Beta 2001 Ada']);
  const most: number | null | undefined = found.album_aggregate.aggregate?.max?.year;
  same([found.album_aggregate.aggregate?.count, most], [4, 2020]);
});

await check('an insert, an update and a delete', async () => {
  const added = await ask(AddAlbumDocument, { album: { title: 'Theta', year: 2024, artist_id: 2 } });
  const id: number = added.insert_album_one!.id;
  const changed = await ask(ChangeAlbumDocument, { id, set: { title: 'Iota' } });
  same(changed.update_album_by_pk, { title: 'Iota', year: 2024 });
  const removed = await ask(RemoveAlbumsDocument, { where: { id: { _eq: id } } });
  same(removed.delete_album, { affected_rows: 1, returning: [{ title: 'Iota' }] });
});

end(`codegen on Node ${process.versions.node}`);
