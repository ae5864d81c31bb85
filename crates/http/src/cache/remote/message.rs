//! Messages between processes: which tag was invalidated and, where it is known, which rows of that table.
//!
//! A plain message is the sender's number, the version that it gave the tag, and the tag; every release reads it. Keys are told by an exact
//! message before it, with the same number and version: both, a byte that is in no UTF-8, the format, and then tag and keys after their
//! lengths. Releases
//! that do not know it pass it over and hear of the whole table; the others pass the plain one over.
//!
//! **Invariant:** numbers are little-endian. A message is read whole or not at all; another program may have written it.

use super::pending_notices::{KEY_BYTES_MAX, KEYS_MAX};
use std::collections::VecDeque;

/// First byte of an exact message, where a plain one has its tag.
const EXACT: u8 = 0xFF;
/// Version of the exact format. Messages of unknown versions are ignored, as a plain message follows.
const FORMAT: u8 = 1;
/// Number of exact messages remembered until their plain message comes.
const EXACT_MAX: usize = 1024;

/// An invalidation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message<'m> {
    /// Number of the process that publishes it.
    pub(super) instance: u64,
    /// New version of the tag.
    pub(super) version: u64,
    pub(super) tag: &'m str,
    /// Keys of the changed rows; empty if any row may have changed.
    pub(super) keys: Vec<&'m [u8]>,
}

impl<'m> Message<'m> {
    /// Messages to publish, in order.
    pub(super) fn payloads(&self) -> impl Iterator<Item = Vec<u8>> {
        let head = [self.instance, self.version].map(u64::to_le_bytes).concat();
        let exact = (!self.keys.is_empty()).then(|| {
            let mut exact = [&head[..], &[EXACT, FORMAT]].concat();
            for part in [self.tag.as_bytes()].iter().chain(&self.keys) {
                exact.extend_from_slice(&(part.len() as u32).to_le_bytes());
                exact.extend_from_slice(part);
            }
            exact
        });
        exact.into_iter().chain([[&head, self.tag.as_bytes()].concat()])
    }

    /// Parses `payload`.
    pub(super) fn read(payload: &'m [u8]) -> Option<Self> {
        let (instance, rest) = payload.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (tag, keys) = match rest.split_first_chunk() {
            Some(([EXACT, FORMAT], parts)) => Self::parts(parts)?,
            _ => (rest, Vec::new()),
        };
        let instance = u64::from_le_bytes(*instance);
        let version = u64::from_le_bytes(*version);
        Some(Self { instance, version, tag: std::str::from_utf8(tag).ok()?, keys })
    }

    /// The tag and the keys of an exact message.
    fn parts(mut rest: &'m [u8]) -> Option<(&'m [u8], Vec<&'m [u8]>)> {
        let mut part = || {
            let (length, parts) = rest.split_first_chunk()?;
            let (part, parts) = parts.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = parts;
            Some((part, parts.is_empty()))
        };
        let (tag, mut is_last) = part()?;
        let mut keys = Vec::new();
        let mut bytes = 0;
        while !is_last {
            let (key, is_end) = part()?;
            bytes += key.len();
            if keys.len() == KEYS_MAX || bytes > KEY_BYTES_MAX {
                return None;
            }
            keys.push(key);
            is_last = is_end;
        }
        (!keys.is_empty()).then_some((tag, keys))
    }
}

/// Versions of recent exact messages. The plain messages that follow are duplicates.
#[derive(Debug, Default)]
pub(super) struct ExactMessages(VecDeque<u64>);

impl ExactMessages {
    /// True if a message with this version and keys repeats an exact one.
    pub(super) fn is_known(&mut self, version: u64, keys: &[&[u8]]) -> bool {
        if !keys.is_empty() {
            if self.0.len() == EXACT_MAX {
                self.0.pop_front();
            }
            self.0.push_back(version);
            return false;
        }
        let found = self.0.iter().position(|it| *it == version);
        found.and_then(|it| self.0.remove(it)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'m>(keys: &[&'m [u8]]) -> Message<'m> {
        Message { instance: 7, version: 9, tag: "public.boat", keys: keys.to_vec() }
    }

    #[test]
    fn a_message_with_keys_is_followed_by_one_that_every_release_reads() {
        let plain = message(&[]);
        let sent: Vec<Vec<u8>> = plain.payloads().collect();
        assert_eq!(sent, [b"\x07\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0public.boat".to_vec()]);
        let exact = message(&[b"\x01\0\0\0a", b"", b"\xff\xfe"]);
        let both: Vec<Vec<u8>> = exact.payloads().collect();
        assert_eq!(both[1], sent[0]);
        // Releases before this one read all behind the numbers as a tag.
        assert!(std::str::from_utf8(&both[0][16..]).is_err());
        assert_eq!(Message::read(&both[0]), Some(exact));
        assert_eq!(Message::read(&both[1]), Some(plain));
    }

    #[test]
    fn what_is_cut_off_or_goes_on_or_has_too_many_keys_is_no_message() {
        let sent = message(&[b"abc", b"d"]).payloads().next().unwrap();
        let whole_keys = sent.len() - 5;
        for length in 0..sent.len() {
            // Sixteen bytes are the tag of everything.
            let is_whole = length == 16 || length == whole_keys;
            assert_eq!(Message::read(&sent[..length]).is_some(), is_whole, "{length} bytes");
        }
        assert_eq!(Message::read(&[&sent[..], &[0]].concat()), None);
        let newer = [&sent[..17], &[FORMAT + 1], &sent[18..]].concat();
        assert_eq!(Message::read(&newer), None);
        let key: &[u8] = b"k";
        let read = |keys: &[&[u8]]| Message::read(&message(keys).payloads().next().unwrap()).is_some();
        assert!(read(&vec![key; KEYS_MAX]) && !read(&vec![key; KEYS_MAX + 1]));
        let long = vec![0; KEY_BYTES_MAX];
        assert!(read(&[&long]) && !read(&[&long, key]));
        let claims = [&sent[..18], &u32::MAX.to_le_bytes()[..], b"public.boat"].concat();
        assert_eq!(Message::read(&claims), None);
    }

    #[test]
    fn a_plain_message_is_passed_over_once_and_only_after_its_exact_one() {
        let mut received = ExactMessages::default();
        let keys: &[&[u8]] = &[b"a"];
        assert!(!received.is_known(1, &[]));
        assert!(!received.is_known(1, keys) && !received.is_known(2, keys));
        assert!(received.is_known(1, &[]) && received.is_known(2, &[]));
        assert!(!received.is_known(1, &[]));
        (0..=EXACT_MAX as u64).for_each(|it| assert!(!received.is_known(it, keys)));
        // The oldest is forgotten: the whole table is heard of too.
        assert!(!received.is_known(0, &[]) && received.is_known(1, &[]));
    }
}
