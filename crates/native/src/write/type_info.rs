//! TypeInfos of a layout for mutations, computed once: rows of types, storage of edges, references.
//!
//! An edge is stored once: as a column of one of its ends, or as a pair. That is why its two sides cannot differ, and
//! why giving an object of a to-one edge to another takes it from the first.
//!
//! **Invariant:** types are concrete here: an interface's field is followed to the copy that an implementer has.

use crate::layout::{ColumnIds, Layout, Storage};
use crate::model::{FieldId, FieldKind, Key, Model, TypeId, TypeKind};
use hashbrown::HashMap;
use weir_relational::catalog::{ColumnId, TableId};

/// Facts of all types of a layout that mutations need.
#[derive(Debug)]
pub(crate) struct TypeInfos {
    /// By type; of abstract types nothing.
    pub(super) types: Vec<TypeInfo>,
    /// Types by name, as registries write them.
    pub(super) names: HashMap<String, TypeId>,
}

/// TypeInfos of one object type.
#[derive(Debug, Default)]
pub(crate) struct TypeInfo {
    /// The columns of a new row.
    pub(super) row: ColumnIds,
    /// The registries it has a row in.
    pub(crate) registries: Vec<Registry>,
    /// Columns that may hold its number.
    pub(crate) pointers: Vec<(TableId, ColumnId)>,
    /// Tables with rows of its own, or pairs it is in, by the column that holds its number.
    pub(crate) parts: Vec<(TableId, ColumnId)>,
}

/// A row among the objects of an interface or union.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    pub(crate) table: TableId,
    pub(crate) id: ColumnId,
    /// Number, name of the type, and keys.
    pub(super) columns: ColumnIds,
    /// The object's fields that are keys there, and their columns.
    pub(super) keys: Vec<(FieldId, ColumnId)>,
}

/// Storage of an edge between two objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeStorage {
    /// In a column of the row of the object whose edge it is.
    Ours(Pointer),
    /// In a column of the row of the object at its other end.
    Theirs(Pointer),
    /// The edge is a row of a table of pairs.
    Pairs { table: TableId, ours: ColumnId, theirs: ColumnId, mutual: bool },
}

/// A column that holds the number of another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    /// The field, of the object that has the column.
    pub(super) field: FieldId,
    pub(super) column: ColumnId,
    /// True if at most one object points at the target.
    pub(super) is_single: bool,
    /// True if the target points back, by the same field.
    pub(super) mutual: bool,
}

impl TypeInfos {
    pub(crate) fn new(model: &Model, layout: &Layout) -> Self {
        let of = |ty| match model.ty(ty).kind {
            TypeKind::Object => TypeInfo::new(model, layout, ty),
            TypeKind::Interface | TypeKind::Union => TypeInfo::default(),
        };
        Self {
            types: model.type_ids().map(of).collect(),
            names: model.type_ids().map(|ty| (model.ty(ty).name.clone(), ty)).collect(),
        }
    }

    pub(crate) fn of_type(&self, ty: TypeId) -> &TypeInfo {
        &self.types[ty.index()]
    }
}

impl TypeInfo {
    fn new(model: &Model, layout: &Layout, ty: TypeId) -> Self {
        let table = layout.relations.catalog.table(layout.tables[ty.index()]);
        let own = |it: &usize| !table.columns[*it].generated;
        let row = (0..table.columns.len()).filter(own).map(|it| ColumnId(it as u32)).collect();
        let registries = model
            .type_ids()
            .filter(|of| model.ty(*of).kind != TypeKind::Object && model.ty(*of).members.contains(&ty))
            .map(|of| Registry::new(model, layout, of, ty))
            .collect();
        let mut type_info = Self { row, registries, pointers: Vec::new(), parts: Vec::new() };
        for at in 0..model.fields.len() {
            type_info.note(model, layout, ty, FieldId(at as u32));
        }
        type_info.pointers.sort_unstable();
        type_info.pointers.dedup();
        type_info.parts.sort_unstable();
        type_info.parts.dedup();
        type_info
    }

    /// Notes how `field`, of any object, refers to objects of `ty`.
    fn note(&mut self, model: &Model, layout: &Layout, ty: TypeId, field: FieldId) {
        let of = model.field(field);
        if model.ty(of.owner).kind != TypeKind::Object {
            return;
        }
        let leads_here = match of.kind {
            FieldKind::Edge { to, .. } => to == ty || model.ty(to).members.contains(&ty),
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => false,
        };
        match layout.fields[field.index()] {
            Storage::ToOne { column, .. } if leads_here => {
                self.pointers.push((layout.tables[of.owner.index()], column));
            }
            Storage::Values { table, owner, .. } if of.owner == ty => self.parts.push((table, owner)),
            Storage::Join { table, ours, theirs, .. } => {
                if of.owner == ty {
                    self.parts.push((table, ours));
                }
                if leads_here {
                    self.parts.push((table, theirs));
                }
            }
            _ => {}
        }
    }
}

impl Registry {
    fn new(model: &Model, layout: &Layout, of: TypeId, member: TypeId) -> Self {
        let table = layout.tables[of.index()];
        let id = layout.ids[of.index()];
        let mut columns: ColumnIds = [id].into_iter().chain(layout.kinds[of.index()]).collect();
        let keys: Vec<(FieldId, ColumnId)> = model
            .fields_of(of)
            .filter_map(|(field, _)| Some((copy(model, field, member), layout.registry_keys[field.index()]?)))
            .collect();
        columns.extend(keys.iter().map(|it| it.1));
        Self { table, id, columns, keys }
    }
}

/// The field as the object type `ty` has it.
pub(super) fn copy(model: &Model, field: FieldId, ty: TypeId) -> FieldId {
    let of = model.field(field);
    if of.owner == ty {
        return field;
    }
    model.field_by_name(ty, &of.name).unwrap_or(field)
}

/// The widest field whose values `field`, a key, has to differ from: its own, or that of an interface.
pub(super) fn key_scope(model: &Model, field: FieldId) -> FieldId {
    let mut widest = field;
    let mut at = field;
    while let Some(above) = model.field(at).inherited_from {
        at = above;
        if model.field(at).key == Some(Key::Interface) {
            widest = at;
        }
    }
    widest
}

/// Storage of the edge `field` from an object to another of type `target`; both types are concrete. `None` if it is no edge.
pub(super) fn side(model: &Model, layout: &Layout, field: FieldId, target: TypeId) -> Option<EdgeStorage> {
    let FieldKind::Edge { inverse, .. } = model.field(field).kind else { return None };
    let mutual = inverse.is_some_and(|it| copy(model, it, model.field(field).owner) == field);
    match layout.fields[field.index()] {
        Storage::ToOne { column, .. } => {
            let is_single = inverse.is_some_and(|it| !model.field(it).is_list);
            Some(EdgeStorage::Ours(Pointer { field, column, is_single, mutual }))
        }
        Storage::ToOneBack { .. } | Storage::ToMany { .. } => {
            let theirs = copy(model, inverse?, target);
            let Storage::ToOne { column, .. } = layout.fields[theirs.index()] else { return None };
            let is_single = !model.field(field).is_list;
            Some(EdgeStorage::Theirs(Pointer { field: theirs, column, is_single, mutual: false }))
        }
        Storage::Join { table, ours, theirs, .. } => Some(EdgeStorage::Pairs { table, ours, theirs, mutual }),
        _ => None,
    }
}
