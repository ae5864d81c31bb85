//! Opens a text of services: reads it, finds its settings, and gets connections and rules of caching ready.

use super::division::Division;
use super::{HttpSource, Line, Shared};
use crate::cache::{Cache, Rule, Sharing};
use crate::call::{self, Upstream};
use crate::inputs::Settings;
use crate::sdl::{self, CacheRule, Connector, Mapping, Mistake, Place, Service};
use crate::selection::Variable;
use crate::selection::value::Value;
use crate::template::Header;
use http::header::AUTHORIZATION;
use http::{HeaderName, Method};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::lifetime::{Hint, HintAt};
use weir_engine::source::Scope;
use weir_language::span::Location;

/// Brackets that may be open in an answer.
const DEPTH_MAX: u32 = 200;

/// What a text of services is opened with.
pub struct Options<'o> {
    /// How the source is called.
    pub name: &'o str,
    /// Where answers are kept: one for the process.
    pub cache: Arc<Cache>,
    /// `$config`.
    pub config: &'o BTreeMap<String, String>,
    /// `$env`.
    pub env: &'o dyn Fn(&str) -> Option<String>,
}

/// Whether `text` describes services, and not types to be stored.
#[must_use]
pub fn is_services(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut words =
        lines.flat_map(|line| line.split(|it: char| !(it.is_alphanumeric() || "@_".contains(it))));
    words.any(|word| matches!(word, "@source" | "@connect" | "@graphql" | "@grpc"))
}

