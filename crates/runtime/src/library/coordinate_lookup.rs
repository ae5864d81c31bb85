//! Resolves the coordinates that a builder was given to the ids of its schema.
//!
//! **Invariant:** every coordinate that leads nowhere, and every resolver that does not fit its field, is an error.

use super::Parts;
use super::member_places::Places;
use super::visible_members::{Predicate, SchemaMember};
use crate::context::batch_loader::Loaders;
use crate::input::value_checks::{self, Check};
use crate::input::{InputBinder, Shape};
use crate::resolver::any_resolver::AnyResolver;
use crate::resolver::leaf_resolver::Leaf;
use crate::resolver::object_guard::Guard;
use crate::resolver::{ParentType, Resolver};
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::demand::{CostDirective, CostRule, read_cost_rules};
use weir_language::ast::Directive;
use weir_language::error::{Code, Error};
use weir_language::schema::{self as language, EnumValueId, FieldId, InputId, TypeKind, sdl};

/// An SDL, read.
pub(crate) struct ReadSdl {
    pub(crate) schema: language::Schema,
    pub(crate) places: Places,
    /// Weights and list sizes, by `@cost` and `@listSize`.
    pub(crate) cost_rules: Vec<CostRule>,
}

/// `@cost` as Federation defines it, and with the texts of IBM's specification.
const COSTS: [&str; 2] = [
    "directive @cost(weight: Int!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR | INPUT_OBJECT",
    "directive @cost(weight: String!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR | INPUT_OBJECT",
];
const LIST_SIZE: &str = "directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION";

/// Reads an SDL; the directives of checks and costs are defined if they are not.
pub(crate) fn read(sdl: &str) -> Result<ReadSdl, Vec<Error>> {
    let document = sdl::parse_sdl(sdl).map_err(|error| vec![error])?;
    let needs =
        |name: &str| sdl.contains(&format!("@{name}")) && !sdl.contains(&format!("directive @{name}"));
    let has_text = sdl.contains("@cost(weight: \"");
    let own = [
        (value_checks::DIRECTIVE, value_checks::DEFINITION),
        ("cost", COSTS[usize::from(has_text)]),
        ("listSize", LIST_SIZE),
    ];
    let own = own.into_iter().filter(|it| needs(it.0)).filter_map(|it| sdl::parse_sdl(it.1).ok());
    let places = Places::of(&document);
    let directive_of = |it: &Directive| CostDirective::of(document.str(it.name));
    let cost_rules = read_cost_rules(&document, "sdl", &directive_of)?;
    let documents: Vec<_> = std::iter::once(document).chain(own).collect();
    let schema = sdl::from_documents(&documents)?;
    Ok(ReadSdl { schema, places, cost_rules })
}

pub(crate) fn coordinate(schema: &language::Schema, field: FieldId) -> String {
    format!("{}.{}", schema.type_name(schema.field(field).parent), schema.field_name(field))
}

pub(crate) fn error(message: String, place: Option<weir_language::span::Span>) -> Error {
    Error { message, spans: place.into_iter().collect(), code: Code::Schema }
}

/// Coordinates, resolved to ids.
pub(crate) type Resolved = (Parts, Vec<(SchemaMember, Predicate)>, Vec<Error>);

/// Settings of a builder by coordinate.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) resolvers: Vec<(String, AnyResolver)>,
    pub(crate) checks: Vec<(String, Check)>,
    pub(crate) rules: Vec<(String, Predicate)>,
    pub(crate) extended: Vec<String>,
    /// Guards of fields, for parents.
    pub(crate) guards: Vec<(String, Guard)>,
    /// Guards of types, for their objects.
    pub(crate) type_guards: Vec<(String, Guard)>,
    /// Filters of fields, for the items of their lists.
    pub(crate) filters: Vec<(String, Guard)>,
}

/// Resolves coordinates to ids.
pub(crate) struct Resolving<'r> {
    pub(crate) schema: &'r language::Schema,
    pub(crate) places: &'r Places,
    pub(crate) errors: Vec<Error>,
}

