//! Consistency: the required recency of the rows of a request, and the log positions of its changes.
//!
//! A source with replicas says after a mutation up to where its log goes. The answer carries these positions as one token; a request
//! that sends the token back sees rows that are at least as recent.
//!
//! **Invariant:** a token holds every position that its request sent or was given, so a client keeps only the newest.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Consistency of a query: how recent its rows must be. Mutations always read and write the latest state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// Replicas may answer within the lag that their source allows.
    #[default]
    Bounded,
    /// All that was committed before the request is seen.
    Strong,
    /// Servers that are further behind may answer.
    Eventual,
}

impl Consistency {
    /// The consistency of this name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"strong" => Some(Self::Strong),
            b"eventual" => Some(Self::Eventual),
            _ => None,
        }
    }
}

/// Position of a database's log after a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Offset in bytes from the start of the log.
    At(u64),
    /// Not known: only the primary is recent enough for certain.
    Unknown,
}

/// The positions of one request, by source.
#[derive(Debug, Default)]
pub struct Positions {
    sent: Vec<(Box<str>, Position)>,
    noted: Mutex<Vec<(Box<str>, Position)>>,
}

impl Positions {
    /// Reads a token; `None`: it is none.
    pub fn read(token: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(token).ok()?;
        let sent: Option<_> = text.split(',').map(|it| entry(it.trim())).collect();
        Some(Self { sent: sent?, noted: Mutex::default() })
    }

    /// True if the request sent a token.
    pub fn is_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// The newest position of `source`.
    pub fn position_of(&self, source: &str) -> Option<Position> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_empty() && self.sent.is_empty() {
            return None;
        }
        let name = escape_source_name(source);
        let is_own = |it: &&(Box<str>, Position)| *it.0 == *name;
        noted.iter().find(is_own).or_else(|| self.sent.iter().find(is_own)).map(|it| it.1)
    }

    /// Notes where the log of `source` is after a change. It goes before what was sent; of two notes the later position counts, as
    /// the operations of a socket run together.
    pub fn note(&self, source: &str, position: Position) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let name = escape_source_name(source);
        match noted.iter_mut().find(|it| *it.0 == *name) {
            Some(known) => known.1 = known.1.max(position),
            None => noted.push((name.into(), position)),
        }
    }

    /// The token of an answer; `None` if nothing was noted.
    pub fn token(&self) -> Option<String> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_empty() {
            return None;
        }
        let is_older = |it: &&(Box<str>, Position)| noted.iter().all(|other| other.0 != it.0);
        let mut token = String::new();
        for (name, position) in self.sent.iter().filter(is_older).chain(noted.iter()) {
            if !token.is_empty() {
                token.push(',');
            }
            token.push_str(name);
            let done = match position {
                Position::At(at) => write!(token, "={:X}/{:X}", at >> 32, at & 0xFFFF_FFFF),
                Position::Unknown => token.write_str("=*"),
            };
            // A string takes all.
            done.unwrap_or_default();
        }
        Some(token)
    }
}

/// `name=16/B374D848`, or `name=*`.
fn entry(text: &str) -> Option<(Box<str>, Position)> {
    let (name, position) = text.rsplit_once('=')?;
    let is_plain = |it: u8| it.is_ascii_graphic() && it != b'=';
    if name.is_empty() || !name.bytes().all(is_plain) {
        return None;
    }
    if position == "*" {
        return Some((name.into(), Position::Unknown));
    }
    let (high, low) = position.split_once('/')?;
    let half = |it: &str| {
        let is_hex = !it.is_empty() && it.bytes().all(|it| it.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(it, 16).ok()).flatten()
    };
    Some((name.into(), Position::At(u64::from(half(high)?) << 32 | u64::from(half(low)?))))
}

/// The name of a source as it stands in a token: bytes that a token or a header cannot hold are escaped.
fn escape_source_name(source: &str) -> String {
    let mut name = String::with_capacity(source.len());
    for byte in source.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
            // A string takes all.
            _ => write!(name, "%{byte:02X}").unwrap_or_default(),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_what_was_sent_and_what_was_noted() {
        let positions = Positions::read(b"main=16/B374D848, other=*").expect("it is a token");
        assert_eq!(positions.position_of("main"), Some(Position::At(0x16_B374_D848)));
        assert_eq!(positions.position_of("other"), Some(Position::Unknown));
        assert_eq!((positions.position_of("third"), positions.token()), (None, None));
        positions.note("third, one=", Position::At(1));
        positions.note("other", Position::At(u64::MAX));
        assert_eq!(positions.position_of("other"), Some(Position::At(u64::MAX)));
        positions.note("other", Position::At(7));
        let token = positions.token().expect("something was noted");
        assert_eq!(token, "main=16/B374D848,third%2C%20one%3D=0/1,other=FFFFFFFF/FFFFFFFF");
        let again = Positions::read(token.as_bytes()).expect("it is a token");
        assert_eq!(again.position_of("third, one="), Some(Position::At(1)));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for text in [
            "",
            "main",
            "main=",
            "=0/1",
            "main=0/1,",
            "main=0",
            "main=0/1/2",
            "main=0/+1",
            "main=1FFFFFFFF/0",
            "a b=0/1",
        ] {
            assert!(Positions::read(text.as_bytes()).is_none(), "{text}");
        }
        assert!(Positions::read(b"main=\xff").is_none());
    }

    #[test]
    fn a_consistency_has_one_spelling() {
        assert_eq!(Consistency::from_name(b"strong"), Some(Consistency::Strong));
        assert_eq!(Consistency::from_name(b"eventual"), Some(Consistency::Eventual));
        assert_eq!(Consistency::from_name(b"Strong"), None);
    }
}
