//! Typed arguments and input objects: names are resolved when the schema is built, values are read from the coerced tape.
//!
//! [`Input`] is a Rust type that a GraphQL input type becomes. [`input!`](crate::input!) names the fields of a struct,
//! [`input_one_of!`](crate::input_one_of!) the variants of an enum for a `@oneOf` object.
//!
//! **Invariant:** `read` is only called with values of the type that `shape` accepted.
//!
//! **Cost:** per request one pass over the members of an object; no look-up by name.

pub(crate) mod input_macros;
pub(crate) mod input_types;
pub(crate) mod uploaded_file;
pub(crate) mod value_checks;

use crate::input::uploaded_file::Upload;
use crate::input::value_checks::Check;
use smallvec::SmallVec;
use std::any::TypeId as RustType;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use weir_engine::source::{FieldError, Ids};
use weir_language::schema::{EnumValueId, InputId, Run, ScalarReader, Schema, TypeId, TypeKind, TypeRef};
use weir_language::value::{Node, Values, Variables};

/// A Rust type that values of arguments become.
///
/// ```
/// use weir_runtime::{Context, Input, InputBinder, InputError, InputValue, Request, Schema, Shape, TypeRef, input, root};
///
/// /// A text in lower case.
/// struct Slug(String);
/// impl Input for Slug {
///     fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String> {
///         String::shape(binder, ty)
///     }
///     fn read(value: InputValue<'_>) -> Result<Self, InputError> {
///         let text = String::read(value)?;
///         match text.chars().all(char::is_lowercase) {
///             true => Ok(Slug(text)),
///             false => Err(InputError::new("it is not in lower case")),
///         }
///     }
/// }
/// struct By { slug: Slug }
/// input!(By { slug });
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { length(slug: String!): Int }")
///     .resolve("Query.length", root(|by: &By, _: &Context| by.slug.0.len() as i64))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let ask = |query| runtime.block_on(schema.execute(Request::new(query)));
/// assert_eq!(ask(r#"{ length(slug: "abc") }"#).at("data.length").as_deref(), Some("3"));
/// let refused = ask(r#"{ length(slug: "ABC") }"#).at("errors.0.message");
/// assert_eq!(refused.as_deref(), Some("\"`slug`: it is not in lower case\""));
/// # Ok(())
/// # }
/// ```
pub trait Input: Sized {
    /// True if the value may be absent or null.
    const IS_OPTIONAL: bool = false;
    /// Checks that values of `ty` become this type.
    /// # Errors
    /// The mismatch, in words.
    fn shape(binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<Shape, String>;
    /// Reads a value.
    /// # Errors
    /// The value fits the schema's type, but not the Rust type.
    fn read(value: InputValue<'_>) -> Result<Self, InputError>;
    /// The value of an argument that was not given.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// A struct or enum whose fields are read by index. [`input!`](crate::input!) implements the trait and has an example.
pub trait InputObject: Sized {
    /// The Rust type's name.
    const NAME: &'static str;
    /// Names of the GraphQL fields, in order.
    const FIELDS: &'static [&'static str];
    /// Binds field `index`.
    /// # Errors
    /// The mismatch, in words.
    fn bind_field(index: usize, binder: &mut InputBinder<'_>, ty: TypeRef) -> Result<BoundInput, String>;
    /// Reads all fields.
    /// # Errors
    /// The first value that does not fit.
    fn read_fields(fields: &InputFields<'_>) -> Result<Self, InputError>;
    /// Binds the inputs in `run`, which belong to `owner`.
    /// # Errors
    /// The mismatch, in words.
    fn bind(binder: &mut InputBinder<'_>, run: Run, owner: String) -> Result<Shape, String>
    where
        Self: 'static,
    {
        binder.members::<Self>(run, owner)
    }
}

/// No arguments.
impl InputObject for () {
    const NAME: &'static str = "()";
    const FIELDS: &'static [&'static str] = &[];
    fn bind_field(_: usize, _: &mut InputBinder<'_>, _: TypeRef) -> Result<BoundInput, String> {
        Err("there is no such field".into())
    }
    fn read_fields(_: &InputFields<'_>) -> Result<Self, InputError> {
        Ok(())
    }
}

/// Why a value cannot be read. [`Input`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The names on the way to the value, joined by dots.
    path: String,
    message: String,
}

impl InputError {
    /// An error with a message for the client.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }
    /// Prefixes the path with the field `name`.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        let below = if self.path.is_empty() { String::new() } else { format!(".{}", self.path) };
        self.path = format!("{name}{below}");
        self
    }
    pub(crate) fn to_field_error(&self) -> FieldError {
        crate::resolve_error::field_error(crate::resolve_error::BAD_USER_INPUT, self.to_string())
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}

/// Reads values of one type: an index of [`Shapes`], or nothing for leaves. [`Input`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(u32);

impl Shape {
    /// Shape of a leaf.
    pub const LEAF: Self = Self(u32::MAX);
}

/// A field of an input object, bound. [`input!`](crate::input!) has an example.
#[derive(Clone, Copy, Debug)]
pub struct BoundInput {
    /// For reading.
    pub shape: Shape,
    /// True if the value may be absent or null, see [`Input::IS_OPTIONAL`].
    pub is_optional: bool,
}

/// A field of an object in the order of the Rust type.
#[derive(Debug)]
pub(crate) struct FieldShape {
    pub(crate) name: Cow<'static, str>,
    pub(crate) input: InputId,
    shape: Shape,
    checks: Box<[Check]>,
}

/// Members of a compound input type, in the order of the Rust type.
#[derive(Debug)]
enum ShapeKind {
    Object(Vec<FieldShape>),
    /// Values and the variants of the Rust enum.
    Enum(Vec<(EnumValueId, usize)>),
    /// Values without a Rust type: the GraphQL type, and the fields of an input object.
    Named(TypeId, Vec<FieldShape>),
}

/// The shapes of one schema. [`input!`](crate::input!) has an example.
#[derive(Debug, Default)]
pub struct Shapes {
    kinds: Vec<ShapeKind>,
    known: HashMap<(RustType, u32), Shape>,
}

impl Shapes {
    /// The fields of an object or of arguments.
    pub(crate) fn fields(&self, shape: Shape) -> &[FieldShape] {
        match self.kinds.get(shape.0 as usize) {
            Some(ShapeKind::Object(fields) | ShapeKind::Named(_, fields)) => fields,
            Some(ShapeKind::Enum(_)) | None => &[],
        }
    }
}

/// Binds Rust types to input types while the schema is built. [`Input`] has an example.
pub struct InputBinder<'b> {
    pub(crate) schema: &'b Schema,
    pub(crate) shapes: &'b mut Shapes,
    /// Checks of arguments and input fields.
    pub(crate) checks: &'b HashMap<InputId, Vec<Check>>,
}

impl InputBinder<'_> {
    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.schema
    }

