//! Statements as JSON, as Dgraph exports them: a list of objects, each with the number of its subject and predicates with values.
//!
//! `{"uid": "0x1", "namespace": "0x0", "Dish.name": "Pho"}` is a statement, and `{"uid": "0x1", "Dish.cook": [{"uid": "0x2"}]}`
//! an edge. Line ends mean nothing.
//!
//! **Cost:** one pass over the bytes; one object is held.

use super::cell_values;
use super::lines::LINE_BYTES_MAX;
use super::quad::{Quad, QuadObject};
use flate2::Crc;
use std::borrow::Cow;
use std::io::BufRead;
use weir_language::json::JsonRef;

/// The objects of a file, one after the other.
pub(super) struct ObjectTexts<R> {
    input: R,
    /// Line number, counted from 1.
    line: u64,
    brackets: Brackets,
}

/// Position of a reader within an object.
#[derive(Debug, Default)]
struct Brackets {
    /// Open brackets of the object.
    depth: u32,
    in_string: bool,
    is_escaped: bool,
}

/// An object that was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObjectText {
    /// Line in which it begins; 0 at the end of the file.
    pub(super) line: u64,
    /// Bytes that were read.
    pub(super) read: u64,
}

impl<R: BufRead> ObjectTexts<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: 1, brackets: Brackets::default() }
    }

    /// Reads the next object into `text` and adds all bytes to `sum`.
    pub(super) fn next(&mut self, text: &mut Vec<u8>, sum: &mut Crc) -> Result<ObjectText, String> {
        text.clear();
        let mut found = ObjectText::default();
        loop {
            let chunk = self.input.fill_buf().map_err(|cause| cause.to_string())?;
            if chunk.is_empty() {
                return if self.brackets.depth == 0 {
                    Ok(found)
                } else {
                    Err("its last object is not closed".into())
                };
            }
            let mut used = 0;
            let mut is_whole = false;
            for &byte in chunk {
                used += 1;
                let line = self.line;
                self.line += u64::from(byte == b'\n');
                match (self.brackets.depth, byte) {
                    (0, b'{') => found.line = line,
                    (0, b'[' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n') => continue,
                    (0, _) => return Err(format!("line {line}: it is no list of JSON objects")),
                    _ => {}
                }
                text.push(byte);
                is_whole = self.brackets.follow(byte);
                if is_whole {
                    break;
                }
            }
            sum.update(&chunk[..used]);
            found.read += used as u64;
            self.input.consume(used);
            if is_whole {
                return Ok(found);
            }
            if text.len() > LINE_BYTES_MAX {
                return Err(format!(
                    "the object in line {} is longer than {LINE_BYTES_MAX} bytes",
                    found.line
                ));
            }
        }
    }
}