impl Resolving<'_> {
    pub(crate) fn run(mut self, given: Given, loaders: &Loaders) -> Resolved {
        let mut parts = Parts::default();
        parts.fields.resize_with(self.schema.fields.len(), || None);
        let checks = self.checks(given.checks);
        for name in given.extended {
            match self.schema.type_by_name(&name) {
                Some(ty) => parts.extended.push(ty),
                None => self.complain(&name, format!("there is no type `{name}` to extend")),
            }
        }
        for (coordinate, resolver) in given.resolvers {
            let Some(field) = self.field(&coordinate) else { continue };
            match resolver {
                AnyResolver::Leaf(leaf) => self.leaf(&coordinate, field, leaf, &mut parts),
                AnyResolver::Step(resolver) => {
                    self.step(&coordinate, field, resolver, &checks, loaders, &mut parts);
                }
            }
        }
        self.roots(&parts);
        self.guards(given.guards, &mut parts);
        self.type_guards(given.type_guards, &mut parts);
        self.filters(given.filters, &mut parts);
        let rules = given.rules.into_iter();
        let rules: Vec<_> =
            rules.filter_map(|(coordinate, rule)| self.member(&coordinate).map(|it| (it, rule))).collect();
        (parts, rules, self.errors)
    }

    fn guards(&mut self, guards: Vec<(String, Guard)>, parts: &mut Parts) {
        for (coordinate, guard) in guards {
            let Some(field) = self.field(&coordinate) else { continue };
            match parts.fields[field.index()].as_mut() {
                Some(entry) => entry.guard = Some(Arc::new(guard)),
                None => {
                    let message =
                        format!("`{coordinate}` comes with its object: resolve it by `each` to authorize it");
                    self.complain(&coordinate, message);
                }
            }
        }
    }

    fn type_guards(&mut self, guards: Vec<(String, Guard)>, parts: &mut Parts) {
        for (name, guard) in guards {
            let ty = self.schema.type_by_name(&name);
            let Some(ty) = ty.filter(|it| self.schema.ty(*it).kind == TypeKind::Object) else {
                self.complain(&name, format!("`{name}` is authorized, but it is no object type"));
                continue;
            };
            if parts.extended.contains(&ty) {
                self.complain(&name, format!("`{name}` is another source's: authorize it there"));
            }
            if parts.type_guards.insert(ty, Arc::new(guard)).is_some() {
                self.complain(&name, format!("`{name}` is authorized twice"));
            }
        }
    }

    fn filters(&mut self, filters: Vec<(String, Guard)>, parts: &mut Parts) {
        for (coordinate, filter) in filters {
            let Some(field) = self.field(&coordinate) else { continue };
            let ty = self.schema.field(field).ty;
            let is_list = ty.item().is_some_and(|it| !it.wraps.is_list());
            let is_composite = matches!(
                self.schema.ty(ty.base).kind,
                TypeKind::Object | TypeKind::Interface | TypeKind::Union
            );
            match parts.fields[field.index()].as_mut() {
                Some(entry) if is_list && is_composite => entry.filter = Some(Arc::new(filter)),
                Some(_) => {
                    self.complain(
                        &coordinate,
                        format!("`{coordinate}` is filtered, but it is no list of objects"),
                    );
                }
                None => {
                    let message =
                        format!("`{coordinate}` comes with its object: resolve it by `each` to filter it");
                    self.complain(&coordinate, message);
                }
            }
        }
    }

    fn complain(&mut self, coordinate: &str, message: String) {
        self.errors.push(error(message, self.places.find(coordinate)));
    }

    /// The field of an object type.
    fn field(&mut self, coordinate: &str) -> Option<FieldId> {
        let (on, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let ty = self.schema.type_by_name(on);
        let Some(ty) = ty.filter(|it| self.schema.ty(*it).kind == TypeKind::Object) else {
            self.complain(coordinate, format!("`{coordinate}` is resolved, but `{on}` is no object type"));
            return None;
        };
        let found = self.schema.field_by_name(ty, name);
        if found.is_none() {
            self.complain(
                coordinate,
                format!("`{coordinate}` is resolved, but `{on}` has no field `{name}`"),
            );
        }
        found
    }

    fn leaf(&mut self, coordinate: &str, field: FieldId, leaf: Leaf, parts: &mut Parts) {
        if self.schema.field(field).arguments.len > 0 {
            self.complain(
                coordinate,
                format!("`{coordinate}` has arguments, which a leaf does not see: use `each`"),
            );
        }
        if parts.leaves.contains_key(&(leaf.record, field)) {
            let name = leaf.record_name;
            self.complain(coordinate, format!("`{coordinate}` is resolved twice for `{name}`"));
        }
        parts.leaves.insert((leaf.record, field), leaf);
    }

    fn step(
        &mut self,
        coordinate: &str,
        field: FieldId,
        resolver: Resolver,
        checks: &HashMap<InputId, Vec<Check>>,
        loaders: &Loaders,
        parts: &mut Parts,
    ) {
        if parts.field(field).is_some() {
            self.complain(coordinate, format!("`{coordinate}` is resolved twice"));
        }
        if let Some((loader, name)) = resolver.resolve.loader()
            && !loaders.contains_key(&loader)
        {
            self.complain(
                coordinate,
                format!("`{coordinate}` loads by `{name}`, which is not among the loaders"),
            );
        }
        if let Err(message) = self.parent(field, &resolver, parts) {
            self.complain(coordinate, format!("`{coordinate}`: {message}"));
        }
        let mut binder = InputBinder { schema: self.schema, shapes: &mut parts.shapes, checks };
        let run = self.schema.field(field).arguments;
        match resolver.resolve.bind_arguments(&mut binder, run, coordinate.to_owned()) {
            Ok(shape) => parts.put(field, resolver, shape),
            Err(message) => {
                self.complain(coordinate, message);
                parts.put(field, resolver, Shape::LEAF);
            }
        }
    }

    /// Checks that the parents of `field` can be what its resolver takes.
    fn parent(&self, field: FieldId, resolver: &Resolver, parts: &Parts) -> Result<(), String> {
        let on = self.schema.field(field).parent;
        let is_root =
            [Some(self.schema.query), self.schema.mutation, self.schema.subscription].contains(&Some(on));
        let is_event = self.schema.subscription == Some(on);
        let name = self.schema.type_name(on);
        match (resolver.resolve.parent(), &resolver.keys) {
            _ if is_event != resolver.stream.is_some() => {
                Err("`stream` resolves the fields of the subscription root, and no others".into())
            }
            (ParentType::Unit, _) => Ok(()),
            (_, _) if is_root => {
                Err("a root field has no parent: resolve it by `root`, or take `&()`".into())
            }
            (ParentType::Object(..), _) if parts.extended.contains(&on) => {
                Err(format!("`{name}` is another source's, whose objects are rows: resolve it by `keyed`"))
            }
            (ParentType::Object(..), _) => Ok(()),
            (ParentType::Keys(columns), Some(keys)) if columns == keys.len() => Ok(()),
            (ParentType::Keys(columns), keys) => {
                let keys = keys.as_ref().map_or(0, Vec::len);
                Err(format!("the resolver reads {columns} keys, but {keys} are named"))
            }
        }
    }

    /// Every field of a root needs a resolver, as it has no object that could have it.
    fn roots(&mut self, parts: &Parts) {
        let roots = [Some(self.schema.query), self.schema.mutation, self.schema.subscription];
        let extended = parts.extended.iter().copied();
        for ty in roots.into_iter().flatten().chain(extended) {
            for field in self.schema.ty(ty).fields.range().map(|it| FieldId(it as u32)) {
                if parts.field(field).is_none() {
                    let coordinate = coordinate(self.schema, field);
                    self.complain(&coordinate, format!("`{coordinate}` has no resolver"));
                }
            }
        }
    }

    /// Checks by argument and input field: those of the SDL, and those that were given.
    fn checks(&mut self, given: Vec<(String, Check)>) -> HashMap<InputId, Vec<Check>> {
        let mut checks: HashMap<InputId, Vec<Check>> = HashMap::new();
        for (at, input) in self.schema.inputs.iter().enumerate() {
            for applied in &self.schema.applied[input.applied.range()] {
                if self.schema.str(applied.name) != value_checks::DIRECTIVE {
                    continue;
                }
                match value_checks::read(self.schema.str(applied.arguments)) {
                    Ok(read) => checks.entry(InputId(at as u32)).or_default().extend(read),
                    Err(message) => {
                        let name = self.schema.str(input.name);
                        self.complain(name, format!("@validate of `{name}`: {message}"));
                    }
                }
            }
        }
        for (coordinate, check) in given {
            match self.member(&coordinate) {
                Some(SchemaMember::Input(input)) => checks.entry(input).or_default().push(check),
                Some(SchemaMember::Type(_) | SchemaMember::Field(_) | SchemaMember::EnumValue(_)) => {
                    self.complain(&coordinate, format!("`{coordinate}` is no argument and no input field"));
                }
                None => {}
            }
        }
        checks
    }

    /// The member at any coordinate.
    fn member(&mut self, coordinate: &str) -> Option<SchemaMember> {
        let found = find(self.schema, coordinate);
        if found.is_none() {
            self.complain(coordinate, format!("the schema has no `{coordinate}`"));
        }
        found
    }
}

