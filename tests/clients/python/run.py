"""gql, the client for Python: the schema by introspection, then typed operations checked against it."""

import asyncio
import os
import sys

from gql import Client, GraphQLRequest, gql
from gql.dsl import DSLMutation, DSLQuery, DSLSchema, dsl_gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport

URL = os.environ["WEIR_URL"]
ALBUMS = gql(
    """
    query Albums($where: album_bool_exp, $order: [album_order_by!], $limit: Int, $offset: Int) {
      album(where: $where, order_by: $order, limit: $limit, offset: $offset) { title album_artist { name } }
      album_aggregate(where: $where) { aggregate { count } }
    }
    """
)


def query(session):
    """Variables, filters, order and page."""
    variables = {
        "where": {"year": {"_gt": 1990}, "title": {"_ilike": "%a"}},
        "order": [{"year": "asc"}, {"title": "desc"}],
        "limit": 2,
        "offset": 1,
    }
    request = GraphQLRequest(ALBUMS, variable_values=variables, operation_name="Albums")
    found = session.execute(request)
    assert [it["title"] for it in found["album"]] == ["Gamma", "Beta"], found
    assert found["album"][0]["album_artist"] == {"name": "Bob"}, found
    assert found["album_aggregate"]["aggregate"]["count"] == 5, found


def changes(session):
    """An insert, an update and a delete, made from the schema that was read."""
    ds = DSLSchema(session.client.schema)

    def run(field):
        return session.execute(dsl_gql(DSLMutation(field)))

    album = {"title": "Chi", "year": 2024, "artist_id": 1}
    added = run(ds.mutation_root.insert_album_one(object=album).select(ds.album.id))
    key = added["insert_album_one"]["id"]
    change = ds.mutation_root.update_album_by_pk(pk_columns={"id": key}, _set={"title": "Psi"})
    changed = run(change.select(ds.album.title, ds.album.year))
    assert changed == {"update_album_by_pk": {"title": "Psi", "year": 2024}}, changed
    where = {"id": {"_eq": key}}
    removed = run(ds.mutation_root.delete_album(where=where).select(ds.album_mutation_response.affected_rows))
    assert removed == {"delete_album": {"affected_rows": 1}}, removed
    left = session.execute(dsl_gql(DSLQuery(ds.query_root.album_by_pk(id=key).select(ds.album.id))))
    assert left == {"album_by_pk": None}, left


def batch(session):
    """Several requests at once."""
    requests = [GraphQLRequest(ALBUMS, variable_values={"limit": limit}) for limit in (1, 2)]
    found = session.execute_batch(requests)
    assert [len(it["album"]) for it in found] == [1, 2], found


def error(session):
    """The server's words reach the caller."""
    session.client.schema = None
    try:
        session.execute(gql("{ nothing }"))
    except TransportQueryError as told:
        assert "nothing" in str(told), told
    else:
        raise AssertionError("an unknown field is an error")


async def follow(url):
    """What a subscription tells while its row is renamed, and renamed back."""
    live = gql("subscription ($id: Int!) { album_by_pk(id: $id) { title } }")
    change = gql("mutation ($id: Int!, $title: String!) { update_album_by_pk(pk_columns: {id: $id}, _set: {title: $title}) { id } }")
    names, seen = ["Beta", "Renamed", "Beta"], []
    async with Client(transport=WebsocketsTransport(url=url.replace("http", "ws"))) as session:
        async for result in session.subscribe(GraphQLRequest(live, variable_values={"id": 2})):
            seen.append(result["album_by_pk"]["title"])
            if len(seen) == len(names):
                break
            await session.execute(GraphQLRequest(change, variable_values={"id": 2, "title": names[len(seen)]}))
    assert seen == names, seen


def subscription(session):
    """Results as they come, with queries and mutations over the same socket."""
    asyncio.run(asyncio.wait_for(follow(session.transport.url), 20))


def main():
    passed = failed = 0
    for path in ("/graphql", "/v1/graphql"):
        url = URL.replace("/v1/graphql", path)
        client = Client(transport=RequestsHTTPTransport(url=url), fetch_schema_from_transport=True)
        with client as session:
            # Lists of requests are Hasura's way.
            for step in (query, changes, *([batch] if path == "/v1/graphql" else []), subscription, error):
                try:
                    step(session)
                    passed += 1
                except Exception as cause:  # All of them are failures, and the next step runs.
                    failed += 1
                    print(f"FAILED {step.__name__} at {path}: {type(cause).__name__}: {cause}")
    print(f"gql: {passed} passed, {failed} failed")
    sys.exit(0 if failed == 0 and passed else 1)


main()
