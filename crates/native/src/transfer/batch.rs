//! Objects on their way from a file to the tables: values in rows, texts in one buffer, nothing allocated per value.
//!
//! **Invariant:** `cells` has `width` entries for every row, in the order of the target's columns.

use super::Reached;
use crate::model::{FieldId, TypeId};
pub(crate) use crate::store::database::BulkCell;
use weir_relational::catalog::ColumnId;

/// Kinds of rejected lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectKind {
    /// An object.
    Object,
    /// One edge of an object that is taken.
    Edge,
    /// A line of a file of pairs.
    Pair,
    /// A statement that cannot be read.
    Statement,
}

/// Target of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// An object's number.
    Id(i64),
    /// The value of an `@id` field.
    Key(FieldId, BulkCell),
}

/// An edge that is no column of its object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The row in the batch.
    pub(crate) row: u32,
    /// The field, as the object has it.
    pub(crate) field: FieldId,
    /// The target.
    pub(crate) to: Target,
}

/// An item of a list of scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The row in the batch.
    pub(crate) row: u32,
    /// The field.
    pub(crate) field: FieldId,
    /// The value.
    pub(crate) value: BulkCell,
    /// Of a DateTime: microseconds.
    pub(crate) at: BulkCell,
}

/// Objects of one type.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Their type.
    pub(crate) ty: TypeId,
    /// True if the rows are objects to create; else they name the owners of edges that exist.
    pub(crate) makes_objects: bool,
    /// The columns of their table that `cells` are for.
    pub(crate) columns: Vec<ColumnId>,
    /// By row: the number; 0 for a new one.
    pub(crate) ids: Vec<i64>,
    /// By row: the line.
    pub(crate) lines: Vec<u64>,
    /// Row after row.
    pub(crate) cells: Vec<BulkCell>,
    /// Items of lists, by row.
    pub(crate) items: Vec<Item>,
    /// Edges, by row.
    pub(crate) edges: Vec<Edge>,
    /// Buffer that texts are ranges of.
    pub(crate) text: String,
}

impl Batch {
    pub(crate) fn new(ty: TypeId, columns: Vec<ColumnId>, makes_objects: bool) -> Self {
        Self {
            ty,
            makes_objects,
            columns,
            ids: Vec::new(),
            lines: Vec::new(),
            cells: Vec::new(),
            items: Vec::new(),
            edges: Vec::new(),
            text: String::new(),
        }
    }

    /// Begins a row of nulls and gives the place of its first cell.
    pub(crate) fn begin(&mut self, line: u64) -> usize {
        let first = self.cells.len();
        self.ids.push(0);
        self.lines.push(line);
        self.cells.resize(first + self.columns.len(), BulkCell::Null);
        first
    }

    /// Takes the last row back.
    pub(crate) fn abandon(&mut self) {
        self.ids.pop();
        self.lines.pop();
        self.cells.truncate(self.ids.len() * self.columns.len());
        let rows = self.ids.len() as u32;
        self.items.retain(|it| it.row < rows);
        self.edges.retain(|it| it.row < rows);
    }

    /// Keeps `text` and gives its cell.
    pub(crate) fn put(&mut self, text: &str) -> BulkCell {
        let from = self.text.len() as u32;
        self.text.push_str(text);
        BulkCell::Text(from, self.text.len() as u32)
    }

    /// The text of a cell of texts.
    pub(crate) fn slice(&self, from: u32, to: u32) -> &str {
        &self.text[from as usize..to as usize]
    }

    /// A row's cells.
    pub(crate) fn row(&self, at: usize) -> &[BulkCell] {
        let width = self.columns.len();
        &self.cells[at * width..(at + 1) * width]
    }

    /// A cell in words, for messages and keys.
    pub(crate) fn words(&self, cell: BulkCell) -> String {
        match cell {
            BulkCell::Null => "null".into(),
            BulkCell::Int(number) => number.to_string(),
            BulkCell::Real(number) => number.to_string(),
            BulkCell::Bool(value) => value.to_string(),
            BulkCell::Text(from, to) => self.slice(from, to).to_owned(),
        }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<BulkCell>()
    }
}

/// Batches that belong together with the place in the file after them.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// One per type.
    pub(crate) batches: Vec<Batch>,
    /// Lines that could not be read: line, kind, and reason.
    pub(crate) rejects: Vec<(u64, RejectKind, String)>,
    /// Statements whose facets were left out.
    pub(crate) facets: u64,
    /// Start of the next batch.
    pub(crate) reached: Reached,
    /// Bytes of the file read so far.
    pub(crate) bytes: u64,
}
