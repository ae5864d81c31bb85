//! JSON read into a flat tape, without recursion and without trees: bodies of requests, variables.
//!
//! Strict by RFC 8259: duplicate keys, lone surrogates, bad UTF-8, trailing bytes and nesting beyond the bound are
//! errors with the byte they stand at. Numbers keep their digits. One byte order mark at the start is skipped.
//!
//! **Invariant:** `next` of a node is one past the last node of its value, so a value is skipped by one look.
//!
//! **Cost:** one pass, one node (16 bytes) per value; strings without escapes are borrowed from the input. The keys
//! of small objects are compared with each other, those of large ones are hashed with a random key.

mod read;

pub use crate::string_value::write_json as quote;
pub use read::is_same_name;

use crate::string_value;
use read::{JsonReader, Known, OpenContainer};
use std::borrow::Cow;

/// The kinds of nodes.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonNode {
    /// The node's kind.
    pub kind: JsonKind,
    /// First byte of the value in the text: strings without quotes, containers with brackets.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// One past the last node below.
    pub next: u32,
}

/// A parsed text, or one value of it.
#[derive(Clone, Debug, Default)]
pub struct Json<'t> {
    /// The text.
    pub text: &'t str,
    /// Values in document order; each object member is a `String` node and the value after it.
    pub nodes: Cow<'t, [JsonNode]>,
    /// Node of the value.
    first: u32,
    /// The open containers; kept so that the next text needs no new one.
    open: Vec<OpenContainer>,
}

/// One value of a tape.
#[derive(Clone, Copy, Debug)]
pub struct JsonRef<'t> {
    /// The tape.
    pub json: &'t Json<'t>,
    /// The value's node.
    pub at: u32,
}

/// Memory to be used again, from [`Json::into_buffer`].
#[derive(Debug, Default)]
pub struct JsonBuffer {
    nodes: Vec<JsonNode>,
    open: Vec<OpenContainer>,
}

/// Why a text is not accepted as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text ends within a value.
    UnexpectedEnd,
    /// This byte cannot stand here.
    UnexpectedByte,
    /// After the value there is more.
    TrailingBytes,
    /// A number that does not follow the grammar, such as `01` or `1.`.
    BadNumber,
    /// A `\` with what is no escape.
    BadEscape,
    /// A `\u` that is half of a surrogate pair.
    LoneSurrogate,
    /// A character below U+0020 within a string.
    ControlCharacter,
    /// Two members of one object have the same key.
    DuplicateKey,
    /// More brackets open than allowed.
    TooDeep,
    /// Bytes that are no UTF-8.
    BadUtf8,
    /// More than 4 GiB.
    TooLong,
}

impl JsonErrorKind {
    /// Message for the sender of the text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "unexpected end",
            Self::UnexpectedByte => "unexpected character",
            Self::TrailingBytes => "unexpected text after the value",
            Self::BadNumber => "invalid number",
            Self::BadEscape => "invalid escape sequence",
            Self::LoneSurrogate => "lone surrogate in a string",
            Self::ControlCharacter => "control character in a string",
            Self::DuplicateKey => "duplicate key",
            Self::TooDeep => "nested too deep",
            Self::BadUtf8 => "invalid UTF-8",
            Self::TooLong => "text too long",
        }
    }
}

/// A text that is not accepted, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The kind of error.
    pub kind: JsonErrorKind,
    /// The byte it stands at.
    pub at: u32,
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.kind.text(), self.at)
    }
}
impl std::error::Error for JsonError {}

impl<'t> Json<'t> {
    /// Reads `text`, with at most `depth_max` brackets open at once.
    ///
    /// # Errors
    /// The first place where `text` is not acceptable.
    pub fn parse(text: &'t [u8], depth_max: u32) -> Result<Self, JsonError> {
        Self::parse_in(JsonBuffer::default(), text, depth_max)
    }

