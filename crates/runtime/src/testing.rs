//! Test helpers: one field run separately, parts of responses, and snapshots of a schema.
//!
//! A field runs as it does in a request: its arguments are coerced and checked, its guard, its filter and the guards of the types of
//! its objects are asked, and its resolver is called once for all parents. Its value is shown with the fields that come with its
//! objects; those that are resolved separately are left out. Guards of types are asked value by value. The parents themselves are
//! not judged.

mod run_input;
mod run_values;

use self::run_input::{coerce, key_columns};
use self::run_values::texts;
use crate::context::data::Data;
use crate::context::lookahead::Lookahead;
use crate::context::request_data::Event;
use crate::context::{Context, ContextParts};
use crate::input::InputScope;
use crate::input::uploaded_file::Upload;
use crate::library::fit_checks::everything;
use crate::library::{FieldEntry, Library};
use crate::request::Response;
use crate::resolve_error::{INTERNAL, field_error, internal};
use crate::resolver::answers::{Answers, Failed, refused_error};
use crate::resolver::object_guard::Guard;
use crate::resolver::{Called, Parents, Resolve, Step, StepArguments};
use crate::schema::Schema;
use crate::step::member_calls::allows;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::memory::RecordHost;
use weir_engine::rows::Column;
use weir_engine::source::{FieldError, Ids};
use weir_language::json::{Json, JsonRef};
use weir_language::schema::diff::{Severity, diff};
use weir_language::schema::{self as language, FieldId};

/// Time for a field without a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Upper bound of the nesting of arguments.
const DEPTH_MAX: u32 = 200;

/// Environment variable that lets snapshots be rewritten.
const BLESS: &str = "WEIR_BLESS";

/// One field that runs separately. [`Schema::field`] has an example.
#[must_use = "nothing happens before `run`"]
pub struct FieldRun<'s> {
    schema: &'s Schema,
    coordinate: String,
    parents: Vec<&'s dyn Any>,
    keys: Vec<&'s str>,
    arguments: &'s str,
    uploads: Vec<Upload>,
    data: Data,
    identity: Option<Identity>,
    headers: Vec<(Box<str>, Box<[u8]>)>,
    deadline: Instant,
}

impl Schema {
    /// The field at `coordinate`, such as `User.posts`, to be run separately.
    ///
    /// ```
    /// use weir_runtime::{Context, Schema, batch, record, root};
    /// struct User { id: i32 }
    /// record!(User { id });
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { user: User } type User { id: Int! double: Int! }")
    ///     .resolve("Query.user", root(|_: &(), _: &Context| User { id: 1 }))
    ///     .resolve("User.double", batch(|users: &[&User], _: &(), _: &Context| users.iter().map(|it| it.id * 2).collect::<Vec<_>>()))
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let double = runtime.block_on(schema.field("User.double").of(&User { id: 21 }).run());
    /// assert_eq!(double, Ok("42".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn field<'s>(&'s self, coordinate: &str) -> FieldRun<'s> {
        FieldRun {
            schema: self,
            coordinate: coordinate.into(),
            parents: Vec::new(),
            keys: Vec::new(),
            arguments: "{}",
            uploads: Vec::new(),
            data: Data::new(),
            identity: None,
            headers: Vec::new(),
            deadline: Instant::now() + PATIENCE,
        }
    }

    /// Compares the schema with the file `path`, and writes the file if there is none or the environment has `WEIR_BLESS`.
    /// # Errors
    /// The changes as text, breaking ones first; or the file cannot be read or written.
    pub fn snapshot(&self, path: impl AsRef<std::path::Path>) -> Result<(), String> {
        let path = path.as_ref();
        let new = self.sorted_sdl();
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        if std::env::var_os(BLESS).is_some() || !path.exists() {
            return std::fs::write(path, new).map_err(failed);
        }
        let old = std::fs::read_to_string(path).map_err(failed)?;
        if old == new {
            return Ok(());
        }
        let read = |sdl: &str| language::Schema::from_sdl(sdl);
        let mut words = format!("the schema is no longer that of {}:", path.display());
        if let (Ok(old), Ok(new)) = (read(&old), read(&new)) {
            for change in diff(&old, &new) {
                let severity = match change.severity {
                    Severity::Breaking => "breaking",
                    Severity::Dangerous => "dangerous",
                    Severity::Safe => "safe",
                };
                words.push_str(&format!("\n- {severity}: {}: {}", change.coordinate, change.message));
            }
        }
        Err(format!("{words}\nset {BLESS} to write it anew"))
    }
}

