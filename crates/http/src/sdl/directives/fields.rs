//! Reads arguments of directives and members of object literals by name; names that were not read are errors.

use crate::sdl::{Reader, hint};
use weir_language::ast::{ValueId, ValueKind};
use weir_language::span::Span;

/// The named values in one place.
pub(crate) struct Fields<'d> {
    /// Owner of the values, for messages: `@connect`, `http`.
    of: String,
    /// Span of the whole literal or directive.
    pub(crate) span: Span,
    given: Vec<(Span, ValueId)>,
    /// Names read so far.
    known: Vec<&'d str>,
}

impl<'d> Fields<'d> {
    pub(crate) const fn new(of: String, span: Span, given: Vec<(Span, ValueId)>) -> Self {
        Self { of, span, given, known: Vec::new() }
    }
}

impl<'d> Reader<'d> {
    /// Takes the value `name`, unless it is absent or null.
    pub(crate) fn take(&mut self, fields: &mut Fields<'d>, name: &'d str) -> Option<ValueId> {
        fields.known.push(name);
        let at = fields.given.iter().position(|it| self.str(it.0) == name)?;
        let (_, value) = fields.given.remove(at);
        (!matches!(self.document.value(value).kind, ValueKind::Null)).then_some(value)
    }

    /// Takes the value `name`; its absence is an error.
    pub(crate) fn need(&mut self, fields: &mut Fields<'d>, name: &'d str) -> Option<ValueId> {
        let value = self.take(fields, name);
        if value.is_none() {
            self.complain(fields.span, format!("`{}` needs `{name}`", fields.of));
        }
        value
    }

    /// Reports names that were not read.
    pub(crate) fn finish(&mut self, fields: Fields<'d>) {
        for (span, _) in fields.given {
            let name = self.str(span);
            let message = if fields.known.contains(&name) {
                format!("`{name}` is given twice")
            } else {
                let hint = hint(name, fields.known.iter().copied());
                format!("`{}` has no `{name}`{hint}", fields.of)
            };
            self.complain(span, message);
        }
    }

    /// Members of an object literal.
    pub(crate) fn object(&mut self, value: ValueId, of: &str) -> Option<Fields<'d>> {
        let node = *self.document.value(value);
        let ValueKind::Object(list) = node.kind else {
            self.complain(node.span, format!("`{of}` is an object: `{{…}}`"));
            return None;
        };
        let given = self.document.list(list).iter().map(|it| (it.name, it.value)).collect();
        Some(Fields::new(of.to_owned(), node.span, given))
    }

    /// A decoded string.
    pub(crate) fn string(&mut self, value: ValueId) -> Option<String> {
        if let Some(text) = self.put_text(value) {
            return Some(text.to_owned());
        }
        let node = self.document.value(value);
        match node.kind {
            ValueKind::String { .. } | ValueKind::Block => Some(self.document.string(value).into_owned()),
            _ => {
                self.complain(node.span, "a string is expected here");
                None
            }
        }
    }

    /// A list of strings; a single string counts as a list.
    pub(crate) fn strings(&mut self, value: ValueId) -> Vec<(String, Span)> {
        let node = *self.document.value(value);
        let first = |list: weir_language::ast::List<weir_language::ast::Value>| {
            list.range().map(|at| ValueId(at as u32)).collect()
        };
        let items: Vec<ValueId> = match node.kind {
            ValueKind::List(list) => first(list),
            _ => vec![value],
        };
        let read = |it: ValueId| Some((self.string(it)?, self.document.value(it).span));
        items.into_iter().filter_map(read).collect()
    }

    /// Items of a list; any other value is a list with one item.
    pub(crate) fn items(&self, value: ValueId) -> Vec<ValueId> {
        match self.document.value(value).kind {
            ValueKind::List(list) => list.range().map(|at| ValueId(at as u32)).collect(),
            _ => vec![value],
        }
    }

    /// An integer from 0 to `max`.
    pub(crate) fn whole(&mut self, value: ValueId, max: u32) -> Option<u32> {
        self.whole_within(value, 0, max)
    }

    /// An integer from `min` to `max`.
    pub(crate) fn whole_within(&mut self, value: ValueId, min: u32, max: u32) -> Option<u32> {
        let node = *self.document.value(value);
        let number = match node.kind {
            ValueKind::Int => self.str(node.span).parse().ok().filter(|it| (min..=max).contains(it)),
            _ => None,
        };
        if number.is_none() {
            self.complain(node.span, format!("a whole number from {min} to {max} is expected here"));
        }
        number
    }

    pub(crate) fn boolean(&mut self, value: ValueId) -> Option<bool> {
        let node = *self.document.value(value);
        if let ValueKind::Boolean(value) = node.kind {
            return Some(value);
        }
        self.complain(node.span, "`true` or `false` is expected here");
        None
    }

    /// Reads `PUBLIC` or `PRIVATE`; true for private.
    pub(crate) fn scope(&mut self, value: ValueId) -> Option<bool> {
        let node = *self.document.value(value);
        match (node.kind, self.str(node.span)) {
            (ValueKind::Enum, "PRIVATE") => Some(true),
            (ValueKind::Enum, "PUBLIC") => Some(false),
            _ => {
                self.complain(node.span, "`PUBLIC` or `PRIVATE` is expected here");
                None
            }
        }
    }
}
