//! `@link`: which specification a text speaks, and under which names its directives stand.
//!
//! **Invariant:** every name that a text imports is known; a directive of ours that is not imported is complained about.

use super::federation::{FEDERATED, Federated};
use super::guards::GuardKind;
use super::hint;
use std::borrow::Cow;
use weir_language::ast::{
    Definition, Directive, Document, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition, Value,
    ValueId, ValueKind,
};
use weir_language::error::{Code, Error};
use weir_language::span::Span;

/// Origin of connect's directives.
const CONNECT: &str = "https://specs.apollo.dev/connect/";
/// The version that is proposed.
const CONNECT_VERSION: &str = "v0.3";
/// All that are read, in their order: `v0.1` is the first.
const CONNECT_VERSIONS: [&str; 4] = ["v0.1", "v0.2", "v0.3", "v0.4"];
/// Origin of federation's directives.
const FEDERATION: &str = "https://specs.apollo.dev/federation/";
/// `@link` itself.
const LINK: &str = "https://specs.apollo.dev/link/";
/// Origin of Weir's directives.
const WEIR: &str = "https://weir.example/spec/";
const WEIR_VERSION: &str = "v1";

/// Whose specifications are all known; a link to any other is one for `@composeDirective`.
const HOSTS: [&str; 2] = ["https://specs.apollo.dev/", "https://weir.example/"];

/// A directive that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Link,
    Source,
    Connect,
    Federation(&'static Federated),
    Cache,
    Policy,
    CacheControl,
    CacheTag,
    Join,
    Graphql,
    Grpc,
    Guard(GuardKind),
}

