//! `@connect`: whom a field or type is asked of, how, and what is taken of the answer.

use super::fields::Fields;
use super::links::Known;
use super::services::ParsedSelection;
use crate::sdl::expression_keys::{Seen, Where};
use crate::sdl::{Connector, ConnectorId, Place, Reader, ServiceId};
use crate::selection::{Selection, SelectionError};
use crate::template::{Base, Header, Request, find_fragment, is_dropped};
use http::Method;
use weir_language::ast::{Definition, Directive, FieldDefinition, ValueId};
use weir_language::schema::{FieldId, TypeId, TypeKind};
use weir_language::span::Span;

/// Default of `batch.maxSize`.
const BATCH_DEFAULT: u32 = 100;
/// The first version 0.x with connectors without `http`.
const LOCAL_SINCE: u8 = 4;
/// Maximum of `batch.maxSize`.
const BATCH_MAX: u32 = 0x7fff_ffff;

/// HTTP methods, which are the keys of `http` for URLs.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"];

/// `http` of a `@connect`.
struct Http {
    request: Request,
    /// True if there is no `http`.
    is_local: bool,
    service: ServiceId,
    url: Option<ValueId>,
    headers: Vec<(Header, ValueId)>,
    path: Option<ParsedSelection>,
    params: Option<ParsedSelection>,
    body: Option<ParsedSelection>,
    selections: Vec<ParsedSelection>,
}

impl<'d> Reader<'d> {
    pub(crate) fn connect_type(&mut self, directive: &'d Directive, ty: TypeId, beside: &'d [Directive]) {
        let schema = &self.mapping.schema;
        if self.is_root(ty) || schema.ty(ty).kind != TypeKind::Object || self.mapping.foreign.contains(&ty) {
            let message = "`@connect` stands on object types of this text and on fields";
            return self.complain(directive.span, message);
        }
        let place = Where { this: Some(ty), batch: true, ..Where::SOURCE };
        self.connect(directive, Place::Entity(ty), place, beside, None);
    }

    pub(crate) fn connect_field(&mut self, directive: &'d Directive, ty: TypeId, field: &'d FieldDefinition) {
        let schema = &self.mapping.schema;
        let Some(id) = schema.field_by_name(ty, self.str(field.name)) else { return };
        if schema.ty(ty).kind != TypeKind::Object || Some(ty) == schema.subscription {
            return self.complain(
                directive.span,
                "`@connect` stands on fields of object types, not of interfaces or subscriptions",
            );
        }
        let root = self.is_root(ty);
        let is_alternative = !self.mapping.connectors_of(id).is_empty();
        if is_alternative && (root || self.mapping.foreign.contains(&ty)) {
            let message = "this field has several connectors, and the one that gives most of its fields is asked: what only another gives is null";
            self.note(directive.span, message);
        }
        let place = match (root, self.mapping.foreign.contains(&ty)) {
            (true, _) => Place::Root(id),
            (false, true) => Place::Extension(id),
            (false, false) => Place::Field(id),
        };
        let this = (!root).then_some(ty);
        let batch = !root && self.outside.embedding.is_some();
        let scope = Where { args: Some(id), this, batch, ..Where::SOURCE };
        let beside = self.document.list(field.directives);
        let policy = beside.iter().find(|it| self.resolve_directive(it) == Some(Known::Policy));
        let timeout = policy.and_then(|it| self.field_timeout(it));
        self.connect(directive, place, scope, beside, timeout);
    }

