//! Actions as a source of the graph.

use crate::action_fetch::ActionFetch;
use crate::actions::Actions;
use crate::asynchronous::ActionLog;
use crate::call::{CallSettings, HeaderPrecedence};
use crate::call_worker::StoredActions;
use crate::model::{ActionsInput, Misfit, Model};
use crate::schema::{ActionSchema, RootField, SchemaForm};
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity, WHOLE_SESSION};
use weir_engine::source::{FieldError, PlanError, PlanNode, PreparedFetch, Source};
use weir_language::error::{Code, Error};
use weir_language::schema::{FieldId, Schema, Visibility};
use weir_webhook::WebhookClient;
use weir_webhook::environment::SharedEnvironment;

pub const SOURCE_NAME: &str = "actions";

#[derive(Clone)]
pub struct ActionSettings {
    /// Calls handlers.
    pub client: Arc<WebhookClient>,
    /// The value of a variable of the environment, if it is set.
    pub environment: SharedEnvironment,
    /// Which of two headers with one name goes.
    pub precedence: HeaderPrecedence,
    /// Maximum nesting of a handler's answer.
    pub nesting_max: u32,
    /// True if errors have details for the admin.
    pub shows_internal: bool,
    /// Stores calls of asynchronous actions.
    pub log: Option<Arc<dyn ActionLog>>,
}

/// The actions of a project.
pub struct ActionsSource {
    actions: Arc<Actions>,
    schema: ActionSchema,
    form: SchemaForm,
}

impl ActionsSource {
    /// The actions of `input` that fit, with those entries that do not. `None` without any action.
    pub fn open(input: &ActionsInput<'_>, settings: ActionSettings) -> (Option<Self>, Vec<Misfit>) {
        let (model, mut misfits) = Model::new(input);
        if model.actions.is_empty() {
            return (None, misfits);
        }
        let ActionSettings { client, environment, precedence, nesting_max, shows_internal, log } = settings;
        let schema = match ActionSchema::new(&model, SchemaForm::Whole) {
            Ok(schema) => schema,
            Err(reason) => {
                misfits.push(Misfit { path: vec!["custom_types".into()], reason });
                return (None, misfits);
            }
        };
        let settings = CallSettings { client, environment, precedence, nesting_max };
        let reads_claims = vec![WHOLE_SESSION.into()];
        let actions = Arc::new(Actions { model, settings, log, shows_internal, reads_claims });
        (Some(Self { actions, schema, form: SchemaForm::Whole }), misfits)
    }

    /// The actions whose calls are stored, for a worker that makes them; `None` without any.
    pub fn stored_actions(&self) -> Option<StoredActions> {
        let has_any = self.actions.model.asynchronous().next().is_some();
        has_any.then(|| StoredActions(Arc::clone(&self.actions)))
    }

    fn is_result(&self, field: FieldId) -> bool {
        matches!(self.schema.roots.get(&field), Some(RootField::Result(_)))
    }
}

impl Source for ActionsSource {
    fn name(&self) -> &str {
        SOURCE_NAME
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema.schema
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let fields = node.fields.iter().map(|it| &node.output.fields[*it as usize]);
        let is_subscription = node.kind == weir_language::ast::OperationKind::Subscription;
        if is_subscription && fields.clone().any(|it| !self.is_result(node.ids.field(it.field))) {
            return Err(not_in_subscriptions(node.fields));
        }
        Ok(Box::new(ActionFetch::new(Arc::clone(&self.actions), &self.schema, node)))
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        facts.extend((!identity.is_admin()).then(|| self.actions.model.role_number(&identity.role)));
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        let number = facts.first()?;
        Some(self.schema.visibility(&self.actions.model, *number))
    }

    fn relay(&self) -> Option<Result<Arc<dyn Source>, Vec<Error>>> {
        if self.form == SchemaForm::Relay || self.schema.schema.mutation.is_none() {
            return None;
        }
        let made = ActionSchema::new(&self.actions.model, SchemaForm::Relay);
        let actions = Arc::clone(&self.actions);
        Some(match made {
            Ok(schema) => Ok(Arc::new(Self { actions, schema, form: SchemaForm::Relay })),
            Err(message) => Err(vec![Error { message, spans: Vec::new(), code: Code::Schema }]),
        })
    }

    /// Results of asynchronous actions are polled.
    fn is_live(&self, field: FieldId) -> bool {
        self.is_result(field)
    }

    fn separates_mutations(&self) -> bool {
        true
    }
}

fn not_in_subscriptions(fields: &[u32]) -> PlanError {
    let message = "query actions cannot be run as a subscription".into();
    let error = FieldError { code: "not-supported", message, hasura_path: None, extensions: None };
    PlanError { error, field: fields.first().copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_refused_in_hasura_s_words() {
        let refused = not_in_subscriptions(&[3]);
        assert_eq!((refused.error.code, refused.field), ("not-supported", 3));
        assert_eq!(&*refused.error.message, "query actions cannot be run as a subscription");
    }
}
