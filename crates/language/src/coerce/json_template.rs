//! JSON literals with variables inside: texts with gaps, which are filled once the variables of a request are coerced.
//!
//! A filled literal is one more variable of the plan, numbered behind the operation's own, so that no source knows of gaps. Read
//! strictly, the gaps hold coerced values; read leniently, what was sent, as Hasura does. What was not sent is null in both: a
//! condition without the key would fit more rows.
//!
//! **Cost:** compiled once, while planning; filling is one copy of the text and of each variable as often as it stands there, bounded
//! by [`FILLED_BYTES_MAX`].

use super::literal_text;
use crate::ids::TypeId;
use crate::span::Span;
use crate::syntax::ast::{Document, ValueId};
use crate::syntax::wraps::Wraps;
use crate::type_system::{SchemaView, TypeRef};
use crate::value::{Node, Variables, json};

/// Bytes of all JSON literals of one request once they are filled: a large variable may stand in one many times.
pub(super) const FILLED_BYTES_MAX: usize = 16_000_000;

/// A JSON literal with variables inside.
#[derive(Clone, Debug)]
pub struct Template {
    /// The literal as it stands in the document.
    pub name: Box<str>,
    /// The scalar it stands for; never null, as it is a list or an object.
    pub ty: TypeRef,
    /// The place in the document.
    pub(super) span: Span,
    value: ValueId,
    /// JSON, without what stands in the gaps.
    text: Box<str>,
    /// Byte of the text before which a variable stands, and its number.
    gaps: Box<[(u32, u32)]>,
}

/// The JSON literals with variables inside of an operation, in the order of their places in the document.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates(pub(super) Vec<Template>);

impl Templates {
    /// Compiles those of `literals` that have variables inside, all of which `number` finds.
    pub(super) fn new(
        document: &Document<'_>,
        literals: impl Iterator<Item = (ValueId, TypeId)>,
        number: super::Number<'_>,
    ) -> Self {
        let compiled = literals.filter_map(|(value, scalar)| {
            let mut text = String::new();
            let mut gaps = Vec::new();
            let mut gap = |value, at| number(value).map(|it| gaps.push((at, it))).is_some();
            literal_text::with_gaps(document, value, &mut gap, &mut text).ok()?;
            let span = document.value(value).span;
            let ty = TypeRef { base: scalar, wraps: Wraps::NON_NULL };
            let name = document.str(span).into();
            let text = text.into();
            let is_open = !gaps.is_empty();
            is_open.then(|| Template { name, ty, span, value, text, gaps: gaps.into() })
        });
        let mut all: Vec<Template> = compiled.collect();
        all.sort_unstable_by_key(|it| it.value.0);
        Self(all)
    }

    /// The place of the literal at `value` among the templates.
    pub(super) fn position(&self, value: ValueId) -> Option<u32> {
        self.0.binary_search_by_key(&value.0, |it| it.value.0).ok().map(|at| at as u32)
    }

    /// Appends each literal, filled, to `out` as one more variable. `sent` gives the JSON that was sent for a variable, if that
    /// is to stand in the gaps instead of the coerced value.
    /// # Errors
    /// The literal that would make them too large.
    pub(super) fn fill<'j>(
        &self,
        schema: SchemaView<'_>,
        sent: impl Fn(u32) -> Option<&'j str>,
        out: &mut Variables,
    ) -> Result<(), &Template> {
        let mut filled = String::new();
        let mut bytes = 0;
        for template in &self.0 {
            filled.clear();
            let mut done = 0;
            for &(at, number) in &template.gaps {
                filled.push_str(&template.text[done..at as usize]);
                done = at as usize;
                match sent(number) {
                    Some(json) => filled.push_str(json),
                    None => {
                        let start = out.starts[number as usize] as usize;
                        json::write(&out.values, start, &schema, &mut filled);
                    }
                }
                if bytes + filled.len() > FILLED_BYTES_MAX {
                    return Err(template);
                }
            }
            filled.push_str(&template.text[done..]);
            bytes += filled.len();
            out.starts.push(out.values.nodes.len() as u32);
            let text = out.values.push_text(&filled);
            out.values.nodes.push(Node::Json(text));
        }
        Ok(())
    }
}
