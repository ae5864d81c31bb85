//! The rules of section 5 of the specification, one file each.
//!
//! A rule is a plain function that is handed what it looks at and reports into the context; names are resolved by
//! the walk before a rule sees them. Words and places of the messages are those of graphql-js 17.

pub(super) mod argument_rules;
pub(super) mod directive_rules;
pub(super) mod field_rules;
pub(super) mod fragment_rules;
pub(super) mod operation_rules;
pub(super) mod value_rules;
pub(super) mod variable_rules;

use crate::ids::FieldId;
use crate::span::Span;
use crate::syntax::ast::{Directive, Document, Field};
use crate::validate::rule_context::Context;

/// Owner of the arguments that are checked.
#[derive(Clone, Copy)]
pub(super) enum FieldOrDirective<'a> {
    /// A field's.
    Field(&'a Field, FieldId),
    /// A directive's.
    Directive(&'a Directive),
}

/// `Type.field`; the fields every schema has belong to no type.
fn coordinate(cx: &Context<'_>, id: FieldId) -> String {
    let field = cx.schema.field(id);
    let meta = cx.schema.meta();
    let is_meta = id == meta.schema || id == meta.ty || id == meta.typename;
    let parent = if is_meta { "<meta>" } else { cx.schema.type_name(field.parent) };
    format!("{parent}.{}", cx.schema.str(field.name))
}

/// Calls `found` with the places of each name that stands more than once among `list`, in the order of first places.
///
/// Sorting keeps this linear but for a logarithm; up to sixteen names are compared directly, without allocating.
fn for_each_repeat<T>(
    document: &Document<'_>,
    list: &[T],
    name: impl Fn(&T) -> Span,
    mut found: impl FnMut(&[Span]),
) {
    if list.len() <= 16 {
        let text = |of: &T| document.str(name(of));
        let repeats =
            (1..list.len()).any(|at| list[..at].iter().any(|before| text(before) == text(&list[at])));
        if !repeats {
            return;
        }
    }
    let mut sorted: Vec<Span> = list.iter().map(name).collect();
    sorted.sort_by_key(|&name| (document.str(name), name.start));
    let mut groups: Vec<&[Span]> = sorted
        .chunk_by(|&a, &b| document.str(a) == document.str(b))
        .filter(|group| group.len() > 1)
        .collect();
    groups.sort_by_key(|group| group[0].start);
    for group in groups {
        found(group);
    }
}
