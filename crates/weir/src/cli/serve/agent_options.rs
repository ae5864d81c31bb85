//! Options of `weir mcp`.

use crate::config::SchemaTool;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct AgentOptions {
    /// `postgres://…`, `sqlite:FILE`, a .db/.sqlite/.sqlite3 file, a .graphql file of types or services, or a weir.yaml
    #[arg(value_name = "URL|FILE|WEIR.YAML", default_value = "weir.yaml")]
    pub(super) target: String,
    /// The Chinook sample database, which is created if need be
    #[arg(long, conflicts_with = "target")]
    pub(super) demo: bool,
    /// Hasura's metadata: a folder as its CLI writes it, or a file
    #[arg(long, value_name = "DIR|FILE")]
    pub(super) metadata: Option<PathBuf>,
    /// The agent's role; default: admin
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Option<String>,
    /// The role's session variables and claims: a JSON object, or a file with one
    #[arg(long, value_name = "JSON|FILE")]
    pub(super) claims: Option<String>,
    /// Tools over the schema, beside those of saved operations; default: those of weir.yaml, and all where there is none
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(super) tools: Option<Vec<SchemaToolName>>,
    /// Let the tool `execute` run mutations
    #[arg(long)]
    pub(super) execute_mutations: bool,
}

/// A tool over the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaToolName {
    /// Finds types and fields by words
    Search,
    /// Prints types
    Introspect,
    /// Runs a document of the agent
    Execute,
}

impl From<SchemaToolName> for SchemaTool {
    fn from(name: SchemaToolName) -> Self {
        match name {
            SchemaToolName::Search => Self::Search,
            SchemaToolName::Introspect => Self::Introspect,
            SchemaToolName::Execute => Self::Execute,
        }
    }
}
