//! Makes one stored call and records what it gives.

use crate::action_error::{ActionCode, ActionError};
use crate::actions::Actions;
use crate::asynchronous::{ActionLog, NewCall, StoredHeaders, TakenCall};
use crate::call::{BodyParts, HandlerCall};
use crate::model::Action;
use std::time::{Duration, Instant};
use weir_http::passthrough::collect_forwarded_headers;
use weir_metadata::document::action::TIMEOUT_S;

/// Pause before an outcome is recorded again.
const RECORD_PAUSE: Duration = Duration::from_secs(1);

/// Timeout of a call of `action`.
pub(crate) fn timeout(action: &Action) -> Duration {
    Duration::from_secs(action.entry.definition.timeout.unwrap_or(TIMEOUT_S).into())
}

/// Makes a call of `action` and records its outcome, however long the log is away.
pub(crate) async fn deliver(actions: &Actions, action: &Action, log: &dyn ActionLog, taken: TakenCall) {
    let TakenCall { id, call } = taken;
    let mut outcome = call_handler(actions, action, &call).await.map_err(ActionError::into_stored);
    let mut is_replaced = false;
    loop {
        let recorded = log.finish(&id, outcome.as_deref().map_err(String::as_str)).await;
        let Err(error) = recorded else { return };
        if error.is_about_values && !is_replaced {
            tracing::error!(action = %call.action, %error, "the outcome of an asynchronous action cannot be stored");
            let words = "the answer of the handler cannot be stored";
            outcome = Err(ActionError::new(ActionCode::Answer, words).into_stored());
            is_replaced = true;
            continue;
        }
        tracing::warn!(action = %call.action, %error, "the outcome of an asynchronous action is not recorded yet");
        tokio::time::sleep(RECORD_PAUSE).await;
    }
}

/// The JSON that the handler answers.
async fn call_handler(actions: &Actions, action: &Action, call: &NewCall) -> Result<String, ActionError> {
    let definition = &action.entry.definition;
    let client_headers = if definition.forward_client_headers {
        collect_forwarded_headers(
            &StoredHeaders::read(&call.headers),
            definition.ignored_client_headers.as_deref(),
        )
    } else {
        Vec::new()
    };
    let parts = BodyParts {
        action: &call.action,
        input: &call.input,
        session_variables: &call.session_variables,
        request_query: None,
    };
    let deadline = Instant::now() + timeout(action);
    let settings = &actions.settings;
    let has_details = actions.shows_internal;
    let to_make = HandlerCall { action, settings, parts, client_headers, deadline, span: None, has_details };
    to_make.send().await?.text()
}
