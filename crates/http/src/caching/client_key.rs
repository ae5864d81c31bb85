//! Values that identify the caller in cache keys: headers and authenticated claims.

use crate::cache::Key;
use crate::sdl::CacheRule;
use crate::selection::session_variable;
use weir_engine::caller::Caller;
use weir_engine::source::{FetchInput, Headers};

/// `key` of a `@cache` with `scope: PRIVATE`.
#[derive(Debug, Default)]
pub(crate) struct ClientKey {
    /// Header names in lower case.
    pub(crate) headers: Vec<Box<str>>,
    /// Session variables in lower case. Headers of the same names are ignored, since clients can send anything.
    pub(crate) claims: Vec<Box<str>>,
}

impl ClientKey {
    /// Names from a cache rule.
    pub(crate) fn of(rule: Option<&CacheRule>) -> Self {
        let names = rule.filter(|it| it.private).map(|it| it.key.clone()).unwrap_or_default();
        let mut key = Self::default();
        for name in names {
            match session_variable(&name) {
                Some(variable) => key.claims.push(variable.into()),
                None => key.headers.push(name),
            }
        }
        key
    }

    /// True if the caller of `input` has all of them.
    pub(crate) fn is_whole(&self, input: &FetchInput<'_>) -> bool {
        self.headers.iter().all(|it| input.headers.get(it).is_some())
            && self.claims.iter().all(|it| input.caller.value(it).is_some())
    }

    /// Adds the values of the caller of `input`.
    pub(crate) fn push(&self, input: &FetchInput<'_>, key: &mut Key) {
        self.headers.iter().for_each(|it| push_header(input.headers, it, key));
        self.claims.iter().for_each(|it| push_claim(input.caller, it, key));
    }
}

/// Adds all values of a header, and their number.
pub(crate) fn push_header(headers: &dyn Headers, name: &str, key: &mut Key) {
    let mut count = 0_u32;
    headers.each(name, &mut |value| {
        count += 1;
        key.part(value);
    });
    key.part(&count.to_le_bytes());
}

/// Adds the value of a claim, and whether it exists.
pub(crate) fn push_claim(caller: &Caller, name: &str, key: &mut Key) {
    let value = caller.value(name);
    key.part(value.unwrap_or_default().as_bytes());
    key.part(&[u8::from(value.is_some())]);
}