/// Reads `text`, which stands in `file`, and gets everything ready to be asked. Nothing is sent yet.
/// # Errors
/// All that is wrong with it, with its places.
pub fn open(text: &str, file: &str, options: &Options<'_>) -> Result<HttpSource, Vec<Mistake>> {
    let mapping = Arc::new(sdl::read(text, file)?);
    let file: Arc<str> = file.into();
    let mut mistakes = Vec::new();
    let settings = settings(&mapping, options, &file, &mut mistakes);
    let upstreams = mapping.services.iter().filter_map(|service| {
        let made = Upstream::new(&call_settings(service));
        made.map(Arc::new)
            .map_err(|error| mistakes.push(wrong(&file, service.location, error.to_string())))
            .ok()
    });
    let upstreams: Vec<Arc<Upstream>> = upstreams.collect();
    let open_tags = mapping.tags.iter().filter(|it| it.format.contains(['{', '$']));
    mistakes.extend(open_tags.map(|it| {
        let message =
            format!("`@cacheTag(format: \"{}\")` on `{}`: a tag has no values in it", it.format, it.ty);
        wrong(&file, Location { line: 1, column: 1 }, message)
    }));
    for connector in &mapping.connectors {
        mistakes.extend(unsupported(connector).map(|message| wrong(&file, connector.location, message)));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let lines = mapping.connectors.iter().map(|it| line(&mapping, it, &settings, &options.cache)).collect();
    let division = Division::new(&mapping);
    let hints = mapping.hints.iter().map(hint).collect();
    let cache = Arc::clone(&options.cache);
    let shared = Arc::new(Shared { mapping, upstreams, lines, cache, settings });
    Ok(HttpSource { name: options.name.into(), shared, division, hints })
}

fn hint(said: &sdl::Hint) -> HintAt {
    let scope = if said.private == Some(true) { Scope::Private } else { Scope::Public };
    let hint = Hint { max_age_s: said.max_age_s, inherits: said.inherit, scope };
    HintAt { on: said.ty.to_string(), field: said.field.as_ref().map(ToString::to_string), hint }
}

fn wrong(file: &Arc<str>, location: Location, message: impl Into<String>) -> Mistake {
    Mistake { file: Arc::clone(file), location, message: message.into() }
}

/// What a connector says that cannot be done.
fn unsupported(connector: &Connector) -> Option<String> {
    if connector.error_extensions.is_some() {
        return Some("`errors: {extensions: …}` is not supported: say it in `message`".into());
    }
    if connector.batch_max.is_some() && connector.success.is_some() {
        return Some("`isSuccess` is not supported where keys are asked for in batches: their answers are told by status".into());
    }
    None
}

/// `$config` and `$env`, with all the names that the text reads.
fn settings(
    mapping: &Mapping,
    options: &Options<'_>,
    file: &Arc<str>,
    mistakes: &mut Vec<Mistake>,
) -> Settings {
    let start = Location { line: 1, column: 1 };
    let mut object = |names: &[Box<str>], find: &dyn Fn(&str) -> Option<String>, mend: &str| {
        let mut member = |name: &str| match find(name) {
            Some(value) => Some((Cow::Owned(name.to_string()), Value::Text(Cow::Owned(value)))),
            None => {
                mistakes.push(wrong(file, start, mend.replace("{}", name)));
                None
            }
        };
        Value::Object(names.iter().filter_map(|it| member(it)).collect())
    };
    let config = object(
        &mapping.config,
        &|name| options.config.get(name).cloned(),
        "`$config.{}` has no value: set `config: {{}: …}` beside `file` in weir.yaml",
    );
    let env = object(&mapping.env, options.env, "`$env.{}` has no value: the environment has no `{}`");
    Settings { config, env, context: Value::Object(Vec::new()) }
}

fn call_settings(service: &Service) -> call::Settings {
    let usual = call::Policy::USUAL;
    let said = &service.policy;
    let policy = call::Policy {
        timeout: said.timeout_ms.map_or(usual.timeout, |it| Duration::from_millis(it.into())),
        body_bytes_max: said.bytes_max.map_or(usual.body_bytes_max, |it| it as usize),
        retries: said.retries.unwrap_or(usual.retries),
        retry_budget_percent: said.retry_budget_percent.map_or(usual.retry_budget_percent, u32::from),
        hedge_percentile: said.hedge_percentile.or(usual.hedge_percentile),
        breaker: said.breaker.map(|it| call::Breaker {
            errors_percent: it.errors_percent,
            window: Duration::from_secs(it.window_s.into()),
            pause: call::Breaker::PAUSE,
        }),
        calls_max: said.concurrency_max.map_or(usual.calls_max, |it| it as usize),
        queue_max: said.queue_max.map_or(usual.queue_max, |it| it as usize),
    };
    let protocol = if said.h2c { call::Protocol::Http2 } else { call::Protocol::Negotiated };
    let base = service.base.origin().parse().unwrap_or_default();
    call::Settings { base, ca: None, protocol, policy }
}

fn line(mapping: &Mapping, connector: &Connector, settings: &Settings, cache: &Cache) -> Line {
    let service = mapping.service(connector.service);
    let rule = rule(mapping, connector, cache);
    let private = service.cache.as_ref().filter(|it| it.private);
    let key_headers = private.map(|it| it.key.clone()).unwrap_or_default();
    let mut reads_headers: Vec<Box<str>> =
        connector.reads_headers.iter().chain(&key_headers).cloned().collect();
    reads_headers.sort_unstable();
    reads_headers.dedup();
    let alone = Rule { sharing: Sharing::Never, ..rule.clone() };
    let mut digest = Sha256::new();
    digest.update(service.base.origin());
    digest.update(format!("{:?} {:?} {:?}", connector.request, connector.selection, connector.keys));
    digest.update(format!("{:?} {:?} {:?}", settings.config, settings.env, settings.context));
    Line {
        alone: Arc::new(if key_headers.is_empty() { rule.clone() } else { alone }),
        rule: Arc::new(rule),
        key_headers,
        reads_headers,
        fingerprint: digest.finalize().into(),
        shown: format!("{} {}", service.name, place(mapping, connector.place)).into(),
        tags: tags(mapping, connector),
    }
}

/// What is thrown away by name: the service, and what `@cacheTag` says of the field, its type, or the entity.
fn tags(mapping: &Mapping, connector: &Connector) -> Vec<Arc<str>> {
    let schema = &mapping.schema;
    let (of_field, ty) = match connector.place {
        Place::Root(field) | Place::Field(field) | Place::Extension(field) => {
            let parent = schema.type_name(schema.field(field).parent);
            (Some((parent, schema.field_name(field))), schema.field(field).ty.base)
        }
        Place::Entity(ty) => (None, ty),
    };
    let ty = schema.type_name(ty);
    let said = mapping.tags.iter().filter(|tag| match &tag.field {
        Some(field) => of_field == Some((&*tag.ty, &**field)),
        None => &*tag.ty == ty,
    });
    let service = mapping.service(connector.service);
    std::iter::once(&service.name).chain(said.map(|it| &it.format)).map(|it| Arc::from(&**it)).collect()
}

/// `Type.field` or `Type`.
fn place(mapping: &Mapping, place: Place) -> String {
    let schema = &mapping.schema;
    match place {
        Place::Root(field) | Place::Field(field) | Place::Extension(field) => {
            format!("{}.{}", schema.type_name(schema.field(field).parent), schema.field_name(field))
        }
        Place::Entity(ty) => schema.type_name(ty).to_owned(),
    }
}

fn rule(mapping: &Mapping, connector: &Connector, cache: &Cache) -> Rule {
    let service = mapping.service(connector.service);
    let said = service.cache.as_ref();
    let seconds = |of: fn(&CacheRule) -> Option<u32>| said.and_then(of).map(|it| u64::from(it) * 1000);
    let changes = match connector.place {
        Place::Root(field) => mapping.schema.mutation == Some(mapping.schema.field(field).parent),
        Place::Field(_) | Place::Entity(_) | Place::Extension(_) => false,
    };
    let is_safe = connector.request.method == Method::GET
        || connector.request.method == Method::POST && said.is_some_and(|it| it.post);
    let sharing = match said {
        _ if changes || !is_safe => Sharing::Never,
        Some(it) if it.private && it.key.is_empty() => Sharing::Never,
        Some(it) if it.private => Sharing::Keyed,
        Some(it) if it.public => Sharing::Declared,
        Some(_) | None => Sharing::ByHeaders,
    };
    let names = |names: &[Box<str>]| {
        names.iter().filter_map(|it| HeaderName::from_bytes(it.as_bytes()).ok()).collect()
    };
    Rule {
        counters: cache.counters(&service.name),
        freshness: names(said.map_or(&[], |it| &it.freshness)),
        default_ms: seconds(|it| Some(it.default_s)).unwrap_or(0),
        stale_ms: seconds(|it| it.stale_s),
        stale_on_error_ms: seconds(|it| it.stale_if_error_s),
        jitter_percent: said.map_or(0, |it| it.jitter_percent),
        negative_ms: seconds(|it| Some(it.negative_s)).unwrap_or(0),
        sharing,
        held: held(connector),
        depth_max: DEPTH_MAX,
    }
}

/// The headers that the calls send. An `Authorization` that is the operator's own is not among them, as it makes no answer
/// anybody's.
fn held(connector: &Connector) -> Box<[HeaderName]> {
    let is_own = |header: &Header| {
        let mut used = header.slots().flat_map(|slot| slot.expr.variables());
        header.forwarded().is_none() && used.all(|it| matches!(it.variable, Variable::Config | Variable::Env))
    };
    let sent = connector.request.own_headers().iter();
    let held = sent.filter(|header| header.name != AUTHORIZATION || !is_own(header));
    held.map(|header| header.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::{held, is_services};
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
            let names = held(&mapping.connectors[0]);
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
        assert!(!is_services("type Dish { id: ID! name: String @search }"));
        assert!(!is_services("# @source comes later\ntype Dish { id: ID! sourced: Int }"));
    }
}
