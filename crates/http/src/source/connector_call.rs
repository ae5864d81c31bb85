//! A call of one connector within a plan node: what it is made from, and the variables that its templates read.

use super::Shared;
use crate::cache::Served;
use crate::project::Projection;
use crate::sdl::ConnectorId;
use crate::selection::inputs::{Args, Inputs, Keys};
use std::ops::Range;
use std::sync::Arc;
use weir_engine::plan::output_plan::OutputKind;
use weir_engine::source::{FetchInput, FieldError, Ids};

pub(super) struct ConnectorCall {
    pub(super) connector: ConnectorId,
    /// Member with the arguments: a position in the output plan.
    pub(super) member: u32,
    /// `$selection`; empty unless a GraphQL server is called.
    pub(super) selection: Arc<str>,
    pub(super) projection: Projection,
    pub(super) is_query: bool,
}

/// Parts of a call from which its variables follow.
#[derive(Clone, Copy)]
pub(super) struct Called<'r> {
    pub(super) connector: ConnectorId,
    pub(super) member: u32,
    pub(super) selection: &'r str,
}

impl ConnectorCall {
    pub(super) fn call_target(&self) -> Called<'_> {
        Called { connector: self.connector, member: self.member, selection: &self.selection }
    }
}

/// Result of a call per row.
pub(super) type RowOutcome = Result<Served, FieldError>;

/// Variables of templates and selections for `rows` of the keys.
pub(super) fn bind_inputs<'r>(
    shared: &'r Shared,
    ids: &'r Ids,
    call: Called<'r>,
    input: FetchInput<'r>,
    rows: Range<usize>,
) -> Inputs<'r> {
    let Called { connector, member, selection } = call;
    let mapping = &shared.mapping;
    let output = &**input.output;
    let member = &input.output.fields[member as usize];
    // Below a join the arguments belong to the field itself. A node with several members has none.
    let arguments = match member.member {
        OutputKind::Foreign { .. } => &[],
        OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) | OutputKind::Constant { .. } => {
            output.arguments(member)
        }
    };
    let args = Args { schema: &mapping.schema, ids, output, variables: input.variables, arguments };
    let columns = input.parent_keys.unwrap_or_default();
    let keys = Keys { columns, names: &mapping.connector(connector).keys, start: rows.start, end: rows.end };
    let headers = input.headers;
    let caller = Some(input.caller);
    Inputs { args, keys, settings: &shared.settings, headers, caller, selection, response: None }
}