    fn connect(
        &mut self,
        directive: &'d Directive,
        place: Place,
        scope: Where,
        beside: &'d [Directive],
        timeout_ms: Option<u32>,
    ) {
        let mut fields = self.fields(directive);
        let http = self.read_source_and_http(&mut fields, directive);
        let literal = self.need(&mut fields, "selection");
        let selection = literal.and_then(|it| self.selection(it));
        let batch = self.take(&mut fields, "batch").and_then(|it| self.batch(it));
        let entity = self.take(&mut fields, "entity").and_then(|it| Some((it, self.boolean(it)?)));
        self.label(&mut fields);
        let graphql = self.outside.embedding.and_then(|_| self.take(&mut fields, "graphql"));
        let graphql = graphql.and_then(|it| self.string(it)).map(String::into_boxed_str);
        let success = self.optional_selection(&mut fields, "isSuccess");
        let (message, extensions) = self.error_mapping(&mut fields);
        self.finish(fields);
        let (Some(http), Some(selection), Some(literal)) = (http, selection, literal) else { return };
        let mut seen = Seen::default();
        self.check_method(&http, place);
        self.check_request(&http, &scope, &mut seen);
        let answer = Where { answer: true, batch: false, ..scope };
        self.check_selection(&http, &selection, literal, &answer, &mut seen);
        let about = [&success, &message, &extensions];
        for (selection, literal) in about.into_iter().flatten() {
            self.check(selection, *literal, 0, &answer, &mut seen);
        }
        self.check_keys(directive, place, &seen, batch);
        seen.keys.sort_by_key(|it| it.is_optional);
        let [success, error_message] = self.with_defaults(http.service, [success, message], &mut seen);
        let error_extensions = self.error_extensions(http.service, extensions, &mut seen);
        let connector = Connector {
            place,
            service: http.service,
            success,
            graphql,
            error_message,
            error_extensions,
            request: http.request,
            is_local: http.is_local,
            batch_max: seen.batch.then(|| batch.map_or(BATCH_DEFAULT, |it| it.0)),
            keys: seen.keys,
            selection,
            node: None,
            items: None,
            tags: Vec::new(),
            cache: self.cache_beside(beside, http.service),
            timeout_ms,
            reads_headers: seen.headers,
            answer_headers: seen.answer_headers,
            reads_claims: seen.claims,
            location: self.location(directive.span),
        };
        self.add(connector, literal);
        self.entity(entity, directive, place);
    }

    /// Reads `source` and `http`, or what stands for them.
    fn read_source_and_http(&mut self, fields: &mut Fields<'d>, directive: &'d Directive) -> Option<Http> {
        let source = self.take(fields, "source");
        let service = source.map(|it| self.service_of(it));
        match self.take(fields, "http") {
            Some(value) => self.http(value, service, directive.span),
            None => self.stand_for_http(directive),
        }
    }

    /// Checks `selection` over the answer to `http`.
    fn check_selection(
        &mut self,
        http: &Http,
        selection: &Selection,
        literal: ValueId,
        answer: &Where,
        seen: &mut Seen,
    ) {
        self.check(selection, literal, 0, &Where { tolerant: true, ..*answer }, seen);
        if http.is_local {
            self.check_local(selection, literal);
        }
    }

    /// `isSuccess` and `errors.message`: the connector's `own`, else those of its service.
    fn with_defaults(
        &self,
        service: ServiceId,
        own: [Option<ParsedSelection>; 2],
        seen: &mut Seen,
    ) -> [Option<Selection>; 2] {
        let defaults = &self.defaults[service.index()];
        let mut defaults = [&defaults.success, &defaults.error_message].into_iter();
        own.map(|own| {
            let default = defaults.next().and_then(Option::as_ref);
            let chosen = own.or_else(|| default.cloned()).map(|it| it.0);
            chosen.iter().for_each(|it| seen.client(it));
            chosen
        })
    }

    /// `errors.extensions` of the service, overridden by the connector's `own`.
    fn error_extensions(
        &self,
        service: ServiceId,
        own: Option<ParsedSelection>,
        seen: &mut Seen,
    ) -> Vec<Selection> {
        let default = self.defaults[service.index()].error_extensions.clone();
        let all: Vec<Selection> = default.into_iter().chain(own).map(|it| it.0).collect();
        all.iter().for_each(|it| seen.client(it));
        all
    }

