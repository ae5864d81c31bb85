//! Exports objects as files, each with its number, so that loading them again gives the same store.
//!
//! An edge is written where the store keeps it, by the number of the other object; N-Quads have both sides, as Dgraph
//! writes them. Passwords leave as their hashes.
//!
//! **Invariant:** all is read in one snapshot.
//!
//! **Cost:** some thousand objects are held at a time, with their lists.

use super::Format;
use super::edge_fields::{field_name, kinds};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, Scalar, TypeId, TypeKind};
use crate::store::database::Value;
use crate::store::ddl::quote_identifier;
use crate::store::{Error, Place, Store, Types};
use std::io::Write;
use weir_engine::write::out::Out;
use weir_relational::catalog::{ColumnId, TableId};

/// Objects read at a time.
const PAGE_ROWS: i64 = 5000;

/// Opens the output of a type's objects.
pub type Open<'o> = dyn FnMut(&str) -> std::io::Result<Box<dyn Write>> + 'o;

/// Why an export ended early.
#[derive(Debug)]
pub enum ExportError {
    Store(Error),
    /// A file cannot be written.
    File(std::io::Error),
}

impl std::fmt::Display for ExportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::File(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<Error> for ExportError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<std::io::Error> for ExportError {
    fn from(cause: std::io::Error) -> Self {
        Self::File(cause)
    }
}

/// Writes all objects, or those of one type. `open` gives the place for a type's.
/// # Errors
/// See [`ExportError`].
pub fn export(
    place: &Place,
    format: Format,
    only: Option<&str>,
    open: &mut Open<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    let mut store = Store::existing(place)?;
    let types = store.types()?.ok_or(Error::Missing)?;
    let database = &mut store.database;
    database.begin_read()?;
    let mut count = 0;
    for (id, ty) in types.model.type_ids().zip(&types.model.types) {
        if ty.kind != TypeKind::Object || only.is_some_and(|it| it != ty.name) {
            continue;
        }
        let mut out = open(&ty.name)?;
        let parts = parts(&types, id);
        let writer = Writer { types: &types, ty: id, format, parts: &parts };
        writer.head(&mut out)?;
        let sql = select(&types, id, &parts);
        let mut last = 0;
        loop {
            let rows = database.query(&sql, &[Value::Int(last), Value::Int(PAGE_ROWS)], parts.len() + 1)?;
            let Some(end) = rows.last() else { break };
            last = end[0].int();
            for row in &rows {
                writer.object(row, &mut out)?;
            }
            count += rows.len() as u64;
            progress(count);
        }
        out.flush()?;
    }
    database.rollback();
    Ok(count)
}

/// A member of an exported object.
struct ExportedMember {
    name: String,
    /// `None` for a password.
    field: Option<FieldId>,
    /// The selected expression.
    cell: String,
}

fn parts(types: &Types, ty: TypeId) -> Vec<ExportedMember> {
    let layout = &types.layout;
    let own = layout.tables[ty.index()];
    let cell = |table: TableId, column: ColumnId| {
        format!("t.{}", quote_identifier(&layout.relations.catalog.table(table).column(column).name))
    };
    let mut parts = Vec::new();
    for (id, field) in types.model.fields_of(ty) {
        let cell = match layout.fields[id.index()] {
            Storage::Column(column)
            | Storage::Instant { text: column, .. }
            | Storage::ToOne { column, .. } => cell(own, column),
            Storage::Point { longitude, latitude } => {
                let x = cell(own, longitude);
                let y = cell(own, latitude);
                format!(
                    "CASE WHEN {x} IS NOT NULL THEN '{{\"type\":\"Point\",\"coordinates\":[' || {x} || ',' || {y} || ']}}' END"
                )
            }
            Storage::Shape { text, .. } => {
                let name = match field.kind {
                    FieldKind::Scalar(Scalar::MultiPolygon) => "MultiPolygon",
                    FieldKind::Scalar(_) | FieldKind::Id | FieldKind::Enum(_) | FieldKind::Edge { .. } => {
                        "Polygon"
                    }
                };
                format!("'{{\"type\":\"{name}\",\"coordinates\":' || {} || '}}'", cell(own, text))
            }
            Storage::Values { table, owner, place, value, .. } => {
                list(types, ty, SideValues { table, owner, value }, place)
            }
            Storage::Join { table, ours, theirs, .. } if is_first(types, id) => {
                list(types, ty, SideValues { table, owner: ours, value: theirs }, theirs)
            }
            Storage::Join { .. } | Storage::Id(_) | Storage::ToOneBack { .. } | Storage::ToMany { .. } => {
                continue;
            }
        };
        parts.push(ExportedMember { name: field.name.clone(), field: Some(id), cell });
    }
    if let (Some(column), Some(secret)) = (layout.secrets[ty.index()], &types.model.ty(ty).secret) {
        parts.push(ExportedMember { name: secret.name.clone(), field: None, cell: cell(own, column) });
    }
    parts
}

/// True if a table of pairs is written with this field and not with its other side.
fn is_first(types: &Types, id: FieldId) -> bool {
    match types.model.field(id).kind {
        FieldKind::Edge { inverse: Some(other), .. } => {
            let is_object =
                |it: FieldId| types.model.ty(types.model.field(it).owner).kind == TypeKind::Object;
            !is_object(other) || id <= other
        }
        FieldKind::Edge { inverse: None, .. } | FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
            true
        }
    }
}