    /// Reads like [`Json::parse`], reusing the memory of an earlier text.
    ///
    /// # Errors
    /// The first place where `text` is not acceptable.
    pub fn parse_in(buffer: JsonBuffer, text: &'t [u8], depth_max: u32) -> Result<Self, JsonError> {
        if text.len() >= u32::MAX as usize {
            return Err(JsonError { kind: JsonErrorKind::TooLong, at: 0 });
        }
        let text = std::str::from_utf8(text)
            .map_err(|bad| JsonError { kind: JsonErrorKind::BadUtf8, at: bad.valid_up_to() as u32 })?;
        Self::parse_text_in(buffer, text, depth_max)
    }

    /// Reads like [`Json::parse_in`] what is known to be UTF-8.
    ///
    /// # Errors
    /// The first place where `text` is not acceptable.
    pub fn parse_text_in(buffer: JsonBuffer, text: &'t str, depth_max: u32) -> Result<Self, JsonError> {
        if text.len() >= u32::MAX as usize {
            return Err(JsonError { kind: JsonErrorKind::TooLong, at: 0 });
        }
        let JsonBuffer { mut nodes, mut open } = buffer;
        nodes.clear();
        open.clear();
        let at = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let bytes = text.as_bytes();
        let known = Known::default();
        let mut reader = JsonReader { text, bytes, nodes, open, depth_max, known, error: None };
        reader.document(at);
        match reader.error {
            Some(error) => Err(error),
            None => Ok(Self { text, nodes: Cow::Owned(reader.nodes), first: 0, open: reader.open }),
        }
    }

    /// Restores a text that was read before: `nodes` are those that [`Json::parse`] made of `text`.
    pub const fn from_nodes(text: &'t str, nodes: &'t [JsonNode]) -> Self {
        Self::from_part(text, nodes, 0)
    }

    /// Restores the value at node `first` of a text like [`Json::from_nodes`]: its root is that value.
    pub const fn from_part(text: &'t str, nodes: &'t [JsonNode], first: u32) -> Self {
        Self { text, nodes: Cow::Borrowed(nodes), first, open: Vec::new() }
    }

    /// Gives the memory back for the next text.
    pub fn into_buffer(self) -> JsonBuffer {
        let nodes = match self.nodes {
            Cow::Owned(nodes) => nodes,
            Cow::Borrowed(_) => Vec::new(),
        };
        JsonBuffer { nodes, open: self.open }
    }

    /// The value.
    pub const fn root(&'t self) -> JsonRef<'t> {
        JsonRef { json: self, at: self.first }
    }

    fn string(&self, node: JsonNode) -> Cow<'t, str> {
        string(self.text, node)
    }
}

/// The value of the string `node` of `text`.
fn string(text: &str, node: JsonNode) -> Cow<'_, str> {
    let inner = &text[node.start as usize..node.end as usize];
    match node.kind {
        JsonKind::String { escapes: true } => string_value::unescape(inner),
        JsonKind::Null
        | JsonKind::True
        | JsonKind::False
        | JsonKind::Number
        | JsonKind::String { escapes: false }
        | JsonKind::Object
        | JsonKind::Array => Cow::Borrowed(inner),
    }
}

impl<'t> JsonRef<'t> {
    fn node(self) -> JsonNode {
        self.json.nodes[self.at as usize]
    }

    /// The value's kind.
    pub fn kind(self) -> JsonKind {
        self.node().kind
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// The text of a string, decoded; `None` if it is none.
    pub fn as_str(self) -> Option<Cow<'t, str>> {
        matches!(self.kind(), JsonKind::String { .. }).then(|| self.json.string(self.node()))
    }

