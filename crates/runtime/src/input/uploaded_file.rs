//! A file that a request carries.

use bytes::Bytes;
use std::fmt;

/// A file of a request: the value of the scalar `Upload`. A clone shares the content.
///
/// ```
/// use weir_runtime::{Context, Schema, Upload, input, root};
/// struct File { file: Upload }
/// input!(File { file });
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("scalar Upload type Query { a: Int } type Mutation { store(file: Upload!): Int! }")
///     .resolve("Query.a", root(|_: &(), _: &Context| 1))
///     .resolve("Mutation.store", root(|it: &File, _: &Context| it.file.content.len() as i64))
///     .build()?;
/// # let _ = schema;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// The name that the client gives it. It may be anything: never use it as a path.
    pub file_name: Option<String>,
    /// The media type that the client claims.
    pub content_type: Option<String>,
    /// The bytes.
    pub content: Bytes,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file_name, content_type, content } = self;
        let mut shown = f.debug_struct("Upload");
        shown.field("file_name", file_name).field("content_type", content_type);
        shown.field("bytes", &content.len()).finish()
    }
}
