//! Ways into a server for relationships: fields for joins alone, each of which stands for a path of the server's fields.
//!
//! The fields stand in a join root of the source's schema, so that no client sees or asks them.

use super::server_names::ServerNames;
use super::template::Template;
use crate::passthrough::{FieldLookup, LookupKey, LookupStep};
use weir_language::json::JsonRef;
use weir_language::schema::{FieldId, Schema, TypeId};

/// A lookup whose names are resolved.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedLookup {
    /// The field of a join root.
    pub(super) field: FieldId,
    /// The fields on the way, from the query root. The last one has the client's selection and arguments.
    pub(super) steps: Vec<ResolvedStep>,
}

impl ResolvedLookup {
    /// Finds the fields on the way in the source's schema.
    pub(super) fn find_fields(&mut self, schema: &Schema, names: &ServerNames) {
        let mut on = schema.query;
        for step in &mut self.steps {
            step.own = names.find_field(schema, on, &step.field);
            let Some(own) = step.own else { return };
            on = schema.field(own).ty.base;
        }
    }
}

/// A field on the way.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedStep {
    /// The server's name.
    pub(super) field: String,
    /// Field of the source's schema.
    pub(super) own: Option<FieldId>,
    /// Arguments that the relationship sets.
    pub(super) arguments: Vec<FixedArgument>,
}

/// An argument that a relationship sets.
#[derive(Clone, Debug)]
pub(crate) struct FixedArgument {
    /// The server's name.
    pub(super) name: String,
    /// Type in the server's names: `[Int!]!`.
    pub(super) ty: String,
    pub(super) value: Template,
}

/// The part of an argument that a relationship leaves to clients.
pub(super) enum OpenRest {
    /// A value of this type, by its name in the source's schema.
    Type(String),
    /// A list, which the client's items continue.
    List,
    Nothing,
}

/// A type made for a relationship, and the server's type whose members it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestType {
    pub(super) ty: TypeId,
    pub(super) whole: TypeId,
}

/// `__schema` of a server, to find fields by name.
#[derive(Clone, Copy)]
pub(super) struct Told<'t> {
    pub(super) schema: JsonRef<'t>,
}

/// The innermost type of `of`, a reference: its kind and name; and true if a list is around it.
pub(super) fn base_type<'t>(of: JsonRef<'t>) -> Option<(String, String, bool)> {
    let mut is_list = false;
    let mut next = of;
    loop {
        let kind = next.get("kind")?.as_str()?;
        match &*kind {
            "NON_NULL" => {}
            "LIST" => is_list = true,
            _ => return Some((kind.into_owned(), next.get("name")?.as_str()?.into_owned(), is_list)),
        }
        next = next.get("ofType")?;
    }
}

/// A reference as GraphQL writes it, in the server's names.
pub(super) fn type_text(of: JsonRef<'_>) -> String {
    let mut before = String::new();
    let mut after = String::new();
    let mut next = Some(of);
    while let Some(ty) = next.filter(|it| it.is_object()) {
        match ty.get("kind").and_then(JsonRef::as_str).as_deref() {
            Some("NON_NULL") => after.insert(0, '!'),
            Some("LIST") => {
                before.push('[');
                after.insert(0, ']');
            }
            _ => before.push_str(&ty.get("name").and_then(JsonRef::as_str).unwrap_or_default()),
        }
        next = ty.get("ofType");
    }
    before + &after
}

fn named<'t>(list: Option<JsonRef<'t>>, name: &str) -> Option<JsonRef<'t>> {
    list?.items().find(|it| it.get("name").and_then(JsonRef::as_str).as_deref() == Some(name))
}