impl Brackets {
    /// Follows one byte of an object; true if it is its last.
    fn follow(&mut self, byte: u8) -> bool {
        if self.in_string {
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }
}

/// The statements of an object; a reason for each that is none.
pub(super) fn quads(json: JsonRef<'_>) -> Vec<Result<Quad<'_>, String>> {
    let subject = match json.get("uid").map(|it| cell_values::id(&text(it))) {
        Some(Ok(subject)) => subject,
        Some(Err(why)) => return vec![Err(why)],
        None => return vec![Err("an object has no `uid`".into())],
    };
    let mut all = Vec::new();
    for (key, value) in json.members() {
        if matches!(&*key, "uid" | "namespace") || key.contains('|') {
            continue;
        }
        if key.contains('@') {
            all.push(Err("texts of a language are not stored".into()));
            continue;
        }
        let has_own_facets = json.members().any(|it| is_facet_of(&it.0, &key));
        let items: Vec<JsonRef<'_>> = if value.is_array() { value.items().collect() } else { vec![value] };
        for item in items.into_iter().filter(|it| !it.is_null()) {
            all.push(object(item).map(|(object, has_facets)| {
                let has_facets = has_facets || has_own_facets;
                Quad { subject, predicate: key.clone(), object, has_facets }
            }));
        }
    }
    all
}

/// True if `key` is `Dish.name|origin`, where `predicate` is `Dish.name`.
fn is_facet_of(key: &str, predicate: &str) -> bool {
    key.strip_prefix(predicate).is_some_and(|it| it.starts_with('|'))
}

/// The object of a statement, and whether facets stand in it.
fn object(value: JsonRef<'_>) -> Result<(QuadObject<'_>, bool), String> {
    let Some(uid) = value.get("uid") else { return Ok((QuadObject::Text(text(value)), false)) };
    let mut others = value.members().map(|it| it.0).filter(|it| !matches!(&**it, "uid" | "namespace"));
    let has_facets = value.members().any(|it| it.0.contains('|'));
    match others.find(|it| !it.contains('|')) {
        None => Ok((QuadObject::Id(cell_values::id(&text(uid))?), has_facets)),
        Some(other) => {
            Err(format!("`{other}` stands within another object: write it into an object of its own"))
        }
    }
}

/// A string without its quotes, anything else as it is written.
fn text(value: JsonRef<'_>) -> Cow<'_, str> {
    value.as_str().unwrap_or_else(|| value.raw().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    fn check(text: &str, expected: &[(u64, &str)]) {
        // A reader of few bytes at a time.
        let input = std::io::BufReader::with_capacity(3, text.as_bytes());
        let mut objects = ObjectTexts::new(input);
        let mut sum = Crc::new();
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        let mut read = 0;
        loop {
            let object = objects.next(&mut buffer, &mut sum).unwrap_or_else(|why| panic!("{text}: {why}"));
            read += object.read;
            if object.line == 0 {
                break;
            }
            found.push((object.line, String::from_utf8(buffer.clone()).expect("it is UTF-8")));
        }
        let found: Vec<(u64, &str)> = found.iter().map(|it| (it.0, it.1.as_str())).collect();
        assert_eq!((found.as_slice(), read), (expected, text.len() as u64), "{text}");
        let mut whole = Crc::new();
        whole.update(text.as_bytes());
        assert_eq!(sum.sum(), whole.sum());
    }

    #[test]
    fn objects_are_found_wherever_lines_end() {
        check("", &[]);
        check("[\n\n]\n", &[]);
        check("[\n  {\"a\":1},\n  {\"b\":[{}]}\n]\n", &[(2, "{\"a\":1}"), (3, "{\"b\":[{}]}")]);
        check("[{\"a\":\"}\\\"\\\\\"}\n,{\n}\n]", &[(1, "{\"a\":\"}\\\"\\\\\"}"), (2, "{\n}")]);
    }

    #[test]
    fn what_is_no_list_of_objects_is_refused() {
        for (text, part) in [("[7]", "line 1: it is no list"), ("[\n{\"a\":1", "not closed")] {
            let mut objects = ObjectTexts::new(text.as_bytes());
            let found = objects.next(&mut Vec::new(), &mut Crc::new());
            assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{text}: {found:?}");
        }
    }

    #[test]
    fn an_object_is_its_statements() {
        let said = |text: &str| -> Vec<String> {
            let json = Json::parse(text.as_bytes(), 16).expect("it is JSON");
            let word = |it: Result<Quad<'_>, String>| match it {
                Ok(Quad { subject, predicate, object: QuadObject::Id(id), has_facets }) => {
                    format!("{subject} {predicate} <{id}> {has_facets}")
                }
                Ok(Quad { subject, predicate, object: QuadObject::Text(text), has_facets }) => {
                    format!("{subject} {predicate} {text} {has_facets}")
                }
                Err(why) => why,
            };
            quads(json.root()).into_iter().map(word).collect()
        };
        let name = r#"{"uid":"0x1","namespace":"0x0","D.name":"a \u003c \"b\"","D.name|origin":"f"}"#;
        assert_eq!(said(name), ["1 D.name a < \"b\" true"]);
        assert_eq!(
            said(r#"{"uid":"0xa","D.n":1.50,"D.ok":true,"D.none":null,"D.tags":["x","y"]}"#),
            ["10 D.n 1.50 false", "10 D.ok true false", "10 D.tags x false", "10 D.tags y false"]
        );
        assert_eq!(said(r#"{"uid":"0x1","D.cook":[{"uid":"0x2","D.cook|since":1}]}"#), ["1 D.cook <2> true"]);
        assert_eq!(
            said(r#"{"uid":"0x1","D.at":{"type":"Point","coordinates":[1,2]}}"#),
            [r#"1 D.at {"type":"Point","coordinates":[1,2]} false"#]
        );
        assert_eq!(said(r#"{"uid":"0x1","D.name@en":"x"}"#), ["texts of a language are not stored"]);
        assert_eq!(said(r#"{"D.name":"x"}"#), ["an object has no `uid`"]);
        let nested = said(r#"{"uid":"0x1","D.cook":{"uid":"0x2","C.name":"x"}}"#);
        assert_eq!(nested, ["`C.name` stands within another object: write it into an object of its own"]);
    }
}
