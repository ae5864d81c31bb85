//! Hasura's environment variables other than authentication: those that Weir honours, and those that it reports.
//!
//! Weir's own name of a variable, `WEIR_…` for `HASURA_GRAPHQL_…`, goes before Hasura's.

use super::{ActionDelivery, Config, EventDelivery, Webhooks};
use std::path::PathBuf;
use std::time::Duration;
use weir_metadata::document::customization::NamingConvention;

/// Variables without effect, and what to do instead.
const NO_EFFECT: &[(&str, &str)] = &[
    (
        "HASURA_GRAPHQL_METADATA_DATABASE_URL",
        "the metadata is a folder or file: `metadata` in weir.yaml or --metadata",
    ),
    ("HASURA_GRAPHQL_SERVER_PORT", "the address is `listen` in weir.yaml or --listen"),
    ("HASURA_GRAPHQL_SERVER_HOST", "the address is `listen` in weir.yaml or --listen"),
    ("HASURA_GRAPHQL_ENABLE_APIS", "`admin_listen` in weir.yaml sets the metadata API apart"),
    ("HASURA_GRAPHQL_READ_ONLY", "use a database role that may only read"),
    (
        "HASURA_GRAPHQL_TX_ISOLATION",
        "mutations run as read-committed; another level is a setting of the database's role",
    ),
    (
        "HASURA_GRAPHQL_PG_CONNECTIONS",
        "connections are `sources[].postgres` in weir.yaml, or `pool_settings` of the metadata",
    ),
    (
        "HASURA_GRAPHQL_PG_TIMEOUT",
        "connections are `sources[].postgres` in weir.yaml, or `pool_settings` of the metadata",
    ),
    (
        "HASURA_GRAPHQL_CONNECTIONS_PER_READ_REPLICA",
        "replicas are `sources[].postgres.replicas` in weir.yaml",
    ),
    ("HASURA_GRAPHQL_READ_REPLICA_URLS", "replicas are `sources[].postgres.replicas` in weir.yaml"),
    ("HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE", "a comparison with null is an error"),
    ("HASURA_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS", "remote schemas are not served"),
    ("HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL", "set `live.poll_ms` in weir.yaml"),
    (
        "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_BATCH_SIZE",
        "equal subscriptions are one read, others each their own",
    ),
    (
        "HASURA_GRAPHQL_STREAMING_QUERIES_MULTIPLEXED_REFETCH_INTERVAL",
        "streams go on at once, and are polled each `live.poll_ms`",
    ),
    ("HASURA_GRAPHQL_STREAMING_QUERIES_MULTIPLEXED_BATCH_SIZE", "streams are read one by one"),
    ("HASURA_GRAPHQL_ENABLED_LOG_TYPES", "requests are logged by `log.access` in weir.yaml"),
    ("HASURA_GRAPHQL_MIGRATIONS_DIR", "Weir runs no migrations of databases"),
];

/// Settings from the environment; each overrides the key of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    allow_list: Option<bool>,
    origins: Option<Vec<String>>,
    naming_convention: Option<NamingConvention>,
    stringify_numeric_types: Option<bool>,
    infer_function_permissions: Option<bool>,
    disable_native_query_validation: Option<bool>,
    no_null_unbound_variable_default: bool,
    webhooks: Webhooks,
    log_level: Option<String>,
    metadata: Option<PathBuf>,
    event_delivery: EventDelivery,
    action_delivery: ActionDelivery,
    /// Notes for the operator's log.
    notes: Vec<String>,
}

/// Reader of environment variables.
struct EnvironmentReader<F>(F);

impl<F: Fn(&str) -> Option<String>> EnvironmentReader<F> {
    /// Name and value of the variable `name`, or of Hasura's variable for it.
    fn find_variable(&self, name: &str) -> Option<(String, String)> {
        let names = [name.to_owned(), hasura(name)];
        names.into_iter().find_map(|it| (self.0)(&it).map(|text| (it, text)))
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        let Some((name, text)) = self.find_variable(name) else { return Ok(None) };
        match &*text.to_ascii_lowercase() {
            "true" | "t" | "yes" | "y" => Ok(Some(true)),
            "false" | "f" | "no" | "n" => Ok(Some(false)),
            _ => Err(format!("{name} is neither true nor false")),
        }
    }
}

impl<F: Fn(&str) -> Option<String>> EnvironmentReader<F> {
    fn number(&self, name: &str) -> Result<Option<u32>, String> {
        let Some((name, text)) = self.find_variable(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| format!("{name} is no whole number"))
    }
}

