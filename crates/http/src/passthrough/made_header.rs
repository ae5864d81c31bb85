//! Headers of calls to servers that are made of settings, claims and the role of the caller.

use crate::inputs::{ConfigValues, vouched};
use crate::selection::{Variable, claim_names};
use crate::template::{Fixed, Parts, fixed, slots};
use http::HeaderValue;
use std::sync::Arc;
use weir_engine::caller::{Caller, ROLE_VARIABLE};

/// A text with values in it that a request says.
#[derive(Clone, Debug)]
pub struct MadeHeader {
    parts: Arc<Parts>,
    settings: Arc<ConfigValues>,
}

/// A value that no header can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnfitHeader;

impl MadeHeader {
    /// `None`: something else stands in `parts` than settings, claims and the role, each alone or with `??` behind it.
    pub(crate) fn new(parts: &Parts, settings: &Arc<ConfigValues>) -> Option<Self> {
        let known = fixed(parts, &|variable, keys| match variable {
            Variable::Claims | Variable::Role => crate::template::Looked::Text(String::new()),
            _ => settings.lookup(variable, keys),
        });
        let made = || Self { parts: Arc::new(parts.clone()), settings: Arc::clone(settings) };
        matches!(known, Fixed::Text(_) | Fixed::Missing).then(made)
    }

    /// The names of the session variables and claims that it reads, by `PreparedFetch::reads_claims`.
    pub(crate) fn reads_claims(&self) -> Vec<Box<str>> {
        let mut names: Vec<Box<str>> = Vec::new();
        for used in slots(self.parts.iter()).flat_map(|it| it.expr.variables()) {
            match (used.variable, used.keys.as_slice()) {
                (Variable::Claims, [(name, _), ..]) => {
                    let (variable, claim) = claim_names(name);
                    names.push(variable.into());
                    names.extend(claim.map(Into::into));
                }
                (Variable::Role, _) => names.push(ROLE_VARIABLE.into()),
                _ => {}
            }
        }
        names
    }

    /// The value for calls of `caller`; nothing if one of its parts has none.
    pub(crate) fn value(&self, caller: &Caller) -> Result<Option<HeaderValue>, UnfitHeader> {
        let made = fixed(&self.parts, &|variable, keys| match variable {
            Variable::Claims | Variable::Role => vouched(caller, variable, keys),
            _ => self.settings.lookup(variable, keys),
        });
        match made {
            Fixed::Text(text) => HeaderValue::from_bytes(text.as_bytes()).map(Some).map_err(|_| UnfitHeader),
            Fixed::Missing => Ok(None),
            Fixed::NoText | Fixed::Open => Err(UnfitHeader),
        }
    }

    /// Its text, for keys of what is kept.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{:?} {:?} {:?}", self.parts, self.settings.config, self.settings.env)
    }
}
