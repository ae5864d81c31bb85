"""The Python contenders of the execution benchmark: from a document that was parsed and validated before to JSON text.

Usage: contender.py graphql-core|strawberry FIXTURES ANSWERS. Writes its answers into the folder ANSWERS and prints `version<TAB>…`, then
`case<TAB>ns` lines: nanoseconds of CPU time per request. The data are those of bench/exec/src/data.rs. BENCH_PASSES is the number of
batches. Strawberry has its caches of parsed and of validated documents; its types are Python's, so it is asked for lists and chains alone.
"""

import asyncio
import json
import math
import os
import pathlib
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version

import graphql
import strawberry
from strawberry.extensions import ParserCache, ValidationCache

CONTENDER, FIXTURES, ANSWERS = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
BATCHES = int(os.environ.get("BENCH_PASSES", 9))
# A case takes no more batches after so many seconds: the large introspection takes seconds.
SECONDS_MOST = 2
CASES = {
    "list": ("bench", "q_list"),
    "nested": ("bench", "q_nested"),
    "chain": ("bench", "q_chain"),
    "introspection-mid": ("mid", "introspection"),
    "introspection-big": ("big", "introspection"),
}


def text(name):
    return (FIXTURES / f"{name}.graphql").read_text()


@dataclass
class Item:
    id: str
    name: str
    title: str | None
    price: float
    stock: int
    active: bool
    rating: float | None
    sku: str
    views: int
    note: str | None


@dataclass
class Row:
    id: str
    name: str
    value: int


@dataclass
class Section:
    id: str
    name: str
    rows: list


@dataclass
class Group:
    id: str
    name: str
    sections: list


@dataclass
class Link:
    id: int


def item(i):
    return Item(
        str(i), f"Item {i}", f"Title of item {i}" if i % 7 else None, i * 1.25 + 0.1, i % 100, i % 2 == 0, (i % 50) / 10 if i % 5 else None,
        f"SKU-{i:06}", i * 37, f'A note with "quotes" for item {i}' if i % 3 else None)


def section(a, b):
    return Section(f"s{a}-{b}", f"Section {b}", [Row(f"r{a}-{b}-{c}", f"Row {c}", a * b + c) for c in range(10)])


@dataclass
class Root:
    items: list
    groups: list
    links: list


ROOT = Root(
    [item(i) for i in range(1000)],
    [Group(f"g{a}", f"Group {a}", [section(a, b) for b in range(10)]) for a in range(100)],
    [Link(chain * 100) for chain in range(20)])


@strawberry.type(name="Item")
class SharedItem:
    id: strawberry.ID
    name: str
    title: str | None
    price: float
    stock: int
    active: bool
    rating: float | None
    sku: str
    views: int
    note: str | None


@strawberry.type(name="Row")
class SharedRow:
    id: strawberry.ID
    name: str
    value: int


@strawberry.type(name="Section")
class SharedSection:
    id: strawberry.ID
    name: str
    rows: list[SharedRow]


@strawberry.type(name="Group")
class SharedGroup:
    id: strawberry.ID
    name: str
    sections: list[SharedSection]


@strawberry.type(name="Link")
class SharedLink:
    id: int

    @strawberry.field
    async def next(self) -> "SharedLink":
        return Link(self.id + 1)


@strawberry.type(name="Query")
class SharedQuery:
    @strawberry.field
    def items(self) -> list[SharedItem]:
        return ROOT.items

    @strawberry.field
    def groups(self) -> list[SharedGroup]:
        return ROOT.groups

    @strawberry.field
    def links(self) -> list[SharedLink]:
        return ROOT.links


def checked(result):
    assert not result.errors, result.errors
    return json.dumps({"data": result.data})


async def link_after(link, _):
    return Link(link.id + 1)


def graphql_core(case, loop):
    schema_name, operation = CASES[case]
    schema, document = graphql.build_schema(text(schema_name)), graphql.parse(text(operation))
    assert not graphql.validate(schema, document)
    if case == "chain":
        schema.type_map["Link"].fields["next"].resolve = link_after

        async def answer():
            return await graphql.execute(schema, document, ROOT)

        return lambda: checked(loop.run_until_complete(answer()))
    return lambda: checked(graphql.execute_sync(schema, document, ROOT))


def strawberry_graphql(case, loop):
    if case.startswith("introspection"):
        return None
    for shared in (SharedItem, SharedRow, SharedSection, SharedGroup, SharedLink):
        # Its type checks take any object.
        shared.is_type_of = classmethod(lambda *_: True)
    schema, query = strawberry.Schema(SharedQuery, extensions=[ParserCache, ValidationCache]), text(CASES[case][1])
    if case == "chain":
        return lambda: checked(loop.run_until_complete(schema.execute(query)))
    return lambda: checked(schema.execute_sync(query))


def nanoseconds(run):
    """The least CPU time of some batches of at least 50 ms, after a warm-up of half a second."""
    begun, warm = time.perf_counter(), 0
    while time.perf_counter() - begun < 0.5:
        run()
        warm += 1
    batch, times, begun = math.ceil(warm / 10), [], time.perf_counter()
    while not times or (len(times) < BATCHES and time.perf_counter() - begun < SECONDS_MOST):
        before = time.process_time_ns()
        for _ in range(batch):
            run()
        times.append((time.process_time_ns() - before) / batch)
    return min(times)


def main():
    package, contender = {"graphql-core": ("graphql-core", graphql_core), "strawberry": ("strawberry-graphql", strawberry_graphql)}[CONTENDER]
    ANSWERS.mkdir(parents=True, exist_ok=True)
    print("version", version(package), sep="\t")
    loop = asyncio.new_event_loop()
    for case in CASES:
        if run := contender(case, loop):
            (ANSWERS / f"{case}.json").write_text(run())
            print(case, round(nanoseconds(run)), sep="\t", flush=True)


main()
