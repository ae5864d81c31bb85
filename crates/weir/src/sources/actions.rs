//! Opens the actions of the metadata beside the other sources.

use super::remote_joins::{Relation, RemoteJoin};
use super::stored_calls::{CallLog, StoredCalls};
use super::{Findings, Misfit};
use crate::config::{Config, Events};
use crate::metadata::remote_relationships::object_path;
use std::sync::{Arc, LazyLock};
use weir_actions::{ActionLog, ActionSettings, ActionsInput, ActionsSource, HeaderPrecedence, OtherNames};
use weir_engine::source::Source;
use weir_language::schema::{Schema, TypeKind, builtin};
use weir_metadata::document::action::TIMEOUT_S;
use weir_webhook::{WebhookClient, WebhookLimits};

/// Calls the handlers of all generations.
static CLIENT: LazyLock<Arc<WebhookClient>> =
    LazyLock::new(|| Arc::new(WebhookClient::new(WebhookLimits::USUAL)));

/// The source of actions, and those of them whose calls are stored.
type OpenedActions = (Arc<dyn Source>, Option<StoredCalls>);

/// The actions that fit beside `others`; entries that do not are added to `findings`. `None` without any.
/// # Errors
/// The address of the state is wrong.
pub(super) fn open(
    config: &Config,
    others: &[Arc<dyn Source>],
    findings: &mut Findings,
) -> Result<Option<OpenedActions>, String> {
    let Some(described) = &config.described else { return Ok(None) };
    let document = &described.loaded.document;
    if document.actions.is_empty() && document.custom_types == Default::default() {
        return Ok(None);
    }
    let inherited_roles: Vec<_> =
        config.inherited_roles.iter().chain(&document.inherited_roles).cloned().collect();
    let has_log = config.events != Events::Off && config.state_address()?.is_some();
    let log = Arc::new(CallLog::default());
    let environment = |name: &str| std::env::var(name).ok();
    let input = ActionsInput {
        actions: &document.actions,
        custom_types: &document.custom_types,
        inherited_roles: &inherited_roles,
        others: &names(others),
        environment: &environment,
        has_log,
    };
    let precedence = if config.webhooks.configured_headers_first {
        HeaderPrecedence::Configured
    } else {
        HeaderPrecedence::Client
    };
    let settings = ActionSettings {
        client: Arc::clone(&CLIENT),
        environment: Arc::new(|name| std::env::var(name).ok()),
        precedence,
        nesting_max: config.limits.nesting_max,
        shows_internal: config.webhooks.shows_internal(),
        log: has_log.then(|| Arc::clone(&log) as Arc<dyn ActionLog>),
    };
    let (source, misfits) = ActionsSource::open(&input, settings);
    for misfit in misfits {
        let misfit = Misfit { is_metadata: true, path: misfit.path, reason: misfit.reason, is_served: false };
        findings.add_misfit(config, misfit);
    }
    warn_of_timeouts(config, findings);
    Ok(source.map(|source| {
        let stored = source.stored_actions().map(|actions| StoredCalls { log, actions });
        (Arc::new(source) as Arc<dyn Source>, stored)
    }))
}

/// The joins of types of `actions` to tables of `sources`. Relationships whose target is not there, or down, have none.
pub(super) fn joins(
    config: &Config,
    actions: &Arc<dyn Source>,
    sources: &[Arc<dyn Source>],
) -> Vec<RemoteJoin> {
    let mut joins = Vec::new();
    let objects = config.described.iter().flat_map(|it| &it.loaded.document.custom_types.objects);
    for (at, object) in objects.enumerate() {
        // Types that no action uses are not in the schema.
        let Some(on) = actions.schema().type_by_name(&object.name) else { continue };
        for (number, relationship) in object.relationships.iter().enumerate() {
            let target = relationship.target();
            let keys: Vec<&str> = target.field_mapping.keys().map(String::as_str).collect();
            let path = object_path(at, number);
            let relation = Relation { on: &object.name, name: &relationship.name, keys: &keys, path: &path };
            let made = relation.joins(&target, sources).into_iter();
            joins.extend(made.filter(|it| actions.schema().field_by_name(on, &it.join.name).is_none()));
        }
    }
    joins
}

/// Warns of actions whose handlers may take longer than a request.
fn warn_of_timeouts(config: &Config, findings: &mut Findings) {
    let Some(described) = &config.described else { return };
    let request_s = config.limits.request_s;
    for (at, action) in described.loaded.document.actions.iter().enumerate() {
        let timeout_s = action.definition.timeout.unwrap_or(TIMEOUT_S);
        if timeout_s > u32::from(request_s) && !action.definition.is_asynchronous() {
            let path = ["actions".into(), at.into(), "definition".into(), "timeout".into()];
            let place = described.loaded.places.describe_place(&path);
            findings.warnings.push(format!(
                "{place}: action `{}` may take {timeout_s} s, and a request {request_s} s: set `limits.request_s` in weir.yaml",
                action.name
            ));
        }
    }
}

/// Names that the sources `others` have.
fn names(others: &[Arc<dyn Source>]) -> OtherNames {
    let mut names = OtherNames::default();
    for source in others {
        let schema = source.schema();
        for ty in schema.types.iter().skip(builtin::TYPES as usize) {
            let name = schema.str(ty.name).to_owned();
            match ty.kind {
                TypeKind::Scalar(reader) => _ = names.scalars.insert(name, reader),
                TypeKind::Object
                | TypeKind::Interface
                | TypeKind::Union
                | TypeKind::Enum
                | TypeKind::Input { .. } => _ = names.types.insert(name),
            }
        }
        match source.namespace() {
            Some(namespace) => {
                names.query_fields.insert(namespace.to_owned());
                names.mutation_fields.insert(namespace.to_owned());
            }
            None => {
                names.query_fields.extend(root_fields(schema, Some(schema.query)));
                names.mutation_fields.extend(root_fields(schema, schema.mutation));
            }
        }
    }
    names
}

fn root_fields(schema: &Schema, root: Option<weir_language::schema::TypeId>) -> impl Iterator<Item = String> {
    let fields = root.map(|it| schema.ty(it).fields.range()).into_iter().flatten();
    fields.map(|it| schema.str(schema.fields[it].name).to_owned())
}
