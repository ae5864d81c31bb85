//! `@source`, `@cache`, `@policy`, `@graphql` and `@grpc`, which stand on the schema.

use super::fields::Fields;
use super::links::Known;
use crate::call::may_be_sent;
use crate::sdl::expression_keys::{Seen, Where, header_replacement, unread_header_reason};
use crate::sdl::outside::Own;
use crate::sdl::settings::fill_by_methods;
use crate::sdl::{
    BreakerSettings, GraphqlServer, GrpcServer, Policy, Reader, Service, ServiceId, hint, server_name,
};
use crate::selection::Selection;
use crate::template::{Base, Fixed, Header, fill_settings, parts_of, required_slots, slots};
use http::HeaderName;
use weir_language::ast::{Definition, Directive, ValueId};
use weir_language::span::Span;

/// A selection and the string it was written in.
pub(crate) type ParsedSelection = (Selection, ValueId);

/// Target of a `@policy` or `@cache`; servers by index.
pub(crate) enum Whom {
    Service(ServiceId),
    Graphql(usize),
    Grpc(usize),
}

/// Defaults of a service's calls.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) headers: Vec<Header>,
    pub(crate) path: Option<ParsedSelection>,
    pub(crate) params: Option<ParsedSelection>,
    pub(crate) success: Option<ParsedSelection>,
    pub(crate) error_message: Option<ParsedSelection>,
    pub(crate) error_extensions: Option<ParsedSelection>,
}

/// Maximum age of a connection in seconds: a day.
const CONNECTION_AGE_S_MAX: u32 = 86_400;

/// Maximum timeout in milliseconds: ten minutes.
const TIMEOUT_MS_MAX: u32 = 600_000;

impl<'d> Reader<'d> {
    pub(crate) fn services(&mut self) {
        let document = self.document;
        let schemas = document.definitions.iter().filter_map(|it| match it {
            Definition::Schema(schema) => Some(schema),
            _ => None,
        });
        let all: Vec<(&Directive, Option<Known>)> = schemas
            .flat_map(|schema| document.list(schema.directives))
            .map(|directive| (directive, self.resolve_directive(directive)))
            .collect();
        for &(directive, known) in &all {
            match known {
                Some(Known::Source) => self.source(directive),
                Some(Known::Graphql) => self.graphql(directive),
                Some(Known::Grpc) => self.grpc(directive),
                Some(Known::Link | Known::Cache | Known::Policy | Known::Federation(_) | Known::Cost(_))
                | None => {}
                Some(it) => self.report_misplaced(directive, it),
            }
        }
        if let Some((directive, _)) = all.first() {
            self.check_replaced(directive.span);
        }
        for (directive, known) in all {
            match known {
                Some(Known::Cache) => self.cache(directive),
                Some(Known::Policy) => self.policy(directive),
                _ => {}
            }
        }
    }

    fn source(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let name = self.need(&mut fields, "name").and_then(|it| self.string(it));
        let own = self.service_settings(name.as_deref(), directive.span);
        let mut defaults = Defaults::default();
        let mut base = None;
        if let Some(http) = self.need(&mut fields, "http")
            && let Some(mut http) = self.object(http, "http")
        {
            base = self.need(&mut http, "baseURL").and_then(|it| self.base(own, it));
            defaults.headers = self.own_headers(&mut http, own);
            defaults.path = self.optional_selection(&mut http, "path");
            defaults.params = self.optional_selection(&mut http, "queryParams");
            self.finish(http);
        }
        defaults.success = self.optional_selection(&mut fields, "isSuccess");
        (defaults.error_message, defaults.error_extensions) = self.error_mapping(&mut fields);
        self.finish(fields);
        if let Some(own) = own {
            self.replace(own, &mut defaults);
        }
        self.check_defaults(&defaults);
        let Some(name) = name else { return };
        // An invalid base URL was reported already; a dummy prevents follow-up errors.
        let base = base.unwrap_or_else(|| Base {
            tls: false,
            authority: "invalid".into(),
            path: "".into(),
            query: "".into(),
        });
        if self.mapping.services.iter().any(|it| *it.name == *name) {
            return self.complain(directive.span, format!("there are two sources called `{name}`"));
        }
        let location = self.location(directive.span);
        let policy = Policy::default();
        self.mapping.services.push(Service {
            name: name.into(),
            base,
            is_none: false,
            cache: None,
            policy,
            location,
        });
        self.defaults.push(defaults);
    }