    /// Checks that a single leaf of a kind that `accepts` takes stands here: the reader of a scalar, `None` for enums.
    /// # Errors
    /// It is something else.
    pub fn leaf(
        &self,
        ty: TypeRef,
        what: &str,
        accepts: impl Fn(Option<ScalarReader>) -> bool,
    ) -> Result<Shape, String> {
        let is_fit = match self.schema.ty(ty.base).kind {
            TypeKind::Scalar(reader) => accepts(Some(reader)),
            TypeKind::Enum => accepts(None),
            TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => false,
        };
        let is_fit = is_fit && !ty.wraps.is_list();
        if is_fit { Ok(Shape::LEAF) } else { Err(self.unfit(ty, what)) }
    }

    /// Message for a type that cannot become `what`.
    #[must_use]
    pub fn unfit(&self, ty: TypeRef, what: &str) -> String {
        format!("`{}` is no {what}", self.schema.type_text(ty))
    }

    /// Binds an input object type to `T`.
    /// # Errors
    /// The mismatch, in words.
    pub fn object<T: InputObject + 'static>(&mut self, ty: TypeRef) -> Result<Shape, String> {
        match self.schema.ty(ty.base).kind {
            TypeKind::Input { .. } if !ty.wraps.is_list() => {
                self.members::<T>(self.schema.ty(ty.base).members, self.schema.type_name(ty.base).to_owned())
            }
            _ => Err(self.unfit(ty, T::NAME)),
        }
    }

    /// Binds an enum to the variants `names`.
    /// # Errors
    /// The mismatch, in words.
    pub fn enumeration<T: 'static>(
        &mut self,
        ty: TypeRef,
        name: &str,
        names: &[&str],
    ) -> Result<Shape, String> {
        self.leaf(ty, name, |reader| reader.is_none())?;
        let key = (RustType::of::<T>(), ty.base.0);
        if let Some(&known) = self.shapes.known.get(&key) {
            return Ok(known);
        }
        let members = self.schema.ty(ty.base).members.range().map(|it| EnumValueId(it as u32));
        let values = members.map(|id| {
            let value = self.schema.str(self.schema.enum_value(id).name);
            let variant = names.iter().position(|it| *it == value);
            variant.map(|it| (id, it)).ok_or_else(|| format!("`{name}` has no variant for `{value}`"))
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(self.push(key, ShapeKind::Enum(values)))
    }

    fn push(&mut self, key: (RustType, u32), kind: ShapeKind) -> Shape {
        let shape = Shape(self.shapes.kinds.len() as u32);
        self.shapes.kinds.push(kind);
        self.shapes.known.insert(key, shape);
        shape
    }

    /// Binds the inputs in `run`, which belong to `owner`, to the fields of `T`.
    pub(crate) fn members<T: InputObject + 'static>(
        &mut self,
        run: Run,
        owner: String,
    ) -> Result<Shape, String> {
        let key = (RustType::of::<T>(), run.start | 1 << 31);
        if let Some(&known) = self.shapes.known.get(&key) {
            return Ok(known);
        }
        // A type may hold itself, so it is known before its fields are.
        let shape = self.push(key, ShapeKind::Object(Vec::new()));
        let mut fields = Vec::with_capacity(T::FIELDS.len());
        for (index, &name) in T::FIELDS.iter().enumerate() {
            let input = self.schema.input_by_name(run, name);
            let input =
                input.ok_or_else(|| format!("`{}` reads `{name}`, which `{owner}` lacks", T::NAME))?;
            let ty = self.schema.input(input).ty;
            let has_default = self.schema.input(input).default.is_some();
            let bound = T::bind_field(index, self, ty).map_err(|it| format!("`{owner}.{name}`: {it}"))?;
            if !bound.is_optional && !ty.is_non_null() && !has_default {
                return Err(format!("`{owner}.{name}` may be absent: read it into an `Option`"));
            }
            let checks = self.checks.get(&input).map(|it| it.clone().into_boxed_slice()).unwrap_or_default();
            fields.push(FieldShape { name: name.into(), input, shape: bound.shape, checks });
        }
        self.shapes.kinds[shape.0 as usize] = ShapeKind::Object(fields);
        Ok(shape)
    }

    /// Binds the inputs in `run` to `T`, which holds values of type `V` for any GraphQL type.
    pub(crate) fn any_members<T: 'static, V: 'static>(&mut self, run: Run) -> Shape {
        if run.len == 0 {
            return Shape::LEAF;
        }
        let fields = self.any_fields::<V>(run);
        self.push((RustType::of::<T>(), run.start | 1 << 31), ShapeKind::Object(fields))
    }

    /// Binds the named type of `ty` to `V`, which holds values of any GraphQL type.
    pub(crate) fn any<V: 'static>(&mut self, ty: TypeRef) -> Shape {
        let key = (RustType::of::<V>(), ty.base.0);
        if let Some(&known) = self.shapes.known.get(&key) {
            return known;
        }
        // A type may hold itself, so it is known before its fields are.
        let shape = self.push(key, ShapeKind::Named(ty.base, Vec::new()));
        if let TypeKind::Input { .. } = self.schema.ty(ty.base).kind {
            let fields = self.any_fields::<V>(self.schema.ty(ty.base).members);
            self.shapes.kinds[shape.0 as usize] = ShapeKind::Named(ty.base, fields);
        }
        shape
    }

    fn any_fields<V: 'static>(&mut self, run: Run) -> Vec<FieldShape> {
        let field = |id: usize| {
            let input = InputId(id as u32);
            let name = self.schema.str(self.schema.input(input).name).to_owned().into();
            let shape = self.any::<V>(self.schema.input(input).ty);
            let checks = self.checks.get(&input).map(|it| it.clone().into_boxed_slice()).unwrap_or_default();
            FieldShape { name, input, shape, checks }
        };
        run.range().map(field).collect()
    }
}

