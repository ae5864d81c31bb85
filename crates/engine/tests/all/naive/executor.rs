//! Section 6 of the specification, word by word: slow, simple, and the judge of the engine.
//!
//! It walks the document itself, merges fields anew for every object, builds a tree of the answer and tracks the path of
//! every value. Nothing here is shared with the engine but the parser, the schema and the words of errors.
//!
//! Source: GraphQL specification, sections 6.3 (executing selection sets) and 6.4 (executing fields).

use std::collections::HashMap;
use std::fmt::Write;
use weir_engine::memory::{Object, Value};
use weir_language::ast::{
    Definition, Document, Field, Fragment, List, Operation, OperationKind, Selection, ValueId, ValueKind,
};
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind, TypeRef};
use weir_language::span::Location;

/// Variables by name, as they were sent.
pub(crate) type Sent = HashMap<String, serde_json::Value>;

/// Answers the only operation of `document` from the tree `root`.
pub(crate) fn execute(schema: &Schema, document: &Document<'_>, sent: &Sent, root: &Object) -> String {
    let operation = document.definitions.iter().find_map(|it| match it {
        Definition::Operation(operation) => Some(*operation),
        _ => None,
    });
    let operation = operation.expect("there is an operation");
    let variables = coerce_variable_values(document, operation, sent);
    let mut executor = Executor { schema, document, variables, errors: Vec::new(), path: Vec::new() };
    let ty = schema.root(operation.kind).expect("the root is there");
    let data = executor.execute_selection_set(&[operation.selections], ty, root);
    let mut out = String::from("{");
    if !executor.errors.is_empty() {
        write!(out, "\"errors\":[{}],", executor.errors.join(",")).unwrap();
    }
    out.push_str("\"data\":");
    data.unwrap_or(Json::Null).write(&mut out);
    out.push('}');
    out
}

/// Section 6.1.2, for variables that are sent as what they have to be.
fn coerce_variable_values(document: &Document<'_>, operation: Operation, sent: &Sent) -> Sent {
    assert_eq!(operation.kind, OperationKind::Query);
    let mut values = HashMap::new();
    for variable in document.list(operation.variables) {
        let name = document.str(variable.name);
        let default = variable.default.map(|default| match document.value(default).kind {
            ValueKind::Boolean(value) => value.into(),
            ValueKind::Int => document.str(document.value(default).span).parse::<i64>().unwrap().into(),
            _ => panic!("only Boolean and Int variables are made"),
        });
        if let Some(value) = sent.get(name).cloned().or(default) {
            values.insert(name.to_owned(), value);
        }
    }
    values
}

/// A value of the answer.
enum Json {
    Null,
    Leaf(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Leaf(text) => out.push_str(text),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    write!(out, "{}\"{key}\":", if index == 0 { "" } else { "," }).unwrap();
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// A field error was raised and is noted; the nearest nullable position becomes null.
struct Raised;

struct Executor<'e> {
    schema: &'e Schema,
    document: &'e Document<'e>,
    variables: Sent,
    /// As JSON.
    errors: Vec<String>,
    /// As JSON.
    path: Vec<String>,
}

/// The field that is being executed.
#[derive(Clone, Copy)]
struct Executed<'e> {
    fields: &'e [Field],
    parent: TypeId,
}

impl<'e> Executor<'e> {
    /// ExecuteSelectionSet, with CollectSubfields where `sets` are those of several fields.
    fn execute_selection_set(
        &mut self,
        sets: &[List<Selection>],
        ty: TypeId,
        object: &Object,
    ) -> Result<Json, Raised> {
        let mut grouped = Vec::new();
        let mut visited = Vec::new();
        for &set in sets {
            self.collect_fields(ty, set, &mut visited, &mut grouped);
        }
        let mut members = Vec::new();
        for (key, fields) in grouped {
            self.path.push(format!("\"{key}\""));
            let value = self.execute_field(ty, object, &fields);
            self.path.pop();
            members.push((key, value?));
        }
        Ok(Json::Object(members))
    }