impl Response {
    /// The JSON of the value at `path`, `data.users.0.name`.
    ///
    /// ```
    /// use weir_runtime::{Context, Request, Schema, root};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { words: [String!]! }")
    ///     .resolve("Query.words", root(|_: &(), _: &Context| vec!["a", "b"]))
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let response = runtime.block_on(schema.execute(Request::new("{ words }")));
    /// assert_eq!(response.at("data.words.1").as_deref(), Some("\"b\""));
    /// assert_eq!(response.at("errors"), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn at(&self, path: &str) -> Option<String> {
        let tape = Json::parse(&self.body, DEPTH_MAX).ok()?;
        let step = |at: JsonRef<'_>, name: &str| {
            if at.is_array() { Some(at.items().nth(name.parse().ok()?)?.at) } else { Some(at.get(name)?.at) }
        };
        let mut at = tape.root();
        for name in path.split('.') {
            at = JsonRef { at: step(at, name)?, ..at };
        }
        Some(at.raw().to_owned())
    }
}

impl<'s> FieldRun<'s> {
    /// Adds a parent.
    pub fn of<P: 'static>(mut self, parent: &'s P) -> Self {
        self.parents.push(parent);
        self
    }
    /// Adds a parent of a [`keyed`](crate::keyed) field, which is asked by keys: the text of a JSON object that has them.
    ///
    /// ```
    /// use weir_runtime::{Context, Schema, keyed, record, root};
    /// struct Album { id: i32 }
    /// record!(Album { id });
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { album: Album } type Album { id: Int! rating: Float! }")
    ///     .resolve("Query.album", root(|_: &(), _: &Context| Album { id: 1 }))
    ///     .resolve("Album.rating", keyed(["id"], |ids: &[i64], _: &(), _: &Context| {
    ///         ids.iter().map(|&id| id as f64 / 2.0).collect::<Vec<_>>()
    ///     }))
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let rating = runtime.block_on(schema.field("Album.rating").of_keys(r#"{"id": 9}"#).run());
    /// assert_eq!(rating, Ok("4.5".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_keys(mut self, json: &'s str) -> Self {
        self.keys.push(json);
        self
    }
    /// The arguments: the text of a JSON object.
    pub fn arguments(mut self, json: &'s str) -> Self {
        self.arguments = json;
        self
    }
    /// The arguments, with files in them.
    pub fn uploads(mut self, uploads: &'s crate::rust_types::uploads::Uploads) -> Self {
        self.arguments = &uploads.variables;
        self.uploads.clone_from(&uploads.files);
        self
    }
    /// A value for the resolver ([`Context::data`]).
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data = self.data.with(value);
        self
    }
    /// The caller's role and claims.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }
    /// A header of the request. The resolver sees declared ones alone ([`crate::SchemaBuilder::header`]).
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_ascii_lowercase().into(), value.as_bytes().into()));
        self
    }
    /// When the value has to be there: in 30 seconds, unless it is said.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = deadline;
        self
    }

    /// The value of the only parent, as JSON. Of a field of the subscription type: its first event; [`Schema::subscribe`] gives all.
    /// # Errors
    /// The error's message.
    pub async fn run(self) -> Result<String, String> {
        let mut values = self.run_all().await?;
        values.pop().unwrap_or_else(|| Err("there is no parent".into()))
    }

    /// The value of each parent, as JSON, or the message of its error.
    /// # Errors
    /// There is no such field, it comes with its object, the arguments or parents do not fit, or there is no value before the deadline.
    pub async fn run_all(mut self) -> Result<Vec<Result<String, String>>, String> {
        let library = Arc::clone(self.schema.library());
        let (field, entry) = separate_field(&library, &self.coordinate)?;
        let keys = self.parent_keys(entry)?;
        let coerced = coerce(&library, field, entry, self.arguments)?;
        let ids = Arc::new(Ids::default());
        let output = Arc::new(everything(&library));
        let place = output.fields.iter().rposition(|it| it.field == field).unwrap_or_default();
        let lookahead = Lookahead::new(&output, &library.schema, &ids, place as u32);
        let context = self.context(&library, lookahead);
        let called = {
            let scope = InputScope {
                shapes: &library.parts.shapes,
                schema: &library.schema,
                ids: &ids,
                variables: &coerced.variables,
                uploads: &self.uploads,
            };
            let arguments = StepArguments {
                scope,
                shape: entry.shape,
                literals: &coerced.literals,
                slots: &coerced.slots,
            };
            call(entry, self.step_parents(&keys), arguments, &context, &library)
        };
        let (allowed, called) = called;
        let mut values = match called {
            None => Vec::new().into_iter(),
            Some(called) => {
                let late = || format!("`{}` gave no value before its deadline", self.coordinate);
                let answers = wait_for_answers(called, self.deadline).await.ok_or_else(late)?;
                let answers = apply_filter(entry.filter.as_deref(), answers, &context)?;
                texts(&library, (&*output, place), answers, &context)?.into_iter()
            }
        };
        let value = |is_allowed: bool| {
            if is_allowed {
                values.next().unwrap_or_else(|| Err(internal().message.into()))
            } else {
                Err(refused_error().message.into())
            }
        };
        Ok(allowed.into_iter().map(value).collect())
    }

    /// The keys of the parents, if the field is asked by keys.
    fn parent_keys(&self, entry: &FieldEntry) -> Result<Vec<Column>, String> {
        let Self { coordinate, parents, keys, .. } = self;
        match &entry.resolver.keys {
            Some(names) if keys.is_empty() || !parents.is_empty() => {
                let names = names.join("`, `");
                Err(format!("`{coordinate}` is asked by keys of its parents: give `{names}` with `of_keys`"))
            }
            Some(names) => key_columns(names, keys),
            None if keys.is_empty() => Ok(Vec::new()),
            None => Err(format!("`{coordinate}` is not asked by keys: give its parents with `of`")),
        }
    }

    fn step_parents<'p>(&'p self, keys: &'p [Column]) -> Parents<'p> {
        match (keys.first(), self.parents.is_empty()) {
            (Some(first), _) => Parents::Keys(keys, first.len()),
            (None, false) => Parents::Objects(&self.parents),
            (None, true) => Parents::Units(1),
        }
    }

    /// The context of the call, which takes the data and headers.
    fn context(&mut self, library: &Arc<Library>, lookahead: Lookahead) -> Context {
        let mut headers = std::mem::take(&mut self.headers);
        headers.retain(|it| library.headers.contains(&it.0));
        Context::new(ContextParts {
            data: Arc::clone(&library.data),
            loaders: Arc::clone(&library.loaders),
            host: Arc::clone(library) as Arc<dyn RecordHost>,
            request: Some(Arc::new(std::mem::take(&mut self.data))),
            memory: Arc::default(),
            caller: self.schema.caller(self.identity.as_ref()),
            deadline: self.deadline,
            lookahead,
            headers,
        })
    }
}

