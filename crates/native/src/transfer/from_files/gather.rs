//! Rows of a file to parcels: one open batch per type, closed together.
//!
//! **Invariant:** a parcel ends between two objects, so that a load that was interrupted goes on there.
//!
//! **Cost:** at most [`PARCEL_ROWS`] objects or [`PARCEL_BYTES`] are held for each parcel.

use super::cell_values;
use super::slots::{Aim, Mapping, Slot, SlotKind, Slots};
use crate::model::{FieldId, FieldKind, Scalar, TypeId, TypeKind};
use crate::store::Types;
use crate::transfer::Reached;
use crate::transfer::parcel::{Batch, BulkCell, Edge, LooseEdge, Parcel, Target, UnknownCount};
use crate::transfer::reject::RejectKind;
use crate::write::secret::is_hash;
use weir_language::json::{Json, JsonKind, JsonRef};

/// Objects in one transaction.
pub(crate) const PARCEL_ROWS: usize = 10_000;
/// Bytes after which a parcel is closed earlier.
const PARCEL_BYTES: usize = 8 << 20;

/// Collects the objects of one file.
pub(crate) struct Gather<'t> {
    types: &'t Types,
    pub(crate) aim: Aim,
    mapping: &'t Mapping,
    open: Vec<(Slots<'t>, Batch)>,
    rejects: Vec<(u64, RejectKind, String)>,
    loose: Vec<LooseEdge>,
    unknown: Vec<UnknownCount>,
    facets: u64,
    rows: usize,
}

impl<'t> Gather<'t> {
    pub(crate) fn new(types: &'t Types, aim: Aim, mapping: &'t Mapping) -> Self {
        Self {
            types,
            aim,
            mapping,
            open: Vec::new(),
            rejects: Vec::new(),
            loose: Vec::new(),
            unknown: Vec::new(),
            facets: 0,
            rows: 0,
        }
    }

    /// The open batch of `ty`.
    pub(crate) fn batch(&mut self, ty: TypeId) -> &mut (Slots<'t>, Batch) {
        let at = match self.open.iter().position(|it| it.1.ty == ty) {
            Some(at) => at,
            None => {
                let slots = Slots::new(self.types, ty, self.mapping);
                let makes_objects = !matches!(self.aim, Aim::Pairs(_));
                let columns = if makes_objects { slots.columns.clone() } else { Vec::new() };
                self.open.push((slots, Batch::new(ty, columns, makes_objects)));
                self.open.len() - 1
            }
        };
        &mut self.open[at]
    }

    /// Counts an object, or keeps why there is none.
    pub(crate) fn note(&mut self, line: u64, done: Result<(), String>) {
        self.rows += 1;
        if let Err(why) = done {
            let part = match self.aim {
                Aim::Pairs(_) => RejectKind::Pair,
                Aim::Objects(_) | Aim::Mixed => RejectKind::Object,
            };
            self.rejects.push((line, part, why));
        }
    }

    /// Keeps why a statement is none.
    pub(crate) fn unread(&mut self, line: u64, why: String) {
        self.rows += 1;
        self.refuse(line, RejectKind::Statement, why);
    }

    /// Keeps why a part of an object is not taken.
    pub(crate) fn refuse(&mut self, line: u64, part: RejectKind, why: String) {
        self.rejects.push((line, part, why));
    }

    /// Keeps why a statement with a predicate that is no field is not taken, and counts it.
    pub(crate) fn refuse_unknown(&mut self, line: u64, predicate: &str, why: String) {
        self.refuse(line, RejectKind::Statement, why);
        match self.unknown.iter_mut().find(|it| it.predicate == predicate) {
            Some(count) => {
                count.statements += 1;
                count.line = count.line.min(line);
            }
            None => {
                self.unknown.push(UnknownCount { predicate: predicate.to_owned(), statements: 1, line });
            }
        }
    }

