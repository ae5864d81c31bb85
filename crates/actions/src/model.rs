//! Actions and their types, checked against each other and against the other sources of the graph.
//!
//! `type_table` knows what each name of a type is, `check_types` and `check_actions` say what does not fit, in Hasura's words.
//!
//! **Invariant:** what is in a [`Model`] resolves; an entry that does not is told with its path, and the rest is served.

mod check_actions;
mod check_types;
mod type_table;

pub(crate) use type_table::{NamedType, TypeTable};

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use weir_language::schema::ScalarReader;
use weir_metadata::Step;
use weir_metadata::document::action::{ActionEntry, ActionOperation};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::custom_types::CustomTypes;
use weir_metadata::places::join_paths;
use weir_webhook::WebhookUrl;
use weir_webhook::environment::{Environment, EnvironmentError, fill};
use weir_webhook::transform::{RequestTransformer, ResponseTransformer, TransformErrors};

/// Entries of actions, and what the rest of the graph has.
pub struct ActionsInput<'m> {
    pub actions: &'m [ActionEntry],
    /// Their types.
    pub custom_types: &'m CustomTypes,
    /// Roles that have the permissions of others.
    pub inherited_roles: &'m [InheritedRole],
    /// Names of the other sources.
    pub others: &'m OtherNames,
    /// Variables of the environment.
    pub environment: &'m Environment<'m>,
    /// True if calls of asynchronous actions can be stored.
    pub has_log: bool,
}

/// Names of other sources.
#[derive(Clone, Debug, Default)]
pub struct OtherNames {
    /// Scalars, with their readers.
    pub scalars: HashMap<String, ScalarReader>,
    /// Types that are no scalars.
    pub types: HashSet<String>,
    /// Fields of the query root.
    pub query_fields: HashSet<String>,
    /// Fields of the mutation root.
    pub mutation_fields: HashSet<String>,
}

/// An entry that is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Path in the document.
    pub path: Vec<Step>,
    /// The cause, in Hasura's words where it has any.
    pub reason: String,
}

/// An action that is served.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) entry: ActionEntry,
    /// The handler.
    pub(crate) url: WebhookUrl,
    pub(crate) request_transform: Option<Arc<RequestTransformer>>,
    pub(crate) response_transform: Option<Arc<ResponseTransformer>>,
}

impl Action {
    /// The action `entry`, whose types fit.
    fn new(entry: &ActionEntry, environment: &Environment<'_>) -> Result<Self, String> {
        let definition = &entry.definition;
        let wrong = |what: &str, errors: TransformErrors| {
            format!("{what} transform validation failed: {}", errors.to_json())
        };
        let request = definition.request_transform.as_ref().map(RequestTransformer::parse).transpose();
        let response = definition.response_transform.as_ref().map(ResponseTransformer::parse).transpose();
        Ok(Self {
            entry: entry.clone(),
            url: resolve_handler(&definition.handler, environment)?,
            request_transform: request.map_err(|it| wrong("request", it))?.map(Arc::new),
            response_transform: response.map_err(|it| wrong("response", it))?.map(Arc::new),
        })
    }
}

/// Actions that are served.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) actions: Vec<Action>,
    pub(crate) types: TypeTable,
    /// Roles, each with the actions it may use, by their places in `actions`.
    pub(crate) roles: Vec<(String, HashSet<usize>)>,
}

impl Model {
    /// The entries of `input` that fit, and those that do not.
    pub(crate) fn new(input: &ActionsInput<'_>) -> (Self, Vec<Misfit>) {
        let types = TypeTable::new(input.custom_types, &input.others.scalars);
        let (path, wrong) = check_types::find_errors(input.custom_types, &types);
        let has_types = wrong.is_empty();
        let mut misfits = Vec::new();
        if !has_types {
            misfits.push(Misfit { path, reason: check_types::reason(&wrong) });
        }
        let mut actions = Vec::new();
        for (at, entry) in input.actions.iter().enumerate() {
            let checked = if has_types {
                check_actions::check(entry, &types, input.others, input.has_log)
            } else {
                Err((Vec::new(), "custom types are inconsistent".to_owned()))
            };
            let made = checked
                .and_then(|()| Action::new(entry, input.environment).map_err(|reason| (Vec::new(), reason)));
            match made {
                Ok(action) => actions.push(action),
                Err((below, reason)) => {
                    let path = join_paths(&["actions".into(), at.into()], &below);
                    misfits.push(Misfit { path, reason });
                }
            }
        }
        let roles = collect_roles(&actions, input.inherited_roles);
        (Self { actions, types, roles }, misfits)
    }

    /// The actions whose calls are stored.
    pub(crate) fn asynchronous(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().filter(|it| it.entry.definition.is_asynchronous())
    }

    /// Facts of a role: its place among the roles, from 1; 0 for one that may use no action.
    pub(crate) fn role_number(&self, role: &str) -> u64 {
        self.roles.iter().position(|it| it.0 == role).map_or(0, |at| at as u64 + 1)
    }

    /// True if callers with the fact `number` may use the action at `at`.
    pub(crate) fn may_use(&self, number: u64, at: usize) -> bool {
        let place = usize::try_from(number).ok().and_then(|it| it.checked_sub(1));
        place.and_then(|it| self.roles.get(it)).is_some_and(|it| it.1.contains(&at))
    }
}

/// The address in `handler`.
fn resolve_handler(handler: &str, environment: &Environment<'_>) -> Result<WebhookUrl, String> {
    let text = fill(handler, environment).map_err(|it| EnvironmentError::Address(it).to_string())?;
    // The text may hold secrets of the environment.
    WebhookUrl::parse(&text).map_err(|_| format!("Invalid URL: {handler}"))
}

