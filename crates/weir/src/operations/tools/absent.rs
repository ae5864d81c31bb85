//! Replaces the tools of agents in a build without the feature `mcp`: there are none.

pub(crate) mod catalog {
    //! No catalog.

    use crate::config::Mcp;
    use weir_engine::source::Protocol;

    /// A query that could be a tool.
    #[expect(dead_code, reason = "only agents read it")]
    pub(crate) struct SavedQuery<'c> {
        pub(crate) name: &'c str,
        pub(crate) text: &'c str,
        pub(crate) comment: Option<&'c str>,
        pub(crate) protocol: Protocol,
    }

    /// No tools.
    #[derive(Debug, Default)]
    pub(crate) struct ToolCatalog;

    impl ToolCatalog {
        /// Takes nothing.
        pub(crate) fn new<'c>(_: &Mcp, queries: impl Iterator<Item = SavedQuery<'c>>) -> (Self, Vec<String>) {
            queries.for_each(drop);
            (Self, Vec::new())
        }
    }
}