    /// Keeps an edge for the time when all objects are read.
    pub(crate) fn defer(&mut self, edge: LooseEdge) {
        self.rows += 1;
        self.loose.push(edge);
    }

    /// Counts a statement whose facets are left out.
    pub(crate) fn left_out(&mut self) {
        self.facets += 1;
    }

    /// The collected rows, once there are enough or no more follow.
    pub(crate) fn parcel(&mut self, is_last: bool, reached: Reached, bytes: u64) -> Option<Parcel> {
        let held: usize = self.open.iter().map(|it| it.1.bytes()).sum();
        let is_enough = self.rows >= PARCEL_ROWS || held >= PARCEL_BYTES;
        if !is_enough && (!is_last || self.rows == 0) {
            return None;
        }
        self.rows = 0;
        let fresh = |it: &mut (Slots<'t>, Batch)| {
            let next = Batch::new(it.1.ty, it.1.columns.clone(), it.1.makes_objects);
            std::mem::replace(&mut it.1, next)
        };
        let batches = self.open.iter_mut().map(fresh).filter(|it| !it.ids.is_empty()).collect();
        let rejects = std::mem::take(&mut self.rejects);
        let loose = std::mem::take(&mut self.loose);
        let unknown = std::mem::take(&mut self.unknown);
        let facets = std::mem::take(&mut self.facets);
        Some(Parcel { batches, rejects, loose, unknown, facets, reached, bytes })
    }

    /// The object type that `names` say, of which those of interfaces are passed over.
    pub(crate) fn type_of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<TypeId, String> {
        let model = &self.types.model;
        let mut unknown = String::new();
        for name in names {
            match model.type_by_name(name) {
                Some(ty) if model.ty(ty).kind == TypeKind::Object => return Ok(ty),
                Some(_) => {}
                None => unknown = format!("there is no type `{name}`"),
            }
        }
        Err(if unknown.is_empty() { "it does not say its type; add `--type`".into() } else { unknown })
    }

    /// Takes a JSON object as an object of the store.
    pub(crate) fn json(&mut self, json: JsonRef<'_>, line: u64) -> Result<(), String> {
        let ty = match self.aim {
            Aim::Objects(ty) => ty,
            Aim::Pairs(field) => return self.json_pair(json, field, line),
            Aim::Mixed => {
                let named = json.get("__typename").or_else(|| json.get("dgraph.type"));
                let names: Vec<String> = match named {
                    Some(it) if it.is_array() => {
                        it.items().filter_map(|it| it.as_str()).map(Into::into).collect()
                    }
                    Some(it) => it.as_str().map(Into::into).into_iter().collect(),
                    None => Vec::new(),
                };
                self.type_of(names.iter().map(String::as_str))?
            }
        };
        let (slots, batch) = self.batch(ty);
        let first = batch.begin(line);
        let done = fill_json(slots, batch, first, json);
        if done.is_err() {
            batch.abandon();
        }
        done
    }

    fn json_pair(&mut self, json: JsonRef<'_>, field: FieldId, line: u64) -> Result<(), String> {
        let mut members = json.members().map(|it| it.1);
        match (members.next(), members.next()) {
            (Some(one), Some(other)) => self.pair(field, line, &text(one), &text(other)),
            (_, _) => Err("a pair needs two members".into()),
        }
    }

    /// Takes a pair: the owner of an edge or list, and the target or item.
    pub(crate) fn pair(&mut self, field: FieldId, line: u64, owner: &str, other: &str) -> Result<(), String> {
        let id = cell_values::id(owner)?;
        let it = self.types.model.field(field);
        let kind = it.kind;
        let owner = it.owner;
        let (slots, batch) = self.batch(owner);
        batch.begin(line);
        let row = batch.ids.len() - 1;
        batch.ids[row] = id;
        let done = match kind {
            FieldKind::Edge { .. } => cell_values::id(other).map(|to| {
                batch.edges.push(Edge { row: row as u32, field, to: Target::Id(to), line });
            }),
            FieldKind::Scalar(scalar) => {
                cell_values::add(slots, batch, field, SlotKind::Scalar(scalar), other)
            }
            FieldKind::Enum(id) => cell_values::add(slots, batch, field, SlotKind::Enum(id), other),
            FieldKind::Id => Err("an ID is no edge".into()),
        };
        if done.is_err() {
            batch.abandon();
        }
        done
    }
}

