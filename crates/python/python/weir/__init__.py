"""Weir for Python: a GraphQL schema with functions at its fields, executed as a compiled plan.

    import weir

    schema = weir.Schema("type Query { hello(name: String!): String! }")

    @schema.resolve("Query.hello")
    def hello(name: str) -> str:
        return f"Hello {name}!"

    schema.execute('{ hello(name: "Ada") }').body   # b'{"data":{"hello":"Hello Ada!"}}'

The guide is docs/python.md.
"""

from ._asgi import asgi
from ._errors import GraphQLError, SchemaError
from ._functions import Loader, loader
from ._requests import HttpRequest, Uploads
from ._schema import Schema
from ._types import ID, Types, enum, field, input, interface, named, scalar, type, union
from ._weir import Info, Response, Upload
from ._wsgi import wsgi

__all__ = [
    "GraphQLError",
    "HttpRequest",
    "ID",
    "Info",
    "Loader",
    "Response",
    "Schema",
    "SchemaError",
    "Types",
    "Upload",
    "Uploads",
    "asgi",
    "enum",
    "field",
    "input",
    "interface",
    "loader",
    "named",
    "scalar",
    "type",
    "union",
    "wsgi",
]
