//! Position of a value in an answer.

use crate::answer::output_plan::OutputField;
use weir_language::schema::TypeRef;

/// Position of a value: its type, the place of its error, and its selections.
#[derive(Clone, Copy)]
pub struct Spot<'w> {
    /// Place of the member in [`OutputPlan::fields`](crate::answer::output_plan::OutputPlan::fields).
    pub field: u32,
    /// The member.
    pub output_field: &'w OutputField,
    /// The type here: the member's, or inside its lists.
    pub ty: TypeRef,
}
