//! Finds the places of rules in the schema of a graph.

use super::rules::{CostRule, CostWeight, ListSize, Rule};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use weir_language::ast::OperationKind;
use weir_language::schema::{FieldId, InputId, Run, ScalarReader, Schema, TypeId, TypeKind};

/// Rules by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolvedRules {
    pub(crate) types: HashMap<TypeId, u64>,
    pub(crate) fields: HashMap<FieldId, u64>,
    pub(crate) inputs: HashMap<InputId, u64>,
    pub(crate) sizes: HashMap<FieldId, ListSize>,
}

/// A place in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Type(TypeId),
    Field(FieldId),
    Input(InputId),
}

impl ResolvedRules {
    /// Adds `rule`, in place of an earlier one of the same place; `root` finds root types that have another name in the graph.
    /// # Errors
    /// The reason for which the rule fits nothing.
    pub(crate) fn add(
        &mut self,
        schema: &Schema,
        rule: &CostRule,
        root: &dyn Fn(&str) -> Option<TypeId>,
    ) -> Result<(), String> {
        let Some(place) = find_place(schema, &rule.place, root) else {
            return Err("the schema has no such place".into());
        };
        match (&rule.rule, place) {
            (Rule::Weight(weight), place) => self.add_weight(schema, place, *weight),
            (Rule::ListSize(size), Place::Field(field)) => {
                check_list_size(schema, field, size)?;
                self.sizes.insert(field, size.clone());
                Ok(())
            }
            (Rule::ListSize(_), Place::Type(_) | Place::Input(_)) => {
                Err("a list size belongs to a field".into())
            }
        }
    }

    fn add_weight(&mut self, schema: &Schema, place: Place, weight: CostWeight) -> Result<(), String> {
        let weight = weight.thousandths();
        match place {
            Place::Type(id) => {
                if matches!(schema.ty(id).kind, TypeKind::Interface | TypeKind::Union) {
                    return Err("interfaces and unions cost as much as their most expensive type: \
                                give those a weight"
                        .into());
                }
                self.types.insert(id, weight);
            }
            Place::Field(id) => {
                self.fields.insert(id, weight);
            }
            Place::Input(id) => {
                self.inputs.insert(id, weight);
            }
        }
        Ok(())
    }

    /// Gives the fields of objects the rules of their interfaces, unless they have rules of their own.
    pub(crate) fn inherit(&mut self, schema: &Schema) {
        let found: Vec<FieldId> = self.fields.keys().chain(self.sizes.keys()).copied().collect();
        for field in found {
            let interface = schema.field(field).parent;
            if schema.ty(interface).kind != TypeKind::Interface {
                continue;
            }
            for ty in schema.possible_types(interface) {
                let Some(own) = schema.field_by_name(*ty, schema.field_name(field)) else { continue };
                self.copy(field, own);
            }
        }
    }

    /// Gives `to` the rules of `from`, unless it has its own.
    pub(crate) fn copy(&mut self, from: FieldId, to: FieldId) {
        if let Some(weight) = self.fields.get(&from).copied() {
            self.fields.entry(to).or_insert(weight);
        }
        if let Some(size) = self.sizes.get(&from).cloned()
            && let Entry::Vacant(entry) = self.sizes.entry(to)
        {
            entry.insert(size);
        }
    }
}

/// Finds a coordinate. Source: GraphQL specification, section 3.14 (schema coordinates).
fn find_place(schema: &Schema, place: &str, root: &dyn Fn(&str) -> Option<TypeId>) -> Option<Place> {
    let (place, argument) = match place.split_once('(') {
        Some((place, rest)) => (place, Some(rest.strip_suffix(":)")?)),
        None => (place, None),
    };
    if let Some(directive) = place.strip_prefix('@') {
        let directive = &schema.directives[schema.directive_by_name(directive)?.index()];
        return schema.input_by_name(directive.arguments, argument?).map(Place::Input);
    }
    let (ty, member) = match place.split_once('.') {
        Some((ty, member)) => (ty, Some(member)),
        None => (place, None),
    };
    let id = schema.type_by_name(ty).or_else(|| root(ty)).or_else(|| usual_root(schema, ty))?;
    let Some(member) = member else { return argument.is_none().then_some(Place::Type(id)) };
    if matches!(schema.ty(id).kind, TypeKind::Input { .. }) {
        let found = schema.input_by_name(schema.ty(id).members, member);
        return found.filter(|_| argument.is_none()).map(Place::Input);
    }
    let field = schema.field_by_name(id, member)?;
    match argument {
        None => Some(Place::Field(field)),
        Some(name) => schema.input_by_name(schema.field(field).arguments, name).map(Place::Input),
    }
}

/// The root that is called `Query` where no type has that name.
fn usual_root(schema: &Schema, name: &str) -> Option<TypeId> {
    let kind = match name {
        "Query" => OperationKind::Query,
        "Mutation" => OperationKind::Mutation,
        "Subscription" => OperationKind::Subscription,
        _ => return None,
    };
    schema.root(kind)
}

/// Checks that `size` fits `field`.
fn check_list_size(schema: &Schema, field: FieldId, size: &ListSize) -> Result<(), String> {
    let ty = schema.field(field).ty;
    if let Some(path) = size.slicing.iter().find(|it| find_argument(schema, field, it).is_none()) {
        return Err(format!("the field has no argument `{path}` that is an integer or a list"));
    }
    if size.sized.is_empty() {
        return if ty.wraps.is_list() {
            Ok(())
        } else {
            Err("the field is no list: write `sizedFields`".into())
        };
    }
    let is_list = |name: &str| {
        let found = schema.field_by_name(ty.base, name);
        found.is_some_and(|it| schema.field(it).ty.wraps.is_list())
    };
    match size.sized.iter().find(|it| !is_list(it)) {
        Some(name) => Err(format!("`sizedFields`: `{}` has no list `{name}`", schema.type_name(ty.base))),
        None => Ok(()),
    }
}

/// The argument of `field` at the beginning of a path, and the input fields behind it.
pub(crate) fn find_argument(schema: &Schema, field: FieldId, path: &str) -> Option<(InputId, Vec<InputId>)> {
    let mut names = path.split('.');
    let find = |run: Run, name: &str| schema.input_by_name(run, name);
    let argument = find(schema.field(field).arguments, names.next()?)?;
    let mut last = argument;
    let mut rest = Vec::new();
    for name in names {
        let ty = schema.input(last).ty;
        if ty.wraps.is_list() || !matches!(schema.ty(ty.base).kind, TypeKind::Input { .. }) {
            return None;
        }
        last = find(schema.ty(ty.base).members, name)?;
        rest.push(last);
    }
    let ty = schema.input(last).ty;
    // A number of another kind would be read as none, and count as if nothing was asked for.
    let is_number =
        matches!(schema.ty(ty.base).kind, TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt));
    (is_number || ty.wraps.is_list()).then_some((argument, rest))
}
