//! JSON with expressions in it, read from YAML.

use super::expression::{Expression, Known, Value};
use super::expression_text::{Piece, has_name, pieces, write_json, write_text};
use super::yaml::{Mistake, Pair, Tree};
use serde_saphyr::{Location, Spanned};
use std::convert::Infallible;

/// One step of writing JSON.
#[derive(Debug)]
pub(crate) enum JsonPart<N, S> {
    /// JSON that is the same each time.
    Bytes(Vec<u8>),
    Value(Expression<N>),
    /// A text with expressions inside.
    Text(Vec<Piece<N>>),
    /// A part that only some templates have; their user writes it.
    Special(S),
}

/// JSON with expressions in it; adjacent constant bytes form one part.
#[derive(Debug)]
pub(crate) struct JsonTemplate<N, S = Infallible>(Vec<JsonPart<N, S>>);

impl<N, S> Default for JsonTemplate<N, S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Gives names their meaning, and objects with keys of their own.
pub(crate) trait TemplateReader {
    type Name;
    type Special;
    fn pieces(&mut self, text: &str, place: Location) -> Result<Vec<Piece<Self::Name>>, Mistake>;
    /// Part that an object stands for; `None` if it is a plain object.
    fn special(&mut self, _pairs: &[Pair], _place: Location) -> Result<Option<Self::Special>, Mistake> {
        Ok(None)
    }
}

/// The meaning of names, and the number of calls so far.
pub(crate) struct Naming<'n, N> {
    pub resolve: &'n dyn Fn(&str) -> Result<N, String>,
    pub calls: &'n mut u64,
}

impl<N> TemplateReader for Naming<'_, N> {
    type Name = N;
    type Special = Infallible;
    fn pieces(&mut self, text: &str, place: Location) -> Result<Vec<Piece<N>>, Mistake> {
        pieces(text, place, self.resolve, self.calls)
    }
}

impl<N, S> JsonTemplate<N, S> {
    pub(crate) fn parts(&self) -> &[JsonPart<N, S>] {
        &self.0
    }

    /// Appends JSON that is the same each time.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        if let Some(JsonPart::Bytes(last)) = self.0.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.0.push(JsonPart::Bytes(bytes.to_vec()));
        }
    }

    /// Appends a scalar.
    pub(crate) fn push_scalar(&mut self, value: &Value<'_>) {
        let mut bytes = Vec::new();
        write_json(value, &mut bytes);
        self.push_bytes(&bytes);
    }

    /// Appends a special part.
    pub(crate) fn push_special(&mut self, special: S) {
        self.0.push(JsonPart::Special(special));
    }

    /// Appends a value.
    pub(crate) fn push_tree(
        &mut self,
        tree: &Spanned<Tree>,
        reader: &mut impl TemplateReader<Name = N, Special = S>,
    ) -> Result<(), Mistake> {
        match &tree.value {
            Tree::Null => self.push_scalar(&Value::Null),
            Tree::Bool(it) => self.push_scalar(&Value::Bool(*it)),
            Tree::Int(it) => self.push_scalar(&Value::Int(*it)),
            Tree::Decimal(it) => self.push_scalar(&Value::Decimal(*it)),
            Tree::Text(it) => self.push_text(reader.pieces(it, tree.referenced)?),
            Tree::List(items) => {
                self.push_bytes(b"[");
                for (at, item) in items.iter().enumerate() {
                    self.push_bytes(if at > 0 { b"," } else { b"" });
                    self.push_tree(item, reader)?;
                }
                self.push_bytes(b"]");
            }
            Tree::Map(pairs) => match reader.special(pairs, tree.referenced)? {
                Some(special) => self.push_special(special),
                None => self.push_object(pairs, reader)?,
            },
        }
        Ok(())
    }

    /// Appends an object.
    pub(crate) fn push_object<'t>(
        &mut self,
        pairs: impl IntoIterator<Item = &'t Pair>,
        reader: &mut impl TemplateReader<Name = N, Special = S>,
    ) -> Result<(), Mistake> {
        self.push_bytes(b"{");
        for (at, (key, value)) in pairs.into_iter().enumerate() {
            self.push_bytes(if at > 0 { b"," } else { b"" });
            self.push_scalar(&Value::Text(key.value.as_str().into()));
            self.push_bytes(b":");
            self.push_tree(value, reader)?;
        }
        self.push_bytes(b"}");
        Ok(())
    }

    /// Appends a text; an expression alone keeps its type.
    fn push_text(&mut self, mut pieces: Vec<Piece<N>>) {
        match pieces.pop() {
            None => self.push_scalar(&Value::Text("".into())),
            Some(Piece::Plain(it)) if pieces.is_empty() => self.push_scalar(&Value::Text(it.into())),
            Some(Piece::Value(it)) if pieces.is_empty() => self.0.push(JsonPart::Value(it)),
            Some(last) => {
                pieces.push(last);
                self.0.push(JsonPart::Text(pieces));
            }
        }
    }

    /// True if it is the same each time.
    pub(crate) fn is_constant(&self) -> bool {
        self.0.iter().all(|it| matches!(it, JsonPart::Bytes(_)))
    }
}

impl<N> JsonTemplate<N> {
    /// Appends the JSON with the values of now.
    pub(crate) fn write(&self, known: &dyn Known<N>, out: &mut Vec<u8>) {
        for part in &self.0 {
            if let Some(never) = part.write(known, out) {
                match *never {}
            }
        }
    }
}

impl<N, S> JsonPart<N, S> {
    /// Appends the JSON of this part; returns a special part, which is not written.
    pub(crate) fn write(&self, known: &dyn Known<N>, out: &mut Vec<u8>) -> Option<&S> {
        match self {
            Self::Bytes(it) => out.extend_from_slice(it),
            Self::Value(it) => write_json(&it.value(known), out),
            Self::Text(pieces) => {
                let mut text = String::new();
                write_text(pieces, known, &mut text);
                write_json(&Value::Text(text.into()), out);
            }
            Self::Special(it) => return Some(it),
        }
        None
    }

    /// True if `holds` is true of a name in this part; `special` decides for special parts.
    pub(crate) fn has_name(&self, holds: &dyn Fn(&N) -> bool, special: impl Fn(&S) -> bool) -> bool {
        match self {
            Self::Bytes(_) => false,
            Self::Value(it) => it.any_name(holds),
            Self::Text(pieces) => has_name(pieces, holds),
            Self::Special(it) => special(it),
        }
    }
}
