//! Statements about one subject, and the object that they make.
//!
//! An edge that the store keeps at its other end is turned round, so that it arrives with the object that has it. It stays a
//! statement of its own: where that object is not read, the edge waits for it.
//!
//! **Invariant:** each statement is in the object, or waits, or is refused with its line.

use super::gather::{Gather, other_type, put};
use super::slots::{Slot, Slots};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind};
use crate::store::Types;
use crate::transfer::edge_fields::field_name;
use crate::transfer::parcel::{Batch, ColumnLine, LooseEdge};
use crate::transfer::reject::RejectKind;
use hashbrown::HashMap;
use std::io::{BufRead, Write};

/// The predicate that says an object's types.
const KIND: &str = "dgraph.type";

/// A predicate, and the one by which its edges are stored at the other end.
pub(super) struct Predicate {
    name: String,
    pub(super) turned: Option<u32>,
    /// Set if edges are turned to this predicate: the field that the files name.
    from: Option<TurnedField>,
}

/// The side from which files say an edge.
struct TurnedField {
    field: FieldId,
    name: String,
}

/// The predicates that were seen.
pub(super) struct Predicates<'t> {
    types: &'t Types,
    pub(super) all: Vec<Predicate>,
    places: HashMap<String, u32>,
}

impl<'t> Predicates<'t> {
    pub(super) fn new(types: &'t Types) -> Self {
        Self { types, all: Vec::new(), places: HashMap::new() }
    }

    /// The place of the predicate `name` among all.
    pub(super) fn place(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.all.len() as u32;
        self.all.push(Predicate { name: name.to_owned(), turned: None, from: None });
        self.places.insert(name.to_owned(), place);
        if let Some((field, other)) = self.find_turned_edge(name) {
            self.all[place as usize].turned = Some(self.all.len() as u32);
            let from = Some(TurnedField { field, name: name.to_owned() });
            self.all.push(Predicate { name: other, turned: None, from });
        }
        place
    }

    /// The field `name` and the predicate of its other side, if the edge is stored there.
    fn find_turned_edge(&self, name: &str) -> Option<(FieldId, String)> {
        let model = &self.types.model;
        let (owner, field) = name.split_once('.')?;
        let field = model.field_by_name(model.type_by_name(owner)?, field)?;
        match self.types.layout.fields[field.index()] {
            Storage::ToOneBack { .. } | Storage::ToMany { .. } => {}
            _ => return None,
        }
        match model.field(field).kind {
            FieldKind::Edge { inverse: Some(other), .. } => Some((field, field_name(self.types, other))),
            _ => None,
        }
    }
}

/// A statement in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) subject: i64,
    /// The order of the files.
    pub(super) line: u64,
    pub(super) predicate: u32,
    /// The number the edge leads to; 0 for a text.
    pub(super) id: i64,
    pub(super) text: String,
}

impl Record {
    pub(super) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        out.write_all(&self.subject.to_le_bytes())?;
        out.write_all(&self.line.to_le_bytes())?;
        out.write_all(&self.predicate.to_le_bytes())?;
        out.write_all(&self.id.to_le_bytes())?;
        out.write_all(&(self.text.len() as u32).to_le_bytes())?;
        out.write_all(self.text.as_bytes())
    }

    /// The next one; nothing at the end.
    pub(super) fn read(input: &mut impl BufRead) -> std::io::Result<Option<Self>> {
        if input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut head = [0; 32];
        input.read_exact(&mut head)?;
        let eight = |at: usize| head[at..at + 8].try_into().map(i64::from_le_bytes).unwrap_or_default();
        let four = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or_default();
        let mut text = vec![0; four(28) as usize];
        input.read_exact(&mut text)?;
        let text = String::from_utf8(text).map_err(std::io::Error::other)?;
        Ok(Some(Self { subject: eight(0), line: eight(8) as u64, predicate: four(16), id: eight(20), text }))
    }
}

