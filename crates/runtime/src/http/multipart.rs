//! Requests with files: `multipart/form-data` with the fields `operations`, `map`, and a field per file, in this order.
//!
//! **Invariant:** nothing is read beyond the limits. A request has a header that a form of another site cannot set, as its content
//! type needs no preflight.
//!
//! **Memory:** the files of a request, at most [`UploadLimits::bytes_max`].
//!
//! Source: <https://github.com/jaydenseric/graphql-multipart-request-spec>

use super::reply::Refusal;
use super::{BodyError, Members, json, members};
use crate::upload::Upload;
use crate::uploads::Uploads;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http_body::Body;
use http_body_util::BodyDataStream;
use multer::{Constraints, Field, Multipart, SizeLimit};

/// Bytes of the field `map`.
const MAP_BYTES_MAX: u64 = 64 << 10;

/// Headers one of which a request with files needs.
const PREFLIGHT: [&str; 3] = ["apollo-require-preflight", "graphql-preflight", "x-apollo-operation-name"];

/// Bounds of the files of a request. [`HttpOptions`](super::HttpOptions) has an example.
#[derive(Clone, Copy, Debug)]
pub struct UploadLimits {
    /// Files, and places in the variables where they stand.
    pub files_max: usize,
    /// Bytes of one file.
    pub file_bytes_max: u64,
    /// Bytes of the whole request.
    pub bytes_max: u64,
}

impl UploadLimits {
    /// Ten files of five megabytes, twenty megabytes in all.
    pub const STANDARD: Self = Self { files_max: 10, file_bytes_max: 5 << 20, bytes_max: 20 << 20 };
}

/// A request with files, read.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) query: String,
    pub(super) operation: Option<String>,
    pub(super) uploads: Uploads,
}

/// A file's field and the paths at which it stands.
struct Mapped {
    name: String,
    paths: Vec<String>,
    file: Option<Upload>,
}

/// Reads the body.
pub(super) async fn read(
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
    limits: &UploadLimits,
    operations_bytes_max: usize,
) -> Result<Sent, Refusal> {
    let is_sent = |it: &str| headers.get(it).is_some_and(|value| !value.is_empty());
    if !PREFLIGHT.into_iter().any(is_sent) {
        return Err(Refusal::bad("a request with files needs the header `GraphQL-Preflight: 1`"));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(content_type).map_err(|error| broken(&error))?;
    let sizes = SizeLimit::new().whole_stream(limits.bytes_max).per_field(limits.file_bytes_max);
    let sizes = sizes.for_field("operations", operations_bytes_max as u64).for_field("map", MAP_BYTES_MAX);
    let stream = BodyDataStream::new(Box::pin(body));
    let mut form = Multipart::with_constraints(stream, boundary, Constraints::new().size_limit(sizes));
    let operations = text(&mut form, "operations").await?;
    let operations = json(&operations)?;
    let operations = operations.root();
    if operations.is_array() {
        return Err(Refusal::bad("`operations` is a list; files are taken for one operation"));
    }
    let Members { query, operation, variables } = members(operations, "`operations`")?;
    let (query, operation) = (query.into_owned(), operation.map(|it| it.into_owned()));
    let variables = variables.map_or("{}", |it| it.raw());
    let map = text(&mut form, "map").await?;
    let mut files = mapped(&map, limits)?;
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        file(field, &mut files).await?;
    }
    let files = files.into_iter().map(|it| match it.file {
        Some(file) => Ok((file, it.paths)),
        None => Err(Refusal::bad(format!("the request has no file `{}`, which `map` names", it.name))),
    });
    let files = files.collect::<Result<_, _>>()?;
    let uploads = Uploads::new(variables, files).map_err(Refusal::bad)?;
    Ok(Sent { query, operation, uploads })
}

/// The content of the next field, which is called `name`.
async fn text(form: &mut Multipart<'_>, name: &str) -> Result<Bytes, Refusal> {
    match form.next_field().await.map_err(|error| broken(&error))? {
        Some(field) if field.name() == Some(name) => field.bytes().await.map_err(|error| broken(&error)),
        Some(field) => {
            let found = field.name().unwrap_or_default();
            Err(Refusal::bad(format!("the field `{name}` has to come before `{found}`")))
        }
        None => Err(Refusal::bad(format!("the request has no field `{name}`"))),
    }
}

/// The files that `map` names: `{"0": ["variables.file"]}`.
fn mapped(map: &[u8], limits: &UploadLimits) -> Result<Vec<Mapped>, Refusal> {
    let map = json(map)?;
    if !map.root().is_object() {
        return Err(Refusal::bad("`map` is no JSON object"));
    }
    let mut files: Vec<Mapped> = Vec::new();
    let mut places = 0;
    for (name, paths) in map.root().members() {
        let paths = paths.items().map(|it| it.as_str().map(|it| it.into_owned()));
        let paths: Option<Vec<String>> = paths.collect();
        let Some(paths) = paths.filter(|it| !it.is_empty()) else {
            return Err(Refusal::bad(format!("`map` has no list of paths for `{name}`")));
        };
        places += paths.len();
        if places > limits.files_max {
            return Err(Refusal::too_long(format!("at most {} files are taken", limits.files_max)));
        }
        files.push(Mapped { name: name.into_owned(), paths, file: None });
    }
    Ok(files)
}

/// Reads a file.
async fn file(field: Field<'_>, files: &mut [Mapped]) -> Result<(), Refusal> {
    let name = field.name().unwrap_or_default().to_owned();
    let Some(mapped) = files.iter_mut().find(|it| it.name == name) else {
        return Err(Refusal::bad(format!("`map` does not name the file `{name}`")));
    };
    if mapped.file.is_some() {
        return Err(Refusal::bad(format!("the file `{name}` comes twice")));
    }
    let file_name = field.file_name().map(str::to_owned);
    let content_type = field.content_type().map(ToString::to_string);
    let content = field.bytes().await.map_err(|error| broken(&error))?;
    mapped.file = Some(Upload { file_name, content_type, content });
    Ok(())
}

/// The refusal of a form that cannot be read.
fn broken(error: &multer::Error) -> Refusal {
    match error {
        multer::Error::FieldSizeExceeded { field_name, limit } => {
            let name = field_name.as_deref().unwrap_or_default();
            Refusal::too_long(format!("the field `{name}` has more than {limit} bytes"))
        }
        multer::Error::StreamSizeExceeded { limit } => {
            Refusal::too_long(format!("the request has more than {limit} bytes"))
        }
        error => Refusal::bad(format!("the form cannot be read: {error}")),
    }
}