    /// Checks `entity` of a `@connect` at `place`. `said` is its value and location.
    fn entity(&mut self, said: Option<(ValueId, bool)>, directive: &'d Directive, place: Place) {
        match (said, place) {
            (Some((at, false)), Place::Entity(_)) => {
                let span = self.document.value(at).span;
                self.complain(span, "the `@connect` of a type finds its objects: leave `entity` out");
            }
            (Some((_, true)), Place::Root(_) | Place::Field(_) | Place::Extension(_)) => {
                self.as_entity(directive, place);
            }
            (Some(_) | None, _) => {}
        }
    }

    /// Reads `id: "name"`, a label for humans.
    fn label(&mut self, fields: &mut Fields<'d>) {
        let Some(value) = self.take(fields, "id") else { return };
        let Some(label) = self.string(value) else { return };
        let mut bytes = label.bytes();
        let is_name = bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
            && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let span = self.document.value(value).span;
        if !is_name {
            self.complain(span, "an `id` is a name: letters, digits and `_`");
        } else if self.labels.contains(&label) {
            self.complain(span, format!("there are two connectors called `{label}`"));
        }
        self.labels.push(label);
    }

    fn add(&mut self, mut connector: Connector, literal: ValueId) {
        if connector.batch_max.is_some() {
            connector.items = self.batch_items(&connector, literal);
        }
        self.mapping.add_connector(connector);
        self.selections.push(Some(literal));
    }

    /// `http: {GET: "…", headers:, body:, queryParams:}`.
    fn http(&mut self, value: ValueId, service: Option<Option<ServiceId>>, span: Span) -> Option<Http> {
        let mut fields = self.object(value, "http")?;
        let mut urls = Vec::new();
        for name in METHODS {
            let method = Method::from_bytes(name.as_bytes()).ok();
            urls.extend(method.zip(self.take(&mut fields, name)));
        }
        let headers = self.headers(&mut fields);
        let path = self.optional_selection(&mut fields, "path");
        let params = self.optional_selection(&mut fields, "queryParams");
        let body = self.optional_selection(&mut fields, "body");
        let whole = fields.span;
        self.finish(fields);
        let [(method, url)] = urls.as_slice() else {
            self.complain(whole, "`http` needs one of GET, POST, PUT, PATCH, DELETE and QUERY, and no more");
            return None;
        };
        let text = self.string(*url)?;
        if let Some(at) = find_fragment(&text) {
            let message = "what stands behind `#` is not sent: write `%23` for the letter";
            self.note_shifted(*url, 0, SelectionError::new(Span::new(at as u32, text.len() as u32), message));
        }
        let (service, base) = self.resolve_service(*url, &text, service, span)?;
        let mut request = match Request::read((*method).clone(), &base, &text) {
            Ok(request) => request,
            Err(error) => {
                self.complain_within(*url, error);
                return None;
            }
        };
        let defaults = &self.defaults[service.index()];
        request.add_headers(defaults.headers.iter().cloned());
        request.add_headers(headers.iter().map(|it| it.0.clone()));
        for (at, list) in [&defaults.path, &path].into_iter().enumerate() {
            list.iter().for_each(|it| request.add_path(it.0.clone(), at == 0));
        }
        for (params, _) in defaults.params.iter().chain(&params) {
            request.add_params(params.clone());
        }
        if let Some((body, _)) = &body {
            request.set_body(body.clone());
        }
        let of_source = [&defaults.path, &defaults.params].map(Clone::clone).into_iter().flatten();
        let selections = of_source.chain(path.clone()).chain(params.clone()).chain(body.clone()).collect();
        let url = Some(*url);
        Some(Http { request, is_local: false, service, url, headers, path, params, body, selections })
    }

    /// Request of a connector that maps variables alone: none is sent.
    fn stand_for_http(&mut self, directive: &Directive) -> Option<Http> {
        let version = self.links.version;
        if version < LOCAL_SINCE {
            let message = format!(
                "`@connect` needs `http`: without it, variables alone are mapped from connect v0.{LOCAL_SINCE} on, and this text links v0.{version}"
            );
            self.complain(directive.span, message);
            return None;
        }
        let base = Base { tls: false, authority: "none".into(), path: "".into(), query: "".into() };
        let request = Request::read(Method::GET, &base, "/").ok()?;
        let service = self.stand_for_service(base, directive.span);
        Some(Http {
            request,
            is_local: true,
            service,
            url: None,
            headers: Vec::new(),
            path: None,
            params: None,
            body: None,
            selections: Vec::new(),
        })
    }

