//! Maps names in files to fields of a type and to the columns of their values.
//!
//! A name is a field's, or a column's of the table (`cuisine_id`), or one of these written another way (`is_veg` for
//! `isVeg`); the caller's own mapping comes first.
//!
//! **Cost:** names are resolved once per file, or once per type and name; not per row.

use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, Scalar, TypeId, TypeKind};
use crate::store::Types;
use hashbrown::HashMap;
use weir_relational::catalog::ColumnId;

/// Destination of the values of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Nowhere, because the caller says so.
    Skip,
    /// Numbers of the objects.
    Id,
    /// The name of the object's type.
    Kind,
    /// A single value, which begins at this place in the row.
    Value { field: FieldId, scalar: SlotKind, at: usize },
    /// A list of values.
    List { field: FieldId, scalar: SlotKind },
    /// The number of another object, at this place in the row.
    One { field: FieldId, to: TypeId, at: usize },
    /// Edges that stand elsewhere.
    Many { field: FieldId, to: TypeId },
    /// The hash of a password.
    Secret { at: usize },
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum SlotKind {
    Scalar(Scalar),
    Enum(crate::model::EnumId),
}

/// Caller's mapping of the names of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The type, or the edge as `Restaurant.cuisines` where a file has pairs.
    pub target: Option<String>,
    /// The file's name for a column, and the field's; `None` leaves the column out.
    pub columns: Vec<(String, Option<String>)>,
}

/// The columns that objects of a type are loaded with, and the names resolved so far.
#[derive(Debug)]
pub(crate) struct Slots<'t> {
    pub(crate) types: &'t Types,
    pub(crate) ty: TypeId,
    /// Columns of the type's table, without the object number.
    pub(crate) columns: Vec<ColumnId>,
    mapping: Mapping,
    known: HashMap<String, Result<Slot, String>>,
}

impl<'t> Slots<'t> {
    pub(crate) fn new(types: &'t Types, ty: TypeId, mapping: &Mapping) -> Self {
        let table = types.layout.relations.catalog.table(types.layout.tables[ty.index()]);
        let id = types.layout.ids[ty.index()];
        let columns = (0..table.columns.len() as u32).map(ColumnId).filter(|it| *it != id).collect();
        Self { types, ty, columns, mapping: mapping.clone(), known: HashMap::new() }
    }

