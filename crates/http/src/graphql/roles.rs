//! Views of roles on a server: each role has a part of the server's schema as SDL, with presets.
//!
//! The text is in the server's names. It is compared with the server's schema as a whole, so that all its mistakes are told at once.
//!
//! **Invariant:** what the text does not name is hidden; a role without a text sees nothing.
//!
//! Source: Hasura v2, permissions of remote schemas.

use super::presets::Preset;
use super::server_names::ServerNames;
use foldhash::{HashMap, HashSet};
use weir_engine::caller::Caller;
use weir_engine::source::{FieldError, Protocol};
use weir_language::ast::{
    Definition, Document, FieldDefinition, InputDefinition, List, OperationKind, TypeBody, TypeDefinition,
    TypeExpr,
};
use weir_language::json::{Json, JsonRef};
use weir_language::schema::sdl::parse_sdl;
use weir_language::schema::{
    EnumValueId, FieldId, InputId, Run, Schema, TypeId, TypeKind, TypeRef, Visibility, builtin,
};
use weir_language::string_value::write_json;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RoleView {
    pub(super) visibility: Visibility,
    pub(super) presets: HashMap<InputId, Preset>,
    /// Input types that hold presets, at any depth.
    preset_types: HashSet<TypeId>,
}

/// The schema of a source, and the names of its server.
#[derive(Clone, Copy)]
pub(super) struct ServerSchema<'s> {
    pub(super) schema: &'s Schema,
    pub(super) names: &'s ServerNames,
}

impl RoleView {
    /// A view without presets.
    pub(super) fn new(visibility: Visibility) -> Self {
        Self { visibility, presets: HashMap::default(), preset_types: HashSet::default() }
    }

    /// The preset of a permission at an argument or input field of the source's schema.
    pub(super) fn preset(&self, input: InputId) -> Option<&Preset> {
        self.presets.get(&input)
    }

    /// Appends `value`, JSON for a place of type `ty`, with what the permission sets inside of it.
    /// # Errors
    /// A session variable is missing.
    pub(super) fn write_value(
        &self,
        schema: &Schema,
        ty: TypeId,
        value: &str,
        (caller, protocol): (&Caller, Protocol),
        out: &mut String,
    ) -> Result<(), FieldError> {
        match Json::parse(value.as_bytes(), super::DEPTH_MAX) {
            Ok(json) if self.preset_types.contains(&ty) => {
                self.write_inside(schema, ty, json.root(), (caller, protocol), out)
            }
            Ok(_) | Err(_) => {
                out.push_str(value);
                Ok(())
            }
        }
    }

    /// The recursion is as deep as the value, which was read with a bound.
    fn write_inside(
        &self,
        schema: &Schema,
        ty: TypeId,
        value: JsonRef<'_>,
        context: (&Caller, Protocol),
        out: &mut String,
    ) -> Result<(), FieldError> {
        if value.is_array() {
            out.push('[');
            for (at, item) in value.items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                self.write_inside(schema, ty, item, context, out)?;
            }
            out.push(']');
        } else if value.is_object() && self.preset_types.contains(&ty) {
            out.push('{');
            let run = schema.ty(ty).members;
            let mut between = "";
            for (name, member) in value.members() {
                let input = schema.input_by_name(run, &name);
                // A preset argument is hidden, so the client cannot have given it.
                let Some(input) = input.filter(|it| self.preset(*it).is_none()) else { continue };
                out.push_str(between);
                write_json(&name, out);
                out.push(':');
                self.write_inside(schema, schema.input(input).ty.base, member, context, out)?;
                between = ",";
            }
            for input in run.range().map(|it| InputId(it as u32)) {
                let Some(preset) = self.preset(input) else { continue };
                out.push_str(between);
                write_json(schema.input_name(input), out);
                out.push(':');
                preset.write(context.0, context.1, out)?;
                between = ",";
            }
            out.push('}');
        } else {
            out.push_str(value.raw());
        }
        Ok(())
    }
}

/// Compares the text of a role with the server's schema.
/// # Errors
/// All that is wrong with it, in one message.
pub(super) fn read(sdl: &str, server: ServerSchema<'_>) -> Result<RoleView, String> {
    let document =
        parse_sdl(sdl).map_err(|error| format!("the schema of the role is not valid: {}", error.message))?;
    let schema = server.schema;
    let mut visibility = Visibility::everything(schema);
    for id in schema.types_of_sources() {
        let is_scalar = matches!(schema.ty(id).kind, TypeKind::Scalar(_));
        visibility.show_type(id, is_scalar || schema.join_roots.contains(&id));
    }
    let own = (builtin::TYPES..schema.types.len() as u32).map(|it| schema.types[it as usize]);
    for ty in own {
        ty.fields.range().for_each(|it| visibility.show_field(FieldId(it as u32), false));
    }
    (0..schema.inputs.len()).for_each(|it| visibility.show_input(InputId(it as u32), false));
    (0..schema.enum_values.len()).for_each(|it| visibility.show_enum_value(EnumValueId(it as u32), false));
    let view = RoleView::new(visibility);
    let mut reader = RoleReader { document: &document, server, view, wrong: Vec::new() };
    reader.read();
    let RoleReader { mut view, wrong, .. } = reader;
    match wrong.as_slice() {
        [] => {
            view.set_whole_objects(schema);
            view.find_preset_types(schema);
            Ok(view)
        }
        [only] => Err(format!("validation for the given role-based schema failed because {only}")),
        several => {
            let lines: String = several.iter().map(|it| format!("\n • {it}")).collect();
            Err(format!(
                "validation for the given role-based schema failed for the following reasons:{lines}\n"
            ))
        }
    }
}

