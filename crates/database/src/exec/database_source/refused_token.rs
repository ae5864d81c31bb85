//! Callers whose token does not hold: nothing is asked for them.

use super::{DatabaseFetch, FetchKind};
use crate::exec::driver::Driver;
use crate::exec::programs::turns::Turns;
use weir_engine::source::{FetchInput, FetchResult, FieldError, SourceError};
use weir_relational::plan::Plan;

impl<D: Driver> DatabaseFetch<D> {
    /// Answers a caller whose token is invalid: each root field fails by itself.
    pub(super) fn refuse_invalid_token(
        &self,
        input: &FetchInput<'_>,
        plan: &Plan,
        reason: &str,
    ) -> Result<FetchResult, SourceError> {
        let fetch = &self.inner;
        let output = input.output;
        let refusal = |field: u32| {
            fetch.state.frontend.token_error(&fetch.call(output, input.variables, field), reason)
        };
        if fetch.rows {
            let field = fetch.first_field();
            return Err(SourceError::Rejected { error: refusal(field), field: Some(field) });
        }
        let mut turns = Turns::default();
        for member in &plan.members[plan.root.range()] {
            match self.kind {
                FetchKind::Read => turns.refuse(output, member, &refusal),
                FetchKind::Write | FetchKind::Programs => {
                    if turns.next(output, member) {
                        let error = refusal(member.field);
                        let field = Some(member.field);
                        turns.fail(output, member, SourceError::Rejected { error, field });
                    }
                }
            }
        }
        Ok(turns.reply())
    }

    /// The error of the first field for a caller whose token is invalid.
    pub(super) fn first_refusal(&self, input: &FetchInput<'_>) -> Option<FieldError> {
        let fetch = &self.inner;
        let reason = fetch.state.frontend.refusal(input.caller.claims(), &fetch.ask.facts)?;
        let call = fetch.call(input.output, input.variables, fetch.first_field());
        Some(fetch.state.frontend.token_error(&call, reason))
    }
}
