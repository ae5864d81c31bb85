//! Helpers of tests: one field by itself, parts of responses, and snapshots of a schema.
//!
//! A field runs as it does in a request: its arguments are coerced and checked, its guard and filter are asked, and its resolver is
//! called once for all parents. Its value is shown with the fields that come with its objects; those that are resolved separately
//! are left out.

use crate::answers::Answers;
use crate::check::everything;
use crate::context::{Context, ContextParts};
use crate::data::Data;
use crate::error::internal;
use crate::guard::Guard;
use crate::input::InputScope;
use crate::library::{FieldEntry, Library};
use crate::request::Response;
use crate::resolver::{Called, Parents, Step, StepArguments};
use crate::schema::Schema;
use crate::selection::Lookahead;
use crate::upload::Upload;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::{Caller, Identity};
use weir_engine::memory::{Binder, Bindings, RecordHost, Spot, Writer};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::Ids;
use weir_engine::write::out::Out;
use weir_language::ast::Definition;
use weir_language::coerce::{Reading, Settings, VariableTypes};
use weir_language::json::{Json, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::diff::{Severity, diff};
use weir_language::schema::{self as language, FieldId, InputId};
use weir_language::value::{Node, Values, Variables};

/// Time for a field.
const PATIENCE: Duration = Duration::from_secs(30);

/// Nesting of arguments.
const DEPTH_MAX: u32 = 200;

/// Name of the environment variable that has snapshots written.
const BLESS: &str = "WEIR_BLESS";

/// One field, to be run by itself. [`Schema::field`] has an example.
#[must_use = "nothing happens before `run`"]
pub struct FieldRun<'s> {
    schema: &'s Schema,
    coordinate: String,
    parents: Vec<&'s dyn Any>,
    arguments: &'s str,
    uploads: Vec<Upload>,
    data: Data,
    identity: Option<Identity>,
}

impl Schema {
    /// The field at `coordinate`, `User.posts`, to be run by itself.
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
            arguments: "{}",
            uploads: Vec::new(),
            data: Data::new(),
            identity: None,
        }
    }

    /// Compares the schema with the file `path`, and writes the file if there is none or the environment has `WEIR_BLESS`.
    /// # Errors
    /// The changes in words, breaking ones first, or that the file cannot be read or written.
    pub fn snapshot(&self, path: impl AsRef<std::path::Path>) -> Result<(), String> {
        let (path, new) = (path.as_ref(), self.sorted_sdl());
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
        let step = |at: JsonRef<'_>, name: &str| match at.is_array() {
            true => Some(at.items().nth(name.parse().ok()?)?.at),
            false => Some(at.get(name)?.at),
        };
        let mut at = tape.root();
        for name in path.split('.') {
            at = JsonRef { at: step(at, name)?, ..at };
        }
        Some(at.raw().to_owned())
    }
}

/// Arguments of one run, coerced.
struct CoercedArguments {
    literals: Values,
    variables: Variables,
    /// By field of the arguments' Rust type.
    slots: Vec<Option<(u32, Option<u32>)>>,
}

