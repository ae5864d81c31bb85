//! The schema of actions: a root field for each, and the types that they reach.

use crate::model::{Model, NamedType};
use std::collections::HashMap;
use std::sync::Arc;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{FieldId, ScalarReader, Schema, Visibility};
use weir_metadata::document::action::{ActionEntry, ActionOperation};

/// Which actions a schema has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm {
    /// All.
    Whole,
    /// Mutations only, for Relay's API.
    Relay,
}

/// Meaning of a root field; numbers are places in [`Model::actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootField {
    /// Calls the handler.
    Call(usize),
    /// Stores a call of an asynchronous action.
    Start(usize),
    /// Reads the result of an asynchronous action.
    Result(usize),
}

impl RootField {
    pub(crate) const fn action(self) -> usize {
        match self {
            Self::Call(at) | Self::Start(at) | Self::Result(at) => at,
        }
    }
}

/// A schema, and what its root fields mean.
pub(crate) struct ActionSchema {
    pub(crate) schema: Arc<Schema>,
    pub(crate) roots: HashMap<FieldId, RootField>,
}

impl ActionSchema {
    /// The schema of the actions of `model`.
    /// # Errors
    /// A rule of the type system that the types break, such as a circle of input objects.
    pub(crate) fn new(model: &Model, form: SchemaForm) -> Result<Self, String> {
        let mut writer =
            SchemaWriter { model, b: SchemaBuilder::new(), roots: HashMap::new(), pending: Vec::new() };
        writer.write_query_root(form);
        writer.write_mutation_root();
        writer.write_results(form);
        writer.write_types();
        let SchemaWriter { b, roots, .. } = writer;
        let schema = b.build().map_err(|errors| {
            let lines: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            lines.join("; ")
        })?;
        Ok(Self { schema: Arc::new(schema), roots })
    }

    /// The members that callers with the role `number` see.
    pub(crate) fn visibility(&self, model: &Model, number: u64) -> Visibility {
        let mut seen = Visibility::everything(&self.schema);
        for (field, root) in &self.roots {
            seen.show_field(*field, model.may_use(number, root.action()));
        }
        seen.close(&self.schema);
        seen
    }
}

struct SchemaWriter<'m> {
    model: &'m Model,
    b: SchemaBuilder,
    roots: HashMap<FieldId, RootField>,
    /// Names of types that are used.
    pending: Vec<String>,
}

impl SchemaWriter<'_> {
    fn write_query_root(&mut self, form: SchemaForm) {
        let query = self.b.object("query_root", "");
        self.b.query(query).may_lack_queries();
        if form == SchemaForm::Relay {
            return;
        }
        for (at, action) in self.model.actions.iter().enumerate() {
            let entry = &action.entry;
            if entry.definition.operation == ActionOperation::Query {
                let field = self.write_field(entry, &entry.definition.output_type.to_string());
                self.roots.insert(field, RootField::Call(at));
                self.write_arguments(entry);
            } else if entry.definition.is_asynchronous() {
                let field = self.write_field(entry, &entry.name);
                self.roots.insert(field, RootField::Result(at));
                let id = self.b.type_ref("uuid!");
                self.b.argument("id", "the unique id of an action", id);
            }
        }
    }

    fn write_mutation_root(&mut self) {
        let is_mutation = |it: &ActionEntry| it.definition.operation == ActionOperation::Mutation;
        if !self.model.actions.iter().any(|it| is_mutation(&it.entry)) {
            return;
        }
        let root = self.b.object("mutation_root", "");
        self.b.mutation(root);
        for (at, action) in self.model.actions.iter().enumerate().filter(|it| is_mutation(&it.1.entry)) {
            let entry = &action.entry;
            let (output, root) = if entry.definition.is_asynchronous() {
                ("uuid!".to_owned(), RootField::Start(at))
            } else {
                (entry.definition.output_type.to_string(), RootField::Call(at))
            };
            let field = self.write_field(entry, &output);
            self.roots.insert(field, root);
            self.write_arguments(entry);
        }
    }

    fn write_field(&mut self, entry: &ActionEntry, ty: &str) -> FieldId {
        let description = entry.comment.as_deref().unwrap_or_default();
        let ty = self.use_type(ty);
        self.b.field(&entry.name, description, ty)
    }

    fn write_arguments(&mut self, entry: &ActionEntry) {
        for argument in &entry.definition.arguments {
            let ty = self.use_type(&argument.ty.to_string());
            self.b.argument(&argument.name, argument.description.as_deref().unwrap_or_default(), ty);
        }
    }

    /// The type `text`, whose definition follows.
    fn use_type(&mut self, text: &str) -> weir_language::schema::TypeRef {
        let name = text.trim_matches(['[', ']', '!']);
        self.pending.push(name.to_owned());
        self.b.type_ref(text)
    }

    /// The types of results of asynchronous actions.
    fn write_results(&mut self, form: SchemaForm) {
        if form == SchemaForm::Relay {
            return;
        }
        for action in self.model.actions.iter().filter(|it| it.entry.definition.is_asynchronous()) {
            let entry = &action.entry;
            self.b.object(&entry.name, &format!("fields of action: \"{}\"", entry.name));
            let output = entry.definition.output_type.to_string();
            for (name, description, ty) in [
                ("created_at", "the time at which this action was created", "timestamptz!"),
                ("errors", "errors related to the invocation", "json"),
                ("id", "the unique id of an action", "uuid!"),
                ("output", "the output fields of this action", output.trim_end_matches('!')),
            ] {
                let ty = self.use_type(ty);
                self.b.field(name, description, ty);
            }
        }
    }

    /// All types that are used, each once.
    fn write_types(&mut self) {
        let results = self.model.actions.iter().filter(|it| it.entry.definition.is_asynchronous());
        let mut known: Vec<String> = results.map(|it| it.entry.name.clone()).collect();
        while let Some(name) = self.pending.pop() {
            if !known.contains(&name) {
                self.write_type(&name);
                known.push(name);
            }
        }
    }

    fn write_type(&mut self, name: &str) {
        let words = |text: &Option<String>| text.clone().unwrap_or_default();
        match self.model.types.find(name) {
            Some(NamedType::BuiltIn) | None => {}
            Some(NamedType::OfDatabase(reader)) => _ = self.b.scalar(name, "", reader),
            Some(NamedType::Scalar(it)) => {
                self.b.scalar(name, &words(&it.description), ScalarReader::Json);
            }
            Some(NamedType::Enum(it)) => {
                self.b.enumeration(name, &words(&it.description));
                for value in &it.values {
                    self.b.enum_value(&value.value, &words(&value.description));
                    if value.is_deprecated == Some(true) {
                        self.b.deprecate("enum value is deprecated");
                    }
                }
            }
            Some(NamedType::Input(it)) => {
                self.b.input_object(name, &words(&it.description));
                for field in &it.fields {
                    let ty = self.use_type(&field.ty.to_string());
                    self.b.input_field(&field.name, &words(&field.description), ty);
                }
            }
            Some(NamedType::Object(it)) => {
                self.b.object(name, &words(&it.description));
                for field in &it.fields {
                    let ty = self.use_type(&field.ty.to_string());
                    self.b.field(&field.name, &words(&field.description), ty);
                }
            }
        }
    }
}
