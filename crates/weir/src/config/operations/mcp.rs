//! `operations.mcp`: saved operations as tools of agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `operations.mcp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// True answers agents at `/mcp`, in the Model Context Protocol.
    pub enabled: bool,
    /// Collections whose queries are tools, files of documents among them. Without the key all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collections: Option<Vec<String>>,
    /// True makes the REST endpoints tools.
    pub rest_endpoints: bool,
    /// True makes saved mutations tools, and saved queries that call what may change data.
    pub mutations: bool,
    /// Tools over the whole schema of the caller's role, beside those of saved operations.
    pub schema_tools: Vec<SchemaTool>,
    /// True lets the tool `execute` run mutations.
    pub execute_mutations: bool,
    /// True tells the schema of each tool's answer.
    pub output_schemas: bool,
    /// Description of the server as a whole, for agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Where clients that log in by themselves get their tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization: Option<McpAuthorization>,
    /// Titles, descriptions and hints of single tools, by name.
    pub overrides: BTreeMap<String, ToolOverride>,
    /// Upper bound of tools made of saved operations.
    pub tools_max: u32,
    /// Levels of input objects that the schema of a tool's arguments spells out.
    pub input_depth_max: u32,
    /// Longest data of an answer, in bytes.
    pub answer_bytes_max: u32,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled: false,
            collections: None,
            rest_endpoints: true,
            mutations: true,
            schema_tools: Vec::new(),
            execute_mutations: false,
            output_schemas: true,
            instructions: None,
            authorization: None,
            overrides: BTreeMap::new(),
            tools_max: 200,
            input_depth_max: 2,
            answer_bytes_max: 256 * 1024,
        }
    }
}

/// `operations.mcp.authorization`: what RFC 9728 calls the metadata of a protected resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpAuthorization {
    /// URL of `/mcp` as clients see it; tokens have to be for it.
    pub resource: String,
    /// URLs of the servers that issue tokens, exactly as they call themselves.
    pub authorization_servers: Vec<String>,
    /// Scopes that clients ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl McpAuthorization {
    fn check(&self) -> Result<(), String> {
        let is_url = |it: &str| it.starts_with("https://") || it.starts_with("http://");
        if !is_url(&self.resource) || self.resource.bytes().any(|it| it <= b' ' || it == b'"' || it >= 0x7f) {
            return Err("`operations.mcp.authorization.resource` is no URL in ASCII".into());
        }
        match self.authorization_servers.iter().find(|it| !is_url(it)) {
            Some(wrong) => {
                Err(format!("`operations.mcp.authorization.authorization_servers`: `{wrong}` is no URL"))
            }
            None if self.authorization_servers.is_empty() => {
                Err("`operations.mcp.authorization.authorization_servers` is empty; name one".into())
            }
            None => Ok(()),
        }
    }
}

/// One of `operations.mcp.schema_tools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaTool {
    /// Finds types and fields by words.
    Search,
    /// Prints types.
    Introspect,
    /// Runs a document of the agent.
    Execute,
}

impl SchemaTool {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Search, Self::Introspect, Self::Execute];

    /// Name of the tool.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Introspect => "introspect",
            Self::Execute => "execute",
        }
    }
}

/// One of `operations.mcp.overrides`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOverride {
    /// Title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for agents, in place of that of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// True if the operation changes nothing, though it calls an action, a service or a function that may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// False if the operation only adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// True if the operation may be repeated without a further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// False if the operation reaches nothing outside of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Mcp {
    /// Checks that settings do not contradict each other, and that this build has them.
    /// # Errors
    /// The first contradiction, and how to resolve it.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.enabled && !cfg!(feature = "mcp") {
            return Err("`operations.mcp`: this program was built without the feature `mcp`".into());
        }
        if self.execute_mutations && !self.schema_tools.contains(&SchemaTool::Execute) {
            return Err(
                "`operations.mcp.execute_mutations` is for the tool `execute`; add it to `schema_tools`"
                    .into(),
            );
        }
        self.authorization.as_ref().map_or(Ok(()), McpAuthorization::check)?;
        let bounds = [
            ("tools_max", self.tools_max),
            ("input_depth_max", self.input_depth_max),
            ("answer_bytes_max", self.answer_bytes_max),
        ];
        match bounds.iter().find(|it| it.1 == 0) {
            Some((key, _)) => Err(format!("`operations.mcp.{key}` is 0, which refuses everything")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mcp: Mcp, expected: Result<(), &str>) {
        match (mcp.check(), expected) {
            (Ok(()), Ok(())) => {}
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, wanted) => panic!("{found:?} instead of {wanted:?}"),
        }
    }

    #[test]
    fn settings_do_not_contradict_each_other() {
        check(Mcp::default(), Ok(()));
        check(Mcp { execute_mutations: true, ..Mcp::default() }, Err("`schema_tools`"));
        let schema_tools = vec![SchemaTool::Execute];
        check(Mcp { execute_mutations: true, schema_tools, ..Mcp::default() }, Ok(()));
        let authorization = |resource: &str, servers: &[&str]| {
            let authorization_servers = servers.iter().map(|it| (*it).to_owned()).collect();
            let resource = resource.to_owned();
            let authorization = McpAuthorization { resource, authorization_servers, scopes: Vec::new() };
            Mcp { authorization: Some(authorization), ..Mcp::default() }
        };
        check(authorization("https://a.example/mcp", &["https://login.example"]), Ok(()));
        check(authorization("https://a.example/mcp", &[]), Err("name one"));
        check(authorization("https://a.example/mcp", &["login"]), Err("`login` is no URL"));
        check(authorization("a.example", &["https://login.example"]), Err("resource` is no URL"));
        check(authorization("https://a.example/\"", &["https://login.example"]), Err("resource` is no URL"));
        check(Mcp { answer_bytes_max: 0, ..Mcp::default() }, Err("answer_bytes_max` is 0"));
        let enabled = Mcp { enabled: true, ..Mcp::default() };
        check(enabled, if cfg!(feature = "mcp") { Ok(()) } else { Err("the feature `mcp`") });
    }
}