/// All roles with actions. An inherited role has those of its roles, at any depth.
fn collect_roles(actions: &[Action], inherited: &[InheritedRole]) -> Vec<(String, HashSet<usize>)> {
    let own = |role: &str| -> HashSet<usize> {
        let has = |it: &Action| it.entry.permissions.iter().any(|it| it.role == role);
        actions.iter().enumerate().filter(|it| has(it.1)).map(|it| it.0).collect()
    };
    let named = actions.iter().flat_map(|it| &it.entry.permissions).map(|it| it.role.as_str());
    let all: BTreeSet<&str> = named.chain(inherited.iter().map(|it| it.role_name.as_str())).collect();
    let with_parents = |role: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![role];
        let mut usable = HashSet::new();
        while let Some(role) = open.pop() {
            if seen.insert(role) {
                usable.extend(own(role));
                let parents = inherited.iter().filter(|it| it.role_name == role).flat_map(|it| &it.role_set);
                open.extend(parents.map(String::as_str));
            }
        }
        (role.to_owned(), usable)
    };
    all.into_iter().map(with_parents).filter(|it| !it.1.is_empty()).collect()
}

/// The root that has the field of an action, as Hasura calls it.
pub(crate) const fn root_name(operation: ActionOperation) -> &'static str {
    match operation {
        ActionOperation::Query => "query_root",
        ActionOperation::Mutation => "mutation_root",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use weir_metadata::{Metadata, read};

    fn document(actions: &str, types: &str) -> Metadata {
        let text = format!("version: 3\nsources: []\nactions: {actions}\ncustom_types: {types}\n");
        read::text(&text, Path::new("m.yaml")).expect("it is metadata").document
    }

    /// The reasons why entries are not served.
    fn reasons(actions: &str, types: &str) -> Vec<String> {
        let document = document(actions, types);
        let input = ActionsInput {
            actions: &document.actions,
            custom_types: &document.custom_types,
            inherited_roles: &[],
            others: &OtherNames::default(),
            environment: &|_| None,
            has_log: true,
        };
        Model::new(&input).1.into_iter().map(|it| it.reason).collect()
    }

    fn action(more: &str) -> String {
        format!("[{{name: a, definition: {{handler: 'http://h', output_type: Out{more}}}}}]")
    }

    const RELATED: &str =
        "relationships: [{name: r, type: object, remote_table: t, field_mapping: {inner: id}}]";

    #[test]
    fn relationships_stand_on_scalars() {
        let types = |fields: &str, more: &str| {
            format!(
                "{{objects: [{{name: Out, fields: [{fields}], {more}}}, {{name: In, fields: [{{name: id, type: Int}}]}}]}}"
            )
        };
        let object = "{name: inner, type: In}";
        let expected = "Relationships cannot be defined with nested object fields: \"r\"";
        assert_eq!(reasons(&action(""), &types(object, RELATED)), [expected]);
        let both = "{name: inner, type: Int}, {name: other, type: In}";
        assert_eq!(reasons(&action(""), &types(both, RELATED)), [""; 0]);
        let expected = "Async action relations cannot be used with object fields: \"other\"";
        assert_eq!(reasons(&action(", kind: asynchronous"), &types(both, RELATED)), [expected]);
        let of = "validation for the given custom types failed because";
        let wrong = reasons(&action(""), &types("{name: id, type: Int}", RELATED));
        let expected =
            format!("{of} the field \"inner\" for relationship \"r\" in object type \"Out\" does not exist");
        assert_eq!(wrong, [expected.as_str(), "custom types are inconsistent"]);
        let wrong = reasons(&action(""), &types("{name: inner, type: '[Int]'}", RELATED));
        assert_eq!(
            wrong[0],
            format!(
                "{of} the type of the field \"inner\" for relationship \"r\" in object type \"Out\" is a list"
            )
        );
        let two = "relationships: [{name: r, type: object, remote_table: t, field_mapping: {id: id}}, {name: s, type: array, source: b, remote_table: t, field_mapping: {id: id}}]";
        let wrong = reasons(&action(""), &types("{name: id, type: Int}", two));
        assert_eq!(wrong[0], format!("{of} the object \"Out\" has relationships refers to multiple sources"));
    }

    #[test]
    fn several_errors_of_types_are_listed() {
        let types = "{scalars: [{name: Out}, {name: Out}, {name: Int}], enums: [{name: E, values: [{value: A}, {value: A}]}]}";
        let expected = "validation for the given custom types failed for the following reasons:\n \u{2022} duplicate type names: \"Int\", \"Out\"\n \
                        \u{2022} the enum type \"E\" has duplicate values: \"A\"\n";
        assert_eq!(reasons("[]", types), [expected]);
        let types = "{objects: [{name: Out, fields: [{name: r, type: Int}, {name: r, type: Int}]}]}";
        let expected = "validation for the given custom types failed because the following field names are duplicated in object type \"Out\": \"r\"";
        assert_eq!(reasons("[]", types), [expected]);
        let types = "{objects: [{name: Out, fields: [{name: r, type: Int, arguments: []}]}]}";
        assert!(reasons("[]", types)[0].contains("the field \"r\" in object type \"Out\" has arguments"));
    }

    #[test]
    fn a_scalar_is_an_output_and_an_enum_is_none() {
        let types = "{enums: [{name: Out, values: [{value: A}]}]}";
        let expected = "the type: \"Out\" is not an object or scalar type defined in custom types";
        assert_eq!(reasons(&action(""), types), [expected]);
        assert_eq!(reasons(&action(""), "{scalars: [{name: Out}]}"), [""; 0]);
    }
}
