"""Weir for Python: a GraphQL schema with functions at its fields, executed as a compiled plan.

    import weir

    schema = weir.Schema("type Query { hello(name: String!): String! }")

    @schema.resolve("Query.hello")
    def hello(name: str) -> str:
        return f"Hello {name}!"

    schema.execute('{ hello(name: "Ada") }').body   # b'{"data":{"hello":"Hello Ada!"}}'

The guide is docs/python.md.
"""

from ._errors import GraphQLError, SchemaError
from ._schema import Schema
from ._types import ID, Types, enum, field, input, interface, scalar, type, union
from ._weir import Info, Response

__all__ = [
    "GraphQLError",
    "ID",
    "Info",
    "Response",
    "Schema",
    "SchemaError",
    "Types",
    "enum",
    "field",
    "input",
    "interface",
    "scalar",
    "type",
    "union",
]
