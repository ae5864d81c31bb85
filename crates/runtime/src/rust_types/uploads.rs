//! Files that a request carries beside its document: the scalar `Upload`, and the places of variables where files stand.
//!
//! A file stands in the variables as a text that names its number within the request; resolvers get the file itself.
//!
//! **Invariant:** a file is put where the variables are null, and nowhere else; a request names its own files only.
//!
//! **Cost:** nothing without files. A file's content is held once and shared.
//!
//! Source: <https://github.com/jaydenseric/graphql-multipart-request-spec>

use super::type_definitions::{DefinitionKind, TypeDefinition, TypeDefinitions};
use super::typed::GraphqlType;
use crate::input::uploaded_file::Upload;
use crate::input::{Input, InputBinder, InputError, InputValue, Shape};
use weir_language::json::{Json, JsonRef, quote};
use weir_language::schema::{ScalarReader, TypeRef};

/// Name of the scalar.
pub(crate) const UPLOAD: &str = "Upload";

/// Prefix of the text that stands for a file in variables.
const MARK: &str = "weir-upload:";

/// Upper bound of the nesting of variables with files.
const DEPTH_MAX: u32 = 200;

impl Input for Upload {
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
        let is_it = binder.schema().type_name(ty.base) == UPLOAD;
        binder.leaf(ty, "file: the scalar is `Upload`", |reader| {
            is_it && matches!(reader, Some(ScalarReader::Json))
        })
    }
    fn read(value: InputValue<'_>) -> Result<Self, InputError> {
        let number =
            value.text().and_then(|it| it.trim_matches('"').strip_prefix(MARK)?.parse::<usize>().ok());
        let file = number.and_then(|it| value.uploads().get(it));
        file.cloned().ok_or_else(|| InputError::new("it is no file of the request"))
    }
}

impl GraphqlType for Upload {
    fn reference(types: &mut TypeDefinitions) -> String {
        types.define::<Self>(UPLOAD, |_| TypeDefinition {
            kind: DefinitionKind::Scalar,
            description: "A file of a multipart request.",
            members: Vec::new(),
            specified_by: Some("https://github.com/jaydenseric/graphql-multipart-request-spec"),
        })
    }
}

/// Variables with files in them.
///
/// ```
/// use weir_runtime::{Upload, Uploads};
/// let file = Upload { file_name: None, content_type: None, content: "text".into() };
/// let uploads = Uploads::new(r#"{"file": null}"#, vec![(file, vec!["variables.file".into()])]);
/// assert!(uploads.is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploads {
    pub(crate) variables: String,
    pub(crate) files: Vec<Upload>,
}

impl Uploads {
    /// Puts each file at its paths, `variables.input.files.0`, which are null in `variables`: the text of a JSON object.
    /// # Errors
    /// Message about a path that is not null, or that several files have.
    pub fn new(variables: &str, files: Vec<(Upload, Vec<String>)>) -> Result<Self, String> {
        let tape = Json::parse(variables.as_bytes(), DEPTH_MAX);
        let tape = tape.map_err(|error| format!("the variables are not valid JSON: {error}"))?;
        // Offset of each null in the text, and the number of the file that replaces it.
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (number, (_, paths)) in files.iter().enumerate() {
            for path in paths {
                let found = place(tape.root(), path)?;
                let start = found.as_ptr() as usize - variables.as_ptr() as usize;
                if places.iter().any(|it| it.0 == start) {
                    return Err(format!("two files have the path `{path}`"));
                }
                places.push((start, number));
            }
        }
        places.sort_unstable();
        let mut text = String::with_capacity(variables.len() + places.len() * 24);
        let mut end = 0;
        for (start, number) in places {
            text.push_str(&variables[end..start]);
            quote(&format!("{MARK}{number}"), &mut text);
            end = start + "null".len();
        }
        text.push_str(&variables[end..]);
        Ok(Self { variables: text, files: files.into_iter().map(|it| it.0).collect() })
    }
}

/// The null at `path`.
fn place<'t>(variables: JsonRef<'t>, path: &str) -> Result<&'t str, String> {
    let Some(rest) = path.strip_prefix("variables.") else {
        return Err(format!("the path `{path}` does not lead into the variables"));
    };
    let step = |at: JsonRef<'t>, name: &str| {
        if at.is_array() { name.parse().ok().and_then(|index| at.items().nth(index)) } else { at.get(name) }
    };
    match rest.split('.').try_fold(variables, step) {
        Some(found) if found.is_null() => Ok(found.raw()),
        Some(_) => Err(format!("`{path}` is not null, so no file can stand there")),
        None => Err(format!("the variables have nothing at `{path}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &'static str) -> Upload {
        Upload { file_name: None, content_type: None, content: content.into() }
    }

    fn check(variables: &str, paths: &[&[&str]], expected: Result<&str, &str>) {
        let files = paths.iter().map(|it| (file("x"), it.iter().map(|it| (*it).to_owned()).collect()));
        let found = Uploads::new(variables, files.collect());
        assert_eq!(found.map(|it| it.variables), expected.map(Into::into).map_err(Into::into));
    }

    #[test]
    fn files_replace_the_nulls_of_their_paths_and_no_others() {
        check(
            r#"{"a": null, "b": {"c": [null, null, 1]}, "d": null}"#,
            &[&["variables.b.c.1"], &["variables.a", "variables.b.c.0"]],
            Ok(r#"{"a": "weir-upload:1", "b": {"c": ["weir-upload:1", "weir-upload:0", 1]}, "d": null}"#),
        );
    }

    #[test]
    fn paths_that_lead_to_no_null_are_refused() {
        check(
            r#"{"a": 1}"#,
            &[&["variables.a"]],
            Err("`variables.a` is not null, so no file can stand there"),
        );
        check(r#"{"a": null}"#, &[&["variables.b"]], Err("the variables have nothing at `variables.b`"));
        check(
            r#"{"a": [null]}"#,
            &[&["variables.a.1"]],
            Err("the variables have nothing at `variables.a.1`"),
        );
        check(
            r#"{"a": [null]}"#,
            &[&["variables.a.-1"]],
            Err("the variables have nothing at `variables.a.-1`"),
        );
        check(r#"{"a": null}"#, &[&["a"]], Err("the path `a` does not lead into the variables"));
        check("null", &[&["variables."]], Err("the variables have nothing at `variables.`"));
    }

    #[test]
    fn a_path_has_one_file() {
        let expected = Err("two files have the path `variables.a`");
        check(r#"{"a": null}"#, &[&["variables.a"], &["variables.a"]], expected);
        check(r#"{"a": null}"#, &[&["variables.a", "variables.a"]], expected);
    }
}