impl<'s> FieldRun<'s> {
    /// Adds a parent.
    pub fn of<P: 'static>(mut self, parent: &'s P) -> Self {
        self.parents.push(parent);
        self
    }
    /// The arguments: the text of a JSON object.
    pub fn arguments(mut self, json: &'s str) -> Self {
        self.arguments = json;
        self
    }
    /// The arguments, with files in them.
    pub fn uploads(mut self, uploads: &'s crate::uploads::Uploads) -> Self {
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

    /// The value of the only parent, as JSON.
    /// # Errors
    /// The error's message.
    pub async fn run(self) -> Result<String, String> {
        let mut values = self.run_all().await?;
        values.pop().unwrap_or_else(|| Err("there is no parent".into()))
    }

    /// The value of each parent, as JSON, or the message of its error.
    /// # Errors
    /// There is no such field, it comes with its object, or the arguments do not fit.
    pub async fn run_all(self) -> Result<Vec<Result<String, String>>, String> {
        let library = Arc::clone(self.schema.library());
        let coordinate = self.coordinate.clone();
        let (on, name) = coordinate.split_once('.').unwrap_or((&coordinate, ""));
        let schema = &library.schema;
        let field = schema.type_by_name(on).and_then(|ty| schema.field_by_name(ty, name));
        let field = field.ok_or_else(|| format!("there is no field `{coordinate}`"))?;
        let Some(entry) = library.parts.field(field) else {
            return Err(format!("`{coordinate}` comes with its object, so it cannot be run by itself"));
        };
        let coerced = coerce(&library, field, entry, self.arguments)?;
        let ids = Arc::new(Ids::default());
        let output = Arc::new(everything(&library));
        let place = output.fields.iter().rposition(|it| it.field == field).unwrap_or_default();
        let caller = self.schema.caller(self.identity.as_ref());
        let context = context(&library, &output, &ids, (place as u32, self.data, caller));
        let called = {
            let scope = InputScope {
                shapes: &library.parts.shapes,
                schema,
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
            call(entry, &self.parents, arguments, (&context, &library))
        };
        let (allowed, called) = called;
        let mut values = match called {
            None => Vec::new().into_iter(),
            Some(called) => {
                let answers = filtered(entry.filter.as_deref(), finished(called).await, &context)?;
                texts(&library, (&*output, place), &*answers)?.into_iter()
            }
        };
        let value = |is_allowed: bool| match is_allowed {
            true => values.next().unwrap_or_else(|| Err(internal().message.into())),
            false => Err(crate::answers::refused_error().message.into()),
        };
        Ok(allowed.into_iter().map(value).collect())
    }
}

/// Calls the resolver for the parents that its guard allows; says which these are.
fn call(
    entry: &FieldEntry,
    parents: &[&dyn Any],
    arguments: StepArguments<'_>,
    (context, library): (&Context, &Arc<Library>),
) -> (Vec<bool>, Option<Called>) {
    let host: &dyn RecordHost = &**library;
    let step = |parents: Parents<'_>| entry.resolver.resolve.call(Step { parents, arguments, context, host });
    let all = if parents.is_empty() { Parents::Units(1) } else { Parents::Objects(parents) };
    let Some(guard) = &entry.guard else { return (vec![true; all.len()], Some(step(all))) };
    let allowed = guard(all, context).unwrap_or_else(|| vec![false; all.len()]);
    let called = match parents.is_empty() {
        true => allowed.contains(&true).then(|| step(all)),
        false => {
            let asked = parents.iter().zip(&allowed).filter(|it| *it.1);
            let asked: Vec<&dyn Any> = asked.map(|it| *it.0).collect();
            (!asked.is_empty()).then(|| step(Parents::Objects(&asked)))
        }
    };
    (allowed, called)
}

async fn finished(called: Called) -> Box<dyn Answers> {
    match called {
        Called::Ready(answers) => answers,
        Called::Later(answers) | Called::AfterLevel(answers) => answers.await,
    }
}

fn filtered(
    filter: Option<&Guard>,
    mut answers: Box<dyn Answers>,
    context: &Context,
) -> Result<Box<dyn Answers>, String> {
    let Some(filter) = filter else { return Ok(answers) };
    match answers.filter(&|items| filter(Parents::Objects(items), context)) {
        true => Ok(answers),
        false => Err("the filter does not know these items".into()),
    }
}

fn context(
    library: &Arc<Library>,
    output: &Arc<OutputPlan>,
    ids: &Arc<Ids>,
    (place, data, caller): (u32, Data, Caller),
) -> Context {
    Context::new(ContextParts {
        data: Arc::clone(&library.data),
        loaders: Arc::clone(&library.loaders),
        host: Arc::clone(library) as Arc<dyn RecordHost>,
        request: Some(Arc::new(data)),
        memory: Arc::default(),
        caller,
        deadline: Instant::now() + PATIENCE,
        lookahead: Lookahead::new(output, &library.schema, ids, place),
        headers: Vec::new(),
    })
}

/// The arguments as variables of an operation that has them all.
fn coerce(
    library: &Library,
    field: FieldId,
    entry: &FieldEntry,
    arguments: &str,
) -> Result<CoercedArguments, String> {
    let schema = &*library.schema;
    let tape =
        Json::parse(arguments.as_bytes(), DEPTH_MAX).map_err(|error| format!("the arguments: {error}"))?;
    let inputs: Vec<InputId> = schema.arguments(field).collect();
    let known = |name: &str| inputs.iter().any(|it| schema.input_name(*it) == name);
    if let Some((name, _)) = tape.root().members().find(|it| !known(&it.0)) {
        return Err(format!("`{}` has no argument `{name}`", schema.field_name(field)));
    }
    let definitions = inputs.iter().map(|it| {
        let (ty, input) = (schema.type_text(schema.input(*it).ty), schema.input(*it));
        // An argument with a default may be absent.
        let ty = if input.default.is_some() { ty.trim_end_matches('!') } else { &ty };
        format!("${}: {ty}", schema.input_name(*it))
    });
    let definitions: Vec<String> = definitions.collect();
    let list = if definitions.is_empty() { String::new() } else { format!("({})", definitions.join(", ")) };
    let text = format!("query {list} {{ __typename }}");
    let document = parser::parse(&text, &Limits::NONE).map_err(|error| error.message)?;
    let Some(Definition::Operation(operation)) = document.definitions.first() else {
        return Err("the arguments have no operation".into());
    };
    let settings = Settings::new(Reading::Strict, &Limits::NONE);
    let words = |errors: Vec<weir_language::error::Error>| {
        errors.into_iter().map(|it| it.message).collect::<Vec<_>>().join("\n")
    };
    let types = VariableTypes::new(schema, &document, operation.variables, settings, &[]).map_err(words)?;
    let mut variables = Variables::default();
    let coerced = types.coerce(schema, Some(tape.root()), settings, &mut variables);
    coerced.map_err(|errors| words(errors.into_iter().map(|it| it.error).collect()))?;
    let mut literals = Values::default();
    let slots = library.parts.shapes.fields(entry.shape).iter().map(|shape| {
        let number = inputs.iter().position(|it| *it == shape.input)? as u32;
        let value = literals.nodes.len() as u32;
        literals.nodes.push(Node::Variable(number));
        let default = schema.input(shape.input).default.map(|it| {
            let at = literals.nodes.len() as u32;
            literals.push_copy(&schema.defaults, it.value as usize);
            at
        });
        Some((value, default))
    });
    let slots = slots.collect();
    Ok(CoercedArguments { literals, variables, slots })
}

/// Each value as JSON, or the message of its first error.
fn texts(
    library: &Arc<Library>,
    (output, place): (&OutputPlan, usize),
    answers: &dyn Answers,
) -> Result<Vec<Result<String, String>>, String> {
    let host = Arc::clone(library) as Arc<dyn RecordHost>;
    let bindings = Bindings::new(&library.schema, &Arc::new(Ids::default()), output, Some(host));
    let mut binder = Binder::new(output, bindings);
    let of = &output.fields[place];
    let spot = Spot { field: place as u32, of, ty: of.ty };
    if let Some(entry) = library.parts.field(of.field) {
        entry.resolver.resolve.bind(&mut binder, spot).map_err(|it| it.message)?;
    }
    let bindings = binder.finish().map_err(|errors| errors[0].message.clone())?;
    let text = |row: usize| {
        let (mut out, mut errors) = (Out::new(Vec::new()), Vec::new());
        let mut writer = Writer::new(output, &bindings, &mut out, &mut errors);
        answers.write(row, place as u32, of, &mut writer);
        match errors.first() {
            Some(error) => Err(error.error.message.clone().into()),
            // `"key":value,`
            None => {
                let start = of.key.name().len() + "\"\":".len();
                let bytes = out.into_bytes();
                let value = bytes.get(start..bytes.len().saturating_sub(1)).unwrap_or_default();
                Ok(String::from_utf8_lossy(value).into_owned())
            }
        }
    };
    Ok((0..answers.len()).map(text).collect())
}