/// Context for reading values of one request.
#[derive(Clone, Copy)]
pub(crate) struct InputScope<'r> {
    pub(crate) shapes: &'r Shapes,
    pub(crate) schema: &'r Schema,
    pub(crate) ids: &'r Ids,
    pub(crate) variables: &'r Variables,
    /// Files of the request.
    pub(crate) uploads: &'r [Upload],
}

impl<'r> InputScope<'r> {
    /// The value at `at`; `None` if it is a variable that was not sent.
    pub(crate) fn value(self, values: &'r Values, at: usize, shape: Shape) -> Option<InputValue<'r>> {
        match values.nodes[at] {
            Node::Absent => None,
            Node::Variable(number) => {
                let at = self.variables.starts[number as usize] as usize;
                self.value(&self.variables.values, at, shape)
            }
            _ => Some(InputValue { scope: self, values, at, shape }),
        }
    }
}

/// A coerced value. [`Input`] has an example.
#[derive(Clone, Copy)]
pub struct InputValue<'r> {
    scope: InputScope<'r>,
    values: &'r Values,
    at: usize,
    shape: Shape,
}

impl<'r> InputValue<'r> {
    /// First node of the value.
    #[must_use]
    pub fn node(self) -> Node {
        self.values.nodes[self.at]
    }
    /// True for `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self.node(), Node::Null)
    }
    /// A text, the digits of a number that are kept, or the text of a JSON value.
    #[must_use]
    pub fn text(self) -> Option<&'r str> {
        match self.node() {
            Node::Text(span) | Node::Number(span) | Node::Json(span) => Some(self.values.str(span)),
            Node::Enum(value) => {
                let value = self.scope.schema.enum_value(self.scope.ids.enum_value(value));
                Some(self.scope.schema.str(value.name))
            }
            _ => None,
        }
    }
    /// Files of the request.
    pub(crate) fn uploads(self) -> &'r [Upload] {
        self.scope.uploads
    }
    /// The items of a list.
    pub fn items(self) -> impl Iterator<Item = Option<Self>> + 'r {
        self.values.items(self.at).map(move |at| self.scope.value(self.values, at, self.shape))
    }
    /// The variant of an enum that [`InputBinder::enumeration`] bound.
    #[must_use]
    pub fn variant(self) -> Option<usize> {
        let Node::Enum(value) = self.node() else { return None };
        let own = self.scope.ids.enum_value(value);
        match self.scope.shapes.kinds.get(self.shape.0 as usize) {
            Some(ShapeKind::Enum(values)) => values.iter().find(|it| it.0 == own).map(|it| it.1),
            Some(ShapeKind::Object(_) | ShapeKind::Named(..)) | None => None,
        }
    }
    /// Reads an input object.
    /// # Errors
    /// A value in it that does not fit.
    pub fn object<T: InputObject>(self) -> Result<T, InputError> {
        T::read_fields(&self.fields())
    }
    /// The fields of an input object.
    pub(crate) fn fields(self) -> InputFields<'r> {
        let shapes = self.scope.shapes.fields(self.shape);
        let mut fields = InputFields { shapes, values: SmallVec::from_elem(None, shapes.len()) };
        for (input, at) in self.values.members(self.at) {
            let own = self.scope.ids.input(input);
            if let Some(index) = shapes.iter().position(|it| it.input == own) {
                fields.values[index] = self.scope.value(self.values, at, shapes[index].shape);
            }
        }
        fields
    }
    /// Name of the GraphQL type of a value that was bound without a Rust type.
    pub(crate) fn type_name(self) -> &'r str {
        match self.scope.shapes.kinds.get(self.shape.0 as usize) {
            Some(ShapeKind::Named(ty, _)) => self.scope.schema.type_name(*ty),
            Some(ShapeKind::Object(_) | ShapeKind::Enum(_)) | None => "",
        }
    }
}