impl RoleView {
    /// Sets the arguments and input fields whose objects have no field that is left to the client: what the permission sets inside of
    /// them is sent always.
    fn set_whole_objects(&mut self, schema: &Schema) {
        let objects = |view: &Self, id: TypeId| -> Option<Preset> {
            let TypeKind::Input { .. } = schema.ty(id).kind else { return None };
            let members = || schema.ty(id).members.range().map(|it| InputId(it as u32));
            let is_open = members().any(|it| view.visibility.has_input(it));
            let set =
                members().filter_map(|it| Some((schema.input_name(it).to_owned(), view.preset(it)?.clone())));
            let set: Vec<(String, Preset)> = set.collect();
            (!is_open && !set.is_empty()).then_some(Preset::Object(set))
        };
        loop {
            let before = self.presets.len();
            for id in schema.types_of_sources() {
                let Some(object) = objects(self, id) else { continue };
                for at in 0..schema.inputs.len() as u32 {
                    let input = InputId(at);
                    let ty = schema.input(input).ty;
                    if ty.base == id && !ty.wraps.is_list() && self.visibility.has_input(input) {
                        self.visibility.show_input(input, false);
                        self.presets.insert(input, object.clone());
                    }
                }
            }
            if self.presets.len() == before {
                return;
            }
        }
    }

    /// Finds the input types that hold presets.
    pub(super) fn find_preset_types(&mut self, schema: &Schema) {
        let holds = |types: &HashSet<TypeId>, presets: &HashMap<InputId, Preset>, id: TypeId| {
            let mut members = schema.ty(id).members.range().map(|it| InputId(it as u32));
            members.any(|it| presets.contains_key(&it) || types.contains(&schema.input(it).ty.base))
        };
        loop {
            let before = self.preset_types.len();
            for id in schema.types_of_sources() {
                let is_input = matches!(schema.ty(id).kind, TypeKind::Input { .. });
                if is_input && holds(&self.preset_types, &self.presets, id) {
                    self.preset_types.insert(id);
                }
            }
            if self.preset_types.len() == before {
                return;
            }
        }
    }
}

struct RoleReader<'r> {
    document: &'r Document<'r>,
    server: ServerSchema<'r>,
    view: RoleView,
    wrong: Vec<String>,
}

impl<'r> RoleReader<'r> {
    fn read(&mut self) {
        let document = self.document;
        let mut roots: [Option<&str>; 3] = [None; 3];
        let mut is_named = false;
        for definition in &document.definitions {
            match definition {
                Definition::Type(ty) => self.ty(ty),
                Definition::Schema(schema) => {
                    is_named = true;
                    for root in document.list(schema.operations) {
                        let at = match root.kind {
                            OperationKind::Query => 0,
                            OperationKind::Mutation => 1,
                            OperationKind::Subscription => 2,
                        };
                        roots[at] = Some(document.str(root.ty));
                    }
                }
                Definition::Directive(_) => {}
                Definition::Operation(_) | Definition::Fragment(_) => {
                    self.wrong.push("it has operations, and only types are expected".into());
                }
            }
        }
        let is_there = |name: &str| {
            document
                .definitions
                .iter()
                .any(|it| matches!(it, Definition::Type(ty) if document.str(ty.name) == name))
        };
        if !is_named {
            roots = ["Query", "Mutation", "Subscription"].map(|it| is_there(it).then_some(it));
        }
        let ServerSchema { schema, names } = self.server;
        match roots[0] {
            Some(query) if names.find_type(schema, query) == Some(schema.query) => {}
            Some(_) | None => self.wrong.push("query root does not exist in the schema definition".into()),
        }
        for (word, root, own) in
            [("mutation", roots[1], schema.mutation), ("subscription", roots[2], schema.subscription)]
        {
            if let Some(root) = root
                && (own.is_none() || names.find_type(schema, root) != own)
            {
                self.wrong
                    .push(format!("{word} root \"{root}\" does not exist in the upstream remote schema"));
            }
        }
    }

