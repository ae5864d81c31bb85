//! `weir validate`: documents in one or several files against a schema.
//!
//! The files are those of one program: an operation may use fragments of other files. Each file is judged together with the
//! fragments that it needs, so operations of two files may have the same name, and each error has the place where it is written.

use super::introspection_sdl::sdl_of;
use super::{Format, print};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weir_language::ast::{Definition, Document, Selection};
use weir_language::error::{Code, Error};
use weir_language::limits::Limits;
use weir_language::parser::{self, Edition};
use weir_language::schema::Schema;
use weir_language::span::{Location, Span};
use weir_language::validate::check_text;

/// One violation in one file.
#[derive(Debug, PartialEq)]
struct Violation {
    file: PathBuf,
    error: Error,
    locations: Vec<Location>,
}

/// A file with its name.
#[derive(Debug)]
struct NamedText {
    file: PathBuf,
    text: String,
}

/// Reads a schema: SDL, or the answer to an introspection query.
/// # Errors
/// The file cannot be read.
pub(super) fn read_schema(file: &Path) -> Result<String, String> {
    sdl_of(read(file)?).map_err(|why| format!("{}: {why}", file.display()))
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|cause| format!("{}: {cause}", file.display()))
}

/// Validates documents against a schema.
pub(super) fn validate(schema: &Path, documents: &[PathBuf], format: Format) -> Result<ExitCode, String> {
    let sdl = NamedText { file: schema.to_path_buf(), text: read_schema(schema)? };
    let named = |file: &PathBuf| Ok(NamedText { file: file.clone(), text: read(file)? });
    let texts = documents.iter().map(named).collect::<Result<Vec<_>, String>>()?;
    let violations = validate_texts(&sdl, &texts);
    let report = match format {
        Format::Text => as_text(&violations),
        Format::Json => as_json(&violations),
    };
    print(&report)?;
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Violations of named documents, each validated alone, against the schema in a file; one line each.
pub(super) fn violations<'d>(
    schema: &Path,
    documents: impl Iterator<Item = (&'d str, &'d str)>,
) -> Result<Vec<String>, String> {
    let sdl = NamedText { file: schema.to_path_buf(), text: read_schema(schema)? };
    let texts = documents.map(|(name, text)| NamedText { file: name.into(), text: text.to_owned() });
    let found = texts.flat_map(|it| validate_texts(&sdl, &[it]));
    let mut lines: Vec<String> = Vec::new();
    for line in as_text(&found.collect::<Vec<_>>()).lines() {
        if !lines.iter().any(|it| it == line) {
            lines.push(line.to_owned());
        }
    }
    Ok(lines)
}

/// Violations of `texts`, or of the schema.
fn validate_texts(sdl: &NamedText, texts: &[NamedText]) -> Vec<Violation> {
    let schema = match Schema::from_sdl(&sdl.text) {
        Ok(schema) => schema,
        Err(errors) => return errors.into_iter().map(|it| violation(sdl, it)).collect(),
    };
    let parsed =
        texts.iter().map(|it| parser::parse_edition(&it.text, &Limits::STANDARD, Edition::September2026));
    let parsed: Vec<Result<Document<'_>, Error>> = parsed.collect();
    let fragments = Fragments::new(&parsed);
    let mut found = Vec::new();
    for (at, document) in parsed.iter().enumerate() {
        let errors = match document {
            Ok(_) => fragments.validate_file(&schema, texts, at),
            Err(error) => vec![violation(&texts[at], error.clone())],
        };
        for error in errors {
            // A fragment is validated with each file that uses it, so errors may repeat.
            if !found.contains(&error) {
                found.push(error);
            }
        }
    }
    found
}

fn violation(of: &NamedText, error: Error) -> Violation {
    let locations = error.locations(&of.text);
    Violation { file: of.file.clone(), error, locations }
}

/// A fragment of a file, with the fragments that it spreads.
#[derive(Debug)]
struct FileFragment<'d> {
    file: usize,
    span: Span,
    spreads: Vec<&'d str>,
}

/// The fragments of all files.
struct Fragments<'d> {
    all: Vec<FileFragment<'d>>,
    /// Fragments by name, in the order of the files.
    by_name: HashMap<&'d str, Vec<usize>>,
    /// Per file: all names that it spreads.
    spreads: Vec<Vec<&'d str>>,
    /// Names reachable from operations.
    used: HashSet<&'d str>,
}