    fn check_defaults(&mut self, defaults: &Defaults) {
        let mut seen = Seen::default();
        let answer = Where { answer: true, ..Where::SOURCE };
        let about = [&defaults.success, &defaults.error_message, &defaults.error_extensions];
        for (selection, literal) in about.into_iter().flatten() {
            self.check(selection, *literal, 0, &answer, &mut seen);
        }
        if let Some((path, literal)) = &defaults.path {
            self.check(path, *literal, 0, &Where::SOURCE, &mut seen);
            self.check_path(path, *literal, &Where::SOURCE);
        }
        if let Some((params, literal)) = &defaults.params {
            self.check(params, *literal, 0, &Where::SOURCE, &mut seen);
            self.check_params(params, *literal, &Where::SOURCE);
        }
    }

    /// `errors: {message:, extensions:}`.
    pub(crate) fn error_mapping(
        &mut self,
        fields: &mut Fields<'d>,
    ) -> (Option<ParsedSelection>, Option<ParsedSelection>) {
        let Some(errors) = self.take(fields, "errors") else { return (None, None) };
        let Some(mut errors) = self.object(errors, "errors") else { return (None, None) };
        let both = (
            self.optional_selection(&mut errors, "message"),
            self.optional_selection(&mut errors, "extensions"),
        );
        self.finish(errors);
        both
    }

    pub(crate) fn optional_selection(
        &mut self,
        fields: &mut Fields<'d>,
        name: &'d str,
    ) -> Option<ParsedSelection> {
        let literal = self.take(fields, name)?;
        Some((self.selection(literal)?, literal))
    }

    /// Base URL from the configuration, else `written`. `None` if a setting is missing, which is reported when the source is opened.
    fn base(&mut self, own: Option<Own<'d>>, written: ValueId) -> Option<Base> {
        let instead = own.and_then(|own| Some((own, own.said.base_url.as_ref()?)));
        let value = instead.map_or(written, |(own, text)| self.put(own, "base_url", text));
        let text = self.string(value)?;
        let parts = match parts_of(&text) {
            Ok(parts) => parts,
            Err(error) => {
                self.complain_within(value, error);
                return None;
            }
        };
        let mut seen = Seen::default();
        for slot in slots(parts.iter()) {
            self.check(&slot.expr, value, slot.at, &Where::SOURCE, &mut seen);
        }
        let has_settings = slots(parts.iter()).next().is_some();
        let filled = match fill_settings(&parts, &|variable, keys| self.outside.setting(variable, keys)) {
            Fixed::Open => fill_by_methods(&parts, self.outside, &self.mapping.schema),
            filled => filled,
        };
        let message = match filled {
            Fixed::Text(text) => match Base::parse(text.trim()) {
                Ok(base) => return Some(base),
                // Settings and the configuration may contain secrets, so the message hides them.
                Err(_) if instead.is_some() && !has_settings => {
                    "this is no base URL: write it as `https://host/path`".to_owned()
                }
                Err(_) if has_settings => {
                    "with its settings put in this is no base URL: they have to make up `https://host/path`"
                        .to_owned()
                }
                Err(message) => message,
            },
            Fixed::Missing if required_slots(&parts).next().is_some() => return None,
            Fixed::Missing => "this base URL has no value: write one behind `??`".to_owned(),
            Fixed::NoText => "a setting that stands in it is no single value".to_owned(),
            Fixed::Open => {
                "only `$config.name` and `$env.name` can stand in a base URL, with methods and `??`"
                    .to_owned()
            }
        };
        self.complain_of(value, message);
        None
    }

    /// Applies the replacements of a source's selections.
    fn replace(&mut self, own: Own<'d>, defaults: &mut Defaults) {
        let said = own.said;
        let all = [
            (&mut defaults.path, "path", &said.path),
            (&mut defaults.params, "query_params", &said.query_params),
            (&mut defaults.success, "is_success", &said.is_success),
            (&mut defaults.error_message, "errors.message", &said.error_message),
            (&mut defaults.error_extensions, "errors.extensions", &said.error_extensions),
        ];
        for (written, key, text) in all {
            if let Some(text) = text {
                let literal = self.put(own, key, text);
                *written = self.selection(literal).map(|it| (it, literal));
            }
        }
    }