    fn ty(&mut self, ty: &TypeDefinition) {
        let document = self.document;
        let ServerSchema { schema, names } = self.server;
        let name = document.str(ty.name);
        let (word, is_kind): (&str, fn(TypeKind) -> bool) = match ty.body {
            TypeBody::Scalar => ("Scalar", |it| matches!(it, TypeKind::Scalar(_))),
            TypeBody::Object { .. } => ("Object", |it| it == TypeKind::Object),
            TypeBody::Interface { .. } => ("Interface", |it| it == TypeKind::Interface),
            TypeBody::Union { .. } => ("Union", |it| it == TypeKind::Union),
            TypeBody::Enum { .. } => ("Enum", |it| it == TypeKind::Enum),
            TypeBody::Input { .. } => ("Input object", |it| matches!(it, TypeKind::Input { .. })),
        };
        let found = names.find_type(schema, name).filter(|it| is_kind(schema.ty(*it).kind));
        let Some(id) = found else {
            self.wrong.push(format!("{word}: \"{name}\" does not exist in the upstream remote schema"));
            return;
        };
        self.view.visibility.show_type(id, true);
        match ty.body {
            TypeBody::Scalar => {}
            TypeBody::Object { fields, .. } => self.fields(("Object", name), id, fields),
            TypeBody::Interface { fields, .. } => self.fields(("Interface", name), id, fields),
            TypeBody::Union { members } => {
                for member in document.list(members) {
                    let member = document.str(member.0);
                    let found = names.find_type(schema, member);
                    if !found.is_some_and(|it| schema.possible_types(id).contains(&it)) {
                        self.wrong.push(format!("\"{member}\" is no member of the union \"{name}\""));
                    }
                }
            }
            TypeBody::Enum { values } => {
                for value in document.list(values) {
                    let value = document.str(value.name);
                    match schema.enum_value_by_name(id, value) {
                        Some(found) => self.view.visibility.show_enum_value(found, true),
                        None => self
                            .wrong
                            .push(format!("enum value \"{value}\" does not exist in the enum: \"{name}\"")),
                    }
                }
            }
            TypeBody::Input { fields } => {
                let run = schema.ty(id).members;
                self.inputs(&format!("the input object: \"{name}\""), run, fields);
            }
        }
    }

    fn fields(&mut self, (word, name): (&str, &str), id: TypeId, fields: List<FieldDefinition>) {
        let document = self.document;
        let ServerSchema { schema, names } = self.server;
        for field in document.list(fields) {
            let own = document.str(field.name);
            let Some(found) = names.find_field(schema, id, own) else {
                self.wrong.push(format!("field \"{own}\" does not exist in the {word}: \"{name}\""));
                continue;
            };
            self.same_type(&format!("field \"{own}\" of \"{name}\""), schema.field(found).ty, &field.ty);
            self.view.visibility.show_field(found, true);
            self.inputs(&format!("the field: \"{own}\""), schema.field(found).arguments, field.arguments);
        }
    }

    /// The arguments or input fields of `of`, which has those in `run`.
    fn inputs(&mut self, of: &str, run: Run, inputs: List<InputDefinition>) {
        let document = self.document;
        let schema = self.server.schema;
        for input in document.list(inputs) {
            let name = document.str(input.name);
            let Some(found) = schema.input_by_name(run, name) else {
                self.wrong.push(format!("the input argument \"{name}\" does not exist in {of}"));
                continue;
            };
            let theirs = schema.input(found);
            self.same_type(&format!("\"{name}\" of {of}"), theirs.ty, &input.ty);
            let default = input.default.map(|it| document.str(document.value(it).span));
            let expected = theirs.default.map(|it| schema.str(it.literal));
            if default.is_some() && default != expected {
                self.wrong.push(format!(
                    "expected default value of \"{name}\" of {of} to be {} but received {}",
                    expected.unwrap_or("none"),
                    default.unwrap_or("none")
                ));
            }
            match Preset::read(document, input.directives, schema, theirs.ty) {
                Ok(Some(preset)) => {
                    self.view.presets.insert(found, preset);
                }
                Ok(None) => self.view.visibility.show_input(found, true),
                Err(reason) => self.wrong.push(reason),
            }
        }
        let given: Vec<&str> = document.list(inputs).iter().map(|it| document.str(it.name)).collect();
        let missing = run.range().map(|it| InputId(it as u32)).filter(|it| {
            let input = schema.input(*it);
            input.ty.is_non_null() && input.default.is_none() && !given.contains(&schema.input_name(*it))
        });
        let missing: Vec<String> = missing.map(|it| format!("\"{}\"", schema.input_name(it))).collect();
        if !missing.is_empty() {
            let list = missing.join(", ");
            self.wrong
                .push(format!("{of} expects the following non nullable arguments to be present: {list}"));
        }
    }

    fn same_type(&mut self, place: &str, expected: TypeRef, provided: &TypeExpr) {
        let ServerSchema { schema, names } = self.server;
        let mut theirs = String::new();
        expected.wraps.write(names.type_name(schema, expected.base), &mut theirs);
        let mut own = String::new();
        provided.wraps.write(self.document.str(provided.name), &mut own);
        if theirs != own {
            self.wrong.push(format!("expected type of {place} to be {theirs} but received {own}"));
        }
    }
}
