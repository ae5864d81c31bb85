//! `limits.rates`: how often callers may ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Longest period of a rate, in seconds: 31 days.
const WINDOW_S_MAX: u32 = 31 * 86_400;

/// Prefix of a key that is a claim.
const CLAIM: &str = "claim:";

/// One of `limits.rates`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Name in answers and metrics: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Requests in `window_s` seconds; they come back one after the other, not all at the end.
    pub requests: u32,
    /// Period of `requests`, in seconds.
    pub window_s: u32,
    /// Requests that may come at once; without the key `requests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Roles that it holds for; without the key all but admin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Known documents that it holds for, by identifier or name; without the key all documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Callers are counted apart by `role`, `address`, `operation`, `claim:x-hasura-user-id` or another claim. Without the key all are
    /// counted together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// Property of a request by which a rate counts callers apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RateKey {
    Role,
    /// The address; of IPv6 the first 64 bits.
    Address,
    /// The known document; all others are one.
    Operation,
    /// The session variable or claim of the token with this name.
    Claim(Box<str>),
}

impl RateKey {
    /// The key that `text` names.
    pub(crate) fn read(text: &str) -> Option<Self> {
        match text {
            "role" => Some(Self::Role),
            "address" => Some(Self::Address),
            "operation" => Some(Self::Operation),
            _ => Some(Self::of_claim(text.strip_prefix(CLAIM).filter(|it| !it.is_empty())?)),
        }
    }

    /// The key of the claim `name`; names of session variables have no case.
    pub(crate) fn of_claim(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let is_variable = lower.starts_with(weir_engine::caller::SESSION_PREFIX);
        Self::Claim(if is_variable { lower.into() } else { name.into() })
    }
}

impl Rate {
    /// Requests that may come at once.
    pub(crate) fn burst(&self) -> u32 {
        self.burst.unwrap_or(self.requests)
    }

    /// True if it asks which document a request has.
    pub(crate) fn reads_documents(&self) -> bool {
        !self.operations.is_empty() || self.by.iter().any(|it| RateKey::read(it) == Some(RateKey::Operation))
    }

    fn check(&self) -> Result<(), String> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
        if self.name.is_empty() || !self.name.bytes().all(is_plain) {
            return Err("`name` has to be letters, digits, `-`, `_` and `.`".into());
        }
        if self.requests == 0 || self.window_s == 0 || self.window_s > WINDOW_S_MAX {
            return Err(format!("`requests` is at least 1, `window_s` 1 to {WINDOW_S_MAX}"));
        }
        if self.burst() == 0 || self.burst() > self.requests {
            return Err("`burst` is 1 to `requests`".into());
        }
        match self.by.iter().find(|it| RateKey::read(it).is_none()) {
            Some(wrong) => Err(format!(
                "`by`: `{wrong}` is no key; keys are `role`, `address`, `operation` and `claim:NAME`"
            )),
            None => Ok(()),
        }
    }
}

/// Checks all of `limits.rates`.
/// # Errors
/// The first mistake.
pub(super) fn check(rates: &[Rate]) -> Result<(), String> {
    let mut names = HashSet::new();
    for (place, rate) in rates.iter().enumerate() {
        rate.check().map_err(|wrong| format!("`limits.rates[{place}]`: {wrong}"))?;
        if !names.insert(&rate.name) {
            return Err(format!("`limits.rates[{place}]`: another rate is called `{}`, too", rate.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate with this name, and one requests a second.
    fn rate(name: &str) -> Rate {
        let (roles, operations, by) = Default::default();
        Rate { name: name.into(), requests: 60, window_s: 60, burst: None, roles, operations, by }
    }

    fn refuse(rates: &[Rate], part: &str) {
        assert!(check(rates).is_err_and(|it| it.contains(part)), "{part}: {rates:?}");
    }

    #[test]
    fn a_rate_has_a_name_of_its_own_and_a_period() {
        assert_eq!(check(&[rate("a"), rate("b.c-d_1")]), Ok(()));
        refuse(&[rate("a"), rate("a")], "`limits.rates[1]`: another rate is called `a`");
        refuse(&[rate("")], "`name`");
        refuse(&[rate("a\"b")], "`name`");
        refuse(&[Rate { requests: 0, ..rate("a") }], "`requests`");
        refuse(&[Rate { window_s: 0, ..rate("a") }], "`window_s`");
        refuse(&[Rate { window_s: WINDOW_S_MAX + 1, ..rate("a") }], "`window_s`");
        refuse(&[Rate { burst: Some(0), ..rate("a") }], "`burst`");
        refuse(&[Rate { burst: Some(61), ..rate("a") }], "`burst`");
        assert_eq!(check(&[Rate { burst: Some(1), ..rate("a") }]), Ok(()));
    }

    #[test]
    fn callers_are_counted_apart_by_known_keys() {
        let by = |keys: &[&str]| Rate { by: keys.iter().map(|it| (*it).into()).collect(), ..rate("a") };
        assert_eq!(check(&[by(&["role", "address", "operation", "claim:sub"])]), Ok(()));
        for wrong in ["", "claim:", "Role", "header:x-user", "ip"] {
            refuse(&[by(&[wrong])], "is no key");
        }
        assert_eq!(RateKey::read("claim:X-Hasura-User-Id"), Some(RateKey::Claim("x-hasura-user-id".into())));
        assert_eq!(RateKey::read("claim:Sub"), Some(RateKey::Claim("Sub".into())));
    }
}