    /// Destination of `name`.
    /// # Errors
    /// The name is unknown; the message says how to fix it.
    pub(crate) fn find(&mut self, name: &str) -> Result<Slot, String> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let found = self.resolve(name);
        self.known.insert(name.to_owned(), found.clone());
        found
    }

    fn resolve(&self, name: &str) -> Result<Slot, String> {
        let mapped = self.mapping.columns.iter().find(|it| it.0 == name);
        let name = match mapped {
            Some((_, None)) => return Ok(Slot::Skip),
            Some((_, Some(field))) => field.as_str(),
            None => name,
        };
        let model = &self.types.model;
        // `Dish.name`, or `Location.city` of an interface.
        let short = match name.split_once('.') {
            Some((owner, field)) => {
                let owner = model.type_by_name(owner);
                let fits =
                    owner.is_some_and(|it| it == self.ty || model.ty(self.ty).interfaces.contains(&it));
                if fits { field } else { name }
            }
            None => name,
        };
        if let Some(field) = model.field_by_name(self.ty, short) {
            return Ok(self.slot(field));
        }
        let secret = model.ty(self.ty).secret.as_ref();
        if let (true, Some(column)) =
            (secret.is_some_and(|it| it.name == short), self.types.layout.secrets[self.ty.index()])
        {
            return Ok(Slot::Secret { at: self.place(column) });
        }
        match short {
            "__id" | "id" | "uid" => return Ok(Slot::Id),
            "__typename" | "dgraph.type" => return Ok(Slot::Kind),
            _ => {}
        }
        if let Some(field) = self.by_column(short).or_else(|| self.find_similar_field(short)) {
            return Ok(self.slot(field));
        }
        let ty = &model.ty(self.ty).name;
        Err(format!("`{name}` is no field of `{ty}`; map it to one, or to null to leave it out"))
    }

    fn by_column(&self, name: &str) -> Option<FieldId> {
        let table = self.types.layout.relations.catalog.table(self.types.layout.tables[self.ty.index()]);
        let column = table.find(name)?;
        self.types.model.fields_of(self.ty).map(|it| it.0).find(|id| {
            match self.types.layout.fields[id.index()] {
                Storage::Column(it) | Storage::ToOne { column: it, .. } => it == column,
                Storage::Instant { text, .. } => text == column,
                _ => false,
            }
        })
    }

    /// The only field with this name, ignoring case and `_`; an edge also matches with `_id` or `_ids` appended.
    fn find_similar_field(&self, name: &str) -> Option<FieldId> {
        let fold = |text: &str| text.replace('_', "").to_lowercase();
        let wanted = [Some(fold(name)), name.strip_suffix("_id").or(name.strip_suffix("_ids")).map(fold)];
        let mut found = self.types.model.fields_of(self.ty).filter(|(_, field)| {
            let is_edge = matches!(field.kind, FieldKind::Edge { .. });
            let folded = Some(fold(&field.name));
            folded == wanted[0] || (is_edge && folded == wanted[1])
        });
        let first = found.next()?.0;
        found.next().is_none().then_some(first)
    }

    fn place(&self, column: ColumnId) -> usize {
        // Every column but the number's is there.
        self.columns.iter().position(|it| *it == column).unwrap_or_default()
    }

    fn slot(&self, field: FieldId) -> Slot {
        let it = self.types.model.field(field);
        let scalar = match it.kind {
            FieldKind::Id => return Slot::Id,
            FieldKind::Edge { to, .. } => {
                return match self.types.layout.fields[field.index()].to_one() {
                    Some(column) => Slot::One { field, to, at: self.place(column) },
                    None => Slot::Many { field, to },
                };
            }
            FieldKind::Scalar(scalar) => SlotKind::Scalar(scalar),
            FieldKind::Enum(id) => SlotKind::Enum(id),
        };
        match self.types.layout.fields[field.index()].columns().first() {
            Some(column) => Slot::Value { field, scalar, at: self.place(*column) },
            None => Slot::List { field, scalar },
        }
    }

    /// Places in a row of a field's further columns: microseconds of a DateTime, latitude of a point, bounds of a shape.
    pub(crate) fn further_columns(&self, field: FieldId) -> [usize; 4] {
        let columns = self.types.layout.fields[field.index()].columns();
        let mut places = [0; 4];
        for (place, column) in places.iter_mut().zip(columns.iter().skip(1)) {
            *place = self.place(*column);
        }
        places
    }
}

/// Destination of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    Objects(TypeId),
    /// Pairs of an edge or of a list's owner and value.
    Pairs(FieldId),
    /// Every line says its type.
    Mixed,
}

/// Destination `name` of a file: a type, a field, or none.
/// # Errors
/// There is no such type or field.
pub(crate) fn find_target(types: &Types, name: &str) -> Result<Aim, String> {
    let model = &types.model;
    let fold = |text: &str| text.replace('_', "").to_lowercase();
    let find = |name: &str| {
        let same = model.types.iter().position(|it| it.name == name);
        let folded = || model.types.iter().position(|it| fold(&it.name) == fold(name));
        let found = same.or_else(folded).map(|at| TypeId(at as u32));
        found.filter(|it| model.ty(*it).kind == TypeKind::Object)
    };
    if let Some((owner, field)) = name.split_once('.') {
        let field = find(owner).and_then(|ty| model.field_by_name(ty, field));
        return field.map(Aim::Pairs).ok_or_else(|| format!("there is no field `{name}`"));
    }
    find(name).map(Aim::Objects).ok_or_else(|| {
        let names: Vec<&str> =
            model.types.iter().filter(|it| it.kind == TypeKind::Object).map(|it| it.name.as_str()).collect();
        format!("there is no type `{name}`; there are {}", names.join(", "))
    })
}
