//! Opens a file of services: parses it, resolves settings, prepares connections and cache rules.

use super::division::Division;
use super::entities;
use super::personal::Personal;
use super::service_tls::ServiceTls;
use super::{ConnectorRuntime, HttpSource, Shared};
use crate::cache::{BodyReading, Cache, Counters, Rule, Sharing};
use crate::caching::client_key::ClientKey;
use crate::caching::rule::{build_rule, header_names};
use crate::call::{self, CallCounts, Upstream};
use crate::sdl::{
    self, CacheRule, Connector, Embedding, Mapping, Mistake, Outside, Place, Policy, Replaced, Service,
    Setting,
};
use crate::selection::inputs::ConfigValues;
use crate::selection::value::Value;
use http::header::{AUTHORIZATION, RANGE};
use http::{HeaderName, Method};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::lifetime::{Hint, HintAt};
use weir_engine::source::CacheScope;
use weir_language::span::Location;

/// Options for opening a file of services.
pub struct Options<'o> {
    /// Name of the source.
    pub name: &'o str,
    /// Cache of answers, shared by the process.
    pub cache: Arc<Cache>,
    /// `$config`.
    pub config: &'o BTreeMap<String, Value<'static>>,
    /// Reads an environment variable, for `$env`.
    pub env: &'o dyn Fn(&str) -> Option<String>,
    /// Names that `$env` may read; `None` for all.
    pub env_allowed: Option<&'o [String]>,
    /// Replacements by the name of a `@source` or the prefix of a server.
    pub services: &'o BTreeMap<String, Replaced>,
    /// A file of PEM certificates, trusted in addition to the system's.
    pub ca: Option<&'o Path>,
    /// Only for text that was generated for the types of another source.
    pub embedding: Option<&'o Embedding<'o>>,
}

impl Options<'_> {
    fn may_read(&self, name: &str) -> bool {
        self.env_allowed.is_none_or(|all| all.iter().any(|it| it == name))
    }
}

/// True if `text` describes services, false for native types.
pub fn is_services(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    // A `@link` may rename the directives.
    let links = |line: &str| line.contains("specs.apollo.dev/connect/");
    if lines.clone().any(links) {
        return true;
    }
    let mut words =
        lines.flat_map(|line| line.split(|it: char| !(it.is_alphanumeric() || "@_".contains(it))));
    words.any(|word| matches!(word, "@source" | "@connect" | "@graphql" | "@grpc"))
}

/// Parses `text` of `file` and prepares its services. No call is made.
/// # Errors
/// All mistakes, with locations.
pub fn open(text: &str, file: &str, options: &Options<'_>) -> Result<HttpSource, Vec<Mistake>> {
    let env = |name: &str| (options.env)(name).filter(|_| options.may_read(name));
    let config = options.config;
    let services = options.services;
    let embedding = options.embedding;
    let env_shown = options.env_allowed.unwrap_or_default();
    let outside = Outside { config, env: &env, env_shown, services, embedding };
    let mapping = Arc::new(sdl::read_with(text, file, &outside)?);
    let file: Arc<str> = file.into();
    let mut mistakes = Vec::new();
    let settings = settings(&mapping, options, &file, &mut mistakes);
    let tls = ServiceTls::new(options.ca, options.services);
    let upstreams = mapping.services.iter().filter_map(|service| {
        let made = Upstream::new(&call_settings(service, &tls));
        made.map(Arc::new)
            .map_err(|error| mistakes.push(wrong(&file, service.location, error.to_string())))
            .ok()
    });
    let upstreams: Vec<Arc<Upstream>> = upstreams.collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let runtime = |(it, asks)| runtime(&mapping, it, asks, &settings, options);
    let runtimes = mapping.connectors.iter().zip(asks(&mapping)).map(runtime).collect();
    let division = Division::new(&mapping);
    let hints = mapping.hints.iter().map(|it| hint(it, &file)).collect();
    let cache = Arc::clone(&options.cache);
    let settings = Arc::new(settings);
    let shared = Arc::new(Shared { mapping, upstreams, runtimes, cache, settings });
    let entity_lookups = entities::entity_lookups(&shared.mapping);
    Ok(HttpSource { name: options.name.into(), shared, division, hints, entity_lookups, tls })
}