/// The member of `schema` at a coordinate.
///
/// Source: GraphQL specification, section 3.14.
fn find(schema: &language::Schema, coordinate: &str) -> Option<SchemaMember> {
    let (on, rest) = coordinate.split_once('.').unwrap_or((coordinate, ""));
    let ty = schema.type_by_name(on)?;
    if rest.is_empty() {
        return Some(SchemaMember::Type(ty));
    }
    let members = schema.ty(ty).members;
    match schema.ty(ty).kind {
        TypeKind::Enum => {
            let is_it = |it: &usize| schema.str(schema.enum_values[*it].name) == rest;
            members.range().find(is_it).map(|it| SchemaMember::EnumValue(EnumValueId(it as u32)))
        }
        TypeKind::Input { .. } => schema.input_by_name(members, rest).map(SchemaMember::Input),
        TypeKind::Object | TypeKind::Interface => match rest.split_once('(') {
            None => schema.field_by_name(ty, rest).map(SchemaMember::Field),
            Some((field, argument)) => {
                let field = schema.field_by_name(ty, field)?;
                let argument = argument.strip_suffix(":)")?;
                schema.input_by_name(schema.field(field).arguments, argument).map(SchemaMember::Input)
            }
        },
        TypeKind::Scalar(_) | TypeKind::Union => None,
    }
}
