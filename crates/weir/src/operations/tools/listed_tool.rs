//! Tools as they are listed for a caller.

use super::saved_tool::SavedTool;
use crate::config::SchemaTool;
use std::sync::Arc;

/// Action of a tool.
#[derive(Clone, Debug)]
pub(super) enum ToolAction {
    Saved(Arc<SavedTool>),
    Schema(SchemaTool),
}

/// A tool that is listed.
#[derive(Debug)]
pub(super) struct ListedTool {
    pub(super) name: Box<str>,
    /// The tool as JSON.
    pub(super) json: Box<str>,
    pub(super) action: ToolAction,
    pub(super) has_output_schema: bool,
}

/// The tools of one caller, by name.
#[derive(Debug, Default)]
pub(crate) struct ToolList {
    pub(super) tools: Vec<ListedTool>,
}

impl ToolList {
    /// Bytes that it takes, roughly.
    pub(super) fn bytes(&self) -> u64 {
        const TOOL_BYTES: usize = 128;
        self.tools.iter().map(|it| (it.json.len() + it.name.len() + TOOL_BYTES) as u64).sum()
    }

    /// The tool `name`.
    pub(super) fn find(&self, name: &str) -> Option<&ListedTool> {
        self.place(name).map(|it| &self.tools[it])
    }

    /// The place of the tool `name`.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.tools.binary_search_by(|it| (*it.name).cmp(name)).ok()
    }
}
