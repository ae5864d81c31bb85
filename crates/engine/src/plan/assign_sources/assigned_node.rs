//! A node of the plan before its source has prepared it.

use crate::answer::field_error::FieldError;
use crate::answer::output_plan::SelectionSetId;
use crate::plan::ParentKeys;
use crate::source::{AnswerForm, SeparateFetchId};

/// A node before its source has prepared it.
pub(crate) struct AssignedNode {
    /// Index of its source, see [`crate::plan::PreparedNode::source`].
    pub(crate) source: Option<u16>,
    pub(crate) set: SelectionSetId,
    pub(crate) fields: Vec<u32>,
    pub(crate) parent: Option<ParentKeys>,
    /// Separate fetch of its source.
    pub(crate) part: Option<SeparateFetchId>,
    pub(crate) answer: AnswerForm,
    /// Error of a node that always fails.
    pub(crate) refused: Option<FieldError>,
}
