//! `@link`: the specifications that a file uses, and the names of their directives.
//!
//! **Invariant:** every name that a text imports is known; a directive of ours that is not imported is complained about.

use super::federation::{FEDERATED, Federated};
use crate::sdl::hint;
use std::borrow::Cow;
use weir_engine::demand::CostDirective;
use weir_language::ast::{
    Definition, Directive, Document, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition, Value,
    ValueId, ValueKind,
};
use weir_language::error::{Code, Error};
use weir_language::span::Span;

/// URL of the connect specification, before its version.
const CONNECT: &str = "https://specs.apollo.dev/connect/";
/// Version suggested in messages.
const CONNECT_VERSION: &str = "v0.3";
/// All supported versions, ascending.
const CONNECT_VERSIONS: [&str; 5] = ["v0.1", "v0.2", "v0.3", "v0.4", "v0.5"];
/// URL of the federation specification, before its version.
const FEDERATION: &str = "https://specs.apollo.dev/federation/";
/// URL of the link specification, before its version.
const LINK: &str = "https://specs.apollo.dev/link/";
/// URL of the cost specification, before its version.
const COST: &str = "https://specs.apollo.dev/cost/";
/// URL of Weir's specification, before its version.
const WEIR: &str = "https://weir.example/spec/";
const WEIR_VERSION: &str = "v1";

/// Hosts whose specifications are all known. A link to any other host is for `@composeDirective`.
const HOSTS: [&str; 2] = ["https://specs.apollo.dev/", "https://weir.example/"];

/// Specifications whose directives are for composition or for other tools. Those of guards are not among them.
const IDLE: [&str; 7] = [
    "https://specs.apollo.dev/cacheTag/",
    "https://specs.apollo.dev/core/",
    COST,
    "https://specs.apollo.dev/join/",
    "https://specs.apollo.dev/kotlin_labs/",
    "https://specs.apollo.dev/nullability/",
    "https://specs.apollo.dev/tag/",
];

/// A directive that Weir implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Link,
    Source,
    Connect,
    Federation(&'static Federated),
    Cost(CostDirective),
    Cache,
    Policy,
    CacheControl,
    CacheTag,
    Join,
    Graphql,
    Grpc,
    Guard(GuardKind),
}

/// Directives that guard a type or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardKind {
    Authenticated,
    Scopes,
    Roles,
    /// Nobody sees it; calls may still need it.
    Hidden,
}

impl GuardKind {
    /// Name without `@`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Authenticated => "authenticated",
            Self::Scopes => "requiresScopes",
            Self::Roles => "allow",
            Self::Hidden => "inaccessible",
        }
    }
}

impl Known {
    /// All directives except those of federation.
    const ALL: [Self; 15] = [
        Self::Cost(CostDirective::Cost),
        Self::Cost(CostDirective::ListSize),
        Self::Link,
        Self::Source,
        Self::Connect,
        Self::Cache,
        Self::Policy,
        Self::CacheControl,
        Self::CacheTag,
        Self::Join,
        Self::Graphql,
        Self::Grpc,
        Self::Guard(GuardKind::Authenticated),
        Self::Guard(GuardKind::Scopes),
        Self::Guard(GuardKind::Roles),
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Source => "source",
            Self::Connect => "connect",
            Self::Federation(it) => it.name,
            Self::Cost(it) => it.name(),
            Self::Cache => "cache",
            Self::Policy => "policy",
            Self::CacheControl => "cacheControl",
            Self::CacheTag => "cacheTag",
            Self::Join => "join",
            Self::Graphql => "graphql",
            Self::Grpc => "grpc",
            Self::Guard(it) => it.name(),
        }
    }

    /// Locations where the directive is allowed, for messages.
    pub(crate) const fn places(self) -> &'static str {
        match self {
            Self::Link | Self::Source | Self::Graphql | Self::Grpc => "`extend schema`",
            Self::Cache | Self::Policy => "`extend schema`, and beside `@connect`",
            Self::Connect | Self::CacheControl | Self::CacheTag => "types and fields",
            Self::Federation(_) => "types and fields",
            Self::Cost(CostDirective::Cost) => "types, fields, arguments and input fields",
            Self::Cost(CostDirective::ListSize) => "fields",
            Self::Join => "fields",
            Self::Guard(_) => {
                "object types, interfaces, scalars, enums, and fields of objects and interfaces"
            }
        }
    }

    const fn home(self) -> &'static str {
        match self {
            Self::Link => LINK,
            Self::Source | Self::Connect => CONNECT,
            Self::Federation(_) => FEDERATION,
            Self::Cost(_)
            | Self::Cache
            | Self::Policy
            | Self::CacheControl
            | Self::CacheTag
            | Self::Join
            | Self::Graphql
            | Self::Grpc
            | Self::Guard(_) => WEIR,
        }
    }
}

