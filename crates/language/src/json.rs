//! JSON read into a flat tape, without recursion and without trees: bodies of requests, variables.
//!
//! Strict by RFC 8259: duplicate keys, lone surrogates, bad UTF-8, trailing bytes and nesting beyond the bound are
//! errors with the byte they stand at. Numbers keep their digits.
//!
//! **Cost:** one pass, one node (12 bytes) per value; strings without escapes are borrowed from the input.

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum JsonKind {
    Null,
    True,
    False,
    /// Digits as written.
    Number,
    /// Text between the quotes; `escapes` says whether it has to be decoded.
    String {
        escapes: bool,
    },
    /// Key and value nodes alternate.
    Object,
    Array,
}

/// A value of the tape.
#[derive(Clone, Copy, Debug)]
pub struct JsonNode {
    /// What it is.
    pub kind: JsonKind,
    /// Of the text: strings without quotes, containers with brackets.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// One past the last node below.
    pub next: u32,
}

/// A parsed text. Its first node is the value.
#[derive(Clone, Debug, Default)]
pub struct Json<'t> {
    /// The text.
    pub text: &'t str,
    /// Values in document order; each object member is a `String` node and the value after it.
    pub nodes: Vec<JsonNode>,
}

/// One value of a tape.
#[derive(Clone, Copy, Debug)]
pub struct JsonRef<'t> {
    /// The tape.
    pub json: &'t Json<'t>,
    /// The value's node.
    pub at: u32,
}