/// Hasura's name of Weir's variable `name`.
fn hasura(name: &str) -> String {
    name.replacen("WEIR_", "HASURA_GRAPHQL_", 1)
}

/// Experimental feature: a variable that is not sent is absent instead of null.
const NO_NULL: &str = "no_null_unbound_variable_default";

/// Hasura's experimental features that are always on.
const FEATURES: [&str; 4] = ["naming_convention", "inherited_roles", "streaming_subscriptions", NO_NULL];

impl Environment {
    /// Reads the variables through `variable`.
    /// # Errors
    /// A variable whose text cannot be read, by its name.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let variables = EnvironmentReader(variable);
        let mut notes = Vec::new();
        let told = NO_EFFECT.iter().filter(|it| (variables.0)(it.0).is_some());
        notes.extend(told.map(|(name, advice)| format!("{name} has no effect: {advice}")));
        if variables.flag("WEIR_ENABLE_CONSOLE")? == Some(false) {
            notes.push(format!(
                "{} has no effect: the console asks for the admin secret, unless `dev` is on",
                hasura("WEIR_ENABLE_CONSOLE")
            ));
        }
        let naming_convention = naming_convention(&variables, &mut notes)?;
        let features =
            variables.find_variable("WEIR_EXPERIMENTAL_FEATURES").map(|it| it.1).unwrap_or_default();
        let features: Vec<&str> = features.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        for feature in features.iter().filter(|it| !FEATURES.contains(it)) {
            notes.push(format!("{}: Weir has no feature `{feature}`", hasura("WEIR_EXPERIMENTAL_FEATURES")));
        }
        let log_level = variables.find_variable("WEIR_LOG_LEVEL").map(|(name, text)| match text.as_str() {
            "debug" | "info" | "warn" | "error" => Ok(text),
            _ => Err(format!("{name} is none of: debug, info, warn, error")),
        });
        Ok(Self {
            allow_list: variables.flag("WEIR_ENABLE_ALLOWLIST")?,
            origins: origins(&variables, &mut notes)?,
            naming_convention,
            stringify_numeric_types: variables.flag("WEIR_STRINGIFY_NUMERIC_TYPES")?,
            infer_function_permissions: variables.flag("WEIR_INFER_FUNCTION_PERMISSIONS")?,
            disable_native_query_validation: variables.flag("WEIR_DISABLE_NATIVE_QUERY_VALIDATION")?,
            no_null_unbound_variable_default: features.contains(&NO_NULL),
            webhooks: Webhooks {
                configured_headers_first: variables
                    .flag("WEIR_CONFIGURED_HEADER_PRECEDENCE")?
                    .unwrap_or_default(),
                is_dev_mode: variables.flag("WEIR_DEV_MODE")?.unwrap_or_default(),
                remote_schema_permissions: variables
                    .flag("WEIR_ENABLE_REMOTE_SCHEMA_PERMISSIONS")?
                    .unwrap_or_default(),
                remote_schema_prioritizes_data: variables
                    .flag("WEIR_REMOTE_SCHEMA_PRIORITIZE_DATA")?
                    .unwrap_or_default(),
                admin_internal_errors: variables.flag("WEIR_ADMIN_INTERNAL_ERRORS")?,
            },
            log_level: log_level.transpose()?,
            metadata: variables.find_variable("WEIR_METADATA_DIR").map(|it| PathBuf::from(it.1)),
            event_delivery: event_delivery(&variables)?,
            action_delivery: action_delivery(&variables)?,
            notes,
        })
    }

    /// True if the environment names a location of metadata.
    pub fn has_metadata(&self) -> bool {
        self.metadata.is_some()
    }

    /// Overrides keys of the file. A location of metadata given elsewhere is kept.
    pub fn apply(&self, config: &mut Config) {
        config.operations.allow_list = self.allow_list.unwrap_or(config.operations.allow_list);
        if self.origins.is_some() {
            config.cors.origins.clone_from(&self.origins);
        }
        config.naming_convention = self.naming_convention.or(config.naming_convention);
        config.stringify_numeric_types = self.stringify_numeric_types;
        config.infer_function_permissions =
            self.infer_function_permissions.or(config.infer_function_permissions);
        config.disable_native_query_validation =
            self.disable_native_query_validation.unwrap_or(config.disable_native_query_validation);
        config.no_null_unbound_variable_default |= self.no_null_unbound_variable_default;
        config.webhooks = self.webhooks;
        if let Some(level) = &self.log_level {
            config.log.level.clone_from(level);
        }
        if config.metadata.is_none() {
            config.metadata.clone_from(&self.metadata);
        }
        config.event_delivery = self.event_delivery;
        config.action_delivery = self.action_delivery;
        config.notes.extend_from_slice(&self.notes);
    }
}

