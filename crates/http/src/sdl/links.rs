//! `@link`: which specification a text speaks, and under which names its directives stand.
//!
//! **Invariant:** every name that a text imports is known; a directive of ours that is not imported is complained about.

use super::hint;
use weir_language::ast::{Definition, Directive, Document, TypeBody, Value, ValueId, ValueKind};
use weir_language::error::{Code, Error};
use weir_language::span::Span;

/// Where connect's directives come from.
const CONNECT: &str = "https://specs.apollo.dev/connect/";
const CONNECT_VERSION: &str = "v0.3";
/// Where federation's come from; of them `@key` is accepted.
const FEDERATION: &str = "https://specs.apollo.dev/federation/";
/// `@link` itself.
const LINK: &str = "https://specs.apollo.dev/link/";
/// Where ours come from.
const WEIR: &str = "https://weir.example/spec/";
const WEIR_VERSION: &str = "v1";

/// A directive that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Link,
    Source,
    Connect,
    Key,
    Cache,
    Policy,
    CacheControl,
    CacheTag,
    Join,
    Graphql,
    Grpc,
}

impl Known {
    const ALL: [Self; 11] = [
        Self::Link,
        Self::Source,
        Self::Connect,
        Self::Key,
        Self::Cache,
        Self::Policy,
        Self::CacheControl,
        Self::CacheTag,
        Self::Join,
        Self::Graphql,
        Self::Grpc,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Source => "source",
            Self::Connect => "connect",
            Self::Key => "key",
            Self::Cache => "cache",
            Self::Policy => "policy",
            Self::CacheControl => "cacheControl",
            Self::CacheTag => "cacheTag",
            Self::Join => "join",
            Self::Graphql => "graphql",
            Self::Grpc => "grpc",
        }
    }

    /// Where it may stand, in words.
    pub(super) const fn places(self) -> &'static str {
        match self {
            Self::Link | Self::Source | Self::Cache | Self::Graphql | Self::Grpc => "`extend schema`",
            Self::Policy => "`extend schema`, and beside `@connect`",
            Self::Connect | Self::CacheControl | Self::CacheTag => "types and fields",
            Self::Key => "types",
            Self::Join => "fields",
        }
    }

    const fn home(self) -> &'static str {
        match self {
            Self::Link => LINK,
            Self::Source | Self::Connect => CONNECT,
            Self::Key => FEDERATION,
            Self::Cache
            | Self::Policy
            | Self::CacheControl
            | Self::CacheTag
            | Self::Join
            | Self::Graphql
            | Self::Grpc => WEIR,
        }
    }
}

/// The names of a text.
pub(super) struct Links<'d> {
    names: Vec<(&'d str, Known)>,
}

impl<'d> Links<'d> {
    /// The directive that `name` (without `@`) means. What is not imported keeps its own name, so that it is read too and
    /// complained about once.
    pub(super) fn known(&self, name: &str) -> Option<Known> {
        let imported = self.names.iter().find(|it| it.0 == name).map(|it| it.1);
        imported.or_else(|| {
            let own = Known::ALL.into_iter().find(|it| it.name() == name)?;
            (!self.names.iter().any(|it| it.1 == own)).then_some(own)
        })
    }

    pub(super) fn read(document: &'d Document<'d>, errors: &mut Vec<Error>) -> Self {
        let mut links = Self { names: vec![("link", Known::Link)] };
        for definition in &document.definitions {
            let Definition::Schema(schema) = definition else { continue };
            for directive in document.list(schema.directives) {
                if document.str(directive.name) == "link" {
                    links.link(document, directive, errors);
                }
            }
        }
        links.complain_of_strangers(document, errors);
        links
    }