fn hint(said: &sdl::Hint, file: &str) -> HintAt {
    let scope = if said.private == Some(true) { CacheScope::Private } else { CacheScope::Public };
    let hint = Hint { max_age_s: said.max_age_s, inherits: said.inherit, scope };
    let Location { line, column } = said.location;
    let written = format!("{file}:{line}:{column}");
    HintAt { on: said.ty.to_string(), field: said.field.as_ref().map(ToString::to_string), hint, written }
}

fn wrong(file: &Arc<str>, location: Location, message: impl Into<String>) -> Mistake {
    Mistake { file: Arc::clone(file), location, message: message.into() }
}

/// `$config` and `$env`, with all names that the file reads.
fn settings(
    mapping: &Mapping,
    options: &Options<'_>,
    file: &Arc<str>,
    mistakes: &mut Vec<Mistake>,
) -> ConfigValues {
    let mut object = |settings: &[Setting], find: &dyn Fn(&str) -> Option<Value<'static>>, mend: &str| {
        let mut member = |it: &Setting| match find(&it.name).filter(|it| !it.is_nothing()) {
            Some(value) => Some((Cow::Owned(it.name.to_string()), value)),
            None if it.may_be_unset => None,
            None => {
                mistakes.push(wrong(file, it.location, mend.replace("{}", &it.name)));
                None
            }
        };
        Value::Object(settings.iter().filter_map(&mut member).collect())
    };
    // A use of `$config` as a whole has no name.
    let all: Vec<Setting> = mapping
        .config
        .iter()
        .filter(|it| it.name.is_empty())
        .flat_map(|whole| {
            let named = move |name: &String| Setting { name: name.as_str().into(), ..whole.clone() };
            options.config.keys().map(named)
        })
        .collect();
    let single =
        mapping.config.iter().filter(|it| !it.name.is_empty() && all.iter().all(|all| all.name != it.name));
    let read: Vec<Setting> = single.cloned().chain(all.iter().cloned()).collect();
    let config = object(
        &read,
        &|name| options.config.get(name).cloned(),
        "`$config.{}` has no value: set `config: {{}: …}` beside `file` in weir.yaml, or write `$config.{} ?? 'value'`",
    );
    let (allowed, refused): (Vec<_>, Vec<_>) =
        mapping.env.iter().cloned().partition(|it| options.may_read(&it.name));
    let env = object(
        &allowed,
        &|name| (options.env)(name).map(|it| Value::Text(Cow::Owned(it))),
        "`$env.{}` has no value: the environment has no `{}`; set it, or write `$env.{} ?? 'value'`",
    );
    mistakes.extend(refused.iter().map(|it| {
        let name = &it.name;
        let words =
            format!("`$env.{name}` may not be read: add `{name}` to `env` beside `file` in weir.yaml");
        wrong(file, it.location, words)
    }));
    ConfigValues { config, env, context: Value::Object(Vec::new()) }
}

fn call_settings(service: &Service, tls: &ServiceTls) -> call::UpstreamSettings {
    let base = service.base.origin().parse().unwrap_or_default();
    let protocol = protocol(&service.policy);
    let policy = call_policy(&service.policy);
    call::UpstreamSettings { base, tls: tls.of(&service.name), protocol, policy }
}

pub(super) fn protocol(said: &Policy) -> call::Protocol {
    if said.h2c { call::Protocol::Http2 } else { call::Protocol::Negotiated }
}

/// Limits and retries of a policy.
pub(super) fn call_policy(said: &Policy) -> call::CallPolicy {
    let usual = call::CallPolicy::USUAL;
    call::CallPolicy {
        timeout: said.timeout_ms.map_or(usual.timeout, |it| Duration::from_millis(it.into())),
        body_bytes_max: said.bytes_max.map_or(usual.body_bytes_max, |it| it as usize),
        retries: said.retries.unwrap_or(usual.retries),
        retry_budget_percent: said.retry_budget_percent.map_or(usual.retry_budget_percent, u32::from),
        hedge_percentile: said.hedge_percentile.or(usual.hedge_percentile),
        breaker: said.breaker.map(|it| call::BreakerPolicy {
            errors_percent: it.errors_percent,
            window: Duration::from_secs(it.window_s.into()),
            pause: call::BreakerPolicy::PAUSE,
        }),
        calls_max: said.concurrency_max.map_or(usual.calls_max, |it| it as usize),
        queue_max: said.queue_max.map_or(usual.queue_max, |it| it as usize),
        connection_age: said
            .connection_age_s
            .map_or(usual.connection_age, |it| Duration::from_secs(it.into())),
        answer_rules: (!said.answer_rules.is_empty()).then(|| said.answer_rules.as_slice().into()),
    }
}

