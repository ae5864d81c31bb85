//! Arguments of `@custom(http: {…})`.

use super::super::SdlReader;
use super::Scope;
use crate::custom::{CustomRequest, HeaderPair, Owner, RemoteOperation, Template};
use weir_language::ast::{Directive, ValueId, ValueKind};
use weir_language::span::Span;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const HTTP: [&str; 9] = [
    "url",
    "method",
    "body",
    "graphql",
    "mode",
    "forwardHeaders",
    "secretHeaders",
    "introspectionHeaders",
    "skipIntrospection",
];

impl<'d> SdlReader<'d> {
    /// The call; names of variables that it reads go to `used`.
    pub(super) fn request(
        &mut self,
        directive: Directive,
        scope: &Scope<'d>,
        secrets: &[(String, String)],
        used: &mut Vec<String>,
    ) -> Option<CustomRequest> {
        let [http, dql] = self.arguments(directive, ["http", "dql"]);
        if let Some(dql) = dql {
            let message = "`@custom(dql:)` is not served: DQL is Dgraph's own language; ask with the queries that are made of the types, or let a service answer by `@custom(http: …)`";
            self.complain(self.document.value(dql).span, message);
            return None;
        }
        let Some(http) = http else {
            self.complain(directive.span, "`@custom` needs `(http: {url: …, method: …})`");
            return None;
        };
        let [url, method, body, graphql, mode, forward, secret, introspection, skip] =
            self.object_fields(http, HTTP);
        let (Some(url), Some(method)) = (url, method) else {
            self.complain(directive.span, "`@custom(http:)` needs `url` and `method`");
            return None;
        };
        let method = self.method(method);
        let graphql = graphql.and_then(|it| self.string(it)).map(|it| (self.operation(&it.0, it.1), it.1));
        let is_batch = mode.is_some_and(|it| self.mode(it, scope));
        let fixed = why_fixed(graphql.is_some(), is_batch);
        let url = self.string(url).and_then(|it| self.url(&it.0, it.1, scope, fixed, used))?;
        let body = body.and_then(|it| self.string(it));
        let body = body.map(|it| (self.body(&it.0, it.1, scope, used), it.1));
        let method = method?;
        self.check_parts(method, directive.span, graphql.as_ref(), body.as_ref(), is_batch);
        let graphql = match graphql {
            Some((Some(operation), span)) => {
                self.check_operation(&operation, span, body.as_ref(), scope, is_batch, used);
                Some(operation)
            }
            Some((None, _)) => return None,
            None => None,
        };
        let body = body.and_then(|it| it.0);
        self.check_key(directive.span, graphql.is_some() || body.is_some(), scope, used);
        let forwarded = forward.map_or_else(Vec::new, |it| self.header_pairs(it, None));
        let secret = secret.map_or_else(Vec::new, |it| self.header_pairs(it, Some(secrets)));
        let introspection = introspection.map_or_else(Vec::new, |it| self.header_pairs(it, Some(secrets)));
        self.check_headers(directive.span, &forwarded, &secret);
        let is_introspected = skip.is_none_or(|it| self.boolean(it) != Some(true));
        Some(CustomRequest {
            method,
            url,
            body,
            graphql,
            is_batch,
            forwarded,
            secret,
            introspection,
            is_introspected,
        })
    }

