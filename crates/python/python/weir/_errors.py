"""Errors of fields and of schemas."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class GraphQLError(Exception):
    """An error whose words reach the client; every other exception is `Internal error.`"""

    def __init__(
        self, message: str, *, code: Optional[str] = None, extensions: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.extensions = dict(extensions or {})


class SchemaError(ValueError):
    """Everything that is wrong with a schema and its resolvers, with places in the SDL."""