/// Per connector: the first one that may make an equal call, or itself. `None` for calls that may change data: mutations, and field calls
/// by POST whose `@cache` does not declare POST as safe.
fn asks(mapping: &Mapping) -> Vec<Option<u32>> {
    let all = &mapping.connectors;
    let may_be_equal = |a: &Connector, b: &Connector| {
        a.service == b.service
            && a.batch_max.is_none()
            && b.batch_max.is_none()
            && a.request.may_equal(&b.request)
    };
    let mut numbers: Vec<u32> = (0..all.len() as u32).collect();
    for at in 0..all.len() {
        for other in 0..at {
            if numbers[other] != numbers[at] && may_be_equal(&all[other], &all[at]) {
                let kept = numbers[other].min(numbers[at]);
                let gone = numbers[other].max(numbers[at]);
                numbers[..=at].iter_mut().filter(|it| **it == gone).for_each(|it| *it = kept);
            }
        }
    }
    let reads = |it: &Connector| {
        !it.is_local
            && !changes(mapping, it)
            && (is_safe(mapping, it) || matches!(it.place, Place::Entity(_)))
    };
    all.iter().zip(numbers).map(|(it, number)| reads(it).then_some(number)).collect()
}

/// True if its calls only read.
fn is_safe(mapping: &Mapping, connector: &Connector) -> bool {
    let said = cache_rule(mapping, connector);
    matches!(connector.request.method.as_str(), "GET" | "QUERY")
        || connector.request.method == Method::POST && said.is_some_and(|it| it.post)
}

