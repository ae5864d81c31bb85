//! Reads directives: their names, arguments and places, and the errors for those that are not supported.

use super::{SdlReader, hint};
use weir_engine::demand::{CostDirective, CostRule, read_cost_rules};
use weir_language::ast::{Directive, List, ValueId, ValueKind};
use weir_language::span::Span;

/// Directives of fields.
pub(super) const ON_FIELDS: [&str; 9] = [
    "id",
    "search",
    "hasInverse",
    "default",
    "deprecated",
    "renamedFrom",
    "withSubscription",
    "cost",
    "listSize",
];

/// Directives of objects; interfaces have them too, but for `unique`.
pub(super) const ON_TYPES: [&str; 7] =
    ["auth", "secret", "unique", "generate", "withSubscription", "renamedFrom", "cost"];

/// Known directives that are not supported, with a replacement.
const REFUSED: [(&str, &str); 12] = [
    ("lambda", "there is no JavaScript server: let a service answer the field, by `@custom(http: …)`"),
    ("lambdaOnMutate", "there is no JavaScript server: remove it"),
    ("embedding", "vectors are not served: remove the field"),
    ("dgraph", "it names Dgraph's storage: remove it, the name of the field is enough"),
    ("cascade", "it belongs into requests: remove it here"),
    ("cacheControl", "it belongs into requests: remove it here"),
    ("key", "federation is not served in a native source: remove it"),
    ("extends", "federation is not served in a native source: remove it"),
    ("external", "federation is not served in a native source: remove it"),
    ("provides", "federation is not served in a native source: remove it"),
    ("requires", "federation is not served in a native source: remove it"),
    ("link", "federation is not served in a native source: remove it"),
];

/// Directives on a field that an interface's field could have as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) struct Written {
    pub key: bool,
    pub search: bool,
    pub default: bool,
}

/// Directives about services, and where they stand.
const OF_SERVICES: [(&str, &str); 3] = [
    ("custom", "a field of a stored type, of `Query` or `Mutation`"),
    ("remote", "a type, an input or an enum"),
    ("remoteResponse", "a field of a type with `@remote`"),
];

