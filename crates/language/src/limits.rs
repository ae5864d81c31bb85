//! The bounds on a document, with names, units and defaults. Source: `docs/limits.md`.

/// Limits of a document. Every limit is inclusive: `depth_max: 50` accepts depth 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub bytes_max: u32,
    /// Tokens of the text (punctuators, names, values; no commas, no comments).
    pub tokens_max: u32,
    /// Brackets of any kind open at once.
    pub nesting_max: u32,
    /// Fields on the way from the root to a leaf, fragments followed.
    pub depth_max: u32,
    /// Fields with an alias, as written.
    pub aliases_max: u32,
    /// Directives in the whole document.
    pub directives_max: u32,
    /// Directives in one place.
    pub directives_per_place_max: u32,
    /// Fields of all operations after fragments are expanded (counted, never expanded).
    pub expanded_max: u32,
    /// Response keys at the root of one operation, fragments followed.
    pub root_fields_max: u32,
    /// Variables of one operation.
    pub variables_max: u32,
    /// Items of one list in variables or literals.
    pub list_items_max: u32,
    /// Introspection fields (`__schema`, `__type` and below) on the way to a leaf.
    pub introspection_depth_max: u32,
    /// Errors reported at once.
    pub errors_max: u32,
}

impl Limits {
    /// The bounds a server starts with.
    pub const STANDARD: Self = Self {
        bytes_max: 2_000_000,
        tokens_max: 15_000,
        nesting_max: 200,
        depth_max: 50,
        aliases_max: 200,
        directives_max: 50,
        directives_per_place_max: 5,
        expanded_max: 10_000,
        root_fields_max: 50,
        variables_max: 500,
        list_items_max: 10_000,
        introspection_depth_max: 15,
        errors_max: 50,
    };

    /// No bounds but those the arenas themselves have: for the owner's own SDL files and for benchmarks.
    pub const NONE: Self = Self {
        bytes_max: u32::MAX,
        tokens_max: u32::MAX,
        nesting_max: 10_000,
        depth_max: u32::MAX,
        aliases_max: u32::MAX,
        directives_max: u32::MAX,
        directives_per_place_max: u32::MAX,
        expanded_max: u32::MAX,
        root_fields_max: u32::MAX,
        variables_max: u32::MAX,
        list_items_max: u32::MAX,
        introspection_depth_max: u32::MAX,
        errors_max: 50,
    };
}
