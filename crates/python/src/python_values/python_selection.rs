//! The selection below a field, with the names of its parts in Python objects: conversion reads exactly these.
//!
//! **Cost:** made once per step; one interned text per selected field.

use crate::registry::{Registry, snake};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::Arc;
use weir_language::schema::{EnumValueId, ScalarReader, TypeKind, TypeRef};
use weir_runtime::{Lookahead, SelectedField, SelectedType};

/// A place that takes values.
pub(crate) struct Place<'l> {
    field: SelectedField<'l>,
    lookahead: &'l Lookahead,
    pub(crate) ty: TypeRef,
    pub(crate) kind: PlaceKind<'l>,
}

/// Kind of the values at a place, or of the items of its lists.
pub(crate) enum PlaceKind<'l> {
    Int,
    Float,
    Bool,
    Text,
    Id,
    /// Names of the values.
    Enum(Vec<&'l str>),
    /// The scalar's writer, if it has one.
    Custom(Option<Py<PyAny>>),
    /// The only type.
    Object(ObjectPlan<'l>),
    /// One of several.
    Abstract(Vec<ObjectPlan<'l>>),
}

/// An object type with what is selected of it.
pub(crate) struct ObjectPlan<'l> {
    pub(crate) name: Arc<str>,
    /// True if steps below need the objects.
    pub(crate) is_parent: bool,
    pub(crate) fields: Vec<FieldPlan<'l>>,
    /// Names of the fields.
    pub(crate) names: Arc<[Arc<str>]>,
}

/// A field of an object.
pub(crate) struct FieldPlan<'l> {
    pub(crate) name: Arc<str>,
    pub(crate) attribute: Py<PyString>,
    /// The name as the schema has it, if that differs.
    pub(crate) alternative: Option<Py<PyString>>,
    pub(crate) place: Place<'l>,
}

impl<'l> Place<'l> {
    /// The place of the field itself.
    pub(crate) fn of(py: Python<'_>, lookahead: &'l Lookahead, registry: &Registry) -> Self {
        Self::new(py, lookahead.selected_field(), lookahead, registry)
    }

    fn new(py: Python<'_>, field: SelectedField<'l>, lookahead: &'l Lookahead, registry: &Registry) -> Self {
        let schema = lookahead.schema();
        let ty = field.ty();
        let is_filtered = !registry.filtered.is_empty() && registry.filtered.contains(&field.coordinate());
        let object = |it: &SelectedType<'l>| ObjectPlan {
            is_parent: it.is_parent() || is_filtered || registry.guarded_types.contains(it.name()),
            ..object(py, it, lookahead, registry)
        };
        let objects = || field.types().iter().map(object).collect();
        let kind = match schema.ty(ty.base).kind {
            TypeKind::Scalar(ScalarReader::Int | ScalarReader::BigInt) => PlaceKind::Int,
            TypeKind::Scalar(ScalarReader::Float) => PlaceKind::Float,
            TypeKind::Scalar(ScalarReader::Boolean) => PlaceKind::Bool,
            TypeKind::Scalar(ScalarReader::String | ScalarReader::Text | ScalarReader::Moment) => {
                PlaceKind::Text
            }
            TypeKind::Scalar(ScalarReader::Id) => PlaceKind::Id,
            TypeKind::Scalar(ScalarReader::Json | ScalarReader::Decimal) | TypeKind::Input { .. } => {
                let functions = registry.scalars.get(schema.type_name(ty.base));
                PlaceKind::Custom(functions.and_then(|it| Some(it.write.as_ref()?.clone_ref(py))))
            }
            TypeKind::Enum => {
                let values = schema.ty(ty.base).members.range().map(|it| EnumValueId(it as u32));
                PlaceKind::Enum(values.map(|it| schema.str(schema.enum_value(it).name)).collect())
            }
            TypeKind::Object => {
                let mut plans: Vec<_> = objects();
                plans.pop().map_or(PlaceKind::Abstract(Vec::new()), PlaceKind::Object)
            }
            TypeKind::Interface | TypeKind::Union => PlaceKind::Abstract(objects()),
        };
        Self { field, lookahead, ty, kind }
    }

    /// `User.posts`.
    pub(crate) fn coordinate(&self) -> String {
        self.field.coordinate()
    }

    /// The type in words.
    pub(crate) fn type_text(&self) -> String {
        self.lookahead.schema().type_text(self.ty)
    }
}

fn object<'l>(
    py: Python<'_>,
    ty: &SelectedType<'l>,
    lookahead: &'l Lookahead,
    registry: &Registry,
) -> ObjectPlan<'l> {
    let fields = ty.fields().into_iter().map(|field| {
        let name = field.name();
        let given = registry.attributes.get(&format!("{}.{name}", ty.name()));
        let attribute = given.cloned().unwrap_or_else(|| snake(name));
        FieldPlan {
            name: name.into(),
            alternative: (attribute != name).then(|| PyString::intern(py, name).unbind()),
            attribute: PyString::intern(py, &attribute).unbind(),
            place: Place::new(py, field, lookahead, registry),
        }
    });
    let fields: Vec<FieldPlan<'_>> = fields.collect();
    let names = fields.iter().map(|it| Arc::clone(&it.name)).collect();
    ObjectPlan { name: ty.name().into(), is_parent: ty.is_parent(), fields, names }
}
