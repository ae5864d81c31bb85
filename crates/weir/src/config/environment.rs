//! Settings of the environment: Hasura's variables that Weir honours, and those that it reports.
//!
//! Weir's own name of a variable, `WEIR_…` for `HASURA_GRAPHQL_…`, goes before Hasura's.

mod auth;
mod variables;

pub use self::variables::Environment;
use self::variables::{
    EnvironmentVariables, read_flag, read_milliseconds, read_number, read_seconds, read_text,
};
use std::path::PathBuf;
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

/// Experimental feature: a variable that is not sent is absent instead of null.
const NO_NULL: &str = "no_null_unbound_variable_default";

/// Experimental feature without which Hasura ignores its variable of names.
const NAMING: &str = "naming_convention";

/// Hasura's experimental features that are always on.
const FEATURES: [&str; 4] = [NAMING, "inherited_roles", "streaming_subscriptions", NO_NULL];

impl Environment {
    /// Reads the variables through `variable`. Beside it one message for each variable whose text cannot be read, by its name; such a
    /// variable has no effect. A message never holds the text of a variable.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut variables = EnvironmentVariables::new(variable);
        note_without_effect(&mut variables);
        set_features(&mut variables);
        auth::set(&mut variables);
        set_served(&mut variables);
        set_calls(&mut variables);
        set_deliveries(&mut variables);
        variables.into_environment()
    }
}

fn note_without_effect(variables: &mut EnvironmentVariables<'_>) {
    for (name, advice) in NO_EFFECT {
        if variables.is_set(name) {
            variables.note(format!("{name} has no effect: {advice}"));
        }
    }
    let console = variables.read("WEIR_ENABLE_CONSOLE", read_flag);
    if console == Some(false) {
        variables.note(
            "HASURA_GRAPHQL_ENABLE_CONSOLE has no effect: the console asks for the admin secret, unless `dev` is on".into(),
        );
    }
}

/// `EXPERIMENTAL_FEATURES`, and `DEFAULT_NAMING_CONVENTION`, which under Hasura's name requires one of them, as in Hasura.
fn set_features(variables: &mut EnvironmentVariables<'_>) {
    let text = variables.read("WEIR_EXPERIMENTAL_FEATURES", read_text).unwrap_or_default();
    let features: Vec<&str> = text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    for feature in features.iter().filter(|it| !FEATURES.contains(it)) {
        variables.note(format!("HASURA_GRAPHQL_EXPERIMENTAL_FEATURES: Weir has no feature `{feature}`"));
    }
    if features.contains(&NO_NULL) {
        variables.keep(|config| config.no_null_unbound_variable_default = true);
    }
    let name = "HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION";
    let is_hasura_s = !variables.is_set("WEIR_DEFAULT_NAMING_CONVENTION") && variables.is_set(name);
    let convention = variables.read("WEIR_DEFAULT_NAMING_CONVENTION", |text| match text {
        "hasura-default" => Ok(NamingConvention::HasuraDefault),
        "graphql-default" => Ok(NamingConvention::GraphqlDefault),
        _ => Err("is none of: hasura-default, graphql-default".into()),
    });
    let Some(convention) = convention else { return };
    if is_hasura_s && !features.contains(&NAMING) {
        variables.note(format!(
            "{name} has no effect without `{NAMING}` in HASURA_GRAPHQL_EXPERIMENTAL_FEATURES, as in Hasura"
        ));
        return;
    }
    variables.keep(move |config| config.naming_convention = Some(convention));
}

/// Settings of what is served, and to which pages.
fn set_served(variables: &mut EnvironmentVariables<'_>) {
    variables.set("WEIR_METADATA_DIR", read_text, |config, it| {
        // A location of metadata given elsewhere is kept.
        config.metadata.get_or_insert_with(|| PathBuf::from(it));
    });
    variables.set("WEIR_ENABLE_ALLOWLIST", read_flag, |config, it| config.operations.allow_list = *it);
    variables.set("WEIR_STRINGIFY_NUMERIC_TYPES", read_flag, |config, it| {
        config.stringify_numeric_types = Some(*it);
    });
    variables.set("WEIR_INFER_FUNCTION_PERMISSIONS", read_flag, |config, it| {
        config.infer_function_permissions = Some(*it);
    });
    variables.set("WEIR_DISABLE_NATIVE_QUERY_VALIDATION", read_flag, |config, it| {
        config.disable_native_query_validation = *it;
    });
    variables.set("WEIR_LOG_LEVEL", read_log_level, |config, it| config.log.level.clone_from(it));
    variables.set("WEIR_CORS_DOMAIN", read_origins, |config, it| config.cors.origins = Some(it.clone()));
    variables.set("WEIR_DISABLE_CORS", read_flag, |config, it| {
        if *it {
            config.cors.origins = Some(Vec::new());
            config.cors.paths.clear();
        }
    });
}

