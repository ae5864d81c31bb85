//! Address of a client behind proxies.
//!
//! Each proxy appends to `x-forwarded-for` whom it serves, so the last lines are those of the operator's own proxies, and whatever a client
//! wrote itself stands before them.
//!
//! **Invariant:** only as many entries are read as there are proxies; where one is missing or no address, the connection's address counts.

use hyper::HeaderMap;
use hyper::header::HeaderName;
use std::net::{IpAddr, SocketAddr};

/// Header with the addresses that proxies served.
pub(crate) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Address of the client whose request came from `peer` through `trusted_hops` proxies.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_hops: u8) -> IpAddr {
    let Some(behind) = usize::from(trusted_hops).checked_sub(1) else { return peer };
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let mut entries = lines.flat_map(|it| it.as_bytes().rsplit(|it| *it == b','));
    entries.nth(behind).and_then(read_address).unwrap_or(peer)
}

/// The address in an entry, which some proxies write with a port.
fn read_address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|it: SocketAddr| it.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    /// The address of a request from 10.0.0.9 with these lines.
    fn check(lines: &[&str], trusted_hops: u8, expected: &str) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(line).expect("it is a value"));
        }
        let found = client_address(IpAddr::from([10, 0, 0, 9]), &headers, trusted_hops);
        assert_eq!(found.to_string(), expected, "{lines:?} by {trusted_hops}");
    }

    #[test]
    fn only_what_trusted_proxies_wrote_counts() {
        check(&["1.1.1.1"], 0, "10.0.0.9");
        check(&["1.1.1.1"], 1, "1.1.1.1");
        check(&["9.9.9.9, 1.1.1.1"], 1, "1.1.1.1");
        check(&["9.9.9.9", "1.1.1.1"], 1, "1.1.1.1");
        check(&["9.9.9.9, 1.1.1.1", "10.0.0.8"], 2, "1.1.1.1");
        check(&["1.1.1.1"], 2, "10.0.0.9");
        check(&[], 1, "10.0.0.9");
    }

    #[test]
    fn an_entry_is_an_address_with_or_without_a_port() {
        check(&["1.1.1.1:4711"], 1, "1.1.1.1");
        check(&["2001:db8::1"], 1, "2001:db8::1");
        check(&["[2001:db8::1]"], 1, "2001:db8::1");
        check(&["[2001:db8::1]:4711"], 1, "2001:db8::1");
        for wrong in ["unknown", "", "1.1.1.1, ", "_hidden"] {
            check(&[wrong], 1, "10.0.0.9");
        }
    }
}
