//! Requests and outcomes at Hasura's endpoints, in its words.

use crate::server::request::receive::Unusable;
use crate::server::telemetry::metrics::Verdict;
use weir_engine::engine::Outcome;

/// Message and code of a request that cannot be used.
pub(super) const fn hasura_words(unusable: &Unusable) -> (&'static str, &'static str) {
    match unusable {
        Unusable::NoQuery => ("key \"query\" not found", "parse-failed"),
        Unusable::UnknownId => (unusable.message(), "not-found"),
        Unusable::TextAlone => (unusable.message(), "validation-failed"),
        Unusable::PersistedOnly | Unusable::OtherHash | Unusable::Wrong(_) | Unusable::NoObject => {
            (unusable.message(), "parse-failed")
        }
    }
}

/// How an outcome is counted.
pub(super) const fn hasura_verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Executed => Verdict::Executed,
        Outcome::Refused | Outcome::Subscription | Outcome::MethodNotAllowed(_) => Verdict::Refused,
    }
}