impl<'t> Told<'t> {
    pub(super) fn ty(self, name: &str) -> Option<JsonRef<'t>> {
        named(self.schema.get("types"), name)
    }

    /// The fields on the way of `lookup` from the type `root`, and what the server tells of the last one.
    /// # Errors
    /// A name that is not there, or an argument that does not fit.
    pub(super) fn resolve(
        self,
        lookup: &FieldLookup,
        root: &str,
    ) -> Result<(Vec<ResolvedStep>, JsonRef<'t>), String> {
        let find = |name: &str| lookup.keys.iter().position(|it| it.name == name);
        let mut on = root.to_owned();
        let mut steps = Vec::new();
        let mut last = None;
        for (at, step) in lookup.steps.iter().enumerate() {
            let ty = self.ty(&on);
            let field = named(ty.and_then(|it| it.get("fields")), &step.field)
                .ok_or_else(|| format!("field with name \"{}\" not found in \"{on}\"", step.field))?;
            let mut arguments = Vec::new();
            for (name, value) in &step.arguments {
                let told = named(field.get("args"), name).and_then(|it| it.get("type"));
                let told =
                    told.ok_or_else(|| format!("argument \"{name}\" is not found in \"{}\"", step.field))?;
                let value = Template::parse(value, &find)?;
                self.check_keys(told, value_text(step, name), &lookup.keys)?;
                arguments.push(FixedArgument { name: name.clone(), ty: type_text(told), value });
            }
            let is_last = at + 1 == lookup.steps.len();
            self.check_required(field, &arguments, &step.field, is_last)?;
            let told = field.get("type").and_then(base_type);
            let (kind, name, is_list) = told.ok_or("the server tells a type of no name")?;
            if !is_last && (kind != "OBJECT" || is_list) {
                return Err(format!(
                    "\"{}\" is no single object, so nothing can be asked below it",
                    step.field
                ));
            }
            on = name;
            steps.push(ResolvedStep { field: step.field.clone(), own: None, arguments });
            last = Some(field);
        }
        let last = last.ok_or("`remote_field` names no field")?;
        Ok((steps, last))
    }

    /// Checks that the arguments that have to be given are, at a field where the client gives none.
    fn check_required(
        self,
        field: JsonRef<'t>,
        fixed: &[FixedArgument],
        name: &str,
        is_last: bool,
    ) -> Result<(), String> {
        let is_missing = |argument: &JsonRef<'t>| {
            let own = argument.get("name").and_then(JsonRef::as_str).unwrap_or_default();
            let is_non_null = argument.get("type").is_some_and(|it| type_text(it).ends_with('!'));
            let has_default = argument.get("defaultValue").is_some_and(|it| !it.is_null());
            is_non_null && !has_default && !fixed.iter().any(|it| it.name == own)
        };
        let missing = field.get("args").and_then(|it| it.items().find(is_missing)).filter(|_| !is_last);
        match missing.and_then(|it| it.get("name")).and_then(JsonRef::as_str) {
            Some(missing) => Err(format!("argument \"{missing}\" of \"{name}\" is missing")),
            None => Ok(()),
        }
    }

    /// Checks the types of the keys in `value`, JSON for a place of type `ty`.
    fn check_keys(self, ty: JsonRef<'t>, value: &str, keys: &[LookupKey]) -> Result<(), String> {
        let json = weir_language::json::Json::parse(value.as_bytes(), super::DEPTH_MAX)
            .map_err(|error| error.to_string())?;
        let mut pending = vec![(ty, json.root())];
        while let Some((ty, value)) = pending.pop() {
            let Some((kind, name, _)) = base_type(ty) else { continue };
            if value.is_array() {
                pending.extend(value.items().map(|it| (ty, it)));
            } else if value.is_object() && kind == "INPUT_OBJECT" {
                for (member, value) in value.members() {
                    let field = named(self.ty(&name).and_then(|it| it.get("inputFields")), &member);
                    let ty = field.and_then(|it| it.get("type"));
                    let ty = ty.ok_or_else(|| format!("field \"{member}\" is not found in \"{name}\""))?;
                    pending.push((ty, value));
                }
            } else if let Some(key) = value.as_str().as_deref().and_then(|it| it.strip_prefix('$'))
                && let Some(key) = keys.iter().find(|it| it.name == key)
            {
                check_scalar(key, &name)?;
            }
        }
        Ok(())
    }
}

/// The JSON that `step` sets for the argument `name`.
fn value_text<'s>(step: &'s LookupStep, name: &str) -> &'s str {
    step.arguments.iter().find(|it| it.0 == name).map_or("null", |it| &it.1)
}

/// Checks that a key may be a value of the scalar `ty`.
fn check_scalar(key: &LookupKey, ty: &str) -> Result<(), String> {
    let scalar = key.scalar.as_str();
    match ty {
        "ID" if ["ID", "Int", "uuid", "String"].contains(&scalar) => Ok(()),
        "ID" => Err("Only ID, Int, uuid or String scalar types can be joined to the ID type".into()),
        ty if ty == scalar => Ok(()),
        ty => Err(format!("\"${}\" is of type \"{scalar}\", and \"{ty}\" is expected", key.name)),
    }
}