/// `EVENTS_…` and `GRACEFUL_SHUTDOWN_TIMEOUT`.
fn event_delivery<F: Fn(&str) -> Option<String>>(
    variables: &EnvironmentReader<F>,
) -> Result<EventDelivery, String> {
    let usual = EventDelivery::default();
    let interval = variables.number("WEIR_EVENTS_FETCH_INTERVAL")?;
    let stop = variables.number("WEIR_GRACEFUL_SHUTDOWN_TIMEOUT")?;
    Ok(EventDelivery {
        slots: variables.number("WEIR_EVENTS_HTTP_POOL_SIZE")?.unwrap_or(usual.slots),
        batch: variables.number("WEIR_EVENTS_FETCH_BATCH_SIZE")?.unwrap_or(usual.batch),
        interval: interval.map_or(usual.interval, |it| Duration::from_millis(it.into())),
        stop_max: stop.map_or(usual.stop_max, |it| Duration::from_secs(it.into())),
    })
}

/// `ASYNC_ACTIONS_…`.
fn action_delivery<F: Fn(&str) -> Option<String>>(
    variables: &EnvironmentReader<F>,
) -> Result<ActionDelivery, String> {
    let usual = ActionDelivery::default();
    let interval = variables.number("WEIR_ASYNC_ACTIONS_FETCH_INTERVAL")?;
    Ok(ActionDelivery {
        interval: interval.map_or(usual.interval, |it| Duration::from_millis(it.into())),
        batch: variables.number("WEIR_ASYNC_ACTIONS_FETCH_BATCH_SIZE")?.unwrap_or(usual.batch),
    })
}

/// `DEFAULT_NAMING_CONVENTION`. Under Hasura's name it requires the experimental feature, as in Hasura.
fn naming_convention<F: Fn(&str) -> Option<String>>(
    variables: &EnvironmentReader<F>,
    notes: &mut Vec<String>,
) -> Result<Option<NamingConvention>, String> {
    let Some((name, text)) = variables.find_variable("WEIR_DEFAULT_NAMING_CONVENTION") else {
        return Ok(None);
    };
    let convention = match text.as_str() {
        "hasura-default" => NamingConvention::HasuraDefault,
        "graphql-default" => NamingConvention::GraphqlDefault,
        _ => return Err(format!("{name} is none of: hasura-default, graphql-default")),
    };
    let features = variables.find_variable("WEIR_EXPERIMENTAL_FEATURES").map(|it| it.1).unwrap_or_default();
    let is_on = features.split(',').any(|it| it.trim() == "naming_convention");
    if name.starts_with("HASURA") && !is_on {
        notes.push(format!(
            "{name} has no effect without `naming_convention` in {}, as in Hasura",
            hasura("WEIR_EXPERIMENTAL_FEATURES")
        ));
        return Ok(None);
    }
    Ok(Some(convention))
}