/// The field at `coordinate` and its resolver.
fn separate_field<'l>(library: &'l Library, coordinate: &str) -> Result<(FieldId, &'l FieldEntry), String> {
    let (on, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
    let schema = &library.schema;
    let field = schema.type_by_name(on).and_then(|ty| schema.field_by_name(ty, name));
    let field = field.ok_or_else(|| format!("there is no field `{coordinate}`"))?;
    let entry = library.parts.field(field);
    let entry = entry
        .ok_or_else(|| format!("`{coordinate}` comes with its object, so it cannot be run by itself"))?;
    Ok((field, entry))
}

/// Calls the resolver for the parents that its guard allows; says which these are.
fn call(
    entry: &FieldEntry,
    parents: Parents<'_>,
    arguments: StepArguments<'_>,
    context: &Context,
    library: &Arc<Library>,
) -> (Vec<bool>, Option<Called>) {
    let host: &dyn RecordHost = &**library;
    let step = |parents: Parents<'_>| match &entry.resolver.stream {
        Some(source) => first_event(source.open(arguments, context), Arc::clone(&entry.resolver.resolve)),
        None => entry.resolver.resolve.call(Step { parents, arguments, context, host }),
    };
    let Some(guard) = &entry.guard else { return (vec![true; parents.len()], Some(step(parents))) };
    let Parents::Objects(objects) = parents else {
        let is_allowed = allows(Some(guard), parents.len(), context);
        return (vec![is_allowed; parents.len()], is_allowed.then(|| step(parents)));
    };
    let allowed = guard(parents, context).unwrap_or_else(|| vec![false; objects.len()]);
    let asked = objects.iter().zip(&allowed).filter(|it| *it.1);
    let asked: Vec<&dyn Any> = asked.map(|it| *it.0).collect();
    let called = (!asked.is_empty()).then(|| step(Parents::Objects(&asked)));
    (allowed, called)
}

/// The first event of a stream as the value of its field.
fn first_event(opened: Result<BoxStream<'static, Event>, FieldError>, resolve: Arc<dyn Resolve>) -> Called {
    let failed = |error| Box::new(Failed { error, rows: 1 }) as Box<dyn Answers>;
    let mut events = match opened {
        Ok(events) => events,
        Err(error) => return Called::Ready(failed(error)),
    };
    Called::Later(Box::pin(async move {
        match AssertUnwindSafe(events.next()).catch_unwind().await {
            Ok(Some(event)) => resolve.event(event, 1),
            Ok(None) => failed(field_error(INTERNAL, "the stream ended before its first event")),
            Err(_) => failed(internal()),
        }
    }))
}

/// The values; `None` if they are not there before `deadline`.
async fn wait_for_answers(called: Called, deadline: Instant) -> Option<Box<dyn Answers>> {
    match called {
        Called::Ready(answers) => Some(answers),
        Called::Later(answers) | Called::AfterLevel(answers) => {
            tokio::time::timeout_at(deadline.into(), answers).await.ok()
        }
    }
}

fn apply_filter(
    filter: Option<&Guard>,
    mut answers: Box<dyn Answers>,
    context: &Context,
) -> Result<Box<dyn Answers>, String> {
    let Some(filter) = filter else { return Ok(answers) };
    if answers.filter(&|items| filter(Parents::Objects(items), context)) {
        Ok(answers)
    } else {
        Err("the filter does not know these items".into())
    }
}