    /// Reports replacements for unknown sources.
    fn check_replaced(&mut self, span: Span) {
        let mapping = &self.mapping;
        let servers = mapping.graphql.iter().map(|it| server_name(&it.prefix, "graphql"));
        let servers = servers.chain(mapping.grpc.iter().map(|it| server_name(&it.prefix, "grpc")));
        let names: Vec<&str> = mapping.services.iter().map(|it| &*it.name).chain(servers).collect();
        let lost = self.outside.services.keys().filter(|it| !names.contains(&it.as_str()));
        let message = |it: &String| {
            let near = hint(it, names.iter().copied());
            format!(
                "`services.{it}` in the configuration: the text has no `@source` of that name, and no `@graphql` or `@grpc` with that prefix{near}"
            )
        };
        let messages: Vec<String> = lost.map(message).collect();
        messages.into_iter().for_each(|it| self.complain(span, it));
    }

    /// Reads `headers: [{name:, from:}, {name:, value:}]`.
    pub(crate) fn headers(&mut self, fields: &mut Fields<'d>) -> Vec<(Header, ValueId)> {
        let Some(list) = self.take(fields, "headers") else { return Vec::new() };
        let mut headers = Vec::<Header>::new();
        let mut texts = Vec::new();
        for item in self.items(list) {
            let Some(mut fields) = self.object(item, "headers") else { continue };
            let name = self.need(&mut fields, "name").and_then(|it| self.string(it));
            let from = self.take(&mut fields, "from");
            let value = self.take(&mut fields, "value");
            let span = fields.span;
            self.finish(fields);
            let from_text = from.and_then(|it| self.string(it));
            if let Some((name, instead)) =
                from_text.as_deref().and_then(|it| Some((it, header_replacement(it)?)))
            {
                self.complain(
                    span,
                    format!("{}: write `value: \"{{{instead}}}\"`", unread_header_reason(name)),
                );
                continue;
            }
            let value_text = value.and_then(|it| self.string(it));
            let Some(name) = name else { continue };
            match Header::read(&name, from_text.as_deref(), value_text.as_deref()) {
                Ok(header) if headers.iter().any(|it| it.name == header.name) => {
                    self.complain(span, format!("header `{name}` is set twice"));
                }
                Ok(header) => {
                    texts.push(value.unwrap_or(item));
                    headers.push(header);
                }
                Err(Ok(message)) => self.complain(span, message),
                Err(Err(error)) => self.complain_within(value.unwrap_or(item), error),
            }
        }
        headers.into_iter().zip(texts).collect()
    }

    /// Headers in a place without arguments or keys: those of the file, replaced by those of the configuration.
    fn own_headers(&mut self, fields: &mut Fields<'d>, own: Option<Own<'d>>) -> Vec<Header> {
        let mut headers = self.headers(fields);
        for (header, literal) in own.map(|it| self.put_headers(it)).unwrap_or_default() {
            headers.retain(|it| it.0.name != header.name);
            headers.push((header, literal));
        }
        let mut seen = Seen::default();
        for (header, text) in &headers {
            for slot in header.slots() {
                self.check(&slot.expr, *text, slot.at, &Where::SOURCE, &mut seen);
                self.check_single(&slot.expr, *text, slot.at, &Where::SOURCE);
            }
        }
        headers.into_iter().map(|it| it.0).collect()
    }

    /// The service named by `source:`.
    pub(crate) fn service_of(&mut self, value: ValueId) -> Option<ServiceId> {
        let name = self.string(value)?;
        let at = self.mapping.services.iter().position(|it| *it.name == *name);
        if at.is_none() {
            let names = self.mapping.services.iter().map(|it| &*it.name);
            let message = format!("there is no `@source` called `{name}`{}", hint(&name, names));
            self.complain(self.document.value(value).span, message);
        }
        at.map(|at| ServiceId(at as u32))
    }

