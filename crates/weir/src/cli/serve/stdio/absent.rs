//! Replaces `weir mcp` in a build without the feature `mcp`.

use super::agent_options::AgentOptions;
use std::process::ExitCode;

/// Refuses the command.
pub(in crate::cli) fn run(options: AgentOptions) -> Result<ExitCode, String> {
    let AgentOptions { target, .. } = options;
    Err(format!("`weir mcp {target}`: this program was built without the feature `mcp`"))
}