fn runtime(
    mapping: &Mapping,
    connector: &Connector,
    asks: Option<u32>,
    settings: &ConfigValues,
    options: &Options<'_>,
) -> ConnectorRuntime {
    let service = mapping.service(connector.service);
    let caller: Arc<str> = place(mapping, connector.place).into();
    let rule = rule(mapping, connector, options.cache.counters(&service.name, &caller));
    let cache_rule = cache_rule(mapping, connector);
    let key = ClientKey::of(cache_rule);
    let both = |own: &[Box<str>], more: &[Box<str>]| {
        let mut all: Vec<Box<str>> = own.iter().chain(more).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let reads_headers = both(&connector.reads_headers, &key.headers);
    let reads_claims = both(&connector.reads_claims, &key.claims);
    let alone = Rule { sharing: Sharing::Never, ..rule.clone() };
    let anonymous = Rule { anonymous: true, ..rule.clone() };
    let personal = Personal::new(connector.request.own_headers(), &reads_headers);
    let mut digest = Sha256::new();
    digest.update(format!("{:?} {:?} {:?}", service.name, service.base.origin(), cache_rule));
    // A service may answer by the certificate that it is shown.
    let shown = options.services.get(&*service.name).map(|it| it.tls.shown_certificate());
    digest.update(format!("{shown:?}"));
    let service_fingerprint = digest.clone().finalize().into();
    digest.update(format!("{:?} {:?} {:?}", connector.request, connector.selection, connector.keys));
    digest.update(format!("{:?} {:?} {:?}", settings.config, settings.env, settings.context));
    digest.update(format!("{:?} {:?}", connector.tags, connector.answer_headers));
    ConnectorRuntime {
        alone: Arc::new(alone),
        anonymous: Arc::new(anonymous),
        rule: Arc::new(rule),
        key,
        reads_headers,
        reads_claims,
        personal,
        asks,
        fingerprint: digest.finalize().into(),
        service_fingerprint,
        shown: format!("{} {caller}", service.name).into(),
        tags: tags(mapping, connector),
        named: connector
            .tags
            .iter()
            .filter(|it| it.name.as_fixed().is_none())
            .map(|it| it.name.clone())
            .collect(),
        service: Arc::from(&*service.name),
        counts: Arc::new(CallCounts::new(caller)),
    }
}

/// Tags of a connector: the service, and `@cacheTag` of the field, its type or the entity. A mutation with `@cacheTag` invalidates only
/// those tags.
fn tags(mapping: &Mapping, connector: &Connector) -> Vec<Arc<str>> {
    let is_told = changes(mapping, connector) && connector.tags.iter().any(|it| it.on_field);
    let service = (!is_told).then(|| &*mapping.service(connector.service).name);
    let fixed = connector.tags.iter().filter_map(|it| it.name.as_fixed());
    service.into_iter().chain(fixed).map(Arc::from).collect()
}

/// True for a mutation field.
fn changes(mapping: &Mapping, connector: &Connector) -> bool {
    match connector.place {
        Place::Root(field) => mapping.schema.mutation == Some(mapping.schema.field(field).parent),
        Place::Field(_) | Place::Entity(_) | Place::Extension(_) => false,
    }
}

/// Formats a place as `Type.field` or `Type`.
fn place(mapping: &Mapping, place: Place) -> String {
    let schema = &mapping.schema;
    match place {
        Place::Root(field) | Place::Field(field) | Place::Extension(field) => {
            format!("{}.{}", schema.type_name(schema.field(field).parent), schema.field_name(field))
        }
        Place::Entity(ty) => schema.type_name(ty).to_owned(),
    }
}

fn rule(mapping: &Mapping, connector: &Connector, counters: Arc<Counters>) -> Rule {
    let said = cache_rule(mapping, connector);
    let only_reads = is_safe(mapping, connector) && !changes(mapping, connector);
    // Answers of GraphQL servers are JSON, whatever their `Content-Type`.
    let reading = if connector.graphql.is_some() { BodyReading::Json } else { BodyReading::ByType };
    let kept = header_names(&connector.answer_headers);
    // An answer to a condition of the operator's own, or to a part of a range, is not the answer to the call without it.
    let own = connector.request.own_headers();
    let is_own = own.iter().any(|it| it.name.as_str().starts_with("if-") || it.name == RANGE);
    let revalidates = connector.request.method == Method::GET && !is_own && !changes(mapping, connector);
    Rule { reading, kept, revalidates, ..build_rule(said, only_reads, sent_headers(connector), counters) }
}

/// `@cache` of a connector's calls.
fn cache_rule<'m>(mapping: &'m Mapping, connector: &'m Connector) -> Option<&'m CacheRule> {
    connector.cache.as_ref().or(mapping.service(connector.service).cache.as_ref())
}

/// The headers that the calls send. An `Authorization` that is the operator's own is not among them, as it makes no answer
/// anybody's.
fn sent_headers(connector: &Connector) -> Box<[HeaderName]> {
    let sent = connector.request.own_headers().iter();
    let held = sent.filter(|header| header.name != AUTHORIZATION || !header.is_operators());
    held.map(|header| header.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_services, sent_headers};
    use crate::sdl;

    #[test]
    fn an_authorization_makes_answers_somebodys_unless_it_is_the_operators() {
        let check = |header: &str, expected: &[&str]| {
            let text = format!(
                "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"]) \
                 @source(name: \"a\", http: {{baseURL: \"http://a\", headers: [{{name: \"X-A\", value: \"1\"}}, {header}]}})\n\
                 type Query {{ a: Int @connect(source: \"a\", http: {{GET: \"/\"}}, selection: \"$\") }}"
            );
            let mapping = sdl::read(&text, "a.graphql").unwrap();
            let names = sent_headers(&mapping.connectors[0]);
            assert_eq!(names.iter().map(|it| it.as_str()).collect::<Vec<_>>(), expected, "{header}");
        };
        check(r#"{name: "Authorization", from: "Authorization"}"#, &["x-a", "authorization"]);
        check(r#"{name: "Authorization", from: "x-token"}"#, &["x-a", "authorization"]);
        check(
            r#"{name: "Authorization", value: "Bearer {$request.headers.'x-token'}"}"#,
            &["x-a", "authorization"],
        );
        check(r#"{name: "Authorization", value: "Bearer {$config.token}"}"#, &["x-a"]);
        check(r#"{name: "Authorization", value: "Bearer secret"}"#, &["x-a"]);
    }

    #[test]
    fn services_are_told_from_types_by_their_directives() {
        assert!(is_services("extend schema @source(name: \"a\", http: {baseURL: \"http://a\"})"));
        assert!(is_services("type Query { a: Int @connect(http: {GET: \"http://a/\"}, selection: \"$\") }"));
        let renamed = r#"@link(url: "https://specs.apollo.dev/connect/v0.2", import: [{name: "@connect", as: "@rest"}])"#;
        assert!(is_services(&format!("extend schema\n  {renamed}\ntype Query {{ a: Int @rest }}")));
        assert!(!is_services(&format!("# {renamed}\ntype Dish {{ id: ID! }}")));
        assert!(!is_services("type Dish { id: ID! name: String @search }"));
        assert!(!is_services("# @source comes later\ntype Dish { id: ID! sourced: Int }"));
    }
}