impl<'d> SdlReader<'d> {
    /// The directives in `list` that `known` has, by name; complains of all others, and of a second one of those that
    /// are not `repeatable`. `owner` is what they stand on.
    pub(super) fn directives(
        &mut self,
        list: List<Directive>,
        known: &[&'static str],
        owner: &str,
    ) -> Vec<(&'static str, Directive)> {
        let mut found: Vec<(&'static str, Directive)> = Vec::new();
        for directive in self.document.list(list) {
            let name = self.str(directive.name);
            let Some(&name) = known.iter().find(|it| **it == name) else {
                self.unknown(*directive, name, known, owner);
                continue;
            };
            match found.iter().find(|it| it.0 == name && name != "unique") {
                Some(&(_, first)) => {
                    self.complain_of(vec![directive.span, first.span], format!("`@{name}` stands twice"));
                }
                None => found.push((name, *directive)),
            }
        }
        found
    }

    /// Weights and list sizes of the text.
    pub(super) fn cost_rules(&mut self) -> Vec<CostRule> {
        let directive_of = |it: &Directive| CostDirective::of(self.document.str(it.name));
        match read_cost_rules(self.document, "types", &directive_of) {
            Ok(rules) => rules,
            Err(errors) => {
                self.errors.extend(errors);
                Vec::new()
            }
        }
    }

    /// Complains of any directive in `list`.
    pub(super) fn none_allowed(&mut self, list: List<Directive>, owner: &str) {
        self.directives(list, &[], owner);
    }

    /// The reason of `@deprecated` in `list`; complains of any other directive.
    pub(super) fn only_deprecated(&mut self, list: List<Directive>) -> Option<String> {
        let found = self.directives(list, &["deprecated"], "a value of an enum");
        found.first().and_then(|&(_, directive)| self.reason(directive))
    }

    fn unknown(&mut self, directive: Directive, name: &str, known: &[&'static str], owner: &str) {
        let refused = REFUSED.iter().find(|it| it.0 == name);
        let elsewhere = ON_FIELDS.iter().chain(&ON_TYPES).any(|it| *it == name);
        let of_services = OF_SERVICES.iter().find(|it| it.0 == name);
        let message = match refused {
            _ if let Some((_, place)) = of_services => {
                format!("`@{name}` stands on {place}, not on {owner}: remove it")
            }
            Some((_, instead)) => format!("`@{name}` is not served: {instead}"),
            None if elsewhere && ON_FIELDS.contains(&name) => {
                format!("`@{name}` stands on a field, not on {owner}: move it")
            }
            None if elsewhere => format!("`@{name}` stands on a type, not on {owner}: move it"),
            // A directive defined by the user, which was reported at its definition.
            None if self.defined.contains(name) => return,
            None => {
                let all = known.iter().chain(&ON_FIELDS).chain(&ON_TYPES).copied();
                let hint = hint(name, all).replacen('`', "`@", 1);
                format!("there is no directive `@{name}`{hint}")
            }
        };
        self.complain(directive.span, message);
    }

    /// The values of the arguments called `known`, in that order.
    pub(super) fn arguments<const N: usize>(
        &mut self,
        directive: Directive,
        known: [&str; N],
    ) -> [Option<ValueId>; N] {
        let mut found = [None; N];
        for argument in self.document.list(directive.arguments) {
            let name = self.str(argument.name);
            let owner = self.str(directive.name);
            match known.iter().position(|it| *it == name) {
                Some(at) if found[at].is_none() => found[at] = Some(argument.value),
                Some(_) => self.complain(argument.span, format!("`{name}` is given twice")),
                None => {
                    let hint = hint(name, known.into_iter());
                    self.complain(argument.span, format!("`@{owner}` takes no `{name}`{hint}"));
                }
            }
        }
        found
    }

    /// The values of the fields called `known` of an object literal, in that order.
    pub(super) fn object_fields<const N: usize>(
        &mut self,
        value: ValueId,
        known: [&str; N],
    ) -> [Option<ValueId>; N] {
        let mut found = [None; N];
        let ValueKind::Object(members) = self.document.value(value).kind else {
            let all = known.map(|it| format!("{it}: …")).join(", ");
            self.complain(self.document.value(value).span, format!("expected {{{all}}}"));
            return found;
        };
        for member in self.document.list(members) {
            let name = self.str(member.name);
            match known.iter().position(|it| *it == name) {
                Some(at) => found[at] = Some(member.value),
                None => self.complain(
                    member.span,
                    format!("there is no `{name}` here{}", hint(name, known.into_iter())),
                ),
            }
        }
        found
    }

    /// A string; complains of anything else.
    pub(super) fn string(&mut self, value: ValueId) -> Option<(String, Span)> {
        let span = self.document.value(value).span;
        match self.document.value(value).kind {
            ValueKind::String { .. } | ValueKind::Block => {
                Some((self.document.string(value).into_owned(), span))
            }
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => {
                self.complain(span, "expected a string in quotes");
                None
            }
        }
    }

    /// `true` or `false`; complains of anything else.
    pub(super) fn boolean(&mut self, value: ValueId) -> Option<bool> {
        if let ValueKind::Boolean(value) = self.document.value(value).kind {
            return Some(value);
        }
        self.complain(self.document.value(value).span, "expected `true` or `false`");
        None
    }

    /// Names, written as strings or bare, in a list or alone.
    pub(super) fn read_names(&mut self, value: ValueId) -> Vec<(String, Span)> {
        let list = match self.document.value(value).kind {
            ValueKind::List(items) => items.range().map(|at| ValueId(at as u32)).collect(),
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::Object(_) => vec![value],
        };
        let mut words = Vec::new();
        for item in list {
            let span = self.document.value(item).span;
            if matches!(self.document.value(item).kind, ValueKind::Enum) {
                words.push((self.str(span).to_owned(), span));
            } else if let Some(word) = self.string(item) {
                words.push(word);
            }
        }
        words
    }

    /// The name that `@directive(argument: "…")` has to give.
    pub(super) fn name_argument(&mut self, directive: Directive, argument: &str) -> Option<(String, Span)> {
        let [value] = self.arguments(directive, [argument]);
        let Some(value) = value else {
            let name = self.str(directive.name);
            self.complain(directive.span, format!("`@{name}` needs `({argument}: …)`"));
            return None;
        };
        if matches!(self.document.value(value).kind, ValueKind::Enum) {
            let span = self.document.value(value).span;
            return Some((self.str(span).to_owned(), span));
        }
        self.string(value)
    }

    /// The reason of `@deprecated`.
    pub(super) fn reason(&mut self, directive: Directive) -> Option<String> {
        let [reason] = self.arguments(directive, ["reason"]);
        match reason {
            Some(value) => self.string(value).map(|it| it.0),
            None => Some("No longer supported".to_owned()),
        }
    }

    /// `@renamedFrom(name:)`: a name that something had before.
    pub(super) fn former_name(&mut self, directive: Directive, name: &str) -> Option<String> {
        let (former, span) = self.name_argument(directive, "name")?;
        if former == name {
            self.complain(
                span,
                format!("`{name}` is still called so: give the former name, or remove `@renamedFrom`"),
            );
            return None;
        }
        Some(former)
    }

    /// `@withSubscription` on a stored field: accepted, as Dgraph accepts it.
    pub(super) fn not_subscribed(&mut self, directive: Directive) {
        self.arguments(directive, []);
        self.warn(
            directive.span,
            "`@withSubscription` has no effect on a field of a type: write it on the type",
        );
    }
}
