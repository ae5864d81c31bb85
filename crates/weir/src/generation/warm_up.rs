//! Plans of stored documents, made before their generation is served.
//!
//! **Invariant:** nothing here keeps a generation from being served: a document without a plan is planned when it is asked for.
//!
//! **Cost:** at most `operations.persisted.warm_up_ms_max` per generation.

use super::Generation;
use crate::config::Config;
use crate::session;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use weir_engine::caller::ADMIN;
use weir_engine::engine::{Body, Request};
use weir_engine::source::Caller;

/// Documents that are named in one warning.
const NAMED_MAX: usize = 10;

/// Roles that the configuration names, and thus those that may call.
fn find_roles(config: &Config) -> BTreeSet<&str> {
    let of_sources = config.sources.iter().flat_map(|it| &it.roles);
    let inherited = config.sources.iter().flat_map(|it| it.inherited_roles.iter().map(|it| &it.role_name));
    let unauthorized = config.auth.unauthorized_role.iter();
    let found: BTreeSet<&str> = of_sources.chain(inherited).chain(unauthorized).map(String::as_str).collect();
    if found.is_empty() { [ADMIN].into() } else { found }
}

/// A caller with the role and nothing else.
fn role_caller(generation: &Generation, role: &str) -> Option<Caller> {
    let identity = session::assume_identity(Some(role), None).ok()?;
    Some(generation.engine.caller(&generation.native_auth.with_values(identity)))
}

/// Makes the plans of the stored documents of `generation` for the roles that may send them, and warns about documents that no role can
/// run.
pub(super) fn prepare_documents(generation: &mut Generation) {
    let persisted = &generation.config.operations.persisted;
    let time_max = Duration::from_millis(persisted.warm_up_ms_max.into());
    let is_whole = !generation.is_waiting && !generation.findings.leaves_out_sources();
    if persisted.files.is_empty() || time_max.is_zero() || !is_whole {
        return;
    }
    let roles = match &persisted.warm_up_roles {
        Some(roles) => roles.iter().map(String::as_str).collect(),
        None => find_roles(&generation.config),
    };
    let callers = roles.into_iter().filter_map(|it| Some((it, role_caller(generation, it)?)));
    let callers: Vec<(&str, Caller)> = callers.collect();
    let started = Instant::now();
    let until = started + time_max;
    let mut plans = 0;
    let mut unfit = Vec::new();
    for document in generation.operations.documents.documents() {
        if Instant::now() >= until {
            tracing::info!(
                "the time for plans of stored documents is over: operations.persisted.warm_up_ms_max"
            );
            break;
        }
        let mut refused = None;
        let mut is_planned = false;
        for (role, caller) in &callers {
            if *role != ADMIN && !generation.operations.allows(&document.text, role) {
                continue;
            }
            match generation.engine.prepare(Request::new(&document.text, until), caller) {
                Ok(made) => {
                    plans += made;
                    is_planned = true;
                }
                Err(response) => refused = Some((*role, response.body)),
            }
        }
        if let Some((role, body)) = refused.filter(|_| !is_planned) {
            let name = document.operation_name.as_deref().unwrap_or("without a name");
            unfit.push(format!("{name} (role `{role}`: {})", first_message(&body)));
        }
    }
    tracing::debug!(plans, ms = started.elapsed().as_millis() as u64, "plans of stored documents are made");
    if !unfit.is_empty() {
        let count = unfit.len();
        let named = unfit.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
        let more =
            if count > NAMED_MAX { format!("; and {} more", count - NAMED_MAX) } else { String::new() };
        let line = format!("operations.persisted: no role that may send it can run: {named}{more}");
        generation.findings.warnings.push(line);
    }
}

/// First message of an answer of errors.
fn first_message(body: &Body) -> String {
    let Body::Whole(bytes) = body else { return String::new() };
    let answer: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    answer["errors"][0]["message"].as_str().unwrap_or_default().to_owned()
}