/// A JSON value as the text that a cell of a CSV file would have.
fn text(json: JsonRef<'_>) -> std::borrow::Cow<'_, str> {
    json.as_str().unwrap_or_else(|| json.raw().into())
}

fn fill_json(
    slots: &mut Slots<'_>,
    batch: &mut Batch,
    first: usize,
    json: JsonRef<'_>,
) -> Result<(), String> {
    if !json.is_object() {
        return Err("a line has to hold a JSON object".into());
    }
    for (name, value) in json.members() {
        let slot = slots.find(&name)?;
        if !value.is_null() {
            put_json(slots, batch, first, slot, value).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(())
}

fn put_json(
    slots: &Slots<'_>,
    batch: &mut Batch,
    first: usize,
    slot: Slot,
    json: JsonRef<'_>,
) -> Result<(), String> {
    match slot {
        Slot::List { .. } | Slot::Many { .. } | Slot::Kind if json.is_array() => {
            json.items().filter(|it| !it.is_null()).try_for_each(|it| put_item(slots, batch, first, slot, it))
        }
        _ => put_item(slots, batch, first, slot, json),
    }
}

/// Takes one value, or one item of a list.
fn put_item(
    slots: &Slots<'_>,
    batch: &mut Batch,
    first: usize,
    slot: Slot,
    json: JsonRef<'_>,
) -> Result<(), String> {
    match slot {
        Slot::One { to, .. } | Slot::Many { to, .. } if json.is_object() => {
            let target = target(slots.types, batch, to, json)?;
            edge(batch, first, slot, target)
        }
        Slot::Value { scalar: SlotKind::Scalar(Scalar::String), .. }
        | Slot::List { scalar: SlotKind::Scalar(Scalar::String), .. }
            if !matches!(json.kind(), JsonKind::String { .. }) =>
        {
            Err(format!("`{}` is no String", json.raw()))
        }
        Slot::Skip
        | Slot::Id
        | Slot::Kind
        | Slot::Value { .. }
        | Slot::List { .. }
        | Slot::One { .. }
        | Slot::Many { .. }
        | Slot::Secret { .. } => put(slots, batch, first, slot, &text(json)),
    }
}

/// `{id: "0x1"}` or `{name: "Thai"}`: an object by its number or by a key of its type.
fn target(types: &Types, batch: &mut Batch, to: TypeId, json: JsonRef<'_>) -> Result<Target, String> {
    let mut members = json.members().filter(|it| it.0 != "__typename");
    let (Some((name, value)), None) = (members.next(), members.next()) else {
        return Err("another object is named by its ID or one key, and by nothing else".into());
    };
    let model = &types.model;
    match model.field_by_name(to, &name) {
        Some(field) if model.field(field).kind == FieldKind::Id => {
            cell_values::id(&text(value)).map(Target::Id)
        }
        Some(field) if model.field(field).key.is_some() => Ok(Target::Key(field, batch.put(&text(value)))),
        Some(_) => Err(format!("`{name}` is no key of `{}`", model.ty(to).name)),
        None if matches!(&*name, "__id" | "uid" | "id") => cell_values::id(&text(value)).map(Target::Id),
        None => Err(format!("`{name}` is no field of `{}`", model.ty(to).name)),
    }
}

/// Takes an edge of the last row, which begins at `first`.
fn edge(batch: &mut Batch, first: usize, slot: Slot, to: Target) -> Result<(), String> {
    let row = batch.ids.len() as u32 - 1;
    let line = batch.line;
    let has_another = |id: i64| match id {
        0 => Err("it has another already".to_owned()),
        id => Err(format!("{id:#x} has another already")),
    };
    let id = batch.ids[row as usize];
    match (slot, to) {
        (Slot::One { field, at, .. }, to) => {
            // Edges of this row whose target is named by a key.
            let mut own = batch.edges.iter().rev().take_while(|it| it.row == row);
            let there = own.find(|it| it.field == field).copied();
            match (there, batch.cells[first + at], to) {
                (Some(there), _, _) if there.to != to => return has_another(id),
                (Some(_), _, _) => {}
                (None, BulkCell::Null, Target::Id(to)) => batch.cells[first + at] = BulkCell::Int(to),
                (None, BulkCell::Null, Target::Key(..)) => batch.edges.push(Edge { row, field, to, line }),
                (None, BulkCell::Int(there), Target::Id(to)) if there == to => {}
                (None, _, _) => return has_another(id),
            }
            Ok(())
        }
        (Slot::Many { field, .. }, to) => {
            batch.edges.push(Edge { row, field, to, line });
            Ok(())
        }
        (
            Slot::Skip | Slot::Id | Slot::Kind | Slot::Value { .. } | Slot::List { .. } | Slot::Secret { .. },
            _,
        ) => Ok(()),
    }
}

/// Takes the text of a cell of a table for `slot` of the last row, which begins at `first`: a list may be written as JSON.
pub(crate) fn put_cell(
    slots: &Slots<'_>,
    batch: &mut Batch,
    first: usize,
    slot: Slot,
    text: &str,
) -> Result<(), String> {
    match slot {
        Slot::List { .. } | Slot::Many { .. } if text.starts_with('[') => {
            let json =
                Json::parse(text.as_bytes(), cell_values::DEPTH_MAX).map_err(|error| error.to_string())?;
            put_json(slots, batch, first, slot, json.root())
        }
        _ => put(slots, batch, first, slot, text),
    }
}

/// Takes the text of a value for `slot` of the last row, which begins at `first`.
/// # Errors
/// The text is no such value, or the row has another one.
pub(crate) fn put(
    slots: &Slots<'_>,
    batch: &mut Batch,
    first: usize,
    slot: Slot,
    text: &str,
) -> Result<(), String> {
    match slot {
        Slot::Skip => {}
        Slot::Kind => {
            if let Some(why) = other_type(slots.types, slots.ty, text) {
                return Err(why);
            }
        }
        Slot::Id => {
            let row = batch.ids.len() - 1;
            let id = cell_values::id(text)?;
            if ![0, id].contains(&batch.ids[row]) {
                return Err(format!("its ID is {:#x} already", batch.ids[row]));
            }
            batch.ids[row] = id;
        }
        Slot::Value { field, scalar, at } => cell_values::set(slots, batch, first, field, scalar, at, text)?,
        Slot::One { .. } | Slot::Many { .. } => edge(batch, first, slot, Target::Id(cell_values::id(text)?))?,
        Slot::List { field, scalar } => cell_values::add(slots, batch, field, scalar, text)?,
        Slot::Secret { at } if is_hash(text) => {
            let cell = batch.put(text);
            batch.set_once(first + at, cell)?;
        }
        Slot::Secret { .. } => {
            return Err("a password is loaded as its hash only: of argon2, or of bcrypt up to cost 15".into());
        }
    }
    Ok(())
}

/// Why an object of type `ty` cannot have the type `name` too.
pub(crate) fn other_type(types: &Types, ty: TypeId, name: &str) -> Option<String> {
    let model = &types.model;
    match model.type_by_name(name) {
        Some(it) if it == ty || model.ty(it).members.contains(&ty) => None,
        Some(_) => Some(format!("it is a `{}`, and so no `{name}`", model.ty(ty).name)),
        None => Some(format!("there is no type `{name}`")),
    }
}