/// Makes an object of the statements of one subject. A statement that the object cannot take is left out with its reason.
pub(super) fn assemble(gather: &mut Gather<'_>, predicates: &[Predicate], object: &[Record]) {
    let predicate = |record: &Record| &predicates[record.predicate as usize];
    let is_kind = |record: &&Record| predicate(record).name == KIND;
    // Edges that others have to it are no statements about it.
    let Some(own) = object.iter().find(|it| predicate(it).from.is_none()) else {
        return defer_turned(gather, predicates, object);
    };
    let line = own.line;
    let ty = match gather.type_of(object.iter().filter(is_kind).map(|it| it.text.as_str())) {
        Ok(ty) => ty,
        Err(why) => {
            defer_turned(gather, predicates, object);
            let has_none = !object.iter().any(|it| is_kind(&it));
            let why = if has_none { format!("{:#x} has no {KIND}", own.subject) } else { why };
            return gather.note(line, Err(why));
        }
    };
    let mut refused = Vec::new();
    let (slots, batch) = gather.batch(ty);
    let row = batch.begin(line);
    let at = batch.ids.len() - 1;
    batch.ids[at] = own.subject;
    for record in object {
        batch.line = record.line;
        if let Err(why) = take_statement(slots, batch, row, predicate(record), record) {
            refused.push((record, why));
        }
    }
    gather.note(line, Ok(()));
    for (record, why) in refused {
        match why {
            LeftOut::Unknown(why) => gather.refuse_unknown(record.line, &predicate(record).name, why),
            LeftOut::Unfit(why) if record.id == 0 => gather.refuse(record.line, RejectKind::Statement, why),
            LeftOut::Unfit(why) => gather.refuse(record.line, RejectKind::Edge, why),
        }
    }
}

/// Why a statement is left out.
enum LeftOut {
    /// The predicate is no field of the object's type.
    Unknown(String),
    /// The object cannot take it.
    Unfit(String),
}

/// Takes a statement for the last row, which begins at `row`.
fn take_statement(
    slots: &mut Slots<'_>,
    batch: &mut Batch,
    row: usize,
    predicate: &Predicate,
    record: &Record,
) -> Result<(), LeftOut> {
    let shown = predicate.from.as_ref().map_or(predicate.name.as_str(), |it| it.name.as_str());
    let words = |why: String| LeftOut::Unfit(format!("{shown}: {why}"));
    if predicate.name == KIND {
        return match other_type(slots.types, slots.ty, &record.text) {
            Some(why) => Err(words(why)),
            None => Ok(()),
        };
    }
    let slot = match (slots.find(&predicate.name), &predicate.from) {
        (Ok(slot), _) => slot,
        (Err(why), None) => return Err(LeftOut::Unknown(why)),
        (Err(_), Some(_)) => {
            let is = &slots.types.model.ty(slots.ty).name;
            return Err(words(format!("{:#x} is a `{is}`, to which it does not lead", record.subject)));
        }
    };
    let done = match (slot, record.id) {
        (Slot::Skip, _) => Ok(()),
        (Slot::Id, _) => Err("its ID stands before the predicate".into()),
        (Slot::Kind, _) => Err(format!("its type is said by {KIND}")),
        (Slot::One { .. } | Slot::Many { .. }, 0) => {
            Err("it leads to an object, which stands between `<` and `>`".into())
        }
        (Slot::One { .. } | Slot::Many { .. }, id) => put(slots, batch, row, slot, &id.to_string()),
        (Slot::Value { .. } | Slot::List { .. } | Slot::Secret { .. }, 0) => {
            put(slots, batch, row, slot, &record.text)
        }
        (Slot::Value { .. } | Slot::List { .. } | Slot::Secret { .. }, _) => {
            Err("it has values, and leads to no object".into())
        }
    };
    done.map_err(words)?;
    if let Slot::One { field, .. } = slot {
        let row = batch.ids.len() as u32 - 1;
        let turned = predicate.from.as_ref().map(|it| it.field);
        batch.column_lines.push(ColumnLine { row, field, to: record.id, line: record.line, turned });
    }
    Ok(())
}

/// Keeps the edges that others have to a subject that is no object here: it may be in the store, or in another file.
fn defer_turned(gather: &mut Gather<'_>, predicates: &[Predicate], object: &[Record]) {
    for record in object {
        if let Some(from) = &predicates[record.predicate as usize].from {
            let field = from.field;
            let owner = record.id;
            let target = record.subject;
            let line = record.line;
            gather.defer(LooseEdge { field, owner, target, line });
        }
    }
}