/// A side table, its column of the owners' numbers and that of the values.
struct SideValues {
    table: TableId,
    owner: ColumnId,
    value: ColumnId,
}

/// The values of a side table as a JSON array.
fn list(types: &Types, ty: TypeId, at: SideValues, order: ColumnId) -> String {
    let SideValues { table, owner, value } = at;
    let layout = &types.layout;
    let table = layout.relations.catalog.table(table);
    let own = layout.relations.catalog.table(layout.tables[ty.index()]);
    let id = quote_identifier(&own.column(layout.ids[ty.index()]).name);
    let column = |it: ColumnId| quote_identifier(&table.column(it).name);
    let name = quote_identifier(&table.name);
    let owner = column(owner);
    let value = column(value);
    let order = column(order);
    let rows = format!("{name} WHERE {owner} = t.{id}");
    types.kind.store_dialect().json_list(&value, &rows, &order)
}

fn select(types: &Types, ty: TypeId, parts: &[ExportedMember]) -> String {
    let table = types.layout.relations.catalog.table(types.layout.tables[ty.index()]);
    let id = quote_identifier(&table.column(types.layout.ids[ty.index()]).name);
    let cells: Vec<&str> = parts.iter().map(|it| it.cell.as_str()).collect();
    let comma = if cells.is_empty() { "" } else { ", " };
    format!(
        "SELECT t.{id}{comma}{} FROM {} t WHERE t.{id} > $1 ORDER BY t.{id} LIMIT $2",
        cells.join(", "),
        quote_identifier(&table.name)
    )
}

struct Writer<'w> {
    types: &'w Types,
    ty: TypeId,
    format: Format,
    parts: &'w [ExportedMember],
}

impl Writer<'_> {
    fn head(&self, out: &mut dyn Write) -> std::io::Result<()> {
        match self.format {
            Format::Csv => {
                let names: Vec<&str> = self.parts.iter().map(|it| it.name.as_str()).collect();
                writeln!(out, "{}", std::iter::once("__id").chain(names).collect::<Vec<_>>().join(","))
            }
            Format::Ndjson | Format::Nquads => Ok(()),
        }
    }

    fn object(&self, row: &[Value], out: &mut dyn Write) -> std::io::Result<()> {
        match self.format {
            Format::Ndjson => self.ndjson(row, out),
            Format::Csv => self.csv(row, out),
            Format::Nquads => self.nquads(row, out),
        }
    }

    fn kind(&self, part: &ExportedMember) -> FieldKind {
        part.field.map_or(FieldKind::Scalar(Scalar::String), |it| self.types.model.field(it).kind)
    }

    fn is_list(&self, part: &ExportedMember) -> bool {
        part.field.is_some_and(|it| self.types.model.field(it).is_list)
    }

    fn ndjson(&self, row: &[Value], out: &mut dyn Write) -> std::io::Result<()> {
        let mut line = format!(
            "{{\"__typename\":\"{}\",\"__id\":\"{:#x}\"",
            self.types.model.ty(self.ty).name,
            row[0].int()
        );
        for (part, value) in self.parts.iter().zip(&row[1..]) {
            if let Some(json) = self.json(part, value) {
                line.push_str(&format!(",\"{}\":{json}", part.name));
            }
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())
    }

    /// A value as JSON; nothing for null and for empty lists.
    fn json(&self, part: &ExportedMember, value: &Value) -> Option<String> {
        if *value == Value::Null {
            return None;
        }
        let text = value.text();
        if self.is_list(part) {
            let items = items(self.kind(part), &text);
            let json: Vec<String> = items.iter().map(|it| text_as_json(self.kind(part), it)).collect();
            return (!json.is_empty()).then(|| format!("[{}]", json.join(",")));
        }
        Some(text_as_json(self.kind(part), &plain(self.kind(part), value)))
    }

    fn csv(&self, row: &[Value], out: &mut dyn Write) -> std::io::Result<()> {
        let mut line = format!("{:#x}", row[0].int());
        for (part, value) in self.parts.iter().zip(&row[1..]) {
            line.push(',');
            if *value == Value::Null {
                continue;
            }
            let text = if self.is_list(part) {
                self.json(part, value).unwrap_or_default()
            } else {
                match self.kind(part) {
                    FieldKind::Edge { .. } => format!("{:#x}", value.int()),
                    FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                        plain(self.kind(part), value)
                    }
                }
            };
            let is_none = text.is_empty() && self.is_list(part);
            if !is_none && (text.is_empty() || text.contains(['"', ',', '\n', '\r']) || text.trim() != text) {
                line.push_str(&format!("\"{}\"", text.replace('"', "\"\"")));
            } else {
                line.push_str(&text);
            }
        }
        line.push('\n');
        out.write_all(line.as_bytes())
    }

    fn nquads(&self, row: &[Value], out: &mut dyn Write) -> std::io::Result<()> {
        let id = row[0].int();
        for name in kinds(self.types, self.ty) {
            writeln!(out, "<{id:#x}> <dgraph.type> \"{name}\" .")?;
        }
        for (part, value) in self.parts.iter().zip(&row[1..]) {
            if *value == Value::Null {
                continue;
            }
            let predicate = self.predicate(part);
            let values = if self.is_list(part) {
                items(self.kind(part), &value.text())
            } else {
                vec![plain(self.kind(part), value)]
            };
            for text in values {
                self.quad(id, &predicate, part, &text, out)?;
            }
        }
        Ok(())
    }

    fn quad(
        &self,
        id: i64,
        predicate: &str,
        part: &ExportedMember,
        text: &str,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        match self.kind(part) {
            FieldKind::Edge { inverse, .. } => {
                let to: i64 = text.parse().unwrap_or_default();
                writeln!(out, "<{id:#x}> <{predicate}> <{to:#x}> .")?;
                match inverse {
                    Some(other) => writeln!(out, "<{to:#x}> <{}> <{id:#x}> .", self.root_name(other)),
                    None => Ok(()),
                }
            }
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                let text =
                    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
                writeln!(out, "<{id:#x}> <{predicate}> \"{text}\" .")
            }
        }
    }

    /// A predicate is called after the interface that has the field first.
    fn predicate(&self, part: &ExportedMember) -> String {
        match part.field {
            Some(field) => self.root_name(field),
            None => format!("{}.{}", self.types.model.ty(self.ty).name, part.name),
        }
    }

    fn root_name(&self, field: FieldId) -> String {
        let root = self.types.model.field(field).inherited_from.unwrap_or(field);
        field_name(self.types, root)
    }
}