/// The values of the fields of an object, in the order of the Rust type. [`input!`](crate::input!) has an example.
pub struct InputFields<'r> {
    shapes: &'r [FieldShape],
    values: SmallVec<[Option<InputValue<'r>>; 8]>,
}

impl<'r> InputFields<'r> {
    /// Fields of arguments: `slots` are places in `literals`, of the value and of the default that replaces an absent one.
    pub(crate) fn of_arguments(
        scope: InputScope<'r>,
        shape: Shape,
        literals: &'r Values,
        slots: &[Option<(u32, Option<u32>)>],
    ) -> Self {
        let shapes = scope.shapes.fields(shape);
        let values = shapes.iter().zip(slots).map(|(field, slot)| {
            let (value, default) = (*slot)?;
            let given = scope.value(literals, value as usize, field.shape);
            given.or_else(|| scope.value(literals, default? as usize, field.shape))
        });
        Self { shapes, values: values.collect() }
    }

    /// The `len` fields from `start` on, which a flattened struct reads.
    #[must_use]
    pub fn part(&self, start: usize, len: usize) -> Self {
        let end = (start + len).min(self.shapes.len());
        let start = start.min(end);
        Self { shapes: &self.shapes[start..end], values: SmallVec::from_slice(&self.values[start..end]) }
    }

    /// True if field `index` was given.
    #[must_use]
    pub fn is_given(&self, index: usize) -> bool {
        self.values.get(index).is_some_and(Option::is_some)
    }

    /// Places and names of the fields that were given.
    pub(crate) fn given_fields(&self) -> impl Iterator<Item = (usize, &'r str)> {
        let shapes = self.shapes;
        (0..shapes.len()).filter(|&it| self.is_given(it)).map(|it| (it, &*shapes[it].name))
    }

    /// Reads field `index`.
    /// # Errors
    /// The value breaks a check, or does not fit.
    pub fn get<T: Input>(&self, index: usize) -> Result<T, InputError> {
        let Some(shape) = self.shapes.get(index) else {
            return Err(InputError::new("there is no such field"));
        };
        let Some(value) = self.values[index] else {
            return T::absent().ok_or_else(|| InputError::new("it was not given").within(&shape.name));
        };
        let checked = shape.checks.iter().try_for_each(|it| it.run(value));
        checked.and_then(|()| T::read(value)).map_err(|it| it.within(&shape.name))
    }
}
