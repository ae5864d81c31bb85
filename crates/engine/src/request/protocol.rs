//! The protocols of clients: they decide rules for scalars and the wording of errors.

/// Protocols of clients. Source: `docs/endpoints.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `/graphql`: strictly the specification GraphQL over HTTP.
    GraphqlOverHttp,
    /// `/v1/graphql`: compatible with Hasura v2.
    Hasura,
}