    /// The digits of a number as written; `None` if it is none.
    pub fn as_number(self) -> Option<&'t str> {
        (self.kind() == JsonKind::Number).then(|| self.raw())
    }

    /// `true` or `false`; `None` if it is neither.
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::True => Some(true),
            JsonKind::False => Some(false),
            JsonKind::Null
            | JsonKind::Number
            | JsonKind::String { .. }
            | JsonKind::Object
            | JsonKind::Array => None,
        }
    }

    /// True for an object.
    pub fn is_object(self) -> bool {
        self.kind() == JsonKind::Object
    }

    /// True for an array.
    pub fn is_array(self) -> bool {
        self.kind() == JsonKind::Array
    }

    /// The value as written; a string with its quotes.
    pub fn raw(self) -> &'t str {
        let node = self.node();
        let quote = u32::from(matches!(node.kind, JsonKind::String { .. }));
        &self.json.text[(node.start - quote) as usize..(node.end + quote) as usize]
    }

    /// Kind and bytes of the value, as [`JsonRef::raw`] gives them, by one look at its node.
    #[inline]
    pub fn kind_and_bytes(self) -> (JsonKind, &'t [u8]) {
        let node = self.node();
        let quote = u32::from(matches!(node.kind, JsonKind::String { .. }));
        let text = self.json.text.as_bytes();
        (node.kind, &text[(node.start - quote) as usize..(node.end + quote) as usize])
    }

    /// The items of an array; none if it is no array.
    pub fn items(self) -> Items<'t> {
        let end = if self.is_array() { self.node().next } else { self.at + 1 };
        Items { json: self.json, at: self.at + 1, end }
    }

    /// The members of an object, in the order written; none if it is no object.
    pub fn members(self) -> Members<'t> {
        let end = if self.is_object() { self.node().next } else { self.at + 1 };
        Members { json: self.json, at: self.at + 1, end }
    }

    /// The member `key` of an object. Costs a look at each member: not for loops over many keys.
    pub fn get(self, key: &str) -> Option<JsonRef<'t>> {
        self.members().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

/// The items of an array.
#[derive(Clone, Debug)]
pub struct Items<'t> {
    json: &'t Json<'t>,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = JsonRef<'t>;
    fn next(&mut self) -> Option<JsonRef<'t>> {
        let item = JsonRef { json: self.json, at: self.at };
        (self.at < self.end).then(|| {
            self.at = item.node().next;
            item
        })
    }
}

/// The members of an object.
#[derive(Clone, Debug)]
pub struct Members<'t> {
    json: &'t Json<'t>,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Members<'t> {
    type Item = (Cow<'t, str>, JsonRef<'t>);
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let key = self.json.string(self.json.nodes[self.at as usize]);
        let value = JsonRef { json: self.json, at: self.at + 1 };
        self.at = value.node().next;
        Some((key, value))
    }
}