    /// The service to call, and its base URL.
    fn resolve_service(
        &mut self,
        url: ValueId,
        text: &str,
        service: Option<Option<ServiceId>>,
        directive: Span,
    ) -> Option<(ServiceId, Base)> {
        let span = self.document.value(url).span;
        let is_scheme = |it: &str| it.trim_start().bytes().all(|it| it.is_ascii_alphabetic());
        let absolute = text.find("://").filter(|at| is_scheme(&text[..*at]));
        match (service, absolute) {
            (Some(service), None) => {
                let service = service?;
                Some((service, self.mapping.service(service).base.clone()))
            }
            (Some(_), Some(_)) => {
                self.complain(
                    span,
                    "the source says the host: write the path only, as in `/users/{$args.id}`",
                );
                None
            }
            (None, None) => {
                self.complain(directive, "`@connect` needs `source`, or a whole URL");
                None
            }
            (None, Some(at)) => {
                let host = text[at + 3..].find(['/', '?', '#']).map_or(text.len(), |it| at + 3 + it);
                // Line breaks are allowed anywhere in a long URL.
                let origin: String = text[..host].chars().filter(|it| !is_dropped(*it)).collect();
                match Base::parse(origin.trim()) {
                    Ok(base) => Some((self.anonymous(base.clone(), directive), base)),
                    Err(message) => {
                        self.complain(span, message);
                        None
                    }
                }
            }
        }
    }

    /// Calls that change data are only allowed on mutation fields, which run one after the other, once, and are never cached.
    fn check_method(&mut self, http: &Http, place: Place) {
        let schema = &self.mapping.schema;
        let is_mutation = |field: FieldId| Some(schema.field(field).parent) == schema.mutation;
        let method = &http.request.method;
        let changes = matches!(*method, Method::PUT | Method::PATCH | Method::DELETE);
        if changes && !place.field().is_some_and(is_mutation) {
            let span = http.url.map_or(Span::default(), |it| self.document.value(it).span);
            if self.outside.embedding.is_some() {
                let message = format!("{method} changes something: it stands on fields of `Mutation` only");
                return self.complain(span, message);
            }
            // Only a warning: other gateways accept this, and a service may use the method for reads.
            let message = format!(
                "{method} changes something: on a field that is no mutation it is called at any time, several at once"
            );
            self.note(span, message);
        }
    }

    fn check_request(&mut self, http: &Http, scope: &Where, seen: &mut Seen) {
        for slot in http.request.slots() {
            let Some(url) = http.url else { break };
            self.check(&slot.expr, url, slot.at, scope, seen);
            self.check_single(&slot.expr, url, slot.at, scope);
        }
        for (header, text) in &http.headers {
            for slot in header.slots() {
                self.check(&slot.expr, *text, slot.at, scope, seen);
                self.check_single(&slot.expr, *text, slot.at, scope);
            }
        }
        if let Some((path, literal)) = &http.path {
            self.check_path(path, *literal, scope);
        }
        if let Some((params, literal)) = &http.params {
            self.check_params(params, *literal, scope);
        }
        if let Some((body, literal)) = http.body.as_ref().filter(|_| http.request.is_form()) {
            self.check_form(body, *literal, scope);
        }
        for (selection, literal) in &http.selections {
            self.check(selection, *literal, 0, scope, seen);
        }
        for header in http.request.own_headers() {
            header.client_header().into_iter().for_each(|name| seen.header(name));
            // Headers of the source were checked at `@source`. Here only the values they read are recorded.
            header.slots().for_each(|slot| seen.client(&slot.expr));
        }
    }

