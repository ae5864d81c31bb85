//! Requests and outcomes at Hasura's endpoints, in its words.

use crate::server::request::receive::{self, Params, Unusable};
use crate::server::telemetry::metrics::Verdict;
use weir_engine::engine::Outcome;
use weir_language::json::JsonRef;

/// Query, operation name and variables of a body; if they cannot be read, why.
pub(super) fn hasura_params(body: JsonRef<'_>) -> Result<Params<'_>, &'static str> {
    receive::params(body).map_err(|unusable| match unusable {
        Unusable::NoQuery => "key \"query\" not found",
        Unusable::PersistedOnly | Unusable::OtherHash | Unusable::Wrong(_) | Unusable::NoObject => {
            unusable.message()
        }
    })
}

/// How an outcome is counted.
pub(super) const fn hasura_verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Executed => Verdict::Executed,
        Outcome::Refused | Outcome::Subscription | Outcome::MethodNotAllowed(_) => Verdict::Refused,
    }
}