/// Settings of calls of webhooks and remote schemas.
fn set_calls(variables: &mut EnvironmentVariables<'_>) {
    variables.set("WEIR_CONFIGURED_HEADER_PRECEDENCE", read_flag, |config, it| {
        config.webhooks.configured_headers_first = *it;
    });
    variables.set("WEIR_DEV_MODE", read_flag, |config, it| config.webhooks.is_dev_mode = *it);
    variables.set("WEIR_ENABLE_REMOTE_SCHEMA_PERMISSIONS", read_flag, |config, it| {
        config.webhooks.remote_schema_permissions = *it;
    });
    variables.set("WEIR_REMOTE_SCHEMA_PRIORITIZE_DATA", read_flag, |config, it| {
        config.webhooks.remote_schema_prioritizes_data = *it;
    });
    variables.set("WEIR_ADMIN_INTERNAL_ERRORS", read_flag, |config, it| {
        config.webhooks.admin_internal_errors = Some(*it);
    });
}

/// Settings of the delivery of events and of asynchronous actions.
fn set_deliveries(variables: &mut EnvironmentVariables<'_>) {
    variables.set("WEIR_EVENTS_HTTP_POOL_SIZE", read_number, |config, it| config.event_delivery.slots = *it);
    variables.set("WEIR_EVENTS_FETCH_BATCH_SIZE", read_number, |config, it| {
        config.event_delivery.batch = *it;
    });
    variables.set("WEIR_EVENTS_FETCH_INTERVAL", read_milliseconds, |config, it| {
        config.event_delivery.interval = *it;
    });
    variables.set("WEIR_GRACEFUL_SHUTDOWN_TIMEOUT", read_seconds, |config, it| {
        config.event_delivery.stop_max = *it;
    });
    variables.set("WEIR_ASYNC_ACTIONS_FETCH_INTERVAL", read_milliseconds, |config, it| {
        config.action_delivery.interval = *it;
    });
    variables.set("WEIR_ASYNC_ACTIONS_FETCH_BATCH_SIZE", read_number, |config, it| {
        config.action_delivery.batch = *it;
    });
}

fn read_log_level(text: &str) -> Result<String, String> {
    match text {
        "debug" | "info" | "warn" | "error" => Ok(text.to_owned()),
        _ => Err("is none of: debug, info, warn, error".into()),
    }
}

/// Reads a list of origins, parted by commas.
#[expect(clippy::unnecessary_wraps, reason = "readers of variables may fail")]
fn read_origins(text: &str) -> Result<Vec<String>, String> {
    let origins = text.split(',').map(|it| it.trim().trim_end_matches('/')).filter(|it| !it.is_empty());
    Ok(origins.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn check(variables: &[(&str, &str)], expected: Result<fn(&Config) -> bool, &str>) {
        let variable = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let (environment, errors) = Environment::read(&variable);
        let mut config = Config::default();
        environment.apply(&mut config);
        match (&errors[..], expected) {
            ([], Ok(holds)) => assert!(holds(&config), "{variables:?}: {config:?}"),
            ([message], Err(part)) => {
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
            &[("HASURA_GRAPHQL_CORS_DOMAIN", "https://*.a.example")],
            Ok(|it| {
                it.notes.is_empty()
                    && it.cors.origins.as_deref().is_some_and(|it| it == ["https://*.a.example"])
            }),
        );
        check(
            &[("HASURA_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS", "true")],
            Ok(|it| it.notes.is_empty() && it.webhooks.remote_schema_permissions),
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
        for name in ["ENABLE_ALLOWLIST", "STRINGIFY_NUMERIC_TYPES", "INFER_FUNCTION_PERMISSIONS"] {
            check(&[(&format!("HASURA_GRAPHQL_{name}"), "hush")], Err("is neither true nor false"));
        }
        check(&[("HASURA_GRAPHQL_LOG_LEVEL", "hush")], Err("HASURA_GRAPHQL_LOG_LEVEL is none of"));
        check(&[("HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION", "hush")], Err("is none of: hasura-default"));
    }
}