/// The items of a JSON array that the database made.
fn items(kind: FieldKind, text: &str) -> Vec<String> {
    use weir_language::json::Json;
    let Ok(json) = Json::parse(text.as_bytes(), super::from_files::cell_values::DEPTH_MAX) else {
        return Vec::new();
    };
    let items = json.root().items().map(|it| it.as_str().map_or_else(|| it.raw().to_owned(), Into::into));
    match kind {
        FieldKind::Scalar(Scalar::DateTime) => items.map(moment).collect(),
        FieldKind::Scalar(_) | FieldKind::Id | FieldKind::Enum(_) | FieldKind::Edge { .. } => items.collect(),
    }
}

/// A DateTime's normal text: others may have written another one, or an earlier Weir.
fn moment(text: String) -> String {
    weir_relational::values::instant::normal(&text).map(Into::into).unwrap_or(text)
}

/// A value as text that a load takes.
fn plain(kind: FieldKind, value: &Value) -> String {
    match (kind, value) {
        (FieldKind::Scalar(Scalar::Boolean), value) => match value.text().as_str() {
            "1" | "t" | "true" => "true".into(),
            _ => "false".into(),
        },
        (FieldKind::Scalar(Scalar::Float), Value::Text(text)) => float(text),
        (FieldKind::Scalar(Scalar::DateTime), Value::Text(text)) => moment(text.clone()),
        (_, Value::Real(number)) => float(&number.to_string()),
        (_, Value::Null | Value::Int(_) | Value::Text(_)) => value.text(),
    }
}

/// A floating point number as answers have it: databases spell it each in its own way.
fn float(text: &str) -> String {
    let mut digits = Out::default();
    if text.parse().is_ok_and(|value| digits.float(value)) {
        String::from_utf8_lossy(digits.bytes()).into_owned()
    } else {
        text.to_owned()
    }
}

/// A text as JSON of its field's type.
fn text_as_json(kind: FieldKind, text: &str) -> String {
    match kind {
        FieldKind::Scalar(
            Scalar::Int | Scalar::Int64 | Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon,
        ) => text.to_owned(),
        FieldKind::Scalar(Scalar::Float) => float(text),
        FieldKind::Scalar(Scalar::Boolean) => {
            if matches!(text, "1" | "true") { "true" } else { "false" }.into()
        }
        FieldKind::Edge { .. } => format!("\"{:#x}\"", text.parse::<i64>().unwrap_or_default()),
        FieldKind::Id | FieldKind::Enum(_) | FieldKind::Scalar(Scalar::String | Scalar::DateTime) => {
            serde_json::Value::from(text).to_string()
        }
    }
}