/// A specification that a file may link.
struct Spec {
    home: &'static str,
    /// Default prefix of directives that are not imported.
    prefix: &'static str,
}

const SPECS: [Spec; 4] = [
    Spec { home: CONNECT, prefix: "connect" },
    Spec { home: WEIR, prefix: "weir" },
    Spec { home: FEDERATION, prefix: "federation" },
    Spec { home: LINK, prefix: "link" },
];

/// Types of specifications that may be imported, and need no definition.
const TYPES: [&str; 11] = [
    "JSONSelection",
    "URLTemplate",
    "ConnectBatch",
    "ConnectHTTP",
    "ConnectorErrors",
    "HTTPHeaderMapping",
    "SourceHTTP",
    "FieldSet",
    "Scope",
    "Policy",
    "ContextArgument",
];

impl Spec {
    /// Directives of the specification.
    fn directives(&self) -> Vec<Known> {
        let own = Known::ALL.into_iter().filter(|it| it.home() == self.home);
        match self.home {
            FEDERATION => {
                let guards =
                    [GuardKind::Authenticated, GuardKind::Scopes, GuardKind::Hidden].map(Known::Guard);
                let costs = [CostDirective::Cost, CostDirective::ListSize].map(Known::Cost);
                let served = costs.into_iter().chain([Known::CacheTag]).chain(guards);
                FEDERATED.iter().map(Known::Federation).chain(served).collect()
            }
            _ => own.collect(),
        }
    }
}

/// Directive names in a file.
pub(crate) struct Links<'d> {
    /// Names without `@`. A directive that is not imported has the prefix of its specification.
    names: Vec<(Cow<'d, str>, Known)>,
    /// Names that appear in an `import`.
    imports: Vec<Cow<'d, str>>,
    /// URLs of linked specifications.
    homes: Vec<&'static str>,
    /// Minor version of connect: 1 is v0.1.
    pub(crate) version: u8,
    /// True if the file names GraphQL or gRPC servers.
    pub(crate) has_servers: bool,
}

/// Results of reading links.
struct FoundLinks<'f> {
    errors: &'f mut Vec<Error>,
    notes: &'f mut Vec<Error>,
}

impl FoundLinks<'_> {
    fn complain(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Error::new(Code::Schema, span, message));
    }

    fn note(&mut self, span: Span, message: impl Into<String>) {
        self.notes.push(Error::new(Code::Schema, span, message));
    }
}

impl<'d> Links<'d> {
    /// The directive called `name` (without `@`). A directive that is not imported is also found by its plain name, so that it is read and
    /// reported once.
    pub(crate) fn resolve_directive(&self, name: &str) -> Option<Known> {
        self.imported_directive(name).or_else(|| {
            let own = Known::ALL.into_iter().find(|it| it.name() == name)?;
            (!self.names.iter().any(|it| it.1 == own && !it.0.contains("__"))).then_some(own)
        })
    }

