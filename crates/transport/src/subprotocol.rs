//! The subprotocol of a WebSocket, which a handshake agrees to.

use http::header::{HeaderMap, SEC_WEBSOCKET_PROTOCOL};

/// Subprotocols of WebSockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subprotocol {
    /// `graphql-transport-ws`.
    Transport,
    /// `graphql-ws`, of which the library is no longer kept.
    Legacy,
}

impl Subprotocol {
    /// The name in `Sec-WebSocket-Protocol`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transport => "graphql-transport-ws",
            Self::Legacy => "graphql-ws",
        }
    }

    /// Negotiates the subprotocol: the first supported one in the client's order of preference (RFC 6455, section 4.1). The Python
    /// client gql looks up the response header case-sensitively, misses it, and uses its first offer. In Hasura's dialect a client that
    /// offers none uses the legacy subprotocol.
    pub fn choose(headers: &HeaderMap, dialect: Dialect) -> Option<Self> {
        let lines = || headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|it| it.to_str().ok());
        let known = |offered: &str| {
            [Self::Transport, Self::Legacy].into_iter().find(|it| it.name() == offered.trim())
        };
        let none = || {
            (dialect == Dialect::Hasura && !headers.contains_key(SEC_WEBSOCKET_PROTOCOL))
                .then_some(Self::Legacy)
        };
        lines().flat_map(|it| it.split(',')).find_map(known).or_else(none)
    }
}

/// The behaviour of a server where the protocols leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The behaviour that the pages of the protocols describe.
    Standard,
    /// Hasura's.
    Hasura,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_subprotocol_that_is_known_is_chosen() {
        fn check(lines: &[&'static str], dialect: Dialect, expected: Option<Subprotocol>) {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(SEC_WEBSOCKET_PROTOCOL, http::HeaderValue::from_static(line));
            }
            assert_eq!(Subprotocol::choose(&headers, dialect), expected, "{lines:?}");
        }
        for dialect in [Dialect::Standard, Dialect::Hasura] {
            check(&["graphql-transport-ws"], dialect, Some(Subprotocol::Transport));
            check(&["graphql-ws"], dialect, Some(Subprotocol::Legacy));
            check(&["mqtt, graphql-ws, graphql-transport-ws"], dialect, Some(Subprotocol::Legacy));
            check(&["graphql-transport-ws", "graphql-ws"], dialect, Some(Subprotocol::Transport));
            check(&["mqtt"], dialect, None);
            check(&["GraphQL-WS"], dialect, None);
        }
        check(&[], Dialect::Standard, None);
        check(&[], Dialect::Hasura, Some(Subprotocol::Legacy));
    }
}
