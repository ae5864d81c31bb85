//! Headers whose values are built from settings, claims and the caller's role.

use crate::selection::inputs::{ConfigValues, look_up_caller_value};
use crate::selection::{Variable, claim_names};
use crate::template::{Fixed, Parts, fill_settings, slots};
use http::HeaderValue;
use std::sync::Arc;
use weir_engine::caller::{Caller, ROLE_VARIABLE};

/// A header template.
#[derive(Clone, Debug)]
pub struct MadeHeader {
    parts: Arc<Parts>,
    settings: Arc<ConfigValues>,
}

/// The value contains characters that are not allowed in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnfitHeader;

impl MadeHeader {
    /// Compiles `parts`; `None` if they read anything but settings, claims and the role, each alone or with `??`.
    pub(crate) fn new(parts: &Parts, settings: &Arc<ConfigValues>) -> Option<Self> {
        let known = fill_settings(parts, &|variable, keys| match variable {
            Variable::Claims | Variable::Role => crate::selection::inputs::Looked::Text(String::new()),
            _ => settings.lookup(variable, keys),
        });
        let made = || Self { parts: Arc::new(parts.clone()), settings: Arc::clone(settings) };
        matches!(known, Fixed::Text(_) | Fixed::Missing).then(made)
    }

    /// Names of the session variables and claims in use, as in `PreparedFetch::reads_claims`.
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

    /// Value for calls of `caller`; `None` if a part has no value.
    pub(crate) fn value(&self, caller: &Caller) -> Result<Option<HeaderValue>, UnfitHeader> {
        let made = fill_settings(&self.parts, &|variable, keys| match variable {
            Variable::Claims | Variable::Role => look_up_caller_value(caller, variable, keys),
            _ => self.settings.lookup(variable, keys),
        });
        match made {
            Fixed::Text(text) => HeaderValue::from_bytes(text.as_bytes()).map(Some).map_err(|_| UnfitHeader),
            Fixed::Missing => Ok(None),
            Fixed::NoText | Fixed::Open => Err(UnfitHeader),
        }
    }

    /// A text that identifies template and settings, for cache keys.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{:?} {:?} {:?}", self.parts, self.settings.config, self.settings.env)
    }
}