/// True if `text` is a JSON number. Source: RFC 8259, section 6.
pub fn is_number(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|it| it.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return false;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if part == 0 {
            return false;
        }
        at += 1 + part;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let part = digits(at);
        if part == 0 {
            return false;
        }
        at += part;
    }
    at == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_json_says() {
        for (text, expected) in [
            ("0", true),
            ("-1.5e+3", true),
            ("01", false),
            ("1.", false),
            ("", false),
            ("-", false),
            ("1e", false),
        ] {
            assert_eq!(is_number(text.as_bytes()), expected, "{text}");
        }
    }

    /// The tape, spelled out: what a reader of it sees.
    fn spelled(value: JsonRef<'_>) -> String {
        match value.kind() {
            JsonKind::Null => "null".to_owned(),
            JsonKind::True | JsonKind::False => format!("{:?}", value.as_bool().unwrap()),
            JsonKind::Number => value.as_number().unwrap().to_owned(),
            JsonKind::String { .. } => format!("{:?}", value.as_str().unwrap()),
            JsonKind::Array => format!("[{}]", value.items().map(spelled).collect::<Vec<_>>().join(" ")),
            JsonKind::Object => {
                let members = value.members().map(|(key, value)| format!("{key}={}", spelled(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn check(text: &str, expected: &str) {
        let json = Json::parse(text.as_bytes(), 4).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spelled(json.root()), expected, "{text}");
        assert_eq!(
            json.root().raw(),
            text.trim_matches(|letter: char| letter == '\u{FEFF}' || letter.is_whitespace())
        );
    }

    fn check_refused(text: &[u8], kind: JsonErrorKind, at: u32) {
        assert_eq!(Json::parse(text, 4).err(), Some(JsonError { kind, at }), "{}", text.escape_ascii());
    }

    #[test]
    fn values_come_out_as_written() {
        check("null", "null");
        check(" [ ] ", "[]");
        check("{}", "{}");
        check("\u{FEFF}true", "true");
        check("[1,-0,0.10,1e400,-2E+7]", "[1 -0 0.10 1e400 -2E+7]");
        check(r#"{"a":{"b":[false,{}]},"c":[[],[[1]]],"":null}"#, "{a={b=[false {}]} c=[[] [[1]]] =null}");
        check(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#, "\"\\\"\\\\/\\u{8}\\u{c}\\n\\r\\té😀é\"");
    }

    #[test]
    fn special_bytes_are_seen_at_every_place_of_a_word() {
        for place in 0..20 {
            let before = "~".repeat(place);
            let text = |special: &str| format!("\"{before}{special}{}\"", "é\u{7F}".repeat(6));
            assert!(Json::parse(text("").as_bytes(), 1).is_ok());
            let at = 1 + place as u32;
            check_refused(text("\u{1F}").as_bytes(), JsonErrorKind::ControlCharacter, at);
            check_refused(text("\\").as_bytes(), JsonErrorKind::BadEscape, at);
            check_refused(text("\"").as_bytes(), JsonErrorKind::TrailingBytes, at + 1);
        }
    }

    #[test]
    fn names_are_equal_only_with_all_their_bytes() {
        for len in 0..40 {
            let name = vec![b'a'; len];
            assert!(is_same_name(&name, &name.clone()), "{len}");
            assert!(!is_same_name(&name, &[&*name, b"a"].concat()), "{len}");
            for at in 0..len {
                let mut other = name.clone();
                other[at] = b'b';
                assert!(!is_same_name(&name, &other) && !is_same_name(&other, &name), "{len}, {at}");
            }
        }
    }

    #[test]
    fn a_part_has_its_own_root() {
        let text = r#"{"a":[1,{"b":"x"}]}"#;
        let whole = Json::parse(text.as_bytes(), 4).unwrap();
        let object = whole.root().get("a").unwrap().items().nth(1).unwrap();
        let part = Json::from_part(text, &whole.nodes, object.at);
        assert_eq!((part.root().raw(), spelled(part.root())), (r#"{"b":"x"}"#, "{b=\"x\"}".to_owned()));
        let check =
            |value: JsonRef<'_>| assert_eq!(value.kind_and_bytes(), (value.kind(), value.raw().as_bytes()));
        check(part.root());
        check(part.root().get("b").unwrap());
    }

    #[test]
    fn members_are_found_by_their_decoded_key() {
        let json = Json::parse(br#"{"a":1,"\u0062":{"a":2}}"#, 4).unwrap();
        assert_eq!(json.root().get("b").and_then(|b| b.get("a")).and_then(JsonRef::as_number), Some("2"));
        assert!(json.root().get("c").is_none() && json.root().get("a").unwrap().get("a").is_none());
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_goes_wrong() {
        use JsonErrorKind as Kind;
        check_refused(b"", Kind::UnexpectedEnd, 0);
        check_refused(b"[1", Kind::UnexpectedEnd, 2);
        check_refused(b"[1,]", Kind::UnexpectedByte, 3);
        check_refused(b"{\"a\":1,}", Kind::UnexpectedByte, 7);
        check_refused(b"{\"a\" 1}", Kind::UnexpectedByte, 5);
        check_refused(b"[1}", Kind::UnexpectedByte, 2);
        check_refused(b"nul", Kind::UnexpectedEnd, 3);
        check_refused(b"NaN", Kind::UnexpectedByte, 0);
        check_refused(b"{} {}", Kind::TrailingBytes, 3);
        check_refused(b"01", Kind::BadNumber, 1);
        check_refused(b"-", Kind::BadNumber, 1);
        check_refused(b"1.", Kind::BadNumber, 2);
        check_refused(b"1e+", Kind::BadNumber, 3);
        check_refused(br#""\x""#, Kind::BadEscape, 1);
        check_refused(br#""\u{41}""#, Kind::BadEscape, 1);
        check_refused(br#""\ud800""#, Kind::LoneSurrogate, 1);
        check_refused(br#""\udc00""#, Kind::LoneSurrogate, 1);
        check_refused(br#""\ud800\u0041""#, Kind::LoneSurrogate, 1);
        check_refused(b"\"a\nb\"", Kind::ControlCharacter, 2);
        check_refused(b"\"a", Kind::UnexpectedEnd, 2);
        check_refused(b"\"\xff\"", Kind::BadUtf8, 1);
        check_refused(b"\"\xc0\xaf\"", Kind::BadUtf8, 1);
        check_refused(b"\0", Kind::UnexpectedByte, 0);
        check_refused(b"[[[[[", Kind::TooDeep, 4);
    }

    #[test]
    fn equal_keys_are_refused_in_small_and_in_large_objects() {
        check_refused(br#"{"a":1,"b":{"a":1},"\u0061":1}"#, JsonErrorKind::DuplicateKey, 20);
        let many: String = (0..1_000).map(|n| format!("\"k{n}\":{{\"k\":0}},")).collect();
        let last = format!("{{{many}\"z\":0}}");
        assert_eq!(Json::parse(last.as_bytes(), 4).unwrap().root().members().count(), 1_001);
        let again = format!("{{{many}\"k7\":0}}");
        assert_eq!(Json::parse(again.as_bytes(), 4).unwrap_err().kind, JsonErrorKind::DuplicateKey);
    }

    #[test]
    fn equal_keys_are_refused_among_objects_that_are_alike() {
        check_refused(br#"[{"a":1,"b":2},{"a":1,"b":2},{"a":1,"a":2}]"#, JsonErrorKind::DuplicateKey, 37);
        check_refused(br#"[{"a":{"c":0},"b":2},{"a":{},"b":2,"a":2}]"#, JsonErrorKind::DuplicateKey, 36);
        check_refused(br#"[{"a":1},{"a":1,"a":2}]"#, JsonErrorKind::DuplicateKey, 17);
        let kinds = br#"[{"a":1},{"b":1},{"c":1},{"d":1},{"e":1},{"a":1,"b":2},{"a":1},{},{"a":1,"b":2}]"#;
        assert!(Json::parse(kinds, 4).is_ok());
    }

    #[test]
    fn what_ends_or_breaks_a_string_is_found_wherever_it_stands() {
        for at in 0..100 {
            let string = |stop: &str| format!("\"{}{stop}{}\"", "é".repeat(at / 2), "-".repeat(100 - at));
            let begin = 1 + at / 2 * 2;
            check_refused(string("\u{1f}").as_bytes(), JsonErrorKind::ControlCharacter, begin as u32);
            check_refused(string("\"").as_bytes(), JsonErrorKind::TrailingBytes, begin as u32 + 1);
            check_refused(string("\\x").as_bytes(), JsonErrorKind::BadEscape, begin as u32);
            assert_eq!(spelled(Json::parse(string("~").as_bytes(), 1).unwrap().root()), string("~"));
        }
    }

    #[test]
    fn a_hundred_thousand_brackets_cost_no_stack() {
        let text = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Json::parse(text.as_bytes(), 200).unwrap_err().kind, JsonErrorKind::TooDeep);
        assert_eq!(Json::parse(text.as_bytes(), u32::MAX).unwrap().nodes.len(), 100_000);
        assert_eq!(
            Json::parse(&text.as_bytes()[..9_000], u32::MAX).unwrap_err().kind,
            JsonErrorKind::UnexpectedEnd
        );
    }

    #[test]
    fn memory_is_used_again() {
        let first = Json::parse(b"[1,2,3]", 4).unwrap();
        let memory = first.nodes.as_ptr();
        let second = Json::parse_in(first.into_buffer(), b"[4]", 4).unwrap();
        assert_eq!((spelled(second.root()).as_str(), second.nodes.as_ptr()), ("[4]", memory));
    }
}
