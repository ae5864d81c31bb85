//! Settings from outside of a file, filled in when it is read.

use crate::selection::Variable;
use std::collections::BTreeMap;

/// Settings, and what operators write in place of what the text says.
#[derive(Clone, Copy)]
pub struct Outside<'o> {
    /// `$config`.
    pub config: &'o dyn Fn(&str) -> Option<String>,
    /// `$env`.
    pub env: &'o dyn Fn(&str) -> Option<String>,
    /// By the name of a `@source`, or the prefix of a server.
    pub services: &'o BTreeMap<String, Replaced>,
}

/// Replacement of settings of one source or server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Instead of `baseURL`, or `url`.
    pub base_url: Option<String>,
    /// Headers of every call, by name: instead of one of the source that is there.
    pub headers: BTreeMap<String, String>,
}

impl Outside<'_> {
    /// The setting `name` of `$config` or `$env`.
    pub(super) fn setting(&self, variable: Variable, name: &str) -> Option<String> {
        match variable {
            Variable::Config => (self.config)(name),
            Variable::Env => (self.env)(name),
            Variable::Args
            | Variable::This
            | Variable::Batch
            | Variable::Context
            | Variable::Request
            | Variable::Status
            | Variable::Response => None,
        }
    }
}
