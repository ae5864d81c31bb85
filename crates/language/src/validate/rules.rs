//! The rules of section 5 of the specification, one file each.
//!
//! A rule is a plain function that is handed what it looks at and reports into the context; names are resolved by
//! the walk before a rule sees them. Words and places of the messages are those of graphql-js 17.

pub(super) mod all_variable_usages_are_allowed;
pub(super) mod all_variable_uses_defined;
pub(super) mod all_variables_used;
pub(super) mod argument_names;
pub(super) mod argument_uniqueness;
pub(super) mod directives_are_defined;
pub(super) mod directives_are_in_valid_locations;
pub(super) mod directives_are_unique_per_location;
pub(super) mod executable_definitions;
pub(super) mod field_selection_merging;
pub(super) mod field_selections;
pub(super) mod fragment_name_uniqueness;
pub(super) mod fragment_spread_is_possible;
pub(super) mod fragment_spread_target_defined;
pub(super) mod fragment_spread_type_existence;
pub(super) mod fragment_spreads_must_not_form_cycles;
pub(super) mod fragments_must_be_used;
pub(super) mod fragments_on_composite_types;
pub(super) mod incremental_delivery;
pub(super) mod input_object_field_names;
pub(super) mod input_object_field_uniqueness;
pub(super) mod input_object_required_fields;
pub(super) mod leaf_field_selections;
pub(super) mod lone_anonymous_operation;
pub(super) mod one_of_input_objects;
pub(super) mod operation_name_uniqueness;
pub(super) mod operation_type_existence;
pub(super) mod required_arguments;
pub(super) mod single_root_field;
pub(super) mod values_of_correct_type;
pub(super) mod variable_uniqueness;
pub(super) mod variables_are_input_types;

use super::context::Context;
use crate::ast::{Directive, Document, Field};
use crate::schema::FieldId;
use crate::span::Span;

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
