//! Settings and replacements from outside of a file, filled in when it is read.
//!
//! A text of the configuration that takes the place of one of `@source` is read as a literal of its own: a [`ValueId`] behind
//! those of the document. All checks of literals hold for it; complaints stand at the `@source` and name the key.

use super::Reader;
use crate::selection::value::Value;
use crate::selection::{SelectionError, Variable};
use crate::template::{Header, Looked};
use std::collections::BTreeMap;
use weir_language::ast::ValueId;
use weir_language::schema::{ScalarReader, Wording};
use weir_language::span::Span;

/// Settings, and what operators write in place of what the text says.
#[derive(Clone, Copy)]
pub struct Outside<'o> {
    /// `$config`.
    pub config: &'o BTreeMap<String, Value<'static>>,
    /// `$env`.
    pub env: &'o dyn Fn(&str) -> Option<String>,
    /// By the name of a `@source`, or the prefix of a server.
    pub services: &'o BTreeMap<String, Replaced>,
    /// For a text that a program made for the types of another source.
    pub embedding: Option<&'o Embedding<'o>>,
}

/// The types beside which a made text is read. In such a text
///
/// * a path to an object gives all fields of its type, at any depth;
/// * a field's `@connect` may read `$batch`: its answer is a list in the order of the parents;
/// * `@connect(graphql: "field")` asks a GraphQL server, whose text holds `$selection`.
#[derive(Clone, Copy)]
pub struct Embedding<'o> {
    /// Scalars that the other source reads.
    pub scalars: &'o [(&'o str, ScalarReader)],
    /// Words of errors.
    pub wording: Wording,
    /// The member of an answer that a field of a type is read of, if it is called otherwise.
    pub member: &'o dyn Fn(&str, &str) -> Option<Box<str>>,
    /// True for fields of a type of the other source that may be null in a call.
    pub may_be_null: &'o dyn Fn(&str, &str) -> bool,
}

/// Replacements of the strings of one source or server, written as in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Instead of `baseURL`, or `url`.
    pub base_url: Option<String>,
    /// Instead of `path`.
    pub path: Option<String>,
    /// Instead of `queryParams`.
    pub query_params: Option<String>,
    /// Headers of every call, by name: instead of one of the source that is there.
    pub headers: BTreeMap<String, String>,
    /// Instead of `isSuccess`.
    pub is_success: Option<String>,
    /// Instead of `errors: {message}`.
    pub error_message: Option<String>,
    /// Instead of `errors: {extensions}`.
    pub error_extensions: Option<String>,
}

/// A text of the configuration that is read like a literal of the document.
pub(super) struct Put {
    text: String,
    /// Its key, for complaints.
    key: String,
    /// The directive that it is for.
    span: Span,
}

/// The settings of one source or server in `services` of weir.yaml.
#[derive(Clone, Copy)]
pub(super) struct Own<'d> {
    pub(super) name: &'d str,
    pub(super) said: &'d Replaced,
    /// Its directive.
    pub(super) span: Span,
}

impl Outside<'_> {
    /// The setting that `keys` of `$config` or `$env` lead to.
    pub(super) fn setting(&self, variable: Variable, keys: &[&str]) -> Looked {
        match (variable, keys) {
            (Variable::Config, _) => self.config(keys).map_or(Looked::Missing, |it| Looked::of(&it)),
            (Variable::Env, [name]) => (self.env)(name).map_or(Looked::Missing, Looked::Text),
            (Variable::Claims | Variable::Role, _) => Looked::Later,
            _ => Looked::Missing,
        }
    }

    /// The value that `keys` of `$config` lead to.
    pub(super) fn config(&self, keys: &[&str]) -> Option<Value<'static>> {
        let (first, rest) = keys.split_first()?;
        let first = self.config.get(*first)?;
        Some(rest.iter().fold(first.clone(), |value, key| value.get(key)))
    }
}

impl<'d> Reader<'d> {
    /// The settings of the source or server `name` in `services` of weir.yaml.
    pub(super) fn own(&self, name: Option<&str>, span: Span) -> Option<Own<'d>> {
        let (name, said) = self.outside.services.get_key_value(name?)?;
        Some(Own { name, said, span })
    }

    /// The literal of `text`, which stands at `key` of what operators write.
    pub(super) fn put(&mut self, own: Own<'d>, key: &str, text: &str) -> ValueId {
        let key = format!("services.{}.{key}", own.name);
        self.puts.push(Put { text: text.to_owned(), key, span: own.span });
        ValueId((self.document.values.len() + self.puts.len() - 1) as u32)
    }

    /// The text of the configuration that `literal` is, if it is one.
    pub(super) fn put_text(&self, literal: ValueId) -> Option<&str> {
        self.put_at(literal).map(|it| &*it.text)
    }

    fn put_at(&self, literal: ValueId) -> Option<&Put> {
        self.puts.get((literal.0 as usize).checked_sub(self.document.values.len())?)
    }

    /// The place of a literal; of a text of the configuration, the directive that it is for.
    pub(super) fn span_of(&self, literal: ValueId) -> Span {
        self.put_at(literal).map_or_else(|| self.document.value(literal).span, |it| it.span)
    }

    /// A message about `literal`, which says where a text of the configuration stands.
    pub(super) fn about(&self, literal: ValueId, message: String) -> String {
        match self.put_at(literal) {
            Some(put) => format!("`{}` in the configuration: {message}", put.key),
            None => message,
        }
    }

    /// The headers that operators write, each with the literal of its value.
    pub(super) fn put_headers(&mut self, own: Own<'d>) -> Vec<(Header, ValueId)> {
        let mut headers = Vec::new();
        for (name, text) in &own.said.headers {
            let literal = self.put(own, &format!("headers.{name}"), text);
            let read = match text.bytes().any(|it| it.is_ascii_control()) {
                true => Err(Ok("no control character can stand in a header".to_owned())),
                false => Header::read(name, None, Some(text)),
            };
            let message = match read {
                Ok(header) => {
                    headers.push((header, literal));
                    continue;
                }
                Err(Ok(message)) => message,
                // The text may be a secret, so the message holds none of it.
                Err(Err(SelectionError { span, .. })) => format!(
                    "byte {} begins nothing that can be read: values stand in it as `{{$config.name}}` and `{{$env.NAME}}`, and what holds a brace has to be such a value",
                    span.start + 1
                ),
            };
            let message = self.about(literal, message);
            self.complain(own.span, message);
        }
        headers
    }

    /// Checks the settings of a server, which has an address and headers only.
    pub(super) fn check_server(&mut self, own: Option<Own<'d>>) {
        let Some(Own { name, said, span }) = own else { return };
        let keys = [
            ("path", &said.path),
            ("query_params", &said.query_params),
            ("is_success", &said.is_success),
            ("errors", &said.error_message),
            ("errors", &said.error_extensions),
        ];
        for (key, _) in keys.iter().filter(|it| it.1.is_some()) {
            let message = format!(
                "`services.{name}.{key}` in the configuration: a server of GraphQL or gRPC has `base_url` and `headers` only"
            );
            self.complain(span, message);
        }
    }
}
