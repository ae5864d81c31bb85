//! Candidates for tools: the saved operations of a configuration, each under a name that agents take.
//!
//! **Invariant:** a name belongs to one tool, and an operation is one tool; what is left out is told.

use super::listed_tool::ToolList;
pub(crate) use super::saved_tool::SavedQuery;
use super::saved_tool::{SavedTool, read_tools};
use crate::config::{Mcp, SchemaTool};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum size of cached lists, in bytes.
const LISTS_BYTES_MAX: u64 = 16 << 20;

/// Key of a list: the role, and the number of the profile.
pub(super) type ListKey = (Box<str>, u64);

/// Weight of a list: its bytes.
#[derive(Clone)]
struct ListBytes;

impl Weighter<ListKey, Arc<ToolList>> for ListBytes {
    fn weight(&self, _: &ListKey, list: &Arc<ToolList>) -> u64 {
        list.bytes()
    }
}

/// All operations that could be tools, by name, and the lists of callers.
pub(crate) struct ToolCatalog {
    pub(super) tools: Vec<Arc<SavedTool>>,
    lists: Cache<ListKey, Arc<ToolList>, ListBytes>,
}

impl std::fmt::Debug for ToolCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCatalog").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

impl ToolCatalog {
    /// Makes tools of `queries`, of which earlier ones take names and documents first; and says what is left out.
    pub(crate) fn new<'c>(
        settings: &Mcp,
        queries: impl Iterator<Item = SavedQuery<'c>>,
    ) -> (Self, Vec<String>) {
        let mut tools = Vec::new();
        let mut notes = Vec::new();
        let mut left_out = Vec::new();
        if settings.enabled {
            let mut texts = HashSet::new();
            let mut names: HashSet<Box<str>> =
                settings.schema_tools.iter().map(|it| SchemaTool::name(*it).into()).collect();
            for query in queries.filter(|it| texts.insert(it.text)) {
                for tool in read_tools(&query).into_iter().filter(|it| settings.mutations || !it.is_mutation)
                {
                    if !names.insert(tool.name.clone()) {
                        let name = &tool.name;
                        notes.push(format!("a second operation would be the tool `{name}`: it is left out"));
                    } else if tools.len() >= settings.tools_max as usize {
                        left_out.push(tool.name);
                    } else {
                        tools.push(Arc::new(tool));
                    }
                }
            }
            if let Some(first) = left_out.first() {
                let count = left_out.len();
                notes.push(format!("`{first}` is no tool, as `tools_max` is reached; {count} are left out"));
            }
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            notes.extend(find_unused_overrides(settings, &tools));
        }
        (Self { tools, lists: Cache::with_weighter(64, LISTS_BYTES_MAX, ListBytes) }, notes)
    }

    /// The list for `key`, which `make` makes if nobody did.
    pub(super) fn find_list(&self, key: ListKey, make: impl FnOnce() -> ToolList) -> Arc<ToolList> {
        if let Some(list) = self.lists.get(&key) {
            return list;
        }
        let list = Arc::new(make());
        self.lists.insert(key, Arc::clone(&list));
        list
    }
}

/// Overrides that no tool has.
fn find_unused_overrides(settings: &Mcp, tools: &[Arc<SavedTool>]) -> Vec<String> {
    let names = settings.overrides.keys();
    let is_known = |name: &str| {
        tools.iter().any(|it| *it.name == *name) || settings.schema_tools.iter().any(|it| it.name() == name)
    };
    names
        .filter(|it| !is_known(it))
        .map(|it| format!("`overrides` has the tool `{it}`, which does not exist"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::source::Protocol;

    fn check(settings: &Mcp, queries: &[(&str, &str)], expected: &[(&str, &str)], notes: &[&str]) {
        let saved = queries.iter().map(|(name, text)| SavedQuery {
            name,
            text,
            comment: None,
            protocol: Protocol::GraphqlOverHttp,
        });
        let (catalog, found) = ToolCatalog::new(settings, saved);
        let tools: Vec<(&str, &str)> = catalog
            .tools
            .iter()
            .map(|it| (&*it.name, it.description.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(tools, expected);
        assert_eq!(found.len(), notes.len(), "{found:?}");
        found.iter().zip(notes).for_each(|(it, part)| assert!(it.contains(part), "{it}"));
    }

    fn enabled() -> Mcp {
        Mcp { enabled: true, ..Mcp::default() }
    }

    #[test]
    fn operations_become_tools_with_their_descriptions() {
        let queries = [
            ("Two", "# Finds two.\n# Both of them.\nquery Two { a }"),
            ("One", "\"\"\"Finds one.\"\"\" query One { a }"),
            ("Add", "mutation Add { b }"),
            ("Live", "subscription Live { a }"),
            ("broken", "{ a"),
        ];
        check(
            &enabled(),
            &queries,
            &[("Add", ""), ("One", "Finds one."), ("Two", "Finds two.\nBoth of them.")],
            &[],
        );
        let read_only = Mcp { mutations: false, ..enabled() };
        check(&read_only, &queries[1..3], &[("One", "Finds one.")], &[]);
        check(&Mcp::default(), &queries, &[], &[]);
    }

    #[test]
    fn a_document_of_several_operations_is_several_tools() {
        check(&enabled(), &[("x", "query A { a } query B { b }")], &[("A", ""), ("B", "")], &[]);
    }

    #[test]
    fn names_are_those_that_agents_take() {
        let long = "n".repeat(80);
        let cut = "n".repeat(64);
        check(
            &enabled(),
            &[("get album/by.id", "{ a }"), (&long, "{ b }"), ("é", "{ c }")],
            &[("get_album_by_id", ""), (&cut, "")],
            &[],
        );
    }

    #[test]
    fn a_name_belongs_to_one_tool_and_a_text_is_one() {
        let schema_tools = vec![SchemaTool::Execute];
        let settings = Mcp { schema_tools, tools_max: 2, ..enabled() };
        let queries = [
            ("A", "{ a }"),
            ("A2", "{ a }"),
            ("A", "{ b }"),
            ("execute", "{ c }"),
            ("D", "{ d }"),
            ("E", "{ e }"),
        ];
        check(&settings, &queries, &[("A", ""), ("D", "")], &["tool `A`", "tool `execute`", "tools_max"]);
        let overrides = [("Lost".to_owned(), crate::config::ToolOverride::default())].into();
        check(&Mcp { overrides, ..enabled() }, &[], &[], &["`Lost`, which does not exist"]);
    }
}
