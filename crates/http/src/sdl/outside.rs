//! Settings and replacements from outside a file, applied while it is read.
//!
//! A text of the configuration that takes the place of one of `@source` is read as a literal of its own: a [`ValueId`] behind
//! those of the document. All checks of literals hold for it; complaints stand at the `@source` and name the key.

use super::Reader;
use crate::call::TlsFiles;
use crate::selection::inputs::Looked;
use crate::selection::value::Value;
use crate::selection::{SelectionError, Variable};
use crate::template::Header;
use std::collections::BTreeMap;
use weir_language::ast::ValueId;
use weir_language::schema::{ScalarReader, Wording};
use weir_language::span::Span;

/// Settings, and the operator's replacements for parts of a file.
#[derive(Clone, Copy)]
pub struct Outside<'o> {
    /// `$config`.
    pub config: &'o BTreeMap<String, Value<'static>>,
    /// `$env`.
    pub env: &'o dyn Fn(&str) -> Option<String>,
    /// Variables of the environment that clients may see, as the operator has named them.
    pub env_shown: &'o [String],
    /// Replacements by the name of a `@source` or the prefix of a server.
    pub services: &'o BTreeMap<String, Replaced>,
    /// Only for text that was generated for the types of another source.
    pub embedding: Option<&'o Embedding<'o>>,
}

/// Rules for generated text, which is read together with the types of another source. In such a text
///
/// * a path to an object returns all fields of its type, at any depth;
/// * a field's `@connect` may read `$batch`: its answer is a list in the order of the parents;
/// * `@connect(graphql: "field")` calls a GraphQL server with an operation that contains `$selection`.
#[derive(Clone, Copy)]
pub struct Embedding<'o> {
    /// Scalars that the other source defines.
    pub scalars: &'o [(&'o str, ScalarReader)],
    /// Language of error messages: Weir's own or Dgraph's.
    pub wording: Wording,
    /// The member of an answer for a field of a type, if it differs from the field's name.
    pub member: &'o dyn Fn(&str, &str) -> Option<Box<str>>,
    /// True for fields of the other source's types that may be null in a call.
    pub may_be_null: &'o dyn Fn(&str, &str) -> bool,
}

/// Replacements for strings of one source or server, in the syntax of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Replaces `baseURL` or `url`.
    pub base_url: Option<String>,
    /// Replaces `path`.
    pub path: Option<String>,
    /// Replaces `queryParams`.
    pub query_params: Option<String>,
    /// Headers of every call, by name; they replace headers of the source with equal names.
    pub headers: BTreeMap<String, String>,
    /// Replaces `isSuccess`.
    pub is_success: Option<String>,
    /// Replaces `errors: {message}`.
    pub error_message: Option<String>,
    /// Replaces `errors: {extensions}`.
    pub error_extensions: Option<String>,
    /// Files of certificates.
    pub tls: TlsFiles,
}

/// A string of the configuration, read like a literal of the document.
pub(super) struct Put {
    text: String,
    /// Key in the configuration, for messages.
    key: String,
    /// Span of the directive that it changes.
    span: Span,
}

/// Settings of one source or server under `services` in weir.yaml.
#[derive(Clone, Copy)]
pub(super) struct Own<'d> {
    pub(super) name: &'d str,
    pub(super) said: &'d Replaced,
    /// Span of its directive.
    pub(super) span: Span,
}

impl Outside<'_> {
    /// The setting at `keys` of `$config` or `$env`.
    pub(super) fn setting(&self, variable: Variable, keys: &[&str]) -> Looked {
        match (variable, keys) {
            (Variable::Config, _) => self.config(keys).map_or(Looked::Missing, |it| Looked::of(&it)),
            (Variable::Env, [name]) => (self.env)(name).map_or(Looked::Missing, Looked::Text),
            (Variable::Claims | Variable::Role, _) => Looked::Later,
            _ => Looked::Missing,
        }
    }

    /// The value at `keys` of `$config`.
    pub(super) fn config(&self, keys: &[&str]) -> Option<Value<'static>> {
        let (first, rest) = keys.split_first()?;
        let first = self.config.get(*first)?;
        Some(rest.iter().fold(first.clone(), |value, key| value.get(key)))
    }
}

impl<'d> Reader<'d> {
    /// Settings of the source or server `name` under `services` in weir.yaml.
    pub(super) fn service_settings(&self, name: Option<&str>, span: Span) -> Option<Own<'d>> {
        let (name, said) = self.outside.services.get_key_value(name?)?;
        Some(Own { name, said, span })
    }

    /// Registers `text`, found at `key` of the configuration, as a literal.
    pub(super) fn put(&mut self, own: Own<'d>, key: &str, text: &str) -> ValueId {
        let key = format!("services.{}.{key}", own.name);
        self.puts.push(Put { text: text.to_owned(), key, span: own.span });
        ValueId((self.document.values.len() + self.puts.len() - 1) as u32)
    }

    /// The configuration's string that `literal` stands for, if any.
    pub(super) fn put_text(&self, literal: ValueId) -> Option<&str> {
        self.replacement_at(literal).map(|it| &*it.text)
    }

    fn replacement_at(&self, literal: ValueId) -> Option<&Put> {
        self.puts.get((literal.0 as usize).checked_sub(self.document.values.len())?)
    }

    /// Span of a literal. For a string of the configuration: the span of the directive that it changes.
    pub(super) fn span_of(&self, literal: ValueId) -> Span {
        self.replacement_at(literal).map_or_else(|| self.document.value(literal).span, |it| it.span)
    }

    /// Adds the configuration key to a message about `literal`, if it comes from the configuration.
    pub(super) fn name_configuration_key(&self, literal: ValueId, message: String) -> String {
        match self.replacement_at(literal) {
            Some(put) => format!("`{}` in the configuration: {message}", put.key),
            None => message,
        }
    }

    /// Headers of the configuration, each with the literal of its value.
    pub(super) fn put_headers(&mut self, own: Own<'d>) -> Vec<(Header, ValueId)> {
        let mut headers = Vec::new();
        for (name, text) in &own.said.headers {
            let literal = self.put(own, &format!("headers.{name}"), text);
            let read = if text.bytes().any(|it| it.is_ascii_control()) {
                Err(Ok("no control character can stand in a header".to_owned()))
            } else {
                Header::read(name, None, Some(text))
            };
            let message = match read {
                Ok(header) => {
                    headers.push((header, literal));
                    continue;
                }
                Err(Ok(message)) => message,
                // The text may be a secret, so it is not part of the message.
                Err(Err(SelectionError { span, .. })) => format!(
                    "byte {} begins nothing that can be read: values stand in it as `{{$config.name}}` and `{{$env.NAME}}`, and what holds a brace has to be such a value",
                    span.start + 1
                ),
            };
            let message = self.name_configuration_key(literal, message);
            self.complain(own.span, message);
        }
        headers
    }

    /// Checks the settings of a server, which may only set its URL and headers.
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