    /// CollectFields.
    fn collect_fields(
        &self,
        ty: TypeId,
        set: List<Selection>,
        visited: &mut Vec<&'e str>,
        grouped: &mut Vec<(String, Vec<Field>)>,
    ) {
        for selection in self.document.list(set) {
            let directives = match selection {
                Selection::Field(field) => field.directives,
                Selection::Spread(spread) => spread.directives,
                Selection::Inline(inline) => inline.directives,
            };
            if self.condition(directives, "skip") == Some(true)
                || self.condition(directives, "include") == Some(false)
            {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = self.document.str(field.key());
                    match grouped.iter_mut().find(|(known, _)| known == key) {
                        Some((_, fields)) => fields.push(*field),
                        None => grouped.push((key.to_owned(), vec![*field])),
                    }
                }
                Selection::Spread(spread) => {
                    let name = self.document.str(spread.name);
                    if visited.contains(&name) {
                        continue;
                    }
                    visited.push(name);
                    let fragment = self.fragment(name);
                    if self.does_fragment_type_apply(ty, self.document.str(fragment.on)) {
                        self.collect_fields(ty, fragment.selections, visited, grouped);
                    }
                }
                Selection::Inline(inline) => {
                    if inline.on.is_empty() || self.does_fragment_type_apply(ty, self.document.str(inline.on))
                    {
                        self.collect_fields(ty, inline.selections, visited, grouped);
                    }
                }
            }
        }
    }

    /// The value of `if` of the directive `name`.
    fn condition(&self, directives: List<weir_language::ast::Directive>, name: &str) -> Option<bool> {
        let directive =
            self.document.list(directives).iter().find(|it| self.document.str(it.name) == name)?;
        let value = self.document.list(directive.arguments)[0].value;
        match self.document.value(value).kind {
            ValueKind::Boolean(value) => Some(value),
            ValueKind::Variable(name) => self.variables[self.document.str(name)].as_bool(),
            _ => panic!("only Boolean conditions are made"),
        }
    }

    fn fragment(&self, name: &str) -> Fragment {
        let found = self.document.definitions.iter().find_map(|it| match it {
            Definition::Fragment(fragment) if self.document.str(fragment.name) == name => Some(*fragment),
            _ => None,
        });
        found.expect("the fragment is there")
    }

    /// DoesFragmentTypeApply.
    fn does_fragment_type_apply(&self, ty: TypeId, on: &str) -> bool {
        let on = self.schema.type_by_name(on).expect("the type is there");
        self.schema.possible_types(on).contains(&ty) || on == ty
    }

    /// ExecuteField.
    fn execute_field(&mut self, parent: TypeId, object: &Object, fields: &[Field]) -> Result<Json, Raised> {
        let name = self.document.str(fields[0].name);
        if name == "__typename" {
            return Ok(Json::Leaf(format!("\"{}\"", self.schema.type_name(parent))));
        }
        let field = self.schema.field_by_name(parent, name).expect("the field is there");
        let ty = self.schema.field(field).ty;
        let executed = Executed { fields, parent };
        if let Err(Raised) = self.coerce_argument_values(field, executed) {
            return if ty.is_non_null() { Err(Raised) } else { Ok(Json::Null) };
        }
        self.position(ty, executed, object.get(name))
    }

    /// CoerceArgumentValues, as far as it can fail: the data does not depend on arguments.
    fn coerce_argument_values(&mut self, field: FieldId, executed: Executed<'_>) -> Result<(), Raised> {
        for definition in self.schema.arguments(field) {
            let name = self.schema.input_name(definition);
            let ty = self.schema.input(definition).ty;
            let mut given = self.document.list(executed.fields[0].arguments).iter();
            let Some(given) = given.find(|it| self.document.str(it.name) == name) else { continue };
            if let Some(wanted) = self.null_where_none_may_be(given.value, ty) {
                let words = format!("Argument \"{name}\" of non-null type \"{wanted}\" must not be null.");
                return self.raise(executed, "BAD_USER_INPUT", &words).map(drop);
            }
        }
        Ok(())
    }

    /// The type that takes no null where `value`, which stands for a `ty`, has one.
    fn null_where_none_may_be(&self, value: ValueId, ty: TypeRef) -> Option<String> {
        match self.document.value(value).kind {
            ValueKind::Variable(name) => {
                let is_null = self.variables.get(self.document.str(name)).is_some_and(|it| it.is_null());
                (is_null && ty.is_non_null()).then(|| self.schema.type_text(ty).to_string())
            }
            ValueKind::List(items) => {
                let item = ty.item().expect("lists are only made for lists");
                items.range().find_map(|at| self.null_where_none_may_be(ValueId(at as u32), item))
            }
            _ => None,
        }
    }

    /// Section 6.4.4: a raised error becomes null where null may stand, else it goes on upwards.
    fn position(&mut self, ty: TypeRef, executed: Executed<'_>, value: &Value) -> Result<Json, Raised> {
        match self.complete_value(ty, executed, value) {
            Err(Raised) if !ty.is_non_null() => Ok(Json::Null),
            completed => completed,
        }
    }

    /// CompleteValue.
    fn complete_value(&mut self, ty: TypeRef, executed: Executed<'_>, value: &Value) -> Result<Json, Raised> {
        if let Value::Error(error) = value {
            return self.raise(executed, error.code, &error.message);
        }
        if ty.is_non_null() {
            let inner = TypeRef { wraps: ty.wraps.nullable(), ..ty };
            let completed = self.complete_value(inner, executed, value)?;
            if matches!(completed, Json::Null) {
                let name = self.field_name(executed);
                let words = format!("Cannot return null for non-nullable field {name}.");
                return self.raise(executed, "NULL_FOR_NON_NULL", &words);
            }
            return Ok(completed);
        }
        if *value == Value::Null {
            return Ok(Json::Null);
        }
        if let Some(item) = ty.item() {
            let Value::List(items) = value else { return self.raise_broken(executed) };
            let mut completed = Vec::new();
            for (index, value) in items.iter().enumerate() {
                self.path.push(index.to_string());
                let value = self.position(item, executed, value);
                self.path.pop();
                completed.push(value?);
            }
            return Ok(Json::List(completed));
        }
        match self.schema.ty(ty.base).kind {
            TypeKind::Scalar(_) | TypeKind::Enum => self.coerce_result(ty.base, executed, value),
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                let Value::Object(object) = value else { return self.raise_broken(executed) };
                let concrete = self.resolve_type(ty.base, executed, object)?;
                let sets: Vec<_> = executed.fields.iter().map(|field| field.selections).collect();
                self.execute_selection_set(&sets, concrete, object)
            }
            TypeKind::Input { .. } => panic!("an input type gives no answer"),
        }
    }

    /// ResolveAbstractType.
    fn resolve_type(
        &mut self,
        ty: TypeId,
        executed: Executed<'_>,
        object: &Object,
    ) -> Result<TypeId, Raised> {
        if self.schema.ty(ty).kind == TypeKind::Object {
            return Ok(ty);
        }
        let Some(concrete) = self.schema.type_by_name(&object.ty) else {
            return self.raise_broken(executed).map(|_| ty);
        };
        if self.schema.possible_types(ty).contains(&concrete) {
            return Ok(concrete);
        }
        let expected = self.schema.type_name(ty);
        let words =
            format!("Runtime Object type \"{}\" is not a possible type for \"{expected}\".", object.ty);
        self.raise(executed, "INTERNAL", &words).map(|_| ty)
    }

    /// CoerceResult, section 3.5 for the built-in scalars and 3.9 for enums.
    fn coerce_result(&mut self, ty: TypeId, executed: Executed<'_>, value: &Value) -> Result<Json, Raised> {
        let name = self.schema.type_name(ty);
        match (name, value) {
            ("Int", &Value::Int(value)) if i32::try_from(value).is_err() => {
                let words = format!("Int cannot represent non 32-bit signed integer value: {value}");
                self.raise(executed, "INT_RANGE", &words)
            }
            ("Int", Value::Int(value)) => Ok(Json::Leaf(value.to_string())),
            ("Float", Value::Float(value)) if !value.is_finite() => {
                let value =
                    if value.is_nan() { "NaN".into() } else { format!("{value}").replace("inf", "Infinity") };
                let words = format!("Float cannot represent non numeric value: {value}");
                self.raise(executed, "FLOAT_RANGE", &words)
            }
            ("Float", Value::Float(value)) => {
                // `9.0` is written `9`.
                let digits = serde_json::to_string(value).unwrap();
                Ok(Json::Leaf(digits.strip_suffix(".0").unwrap_or(&digits).to_owned()))
            }
            ("Boolean", Value::Bool(value)) => Ok(Json::Leaf(value.to_string())),
            ("String" | "ID", Value::Text(text)) => Ok(Json::Leaf(serde_json::to_string(&**text).unwrap())),
            (_, Value::Text(text)) if self.schema.ty(ty).kind == TypeKind::Enum => {
                let values = &self.schema.enum_values[self.schema.ty(ty).members.range()];
                if values.iter().any(|value| self.schema.str(value.name) == &**text) {
                    return Ok(Json::Leaf(format!("\"{text}\"")));
                }
                let words = format!("Enum \"{name}\" cannot represent value: \"{text}\"");
                self.raise(executed, "ENUM_VALUE", &words)
            }
            _ => self.raise_broken(executed),
        }
    }

    fn field_name(&self, executed: Executed<'_>) -> String {
        let name = self.document.str(executed.fields[0].name);
        format!("{}.{name}", self.schema.type_name(executed.parent))
    }

    fn raise_broken(&mut self, executed: Executed<'_>) -> Result<Json, Raised> {
        let words = format!("{} was given a value of another type.", self.field_name(executed));
        self.raise(executed, "INTERNAL", &words)
    }

    fn raise(&mut self, executed: Executed<'_>, code: &str, message: &str) -> Result<Json, Raised> {
        let Location { line, column } = Location::of(self.document.text, executed.fields[0].span.start);
        let message = serde_json::to_string(message).unwrap();
        let path = self.path.join(",");
        self.errors.push(format!(
            "{{\"message\":{message},\"locations\":[{{\"line\":{line},\"column\":{column}}}],\"path\":[{path}],\
             \"extensions\":{{\"code\":\"{code}\"}}}}"
        ));
        Err(Raised)
    }
}