    fn link(&mut self, document: &'d Document<'d>, directive: &Directive, errors: &mut Vec<Error>) {
        let mut complain = |span: Span, message: String| errors.push(Error::new(Code::Schema, span, message));
        let (mut url, mut imports) = (None, None);
        for argument in document.list(directive.arguments) {
            match document.str(argument.name) {
                "url" => url = Some(argument.value),
                "import" => imports = Some(argument.value),
                other => complain(
                    argument.span,
                    format!("`@link` has no `{other}` here: there are `url` and `import`"),
                ),
            }
        }
        let Some(url) = url else { return complain(directive.span, "`@link` needs `url`".into()) };
        let (text, span) = (document.string(url), document.value(url).span);
        let homes =
            [(CONNECT, Some(CONNECT_VERSION)), (WEIR, Some(WEIR_VERSION)), (FEDERATION, None), (LINK, None)];
        let Some((home, version)) = homes.into_iter().find(|it| text.starts_with(it.0)) else {
            let homes = homes.map(|it| format!("`{}…`", it.0)).join(", ");
            return complain(span, format!("`{text}` is not known: there are {homes}"));
        };
        let given = &text[home.len()..];
        if let Some(version) = version
            && given != version
        {
            complain(span, format!("version `{given}` is not read: write `{home}{version}`"));
        }
        for item in imports.iter().flat_map(|&it| list(document, it)) {
            self.import(document, item, home, &mut complain);
        }
    }

    /// `"@name"` or `{name: "@name", as: "@other"}`.
    fn import(
        &mut self,
        document: &'d Document<'d>,
        item: ValueId,
        home: &str,
        complain: &mut impl FnMut(Span, String),
    ) {
        let node = document.value(item);
        let plain = |value: ValueId| document.str(document.value(value).span).trim_matches('"');
        let (name, own) = match node.kind {
            ValueKind::Object(members) => {
                let find = |key: &str| {
                    document
                        .list(members)
                        .iter()
                        .find(|it| document.str(it.name) == key)
                        .map(|it| plain(it.value))
                };
                let name = find("name").unwrap_or_default();
                (name, find("as").unwrap_or(name))
            }
            _ => (plain(item), plain(item)),
        };
        let known =
            Known::ALL.into_iter().find(|it| it.home() == home && name.strip_prefix('@') == Some(it.name()));
        match known {
            Some(known) => self.names.push((own.trim_start_matches('@'), known)),
            None => {
                let names: Vec<String> = Known::ALL
                    .iter()
                    .filter(|it| it.home() == home && **it != Known::Link)
                    .map(|it| format!("@{}", it.name()))
                    .collect();
                let hint = hint(name, names.iter().map(String::as_str));
                complain(
                    node.span,
                    format!("`{name}` cannot be imported: there are {}{hint}", names.join(" ")),
                );
            }
        }
    }

    /// Directives of ours that no link imports.
    fn complain_of_strangers(&self, document: &Document<'_>, errors: &mut Vec<Error>) {
        let mut told: Vec<Known> = Vec::new();
        for directive in all_directives(document) {
            let Some(known) = self.known(document.str(directive.name)) else { continue };
            if self.names.iter().any(|it| it.1 == known) || told.contains(&known) {
                continue;
            }
            told.push(known);
            let version = match known.home() {
                CONNECT => CONNECT_VERSION,
                WEIR => WEIR_VERSION,
                _ => "v2.3",
            };
            let message = format!(
                "`@{name}` is not imported: add `@link(url: \"{}{version}\", import: [\"@{name}\"])` to `extend schema`",
                known.home(),
                name = known.name(),
            );
            errors.push(Error::new(Code::Schema, directive.span, message));
        }
    }
}

fn list(document: &Document<'_>, value: ValueId) -> Vec<ValueId> {
    match document.value(value).kind {
        ValueKind::List(items) => {
            weir_language::ast::List::<Value>::range(items).map(|at| ValueId(at as u32)).collect()
        }
        _ => vec![value],
    }
}

/// The directives of the schema, of types and of their fields.
fn all_directives<'d>(document: &'d Document<'_>) -> Vec<&'d Directive> {
    let mut all: Vec<&Directive> = Vec::new();
    for definition in &document.definitions {
        match definition {
            Definition::Schema(schema) => all.extend(document.list(schema.directives)),
            Definition::Type(ty) => {
                all.extend(document.list(ty.directives));
                if let TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } = ty.body {
                    all.extend(document.list(fields).iter().flat_map(|it| document.list(it.directives)));
                }
            }
            Definition::Operation(_) | Definition::Fragment(_) | Definition::Directive(_) => {}
        }
    }
    all
}
