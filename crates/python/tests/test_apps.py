"""GraphQL over HTTP by both kinds of apps: media types, statuses, files, lists, events, parts, the page, the context."""

import json

import pytest
import weir
from serving import ask, make_schema

JSON = {"content-type": "application/json"}
TELLING = {"accept": "application/graphql-response+json"}
KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])


def post(kind, query, headers=None, schema=None, **settings):
    body = json.dumps({"query": query}).encode() if isinstance(query, str) else json.dumps(query).encode()
    return ask(kind, schema or make_schema(), headers={**JSON, **(headers or {})}, body=body, **settings)


@KINDS
def test_a_post_and_a_get_are_answered(kind):
    answer = post(kind, {"query": "query ($n: String) { hello(name: $n) slow }", "variables": {"n": "Ada"}})
    assert answer.json() == {"data": {"hello": "hello Ada", "slow": 1}}
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
    assert answer.headers["content-length"] == str(len(answer.body))
    got = ask(kind, make_schema(), "GET", "query=%7Bhello%7D")
    assert got.json() == {"data": {"hello": "hello world"}}
    raw = ask(kind, make_schema(), "GET", 'query={hello(name:"é")}')
    assert raw.json() == {"data": {"hello": "hello é"}}


@KINDS
def test_the_status_is_that_of_the_media_type(kind):
    assert post(kind, "{ nothing }").status == 200
    assert post(kind, "{ nothing }", TELLING).status == 400
    assert post(kind, "{ hello }", {"accept": "image/png"}).status == 406
    assert ask(kind, make_schema(), headers={"content-type": "text/plain"}, body=b"{}").status == 415
    refused = ask(kind, make_schema(), "GET", "query=mutation%7Bset(value:1)%7D")
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert ask(kind, make_schema(), "PUT", headers=JSON, body=b"{}").status == 405