    fn policy(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let whom = self.need(&mut fields, "source").and_then(|it| self.whom_of(it));
        let mut number = |name, fields: &mut Fields<'d>, min, max| {
            self.take(fields, name).and_then(|it| self.whole_within(it, min, max))
        };
        let mut policy = Policy {
            timeout_ms: number("timeout", &mut fields, 1, TIMEOUT_MS_MAX),
            retries: number("retries", &mut fields, 0, 10),
            retry_budget_percent: number("retryBudget", &mut fields, 0, 100).map(|it| it as u8),
            concurrency_max: number("concurrency", &mut fields, 1, 1_000_000),
            queue_max: number("queue", &mut fields, 0, 1_000_000),
            bytes_max: number("maxBytes", &mut fields, 1, 1 << 30),
            connection_age_s: number("connectionAge", &mut fields, 1, CONNECTION_AGE_S_MAX),
            ..Policy::default()
        };
        policy.hedge_percentile = self.take(&mut fields, "hedge").and_then(|it| self.percentile(it));
        if let Some(breaker) = self.take(&mut fields, "breaker")
            && let Some(mut breaker) = self.object(breaker, "breaker")
        {
            let errors = self.need(&mut breaker, "errors").and_then(|it| self.whole_within(it, 1, 100));
            let window = self.need(&mut breaker, "window").and_then(|it| self.whole_within(it, 1, 3600));
            self.finish(breaker);
            policy.breaker = errors
                .zip(window)
                .map(|(errors, window_s)| BreakerSettings { errors_percent: errors as u8, window_s });
        }
        policy.answer_rules =
            self.take(&mut fields, "answerHeaders").map(|it| self.answer_rules(it)).unwrap_or_default();
        if !matches!(whom, Some(Whom::Grpc(_))) {
            policy.h2c = self.take(&mut fields, "h2c").and_then(|it| self.boolean(it)).unwrap_or(false);
            policy.deadline_header =
                self.take(&mut fields, "deadlineHeader").and_then(|it| self.header_name(it));
        }
        self.finish(fields);
        let place = match whom {
            None => return,
            Some(Whom::Service(source)) => &mut self.mapping.services[source.index()].policy,
            Some(Whom::Graphql(at)) => &mut self.mapping.graphql[at].policy,
            Some(Whom::Grpc(at)) => &mut self.mapping.grpc[at].policy,
        };
        if *place != Policy::default() {
            return self.complain(directive.span, "there are two `@policy` for this source");
        }
        *place = policy;
    }

    /// The service or server named by `source:` of a `@policy` or `@cache`.
    pub(crate) fn whom_of(&mut self, value: ValueId) -> Option<Whom> {
        let name = self.string(value)?;
        let mapping = &self.mapping;
        let service = mapping.services.iter().position(|it| *it.name == *name);
        let graphql = || mapping.graphql.iter().position(|it| server_name(&it.prefix, "graphql") == name);
        let grpc = || mapping.grpc.iter().position(|it| server_name(&it.prefix, "grpc") == name);
        let found = service.map(|at| Whom::Service(ServiceId(at as u32)));
        let found = found.or_else(|| graphql().map(Whom::Graphql)).or_else(|| grpc().map(Whom::Grpc));
        if found.is_none() {
            let servers = mapping.graphql.iter().map(|it| server_name(&it.prefix, "graphql"));
            let servers = servers.chain(mapping.grpc.iter().map(|it| server_name(&it.prefix, "grpc")));
            let hint = hint(&name, mapping.services.iter().map(|it| &*it.name).chain(servers));
            let message = format!(
                "there is no `@source` called `{name}`, and no `@graphql` or `@grpc` with that prefix{hint}"
            );
            self.complain(self.document.value(value).span, message);
        }
        found
    }

    /// A header name that calls may send.
    fn header_name(&mut self, value: ValueId) -> Option<HeaderName> {
        let text = self.string(value)?;
        let name = HeaderName::from_bytes(text.as_bytes()).ok().filter(may_be_sent);
        if name.is_none() {
            let span = self.document.value(value).span;
            self.complain(span, format!("`{text}` is no name of a header that may be sent"));
        }
        name
    }

    /// Reads `"p95"`.
    fn percentile(&mut self, value: ValueId) -> Option<u8> {
        let text = self.string(value)?;
        let number =
            text.strip_prefix('p').and_then(|it| it.parse().ok()).filter(|it| (50..=99).contains(it));
        if number.is_none() {
            self.complain(
                self.document.value(value).span,
                "a percentile from `\"p50\"` to `\"p99\"` is expected here",
            );
        }
        number
    }

    /// Reads `timeout` of a `@policy` beside a `@connect`.
    pub(crate) fn field_timeout(&mut self, directive: &'d Directive) -> Option<u32> {
        let mut fields = self.fields(directive);
        let timeout =
            self.need(&mut fields, "timeout").and_then(|it| self.whole_within(it, 1, TIMEOUT_MS_MAX));
        self.finish(fields);
        timeout
    }

    fn graphql(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let url = self.need(&mut fields, "url");
        let prefix = self.prefix(&mut fields);
        let own = self.service_settings(Some(server_name(&prefix, "graphql")), directive.span);
        let base = url.and_then(|it| self.base(own, it));
        let headers = self.own_headers(&mut fields, own);
        let visible = self.visible(&mut fields);
        self.finish(fields);
        self.check_server(own);
        let location = self.location(directive.span);
        if let Some(base) = base {
            let policy = Policy::default();
            let server = GraphqlServer { base, prefix, headers, visible, cache: None, policy, location };
            self.mapping.graphql.push(server);
        }
    }

    fn grpc(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let url = self.need(&mut fields, "url");
        let proto = self.need(&mut fields, "proto").and_then(|it| self.string(it));
        let prefix = self.prefix(&mut fields);
        let own = self.service_settings(Some(server_name(&prefix, "grpc")), directive.span);
        let base = url.and_then(|it| self.base(own, it));
        if let Some(url) = url.filter(|_| base.as_ref().is_some_and(|it| !it.query.is_empty())) {
            self.complain_of(url, "the URL of a gRPC server has no query");
        }
        let headers = self.own_headers(&mut fields, own);
        let visible = self.visible(&mut fields);
        self.finish(fields);
        self.check_server(own);
        let location = self.location(directive.span);
        if let (Some(base), Some(proto)) = (base, proto) {
            let proto = proto.into();
            let policy = Policy::default();
            self.mapping.grpc.push(GrpcServer {
                base,
                proto,
                prefix,
                headers,
                visible,
                cache: None,
                policy,
                location,
            });
        }
    }

    fn prefix(&mut self, fields: &mut Fields<'d>) -> Box<str> {
        let Some(value) = self.take(fields, "prefix") else { return "".into() };
        let text = self.string(value).unwrap_or_default();
        let mut bytes = text.bytes();
        let starts = bytes.next().is_none_or(|it| it.is_ascii_alphabetic() || it == b'_');
        if !starts || !bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_') || text.starts_with("__") {
            self.complain(self.document.value(value).span, "a prefix is a name: letters, digits and `_`");
        }
        text.into()
    }

    /// Placeholder for the service of connectors that make no call.
    pub(crate) fn stand_for_service(&mut self, base: Base, span: Span) -> ServiceId {
        if let Some(at) = self.mapping.services.iter().position(|it| it.is_none) {
            return ServiceId(at as u32);
        }
        let location = self.location(span);
        let policy = Policy::default();
        let name = "(none)".into();
        self.mapping.services.push(Service { name, base, is_none: true, cache: None, policy, location });
        self.defaults.push(Defaults::default());
        ServiceId(self.mapping.services.len() as u32 - 1)
    }

    /// The service for a `@connect` with an absolute URL.
    pub(crate) fn anonymous(&mut self, base: Base, span: Span) -> ServiceId {
        let name = base.origin();
        if let Some(at) = self.mapping.services.iter().position(|it| *it.name == *name) {
            return ServiceId(at as u32);
        }
        let policy = Policy::default();
        let location = self.location(span);
        self.mapping.services.push(Service {
            name: name.into(),
            base,
            is_none: false,
            cache: None,
            policy,
            location,
        });
        self.defaults.push(Defaults::default());
        ServiceId(self.mapping.services.len() as u32 - 1)
    }
}
