//! An entry as bytes in the second level, and back.
//!
//! Values may be anything: another program's, an older version's, truncated, or of another key. So a value begins
//! with a version and a checksum over all that follows *and* the digest of its key, and whatever does not fit is a miss.
//!
//! **Invariant:** times are those of the wall, as monotonic ones mean nothing elsewhere; a value from the future is a miss.

use super::super::entry::{Entry, Lifetime};
use super::super::rule::{Rule, Scope, Sharing};
use super::super::tags::Tags;
use crate::cache::entry::answer_headers::AnswerHeaders;
use crate::cache::entry::body::Body;
use crate::cache::entry::tape::Tape;
use crate::cache::entry::validators::Validators;
use crate::call::Went;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::atomic::AtomicU64;

/// Version of names and values. Entries of another version are misses.
const VERSION: u8 = 3;
const MAGIC: [u8; 4] = *b"weir";
const CHECK_BYTES: usize = 16;
const HEAD_BYTES: usize = MAGIC.len() + 1 + CHECK_BYTES;
/// Maximum difference between clocks of two machines.
const SKEW_MS: u64 = 1000;

/// Name in the second level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct EntryName {
    pub(super) digest: [u8; 32],
    pub(super) text: String,
}

/// Kinds of values.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryKind {
    Entry,
    Lease,
    Tag,
    Text,
    Bucket,
}

impl EntryName {
    /// The name of `parts` within `namespace`.
    pub(super) fn new(namespace: &str, kind: EntryKind, parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in [namespace.as_bytes()].iter().chain(parts) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest: [u8; 32] = hash.finalize().into();
        Self { digest, text: Self::text(namespace, kind, &digest) }
    }

    /// This name for another kind of value.
    pub(super) fn of_kind(&self, namespace: &str, kind: EntryKind) -> String {
        Self::text(namespace, kind, &self.digest)
    }

    fn text(namespace: &str, kind: EntryKind, digest: &[u8; 32]) -> String {
        let letter = match kind {
            EntryKind::Entry => 'e',
            EntryKind::Lease => 'l',
            EntryKind::Tag => 't',
            EntryKind::Text => 'd',
            EntryKind::Bucket => 'b',
        };
        let mut text = String::with_capacity(namespace.len() + 70);
        // `write!` to a string cannot fail.
        let _ = write!(text, "{namespace}:{letter}{VERSION}:");
        digest.iter().for_each(|byte| {
            let _ = write!(text, "{byte:02x}");
        });
        text
    }
}

/// The two clocks at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instants {
    pub(super) now_ms: u64,
    pub(super) wall_ms: u64,
}

/// Encodes `entry` as the value of `name`, with the versions of its tags from before the call.
pub(super) fn encode(name: &EntryName, entry: &Entry, versions: &[u64], at: Instants) -> Vec<u8> {
    let text = entry.body.tape().map(Tape::text);
    let mut out = Vec::with_capacity(HEAD_BYTES + 64 + versions.len() * 8 + text.map_or(0, str::len));
    out.extend_from_slice(&MAGIC);
    out.push(VERSION);
    out.extend_from_slice(&[0; CHECK_BYTES]);
    let lifetime = &entry.lifetime;
    for until_ms in
        [lifetime.origin_ms, lifetime.fresh_until_ms, lifetime.stale_until_ms, lifetime.error_until_ms]
    {
        let wall_ms = if until_ms < at.now_ms {
            at.wall_ms.saturating_sub(at.now_ms - until_ms)
        } else {
            at.wall_ms.saturating_add(until_ms - at.now_ms)
        };
        out.extend_from_slice(&wall_ms.to_le_bytes());
    }
    out.extend_from_slice(&entry.took_ms.to_le_bytes());
    out.extend_from_slice(&entry.status.to_le_bytes());
    out.push(u8::from(text.is_some()) | u8::from(entry.is_inner) << 1 | u8::from(entry.must_revalidate) << 2);
    out.extend_from_slice(&(versions.len() as u16).to_le_bytes());
    versions.iter().for_each(|version| out.extend_from_slice(&version.to_le_bytes()));
    out.extend_from_slice(&entry.headers.count().to_le_bytes());
    entry.headers.encode(&mut out);
    let validators = entry.validators.as_ref().map(Validators::headers);
    out.extend_from_slice(&validators.map_or(0, AnswerHeaders::count).to_le_bytes());
    if let Some(validators) = validators {
        validators.encode(&mut out);
    }
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
    let check = check(name, &out[HEAD_BYTES..]);
    out[MAGIC.len() + 1..HEAD_BYTES].copy_from_slice(&check);
    out
}

