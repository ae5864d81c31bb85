//! Makes stored calls: a batch at a time, each call once.

use crate::action_error::ActionError;
use crate::actions::Actions;
use crate::asynchronous::{ActionLog, ActionLogError, NewCall, StoredHeaders, TakenCall};
use crate::call::{BodyParts, HandlerCall, forwarded};
use crate::model::Action;
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use weir_metadata::document::action::TIMEOUT_S;

/// Time beyond its timeout after which a call counts as lost with its server.
const LOST_AFTER: Duration = Duration::from_secs(60);

/// Takes up to `count` stored calls, makes them together, and stores what they give. Returns their number.
pub(crate) async fn deliver_batch(
    actions: &Actions,
    log: &dyn ActionLog,
    count: u32,
) -> Result<usize, ActionLogError> {
    let known: Vec<&Action> = actions.model.asynchronous().collect();
    if known.is_empty() {
        return Ok(0);
    }
    let names: Vec<&str> = known.iter().map(|it| it.entry.name.as_str()).collect();
    let taken = log.take(&names, count).await?;
    let delivered = taken.len();
    let calls = taken.into_iter().filter_map(|it| {
        let action = known.iter().find(|action| action.entry.name == it.call.action)?;
        Some(deliver(actions, action, log, it))
    });
    join_all(calls).await.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(delivered)
}

/// Makes calls that were lost with their servers ready again. Returns their number.
pub(crate) async fn release_lost(actions: &Actions, log: &dyn ActionLog) -> Result<u64, ActionLogError> {
    let mut released = 0;
    for action in actions.model.asynchronous() {
        let timeout = Duration::from_secs(action.entry.definition.timeout.unwrap_or(TIMEOUT_S).into());
        released += log.release(&action.entry.name, timeout + LOST_AFTER).await?;
    }
    Ok(released)
}

async fn deliver(
    actions: &Actions,
    action: &Action,
    log: &dyn ActionLog,
    taken: TakenCall,
) -> Result<(), ActionLogError> {
    let TakenCall { id, call: NewCall { action: name, input, headers, session_variables } } = taken;
    let definition = &action.entry.definition;
    let client_headers = if definition.forward_client_headers {
        forwarded(&StoredHeaders::read(&headers), definition.ignored_client_headers.as_deref())
    } else {
        Vec::new()
    };
    let parts = BodyParts {
        action: &name,
        input: &input,
        session_variables: &session_variables,
        request_query: None,
    };
    let timeout = Duration::from_secs(definition.timeout.unwrap_or(TIMEOUT_S).into());
    let deadline = Instant::now() + timeout;
    let settings = &actions.settings;
    let has_details = actions.shows_internal;
    let call = HandlerCall { action, settings, parts, client_headers, deadline, span: None, has_details };
    let answer = call.send().await;
    let outcome = match answer {
        Ok(answer) => answer.text().map_err(ActionError::into_stored),
        Err(error) => Err(error.into_stored()),
    };
    log.finish(&id, outcome).await
}