/// `CORS_DOMAIN`, `DISABLE_CORS`.
fn origins<F: Fn(&str) -> Option<String>>(
    variables: &EnvironmentReader<F>,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<String>>, String> {
    if variables.flag("WEIR_DISABLE_CORS")? == Some(true) {
        return Ok(Some(Vec::new()));
    }
    let Some((name, text)) = variables.find_variable("WEIR_CORS_DOMAIN") else { return Ok(None) };
    let all = text.split(',').map(|it| it.trim().trim_end_matches('/')).filter(|it| !it.is_empty());
    let (patterns, origins): (Vec<&str>, Vec<&str>) = all.partition(|it| *it != "*" && it.contains('*'));
    if !patterns.is_empty() {
        notes.push(format!(
            "{name}: origins with a `*` inside are not let in: name each origin, or `*` for any"
        ));
    }
    Ok(Some(origins.into_iter().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Result<fn(&Config) -> bool, &str>) {
        let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let read = Environment::read(variable).map(|it| {
            let mut config = Config::default();
            it.apply(&mut config);
            config
        });
        match (read, expected) {
            (Ok(config), Ok(holds)) => assert!(holds(&config), "{variables:?}: {config:?}"),
            (Err(message), Err(part)) => {
                assert!(message.contains(part) && !message.contains("hush"), "{message}");
            }
            (found, _) => panic!("{variables:?}: {found:?}"),
        }
    }

    #[test]
    fn cheap_settings_of_hasura_are_honoured() {
        check(&[], Ok(|it| it.notes.is_empty() && it.cors.origins.is_none()));
        check(&[("HASURA_GRAPHQL_ENABLE_ALLOWLIST", "true")], Ok(|it| it.operations.allow_list));
        check(
            &[("HASURA_GRAPHQL_CORS_DOMAIN", "https://a.example, http://localhost:3000/")],
            Ok(|it| {
                it.cors
                    .origins
                    .as_deref()
                    .is_some_and(|it| it == ["https://a.example", "http://localhost:3000"])
            }),
        );
        check(
            &[("HASURA_GRAPHQL_CORS_DOMAIN", "*"), ("HASURA_GRAPHQL_DISABLE_CORS", "true")],
            Ok(|it| it.cors.origins.as_ref().is_some_and(Vec::is_empty)),
        );
        check(
            &[("HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES", "true")],
            Ok(|it| it.stringify_numeric_types == Some(true)),
        );
        check(
            &[("HASURA_GRAPHQL_INFER_FUNCTION_PERMISSIONS", "false")],
            Ok(|it| it.infer_function_permissions == Some(false)),
        );
        check(&[("HASURA_GRAPHQL_LOG_LEVEL", "warn")], Ok(|it| it.log.level == "warn"));
        check(
            &[("HASURA_GRAPHQL_METADATA_DIR", "a/b")],
            Ok(|it| it.metadata.as_deref().is_some_and(|it| it == std::path::Path::new("a/b"))),
        );
    }

    #[test]
    fn details_of_calls_are_the_admin_s_unless_switched_off() {
        let internal = "HASURA_GRAPHQL_ADMIN_INTERNAL_ERRORS";
        check(&[], Ok(|it| it.webhooks.shows_internal() && !it.webhooks.configured_headers_first));
        check(&[(internal, "false")], Ok(|it| !it.webhooks.shows_internal()));
        check(
            &[(internal, "false"), ("HASURA_GRAPHQL_DEV_MODE", "true")],
            Ok(|it| it.webhooks.shows_internal() && it.notes.is_empty()),
        );
        check(
            &[("HASURA_GRAPHQL_CONFIGURED_HEADER_PRECEDENCE", "true")],
            Ok(|it| it.webhooks.configured_headers_first),
        );
    }

    #[test]
    fn the_naming_convention_needs_its_feature_by_hasura_s_name() {
        let name = ("HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION", "graphql-default");
        check(&[name], Ok(|it| it.naming_convention.is_none() && it.notes.len() == 1));
        check(
            &[name, ("HASURA_GRAPHQL_EXPERIMENTAL_FEATURES", "inherited_roles, naming_convention")],
            Ok(|it| it.naming_convention == Some(NamingConvention::GraphqlDefault) && it.notes.is_empty()),
        );
        check(
            &[("WEIR_DEFAULT_NAMING_CONVENTION", "graphql-default")],
            Ok(|it| it.naming_convention == Some(NamingConvention::GraphqlDefault)),
        );
    }

    #[test]
    fn a_feature_makes_variables_that_are_not_sent_absent() {
        check(&[], Ok(|it| !it.no_null_unbound_variable_default));
        check(
            &[("HASURA_GRAPHQL_EXPERIMENTAL_FEATURES", "inherited_roles, no_null_unbound_variable_default")],
            Ok(|it| it.no_null_unbound_variable_default && it.notes.is_empty()),
        );
    }

    #[test]
    fn what_has_no_effect_is_told_and_what_cannot_be_read_is_refused() {
        check(
            &[
                ("HASURA_GRAPHQL_METADATA_DATABASE_URL", "postgres://a:hush@h/d"),
                ("HASURA_GRAPHQL_READ_ONLY", "true"),
            ],
            Ok(|it| {
                it.notes.len() == 2
                    && it.notes.iter().all(|it| it.contains("no effect") && !it.contains("hush"))
            }),
        );
        check(
            &[("HASURA_GRAPHQL_EXPERIMENTAL_FEATURES", "hide_update_many_fields")],
            Ok(|it| it.notes[0].ends_with("Weir has no feature `hide_update_many_fields`")),
        );
        check(&[("HASURA_GRAPHQL_CORS_DOMAIN", "https://*.a.example")], Ok(|it| it.notes.len() == 1));
        for name in ["ENABLE_ALLOWLIST", "STRINGIFY_NUMERIC_TYPES", "INFER_FUNCTION_PERMISSIONS"] {
            check(&[(&format!("HASURA_GRAPHQL_{name}"), "hush")], Err("is neither true nor false"));
        }
        check(&[("HASURA_GRAPHQL_LOG_LEVEL", "hush")], Err("HASURA_GRAPHQL_LOG_LEVEL is none of"));
        check(&[("HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION", "hush")], Err("is none of: hasura-default"));
    }
}