    /// True if `name` is in an `import`, so it has no prefix.
    fn is_import(&self, name: &str) -> bool {
        self.imports.iter().any(|it| it == name)
    }

    fn imported_directive(&self, name: &str) -> Option<Known> {
        self.names.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    pub(crate) fn read(document: &'d Document<'d>, errors: &mut Vec<Error>, notes: &mut Vec<Error>) -> Self {
        let names = vec![("link".into(), Known::Link)];
        let imports = Vec::new();
        let mut links = Self { names, imports, homes: Vec::new(), version: 3, has_servers: false };
        let mut found = FoundLinks { errors, notes };
        for definition in &document.definitions {
            let Definition::Schema(schema) = definition else { continue };
            for directive in document.list(schema.directives) {
                if document.str(directive.name) == "link" {
                    links.link(document, directive, &mut found);
                }
            }
        }
        links.check_uses(document, &mut found);
        let is_server = |it: &Directive| {
            matches!(links.resolve_directive(document.str(it.name)), Some(Known::Graphql | Known::Grpc))
        };
        let has_server = |it: &Definition| match it {
            Definition::Schema(schema) => document.list(schema.directives).iter().any(is_server),
            _ => false,
        };
        links.has_servers = document.definitions.iter().any(has_server);
        links
    }

    /// True if `field` of `ty` only guards a field of a server, or says what it costs: it has such directives and no others, and stands in
    /// an extension of a root or of a type that the file does not define.
    pub(crate) fn guards_server(
        &self,
        document: &Document<'_>,
        ty: &TypeDefinition,
        field: &FieldDefinition,
    ) -> bool {
        let name = document.str(ty.name);
        let is_own = |it: &Definition| matches!(it, Definition::Type(other) if !other.extend && document.str(other.name) == name);
        let is_guard = |it: &Directive| {
            let known = self.resolve_directive(document.str(it.name));
            matches!(known, Some(Known::Guard(_) | Known::Cost(_)))
        };
        let directives = document.list(field.directives);
        self.has_servers
            && ty.extend
            && !directives.is_empty()
            && directives.iter().all(is_guard)
            && (["Query", "Mutation"].contains(&name) || !document.definitions.iter().any(is_own))
    }

    fn link(&mut self, document: &'d Document<'d>, directive: &Directive, found: &mut FoundLinks<'_>) {
        let mut url = None;
        let mut imports = None;
        let mut prefix = None;
        for argument in document.list(directive.arguments) {
            match document.str(argument.name) {
                "url" => url = Some(argument.value),
                "import" => imports = Some(argument.value),
                "as" => prefix = Some(document.string(argument.value)),
                // `for` lets composers skip a link; it has no effect here.
                "for" => {}
                other => found.complain(
                    argument.span,
                    format!("`@link` has no `{other}`: there are `url`, `import`, `as` and `for`"),
                ),
            }
        }
        let Some(url) = url else { return found.complain(directive.span, "`@link` needs `url`") };
        let text = document.string(url);
        let span = document.value(url).span;
        let Some(spec) = SPECS.iter().find(|it| text.starts_with(it.home)) else {
            let is_any = |all: &[&str]| all.iter().any(|it| text.starts_with(it));
            if text.contains("://") && (!is_any(&HOSTS) || is_any(&IDLE)) {
                if !text.starts_with(COST) {
                    let message = format!("`{text}` is not known: its directives say nothing here");
                    found.note(span, message);
                }
                return self.ignore_imports(document, imports, &text);
            }
            let homes = SPECS.each_ref().map(|it| format!("`{}…`", it.home)).join(", ");
            return found.complain(span, format!("`{text}` is not known: there are {homes}"));
        };
        if self.homes.contains(&spec.home) {
            return found.note(directive.span, "a second link to the same specification is not read");
        }
        self.homes.push(spec.home);
        self.check_version(spec, &text[spec.home.len()..], span, found);
        let before = self.names.len();
        for item in imports.iter().flat_map(|&it| list(document, it)) {
            self.import(document, item, spec, found);
        }
        let idle = self.names[before..].iter().filter(|it| matches!(it.1, Known::Federation(_)));
        let idle: Vec<String> = idle.map(|it| format!("`@{}`", it.0)).collect();
        self.imports.extend(self.names[before..].iter().map(|it| it.0.clone()));
        if !idle.is_empty() {
            let message = format!("of federation, ignored for one graph: {}", idle.join(" "));
            found.note(span, message);
        }
        self.name_rest(spec, before, prefix);
    }

    /// Names the directives of an idle specification at `url` that federation has too, so that their uses are ignored.
    fn ignore_imports(&mut self, document: &'d Document<'d>, imports: Option<ValueId>, url: &str) {
        let mut names: Vec<&'d str> = Vec::new();
        for item in imports.iter().flat_map(|&it| list(document, it)) {
            names.push(document.str(document.value(item).span).trim_matches('"').trim_start_matches('@'));
        }
        // The directive that is called like its specification needs no import.
        let own = FEDERATED.iter().filter(|it| url.contains(&format!("/{}/", it.name))).map(|it| it.name);
        if url.starts_with(COST) {
            self.import_costs(&names);
        }
        for name in names.into_iter().chain(own) {
            let known = FEDERATED.iter().find(|it| it.name == name && it.refusal().is_none());
            if let Some(known) = known.filter(|_| IDLE.iter().any(|it| url.starts_with(it))) {
                self.imports.push(name.into());
                self.names.push((name.into(), Known::Federation(known)));
            }
        }
    }

    /// Names the directives of the cost specification.
    fn import_costs(&mut self, names: &[&'d str]) {
        for name in names.iter().copied().chain(["cost"]) {
            if let Some(directive) = CostDirective::of(name) {
                self.imports.push(name.into());
                self.names.push((name.into(), Known::Cost(directive)));
            }
        }
    }

    fn check_version(&mut self, spec: &Spec, given: &str, span: Span, found: &mut FoundLinks<'_>) {
        match spec.home {
            CONNECT => match CONNECT_VERSIONS.iter().position(|it| *it == given) {
                Some(at) => self.version = at as u8 + 1,
                None => found.complain(
                    span,
                    format!("version `{given}` is not read: there are {}", CONNECT_VERSIONS.join(" ")),
                ),
            },
            WEIR if given != WEIR_VERSION => {
                found.complain(span, format!("version `{given}` is not read: write `{WEIR}{WEIR_VERSION}`"));
            }
            _ => {}
        }
    }

    /// Registers directives of `spec` that are not imported, prefixed with the specification's name or `prefix`. The directive named like
    /// the specification is the bare prefix.
    fn name_rest(&mut self, spec: &Spec, imported: usize, prefix: Option<Cow<'d, str>>) {
        let prefix = prefix.unwrap_or(Cow::Borrowed(spec.prefix));
        for known in spec.directives() {
            if self.names[imported..].iter().any(|it| it.1 == known) {
                continue;
            }
            let name = if known.name() == spec.prefix {
                prefix.clone()
            } else {
                format!("{prefix}__{}", known.name()).into()
            };
            self.names.push((name, known));
        }
    }

    /// Reads `"@name"` or `{name: "@name", as: "@other"}`.
    fn import(&mut self, document: &'d Document<'d>, item: ValueId, spec: &Spec, found: &mut FoundLinks<'_>) {
        let node = document.value(item);
        let plain = |value: ValueId| document.str(document.value(value).span).trim_matches('"');
        let mut name = None;
        let mut own = None;
        match node.kind {
            ValueKind::Object(members) => {
                for member in document.list(members) {
                    match document.str(member.name) {
                        "name" => name = Some(plain(member.value)),
                        "as" => own = Some(plain(member.value)),
                        other => found.complain(
                            member.name,
                            format!("an import has no `{other}`: there are `name` and `as`"),
                        ),
                    }
                }
            }
            _ => name = Some(plain(item)),
        }
        let name = name.unwrap_or_default();
        let own = own.unwrap_or(name);
        if name.starts_with('@') != own.starts_with('@') {
            return found
                .complain(node.span, format!("`{name}` and `{own}` both begin with `@`, or neither"));
        }
        let all = spec.directives();
        match all.iter().find(|it| name.strip_prefix('@') == Some(it.name())) {
            Some(known) => {
                let own = own.trim_start_matches('@');
                if self.imported_directive(own).is_some_and(|it| it != *known) {
                    let message = format!(
                        "`@{own}` is imported twice: rename one, as in `{{name: \"{name}\", as: \"@other\"}}`"
                    );
                    return found.complain(node.span, message);
                }
                self.names.push((own.into(), *known));
            }
            None if TYPES.contains(&name) => {}
            None => {
                let names: Vec<String> = all.iter().map(|it| format!("@{}", it.name())).collect();
                let hint = hint(name, names.iter().map(String::as_str));
                let message = format!("`{name}` cannot be imported: there are {}{hint}", names.join(" "));
                found.complain(node.span, message);
            }
        }
    }

    /// Reports uses of our directives that no link imports, and directives that are not supported.
    fn check_uses(&self, document: &Document<'_>, found: &mut FoundLinks<'_>) {
        let mut told: Vec<Known> = Vec::new();
        for directive in all_directives(document) {
            let name = document.str(directive.name);
            if let Some(Known::Federation(it)) = self.imported_directive(name)
                && let Some(why) = it.refusal()
            {
                found.complain(directive.span, format!("`@{name}` {why}"));
            } else if let Some(it @ Known::Federation(_)) = self.imported_directive(name)
                && !self.is_import(name)
                && !told.contains(&it)
            {
                told.push(it);
                found.note(directive.span, format!("of federation, ignored for one graph: `@{name}`"));
            }
            let Some(known) = self.resolve_directive(name) else { continue };
            if self.imported_directive(name).is_some() || told.contains(&known) {
                continue;
            }
            told.push(known);
            let version = if known.home() == CONNECT { CONNECT_VERSION } else { WEIR_VERSION };
            let message = format!(
                "`@{name}` is not imported: add `@link(url: \"{}{version}\", import: [\"@{name}\"])` to `extend schema`",
                known.home(),
            );
            found.complain(directive.span, message);
        }
    }
}

fn list(document: &Document<'_>, value: ValueId) -> Vec<ValueId> {
    match document.value(value).kind {
        ValueKind::List(items) => List::<Value>::range(items).map(|at| ValueId(at as u32)).collect(),
        _ => vec![value],
    }
}

/// All directives on the schema, on types and on their members.
fn all_directives<'d>(document: &'d Document<'_>) -> Vec<&'d Directive> {
    let mut all: Vec<&Directive> = Vec::new();
    let inputs =
        |list: List<InputDefinition>| document.list(list).iter().flat_map(|it| document.list(it.directives));
    for definition in &document.definitions {
        match definition {
            Definition::Schema(schema) => all.extend(document.list(schema.directives)),
            Definition::Type(ty) => {
                all.extend(document.list(ty.directives));
                match ty.body {
                    TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => {
                        for field in document.list(fields) {
                            all.extend(document.list(field.directives));
                            all.extend(inputs(field.arguments));
                        }
                    }
                    TypeBody::Input { fields } => all.extend(inputs(fields)),
                    TypeBody::Enum { values } => {
                        all.extend(document.list(values).iter().flat_map(|it| document.list(it.directives)));
                    }
                    TypeBody::Scalar | TypeBody::Union { .. } => {}
                }
            }
            Definition::Operation(_) | Definition::Fragment(_) | Definition::Directive(_) => {}
        }
    }
    all
}