/// Decodes `value`, if it belongs to `name` and its tags still have these `versions`.
pub(super) fn decode(
    name: &EntryName,
    value: &[u8],
    versions: &[u64],
    at: Instants,
    rule: &Rule,
    tags: &Tags,
) -> Result<Option<Entry>, Corrupt> {
    let mut rest = Rest(value);
    if rest.take::<4>()? != MAGIC || rest.take::<1>()? != [VERSION] {
        return Err(Corrupt);
    }
    if rest.take::<CHECK_BYTES>()? != check(name, rest.0) {
        return Err(Corrupt);
    }
    let mut walls_ms = [0; 4];
    for wall_ms in &mut walls_ms {
        *wall_ms = u64::from_le_bytes(rest.take()?);
    }
    let took_ms = u32::from_le_bytes(rest.take()?);
    let status = u16::from_le_bytes(rest.take()?);
    let [flags] = rest.take()?;
    let is_inner = flags & 2 != 0;
    let must_revalidate = flags & 4 != 0;
    let count = u16::from_le_bytes(rest.take()?);
    let mut same = usize::from(count) == versions.len();
    for place in 0..usize::from(count) {
        same &= versions.get(place) == Some(&u64::from_le_bytes(rest.take()?));
    }
    let headers = rest.headers()?;
    let validators = Validators::from_headers(rest.headers()?);
    if !same || walls_ms[0] > at.wall_ms + SKEW_MS {
        return Ok(None);
    }
    let body = if flags & 1 != 0 {
        Body::Json(Tape::parse(Bytes::copy_from_slice(rest.0), rule.depth_max).map_err(|_| Corrupt)?)
    } else {
        Body::Absent
    };
    let lifetime = lifetime(walls_ms, at, rule);
    let tags = tags.clone();
    let retry_at_ms = AtomicU64::new(0);
    let scope = Scope::Public;
    let is_silent = false;
    Ok(Some(Entry {
        status,
        body,
        headers,
        validators,
        lifetime,
        scope,
        is_silent,
        is_inner,
        must_revalidate,
        took_ms,
        went: Went::default(),
        tags,
        retry_at_ms,
    }))
}

/// The value is corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corrupt;

/// Converts times to this process's clock, and limits them by this process's rule.
fn lifetime([origin, fresh, stale, error]: [u64; 4], at: Instants, rule: &Rule) -> Lifetime {
    let here_ms = |wall_ms: u64| {
        if wall_ms < at.wall_ms {
            at.now_ms.saturating_sub(at.wall_ms - wall_ms)
        } else {
            at.now_ms.saturating_add(wall_ms - at.wall_ms)
        }
    };
    let bounded = |until: u64, ms: Option<u64>| until.min(fresh.saturating_add(ms.unwrap_or(u64::MAX)));
    Lifetime {
        origin_ms: here_ms(origin),
        fresh_until_ms: here_ms(fresh),
        stale_until_ms: here_ms(bounded(stale, rule.stale_ms)),
        error_until_ms: here_ms(bounded(error, rule.stale_on_error_ms)),
    }
}

/// True if entries under `rule` may be shared between processes: those that are public.
pub(in super::super) fn is_public(rule: &Rule) -> bool {
    match rule.sharing {
        Sharing::ByHeaders | Sharing::Declared => true,
        Sharing::Keyed | Sharing::Never => false,
    }
}

fn check(name: &EntryName, rest: &[u8]) -> [u8; CHECK_BYTES] {
    let whole: [u8; 32] = Sha256::new().chain_update(name.digest).chain_update(rest).finalize().into();
    let mut first = [0; CHECK_BYTES];
    first.copy_from_slice(&whole[..CHECK_BYTES]);
    first
}

/// The part of a value that was not read yet.
struct Rest<'v>(&'v [u8]);

impl<'v> Rest<'v> {
    /// The headers, of which the number comes first.
    fn headers(&mut self) -> Result<AnswerHeaders, Corrupt> {
        let count = u16::from_le_bytes(self.take()?);
        let pairs = (0..count).map(|_| {
            let name = self.part()?;
            AnswerHeaders::pair(name, self.part()?).ok_or(Corrupt)
        });
        pairs.collect()
    }

    /// Bytes behind their number.
    fn part(&mut self) -> Result<&'v [u8], Corrupt> {
        let count = u32::from_le_bytes(self.take()?) as usize;
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Corrupt)?;
        self.0 = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Corrupt)?;
        self.0 = rest;
        Ok(*taken)
    }
}