impl<'d> Fragments<'d> {
    fn new(parsed: &'d [Result<Document<'d>, Error>]) -> Self {
        let all = Vec::new();
        let by_name = HashMap::new();
        let used = HashSet::new();
        let mut fragments = Self { all, by_name, spreads: Vec::new(), used };
        let mut open = Vec::new();
        for (file, document) in parsed.iter().enumerate() {
            let Ok(document) = document else {
                fragments.spreads.push(Vec::new());
                continue;
            };
            fragments.spreads.push(spread_within(document, Span::new(0, document.text.len() as u32)));
            for definition in &document.definitions {
                match definition {
                    Definition::Fragment(fragment) => {
                        let name = document.str(fragment.name);
                        fragments.by_name.entry(name).or_default().push(fragments.all.len());
                        let spreads = spread_within(document, fragment.span);
                        fragments.all.push(FileFragment { file, span: fragment.span, spreads });
                    }
                    Definition::Operation(operation) => open.extend(spread_within(document, operation.span)),
                    Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {}
                }
            }
        }
        while let Some(name) = open.pop() {
            if fragments.used.insert(name) {
                let named = fragments.by_name.get(name).into_iter().flatten();
                open.extend(named.flat_map(|at| &fragments.all[*at].spreads));
            }
        }
        fragments
    }

    /// Fragments of other files that the file at `file` requires.
    fn required_fragments(&self, file: usize) -> Vec<&FileFragment<'d>> {
        let mut open = self.spreads[file].clone();
        let mut seen = HashSet::new();
        let mut needed = Vec::new();
        while let Some(name) = open.pop() {
            let Some(named) = self.by_name.get(name).filter(|_| seen.insert(name)) else { continue };
            // The file's own definition takes precedence.
            if named.iter().any(|at| self.all[*at].file == file) {
                continue;
            }
            let fragment = &self.all[named[0]];
            open.extend(&fragment.spreads);
            needed.push(fragment);
        }
        needed
    }

    /// Violations of the file at `file`, validated with the fragments that it requires.
    fn validate_file(&self, schema: &Schema, texts: &[NamedText], file: usize) -> Vec<Violation> {
        let mut pieces = vec![Piece { file, from: 0, at: 0 }];
        let mut whole = texts[file].text.clone();
        for fragment in self.required_fragments(file) {
            whole.push('\n');
            pieces.push(Piece { file: fragment.file, from: fragment.span.start, at: whole.len() as u32 });
            whole.push_str(fragment.span.of(&texts[fragment.file].text));
        }
        let errors = check_text(schema, &whole).err().unwrap_or_default();
        let unused = |name: &&str| format!("Fragment \"{name}\" is never used.");
        let used: HashSet<String> = self.used.iter().map(unused).collect();
        let errors =
            errors.into_iter().filter(|it| it.code != Code::Validation || !used.contains(&it.message));
        errors.map(|it| locate_violation(it, &pieces, texts)).collect()
    }
}

/// Names of fragments spread within `span`.
fn spread_within<'d>(document: &'d Document<'d>, span: Span) -> Vec<&'d str> {
    let spread = |it: &Selection| match it {
        Selection::Spread(spread) => Some((spread.span, document.str(spread.name))),
        Selection::Field(_) | Selection::Inline(_) => None,
    };
    let all = document.selections.iter().filter_map(spread);
    all.filter(|it| span.start <= it.0.start && it.0.end <= span.end).map(|it| it.1).collect()
}

/// A part of a concatenated text.
#[derive(Clone, Copy, Debug)]
struct Piece {
    file: usize,
    /// Offset of the part in its file, and in the concatenated text.
    from: u32,
    at: u32,
}

/// Maps an error of the concatenated text to its file. Locations in other files are dropped.
fn locate_violation(mut error: Error, pieces: &[Piece], texts: &[NamedText]) -> Violation {
    let piece = |span: &Span| pieces.iter().rev().find(|it| it.at <= span.start).unwrap_or(&pieces[0]);
    let file = error.spans.first().map_or(pieces[0].file, |it| piece(it).file);
    error.spans.retain(|it| piece(it).file == file);
    for span in &mut error.spans {
        let Piece { from, at, .. } = *piece(span);
        *span = Span::new(span.start - at + from, span.end - at + from);
    }
    violation(&texts[file], error)
}