    fn method(&mut self, value: ValueId) -> Option<&'static str> {
        let word = self.str(self.document.value(value).span).trim_matches('"');
        let found = METHODS.iter().find(|it| **it == word).copied();
        if found.is_none() {
            let message = format!("`method` is one of {}", METHODS.join(", "));
            self.complain(self.document.value(value).span, message);
        }
        found
    }

    fn mode(&mut self, value: ValueId, scope: &Scope<'_>) -> bool {
        let written = self.document.value(value).span;
        let word = self.str(written).trim_matches('"');
        if !["SINGLE", "BATCH"].contains(&word) {
            self.complain(written, "`mode` is SINGLE or BATCH");
        } else if scope.ty.is_none() {
            self.complain(written, "`mode` stands on fields of types: a root field is one call, remove it");
        }
        word == "BATCH"
    }

    /// Checks which arguments may be combined.
    fn check_parts(
        &mut self,
        method: &str,
        span: Span,
        graphql: Option<&(Option<RemoteOperation>, Span)>,
        body: Option<&(Option<Template>, Span)>,
        is_batch: bool,
    ) {
        match (graphql, body) {
            (Some((_, at)), _) if method != "POST" => {
                self.complain(*at, "`graphql` is sent by `method: POST`");
            }
            (Some(_), Some((_, at))) if !is_batch => {
                self.complain(
                    *at,
                    "`graphql` and `body` exclude each other in `mode: SINGLE`: remove `body`",
                );
            }
            (Some(_), None) if is_batch => {
                self.complain(
                    span,
                    "`graphql` in `mode: BATCH` needs `body`, which names the fields that are sent",
                );
            }
            (None, None) if is_batch => {
                self.complain(
                    span,
                    "`mode: BATCH` needs `body`: the list of what it makes of each object is sent",
                );
            }
            (None, Some(_)) if is_batch && method != "POST" => {
                self.complain(span, "`mode: BATCH` is sent by `method: POST`");
            }
            _ => {}
        }
    }

    /// Variables of a remote operation: in `SINGLE` each is a value of the field, in `BATCH` there is one, the list.
    fn check_operation(
        &mut self,
        operation: &RemoteOperation,
        span: Span,
        body: Option<&(Option<Template>, Span)>,
        scope: &Scope<'d>,
        is_batch: bool,
        used: &mut Vec<String>,
    ) {
        if is_batch {
            let is_one = match (operation.variables.as_slice(), operation.arguments.as_slice()) {
                ([(variable, _)], [(_, Some(argument))]) => variable == argument,
                _ => false,
            };
            if !is_one {
                self.complain(
                    span,
                    "`graphql` in `mode: BATCH` has one argument that is one variable, as in `query($input: [BoatInput]) { fees(input: $input) }`",
                );
            }
            if let Some((Some(body), at)) = body
                && !matches!(body, Template::Object(_))
            {
                self.complain(*at, "`body` is an object of the fields that are sent, as in `{ reg: $reg }`");
            }
            return;
        }
        for (name, _) in &operation.variables {
            self.variable(scope, name, span);
            used.push(name.clone());
        }
    }

    /// A call of a type's field says which object it is about.
    fn check_key(&mut self, span: Span, has_template: bool, scope: &Scope<'d>, used: &[String]) {
        let Owner::Type(owner) = &scope.owner else { return };
        // A missing variable has been reported already.
        let has_key = used.iter().any(|it| self.find_variable(scope, it).is_none_or(|it| it.is_key));
        if has_key {
            return;
        }
        let part = if has_template { "body template" } else { "url" };
        let field = scope.field;
        let message = format!(
            "Type {owner}; Field {field}: @custom directive, {part} must use a field with type ID! or a field with @id directive."
        );
        self.complain(span, message);
    }

    /// `["remote:local", "both"]`. `secrets`: the locals are names of these.
    fn header_pairs(&mut self, value: ValueId, secrets: Option<&[(String, String)]>) -> Vec<HeaderPair> {
        if !matches!(self.document.value(value).kind, ValueKind::List(_)) {
            self.complain(self.document.value(value).span, "expected a list of names of headers");
            return Vec::new();
        }
        let mut pairs = Vec::new();
        for (word, span) in self.read_names(value) {
            let (remote, local) = word.split_once(':').unwrap_or((&word, &word));
            let remote = remote.trim().to_owned();
            let local = local.trim().to_owned();
            if let Some(secrets) = secrets
                && !secrets.iter().any(|it| it.0 == local)
            {
                let hint = super::hint(&local, secrets.iter().map(|it| &*it.0));
                let message =
                    format!("there is no secret `{local}`{hint}: write `# Dgraph.Secret {local} \"…\"`");
                self.complain(span, message);
            }
            pairs.push(HeaderPair { remote, local });
        }
        pairs
    }

    fn check_headers(&mut self, span: Span, forwarded: &[HeaderPair], secret: &[HeaderPair]) {
        let all: Vec<&HeaderPair> = forwarded.iter().chain(secret).collect();
        for (at, pair) in all.iter().enumerate() {
            if all[..at].iter().any(|it| it.remote.eq_ignore_ascii_case(&pair.remote)) {
                let message = format!("two headers of the call are called `{}`: keep one", pair.remote);
                self.complain(span, message);
            }
        }
    }
}

/// Why no variable may stand in the URL, if so.
const fn why_fixed(is_graphql: bool, is_batch: bool) -> Option<&'static str> {
    match (is_graphql, is_batch) {
        (true, _) => Some("with `graphql` no variable stands in the URL"),
        (false, true) => Some("with `mode: BATCH` no variable stands in the URL: put it into `body`"),
        (false, false) => None,
    }
}
