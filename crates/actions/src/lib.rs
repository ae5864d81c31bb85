//! Hasura's actions as a source of the graph: custom types, permissions, calls of handlers.
