//! Requests with files: `multipart/form-data` with the fields `operations`, `map`, and a field per file, in this order.
//!
//! **Invariant:** nothing is read beyond the limits. A request has a header that a form of another site cannot set, as its content
//! type needs no preflight.
//!
//! **Memory:** the files of a request, at most [`UploadLimits::bytes_max`].
//!
//! Source: <https://github.com/jaydenseric/graphql-multipart-request-spec>

use crate::parameters::{Params, params};
use crate::refusal::Refusal;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http_body::Body;
use http_body_util::BodyDataStream;
use multer::{Constraints, Field, Multipart, SizeLimit};
use weir_language::json::Json;

/// Bytes of the field `map`.
const MAP_BYTES_MAX: u64 = 64 << 10;

/// Brackets open at once in the fields of JSON.
const NESTING_MAX: u32 = 200;

/// An error of a request's body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Headers one of which a request with files needs.
const PREFLIGHT: [&str; 3] = ["apollo-require-preflight", "graphql-preflight", "x-apollo-operation-name"];

/// Bounds of the files of a request.
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
pub struct Form {
    /// The document.
    pub query: String,
    /// The operation to run, of several.
    pub operation_name: Option<String>,
    /// The variables: a JSON object in which null stands where the files belong.
    pub variables: String,
    /// The files.
    pub files: Vec<FormFile>,
}

/// A file of a form.
#[derive(Debug)]
pub struct FormFile {
    /// Name of the field.
    name: String,
    /// Places in the request where the file stands: `variables.file`.
    pub paths: Vec<String>,
    /// The name that the client gives it.
    pub file_name: Option<String>,
    /// The media type that the client claims.
    pub content_type: Option<String>,
    /// The bytes.
    pub content: Bytes,
    is_sent: bool,
}

fn json(text: &[u8]) -> Result<Json<'_>, Refusal> {
    Json::parse(text, NESTING_MAX)
        .map_err(|error| Refusal::bad_request(format!("the form has no valid JSON: {error}")))
}

/// Reads the body.
/// # Errors
/// A form that breaks the convention or the limits.
pub async fn read(
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
    limits: &UploadLimits,
    operations_bytes_max: usize,
) -> Result<Form, Refusal> {
    let is_sent = |it: &str| headers.get(it).is_some_and(|value| !value.is_empty());
    if !PREFLIGHT.into_iter().any(is_sent) {
        return Err(Refusal::bad_request("a request with files needs the header `GraphQL-Preflight: 1`"));
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
        return Err(Refusal::bad_request("`operations` is a list; files are taken for one operation"));
    }
    let Params { query, operation_name, variables } =
        params(operations).map_err(|unusable| Refusal::bad_request(unusable.message()))?;
    let map = text(&mut form, "map").await?;
    let mut files = named_files(&map, limits)?;
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        read_file(field, &mut files).await?;
    }
    if let Some(file) = files.iter().find(|it| !it.is_sent) {
        return Err(Refusal::bad_request(format!(
            "the request has no file `{}`, which `map` names",
            file.name
        )));
    }
    Ok(Form {
        query: query.into_owned(),
        operation_name: operation_name.map(|it| it.into_owned()),
        variables: variables.map_or("{}", |it| it.raw()).to_owned(),
        files,
    })
}

/// The content of the next field, which is called `name`.
async fn text(form: &mut Multipart<'_>, name: &str) -> Result<Bytes, Refusal> {
    match form.next_field().await.map_err(|error| broken(&error))? {
        Some(field) if field.name() == Some(name) => field.bytes().await.map_err(|error| broken(&error)),
        Some(field) => {
            let found = field.name().unwrap_or_default();
            Err(Refusal::bad_request(format!("the field `{name}` has to come before `{found}`")))
        }
        None => Err(Refusal::bad_request(format!("the request has no field `{name}`"))),
    }
}

/// The files that `map` names: `{"0": ["variables.file"]}`.
fn named_files(map: &[u8], limits: &UploadLimits) -> Result<Vec<FormFile>, Refusal> {
    let map = json(map)?;
    if !map.root().is_object() {
        return Err(Refusal::bad_request("`map` is no JSON object"));
    }
    let mut files: Vec<FormFile> = Vec::new();
    let mut places = 0;
    for (name, paths) in map.root().members() {
        let paths = paths.items().map(|it| it.as_str().map(|it| it.into_owned()));
        let paths: Option<Vec<String>> = paths.collect();
        let Some(paths) = paths.filter(|it| !it.is_empty()) else {
            return Err(Refusal::bad_request(format!("`map` has no list of paths for `{name}`")));
        };
        places += paths.len();
        if places > limits.files_max {
            return Err(Refusal::too_long(format!("at most {} files are taken", limits.files_max)));
        }
        let name = name.into_owned();
        let content = Bytes::new();
        let file = FormFile { name, paths, file_name: None, content_type: None, content, is_sent: false };
        files.push(file);
    }
    Ok(files)
}

/// Reads a file.
async fn read_file(field: Field<'_>, files: &mut [FormFile]) -> Result<(), Refusal> {
    let name = field.name().unwrap_or_default().to_owned();
    let Some(file) = files.iter_mut().find(|it| it.name == name) else {
        return Err(Refusal::bad_request(format!("`map` does not name the file `{name}`")));
    };
    if file.is_sent {
        return Err(Refusal::bad_request(format!("the file `{name}` comes twice")));
    }
    file.file_name = field.file_name().map(str::to_owned);
    file.content_type = field.content_type().map(ToString::to_string);
    file.content = field.bytes().await.map_err(|error| broken(&error))?;
    file.is_sent = true;
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
        error => Refusal::bad_request(format!("the form cannot be read: {error}")),
    }
}