    /// Reads `batch: {maxSize: 50}`; returns the size and its location.
    fn batch(&mut self, value: ValueId) -> Option<(u32, Span)> {
        let mut fields = self.object(value, "batch")?;
        let span = fields.span;
        let size = self.need(&mut fields, "maxSize").and_then(|it| self.whole(it, BATCH_MAX));
        self.finish(fields);
        if size == Some(0) {
            self.complain(span, "a batch has at least one key");
        }
        size.map(|size| (size, span))
    }

    fn check_keys(&mut self, directive: &Directive, place: Place, seen: &Seen, batch: Option<(u32, Span)>) {
        if let Some((_, span)) = batch
            && !seen.batch
        {
            self.note(span, "nothing is batched here: the request reads no `$batch`");
        }
        if seen.batch && seen.this {
            self.complain(
                directive.span,
                "a batch has many parents, so `$this` is none of them: write `$batch`",
            );
        }
        match place {
            // A field that needs no value of its parent is fetched once for all parents.
            Place::Entity(_) | Place::Extension(_) if !seen.batch && !seen.this => {
                let message = "nothing of the parent is in this call: name a field of it, as in `{$this.id}`";
                self.complain(directive.span, message);
            }
            Place::Root(_) | Place::Field(_) | Place::Entity(_) | Place::Extension(_) => {}
        }
    }

    /// `entity: true`: the arguments of a query field fetch its type, wherever it occurs.
    fn as_entity(&mut self, directive: &'d Directive, place: Place) {
        let schema = std::sync::Arc::clone(&self.mapping.schema);
        let is_query = |field: FieldId| schema.field(field).parent == schema.query;
        let Some(field) = place.field().filter(|&field| is_query(field)) else {
            return self.complain(directive.span, "`entity: true` stands on query fields");
        };
        let of = schema.field(field).ty;
        if matches!(schema.ty(of.base).kind, TypeKind::Interface | TypeKind::Union) && !of.wraps.is_list() {
            let message = "objects of several types are not found by a key: this answers its own field only";
            return self.note(directive.span, message);
        }
        if schema.ty(of.base).kind != TypeKind::Object || of.wraps.is_list() {
            return self.complain(directive.span, "`entity: true` stands on fields that give one object");
        }
        let names: Vec<&str> = schema.arguments(field).map(|it| schema.input_name(it)).collect();
        let lost = names.iter().find(|name| schema.field_by_name(of.base, name).is_none());
        if let Some(lost) = lost {
            let message = format!("`{}` has no field `{lost}` to find it by", schema.type_name(of.base));
            return self.complain(directive.span, message);
        }
        self.mapping.entity_fields.push(field);
        if self.has_connect(schema.type_name(of.base)) {
            let message = format!(
                "`{}` is found by another `@connect`: this one answers its own field only",
                schema.type_name(of.base)
            );
            return self.note(directive.span, message);
        }
        let last = ConnectorId(self.mapping.connectors.len() as u32 - 1);
        let from = self.mapping.connector(last);
        let key = |name: &&str| crate::sdl::KeyField {
            name: (*name).into(),
            field: schema.field_by_name(of.base, name),
            parts: Vec::new(),
            is_optional: false,
        };
        let connector = Connector {
            place: Place::Entity(of.base),
            request: from.request.of_parent(),
            batch_max: None,
            keys: names.iter().map(key).collect(),
            selection: from.selection.of_parent(),
            node: None,
            items: None,
            tags: Vec::new(),
            success: from.success.as_ref().map(Selection::of_parent),
            error_message: from.error_message.as_ref().map(Selection::of_parent),
            error_extensions: from.error_extensions.iter().map(Selection::of_parent).collect(),
            ..from.clone()
        };
        let literal = self.selections.last().copied().flatten();
        self.mapping.add_connector(connector);
        self.selections.push(literal);
    }
}

impl Reader<'_> {
    /// True if the type itself has a `@connect`.
    fn has_connect(&self, name: &str) -> bool {
        self.document.definitions.iter().any(|it| match it {
            Definition::Type(ty) => {
                let mut directives = self.document.list(ty.directives).iter();
                self.str(ty.name) == name
                    && directives.any(|it| self.resolve_directive(it) == Some(Known::Connect))
            }
            _ => false,
        })
    }
}