/// `file:line:column: message`, one per line.
fn as_text(violations: &[Violation]) -> String {
    let mut out = String::new();
    for Violation { file, error, locations } in violations {
        out.push_str(&file.display().to_string());
        if let Some(first) = locations.first() {
            out.push_str(&format!(":{}:{}", first.line, first.column));
        }
        out.push_str(&format!(": {} [{}]\n", error.message.replace('\n', " "), error.code.text()));
    }
    out
}

/// `{"errors": [{"message", "locations", "extensions": {"code", "file"}}]}`.
fn as_json(violations: &[Violation]) -> String {
    let errors: Vec<serde_json::Value> = violations
        .iter()
        .map(|it| {
            let place = |at: &Location| serde_json::json!({ "line": at.line, "column": at.column });
            serde_json::json!({
                "message": it.error.message,
                "locations": it.locations.iter().map(place).collect::<Vec<_>>(),
                "extensions": { "code": it.error.code.text(), "file": it.file },
            })
        })
        .collect();
    format!("{:#}\n", serde_json::json!({ "errors": errors }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge_files(files: &[(&str, &str)]) -> String {
        let sdl = "type Query { a: A b(x: Int!): Int } type A { c: Int d: A }";
        let named = |(file, text): &(&str, &str)| NamedText { file: file.into(), text: (*text).to_owned() };
        let texts: Vec<NamedText> = files.iter().map(named).collect();
        as_text(&validate_texts(&named(&("schema", sdl)), &texts))
    }

    #[test]
    fn fragments_of_other_files_are_known_and_used() {
        let part = ("part", "fragment P on A { c ...Q }");
        assert_eq!(
            judge_files(&[("one", "{ a { ...P } }"), part, ("more", "fragment Q on A { d { c } }")]),
            ""
        );
        // Operations of two files may be anonymous or have the same name.
        assert_eq!(judge_files(&[("one", "{ a { c } }"), ("two", "{ b(x: 1) }")]), "");
        let unknown = judge_files(&[("one", "{ a { ...P } }")]);
        assert_eq!(unknown, "one:1:10: Unknown fragment \"P\". [GRAPHQL_VALIDATION_FAILED]\n");
        let unused = judge_files(&[("one", "{ a { c } }"), part, ("more", "fragment Q on A { c }")]);
        assert_eq!(
            unused,
            "part:1:1: Fragment \"P\" is never used. [GRAPHQL_VALIDATION_FAILED]\n\
             more:1:1: Fragment \"Q\" is never used. [GRAPHQL_VALIDATION_FAILED]\n"
        );
    }

    #[test]
    fn an_error_is_told_once_and_where_it_is_written() {
        let parts = ("parts", "# the parts\nfragment P on A { d { ...Q } }\nfragment Q on A {\n  wrong\n}");
        let wrong = "parts:4:3: Cannot query field \"wrong\" on type \"A\". [GRAPHQL_VALIDATION_FAILED]\n";
        assert_eq!(
            judge_files(&[("one", "{ a { ...P } }"), ("two", "query Q { a { d { ...P } } }"), parts]),
            wrong
        );
        // A variable that an operation does not define is missing where a fragment of another file uses it.
        let uses = ("uses", "fragment U on Query {\n b(x: $x) }");
        let found =
            judge_files(&[("one", "query One { ...U }"), uses, ("two", "query Two($x: Int!) { ...U }")]);
        assert_eq!(
            found,
            "uses:2:7: Variable \"$x\" is not defined by operation \"One\". [GRAPHQL_VALIDATION_FAILED]\n"
        );
        assert!(
            judge_files(&[("one", "{ a { ...P"), ("two", "{ b(x: 1) }")])
                .starts_with("one:1:11: Syntax Error")
        );
    }

    #[test]
    fn a_file_s_own_fragment_comes_first() {
        let own = ("own", "{ a { ...P } } fragment P on A { c }");
        assert_eq!(judge_files(&[("other", "fragment P on Query { a { c } } { ...P }"), own]), "");
    }
}