@KINDS
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b"7", b'{"query": "\\ud800"}', b'{"query": 1}', b"\xff", b"[" * 5000])
def test_what_is_no_request_is_refused(kind, body):
    answer = ask(kind, make_schema(), headers=JSON, body=body)
    assert (answer.status, answer.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_REQUEST")


@KINDS
def test_a_head_that_is_none_is_refused(kind):
    assert ask(kind, make_schema(), "GET", "query={hello}" + "&a=b" * 30_000).status == 400
    assert post(kind, "{ hello }", {"accept": "a\nb"}).status == 400
    assert ask(kind, make_schema(), "G T", "query={hello}").status == 400
    assert ask(kind, make_schema(), "GET", "query={hello}&query={hello}").status == 400


@KINDS
def test_a_body_is_bounded(kind):
    query = "{ hello }" + " " * 3000
    assert post(kind, query, body_bytes_max=4000).status == 200
    assert post(kind, query, body_bytes_max=2000).status == 413
    assert post(kind, query * 300, body_bytes_max=2000).status == 413


@KINDS
def test_a_list_of_requests_is_answered_in_order(kind):
    answer = post(kind, [{"query": "{ hello }"}, {"query": "{ slow }"}])
    assert answer.json() == [{"data": {"hello": "hello world"}}, {"data": {"slow": 1}}]
    assert post(kind, [{"query": "{ hello }"}] * 3, batch_max=2).status == 400


@KINDS
def test_the_context_is_made_of_the_request(kind):
    def context(request):
        if request.headers.get("authorization") != "yes":
            raise weir.GraphQLError("log in", code="UNAUTHENTICATED")
        return request

    allowed = post(kind, "{ who }", {"authorization": "yes", "x-user": "Ada"}, context=context)
    assert allowed.json() == {"data": {"who": "Ada"}}
    denied = post(kind, "{ who }", context=context)
    assert denied.status == 401
    assert denied.json() == {"errors": [{"message": "log in", "extensions": {"code": "UNAUTHENTICATED"}}]}
    assert post(kind, "{ who }", {"x-user": "Bob"}).json() == {"data": {"who": "Bob"}}
    failed = post(kind, "{ who }", context=lambda request: 1 / 0)
    assert (failed.status, b"ZeroDivision" in failed.body) == (500, False)


def form(fields):
    out = b""
    for name, file, content in fields:
        named = f'; filename="{file}"\r\ncontent-type: text/plain' if file else ""
        out += f'--x\r\ncontent-disposition: form-data; name="{name}"{named}\r\n\r\n{content}\r\n'.encode()
    return out + b"--x--\r\n"


STORE = json.dumps({"query": "mutation ($f: Upload!) { store(file: $f) }", "variables": {"f": None}})
ALL = json.dumps({"query": "mutation ($f: [Upload!]!) { storeAll(files: $f) }", "variables": {"f": [None, None]}})
FORM = {"content-type": "multipart/form-data; boundary=x", "graphql-preflight": "1"}


@KINDS
def test_files_come_by_multipart_requests(kind):
    one = form([("operations", None, STORE), ("map", None, '{"0": ["variables.f"]}'), ("0", "a.txt", "text")])
    answer = ask(kind, make_schema(), headers=FORM, body=one, uploads=True)
    assert answer.json() == {"data": {"store": "a.txt text/plain text 4"}}
    both = '{"a": ["variables.f.0"], "b": ["variables.f.1"]}'
    two = form([("operations", None, ALL), ("map", None, both), ("a", "a", "12"), ("b", "b", "345")])
    assert ask(kind, make_schema(), headers=FORM, body=two, uploads=True).json() == {"data": {"storeAll": 5}}
    few = weir.Uploads(files_max=1)
    assert ask(kind, make_schema(), headers=FORM, body=two, uploads=few).status == 413
    assert ask(kind, make_schema(), headers=FORM, body=one).status == 415
    simple = {"content-type": "multipart/form-data; boundary=x"}
    assert ask(kind, make_schema(), headers=simple, body=one, uploads=True).status == 400
    text = json.dumps({"query": "mutation { store(file: \"weir-upload:0\") }"})
    refused = ask(kind, make_schema(), headers=JSON, body=text.encode(), uploads=True)
    assert "it is no file of the request" in refused.body.decode()


@KINDS
def test_a_subscription_is_a_stream_of_events(kind):
    events = {"accept": "text/event-stream"}
    answer = post(kind, "subscription { count(to: 2) }", events)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    expected = ['event: next\ndata: {"data":{"count":1}}', 'event: next\ndata: {"data":{"count":2}}', "event: complete\ndata:"]
    assert answer.body.decode().strip().split("\n\n") == expected
    once = post(kind, "{ hello }", events)
    assert once.body == b'event: next\ndata: {"data":{"hello":"hello world"}}\n\nevent: complete\ndata:\n\n'
    broken = post(kind, "subscription { broken }", events).body.decode()
    assert '"code":"BROKEN"' in broken and broken.endswith("event: complete\ndata:\n\n")
    got = ask(kind, make_schema(), "GET", "query=subscription%7Bcount(to:1)%7D", events)
    assert got.body.startswith(b"event: next\ndata: ")


@KINDS
def test_a_client_that_goes_ends_its_subscription(kind):
    schema = make_schema()
    answer = post(kind, "subscription { endless }", {"accept": "text/event-stream"}, schema, chunks_max=3)
    assert answer.body.count(b"event: next") >= 3
    assert schema.closed == ["endless"]


@KINDS
def test_parts_come_where_the_schema_has_them(kind):
    query = "{ hello ... @defer { user { mail } } }"
    accept = {"accept": "multipart/mixed;deferSpec=20220824, application/json"}
    answer = post(kind, query, accept, make_schema(incremental=True))
    assert answer.headers["content-type"].startswith("multipart/mixed"), answer.body
    assert answer.body.count(b"content-type: application/json") == 2
    assert b'{"mail":"Ada@example.org"}' in answer.body and answer.body.endswith(b"-----\r\n")
    whole = post(kind, query, schema=make_schema(incremental=True))
    assert whole.json()["data"]["user"] == {"mail": "Ada@example.org"}
    unknown = post(kind, query, accept)
    assert "Unknown directive" in unknown.json()["errors"][0]["message"]


def test_introspection_has_the_directives_that_work():
    query = "{ __schema { directives { name } } }"

    def names(**settings):
        return {it["name"] for it in make_schema(**settings).execute(query).json()["data"]["__schema"]["directives"]}

    assert names(incremental=True) - names() == {"defer", "stream"}
    assert {"skip", "include"} <= names()


@KINDS
def test_a_browser_gets_the_page(kind):
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = ask(kind, make_schema(), "GET", headers=browser)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"GraphiQL" in page.body
    assert ask(kind, make_schema(), "GET", headers=browser, graphiql="<p>mine").body == b"<p>mine"
    assert ask(kind, make_schema(), "GET", headers=browser, graphiql=False).status == 400
    asked = ask(kind, make_schema(), "GET", "query=%7Bhello%7D", headers=browser)
    assert asked.json() == {"data": {"hello": "hello world"}}