impl Known {
    /// All but federation's.
    const ALL: [Self; 13] = [
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

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Source => "source",
            Self::Connect => "connect",
            Self::Federation(it) => it.name,
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

    /// Allowed locations, in words.
    pub(super) const fn places(self) -> &'static str {
        match self {
            Self::Link | Self::Source | Self::Graphql | Self::Grpc => "`extend schema`",
            Self::Cache | Self::Policy => "`extend schema`, and beside `@connect`",
            Self::Connect | Self::CacheControl | Self::CacheTag => "types and fields",
            Self::Federation(_) => "types and fields",
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
            Self::Cache
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

/// A specification that a text may link.
struct Spec {
    home: &'static str,
    /// Prefix of directives that are not imported.
    prefix: &'static str,
}

const SPECS: [Spec; 4] = [
    Spec { home: CONNECT, prefix: "connect" },
    Spec { home: WEIR, prefix: "weir" },
    Spec { home: FEDERATION, prefix: "federation" },
    Spec { home: LINK, prefix: "link" },
];

/// Types of other specifications, which may be imported and need no definition.
const TYPES: [&str; 8] = [
    "JSONSelection",
    "URLTemplate",
    "ConnectHTTP",
    "SourceHTTP",
    "FieldSet",
    "Scope",
    "Policy",
    "ContextArgument",
];

impl Spec {
    /// Its directives.
    fn directives(&self) -> Vec<Known> {
        let own = Known::ALL.into_iter().filter(|it| it.home() == self.home);
        match self.home {
            FEDERATION => {
                let guards = [GuardKind::Authenticated, GuardKind::Scopes].map(Known::Guard);
                FEDERATED.iter().map(Known::Federation).chain([Known::CacheTag]).chain(guards).collect()
            }
            _ => own.collect(),
        }
    }
}

/// The names of a text.
pub(super) struct Links<'d> {
    /// Names without `@`, and whether the text imports them: what it does not has the name of its specification before its own.
    names: Vec<(Cow<'d, str>, Known)>,
    /// Those of the names that stand in an `import`.
    imports: Vec<Cow<'d, str>>,
    /// The homes that are linked.
    homes: Vec<&'static str>,
    /// Of connect: 1 is v0.1.
    pub(super) version: u8,
    /// True if the text names GraphQL or gRPC servers.
    pub(super) has_servers: bool,
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
    /// The directive that `name` (without `@`) means. What is not imported keeps its own name, so that it is read too and
    /// complained about once.
    pub(super) fn known(&self, name: &str) -> Option<Known> {
        self.imported(name).or_else(|| {
            let own = Known::ALL.into_iter().find(|it| it.name() == name)?;
            (!self.names.iter().any(|it| it.1 == own && !it.0.contains("__"))).then_some(own)
        })
    }

    /// True if `name` is listed in an `import`, so it has no prefix of its specification.
    fn is_import(&self, name: &str) -> bool {
        self.imports.iter().any(|it| it == name)
    }

    fn imported(&self, name: &str) -> Option<Known> {
        self.names.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    pub(super) fn read(document: &'d Document<'d>, errors: &mut Vec<Error>, notes: &mut Vec<Error>) -> Self {
        let (names, imports) = (vec![("link".into(), Known::Link)], Vec::new());
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
        let is_server =
            |it: &Directive| matches!(links.known(document.str(it.name)), Some(Known::Graphql | Known::Grpc));
        let has_server = |it: &Definition| match it {
            Definition::Schema(schema) => document.list(schema.directives).iter().any(is_server),
            _ => false,
        };
        links.has_servers = document.definitions.iter().any(has_server);
        links
    }

    /// True if `field` of `ty` only says who sees a field that a server has: it has guards and no other directive, in an extension of
    /// a root, or of a type that the text does not define.
    pub(super) fn guards_server(
        &self,
        document: &Document<'_>,
        ty: &TypeDefinition,
        field: &FieldDefinition,
    ) -> bool {
        let name = document.str(ty.name);
        let is_own = |it: &Definition| matches!(it, Definition::Type(other) if !other.extend && document.str(other.name) == name);
        let is_guard = |it: &Directive| matches!(self.known(document.str(it.name)), Some(Known::Guard(_)));
        let directives = document.list(field.directives);
        self.has_servers
            && ty.extend
            && !directives.is_empty()
            && directives.iter().all(is_guard)
            && (["Query", "Mutation"].contains(&name) || !document.definitions.iter().any(is_own))
    }

    fn link(&mut self, document: &'d Document<'d>, directive: &Directive, found: &mut FoundLinks<'_>) {
        let (mut url, mut imports, mut prefix) = (None, None, None);
        for argument in document.list(directive.arguments) {
            match document.str(argument.name) {
                "url" => url = Some(argument.value),
                "import" => imports = Some(argument.value),
                "as" => prefix = Some(document.string(argument.value)),
                // Only composers may skip a link, so `for` has no meaning here.
                "for" => {}
                other => found.complain(
                    argument.span,
                    format!("`@link` has no `{other}`: there are `url`, `import`, `as` and `for`"),
                ),
            }
        }
        let Some(url) = url else { return found.complain(directive.span, "`@link` needs `url`") };
        let (text, span) = (document.string(url), document.value(url).span);
        let Some(spec) = SPECS.iter().find(|it| text.starts_with(it.home)) else {
            if text.contains("://") && !HOSTS.iter().any(|it| text.starts_with(it)) {
                let message = format!("`{text}` is not known: its directives say nothing here");
                return found.note(span, message);
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

    /// Names what of `spec` is not imported: with the specification's name, or `prefix`, before it. The directive that is called
    /// like its specification has that name alone.
    fn name_rest(&mut self, spec: &Spec, imported: usize, prefix: Option<Cow<'d, str>>) {
        let prefix = prefix.unwrap_or(Cow::Borrowed(spec.prefix));
        for known in spec.directives() {
            if self.names[imported..].iter().any(|it| it.1 == known) {
                continue;
            }
            let name = match known.name() == spec.prefix {
                true => prefix.clone(),
                false => format!("{prefix}__{}", known.name()).into(),
            };
            self.names.push((name, known));
        }
    }

    /// `"@name"` or `{name: "@name", as: "@other"}`.
    fn import(&mut self, document: &'d Document<'d>, item: ValueId, spec: &Spec, found: &mut FoundLinks<'_>) {
        let node = document.value(item);
        let plain = |value: ValueId| document.str(document.value(value).span).trim_matches('"');
        let (mut name, mut own) = (None, None);
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
                if self.imported(own).is_some_and(|it| it != *known) {
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

    /// Directives of ours that no link imports, and those that cannot be served.
    fn check_uses(&self, document: &Document<'_>, found: &mut FoundLinks<'_>) {
        let mut told: Vec<Known> = Vec::new();
        for directive in all_directives(document) {
            let name = document.str(directive.name);
            if let Some(Known::Federation(it)) = self.imported(name)
                && let Some(why) = it.refusal()
            {
                found.complain(directive.span, format!("`@{name}` {why}"));
            } else if let Some(it @ Known::Federation(_)) = self.imported(name)
                && !self.is_import(name)
                && !told.contains(&it)
            {
                told.push(it);
                found.note(directive.span, format!("of federation, ignored for one graph: `@{name}`"));
            }
            let Some(known) = self.known(name) else { continue };
            if self.imported(name).is_some() || told.contains(&known) {
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

/// The directives of the schema, of types, and of what is in them.
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
