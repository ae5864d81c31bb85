//! Objects on their way from a file to the tables: values in rows, texts in one buffer, nothing allocated per value.
//!
//! **Invariant:** `cells` has `width` entries for every row, in the order of the target's columns.

use super::Reached;
use super::reject::RejectKind;
use crate::model::{FieldId, TypeId};
use crate::store::Types;
pub(crate) use crate::store::database::BulkCell;
use weir_relational::catalog::ColumnId;

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
    pub(crate) to: Target,
    /// The line that says it.
    pub(crate) line: u64,
}

/// The line of an edge in a column, where each edge has one of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnLine {
    /// The row in the batch.
    pub(crate) row: u32,
    /// The edge.
    pub(crate) field: FieldId,
    /// The number it leads to.
    pub(crate) to: i64,
    pub(crate) line: u64,
    /// The other side of the edge, if the line says it from there.
    pub(crate) turned: Option<FieldId>,
}

/// An edge given from its other side, when that object was not read with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LooseEdge {
    /// The field, as the line has it.
    pub(crate) field: FieldId,
    /// The object that the line is about.
    pub(crate) owner: i64,
    pub(crate) target: i64,
    pub(crate) line: u64,
}

/// An item of a list of scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The row in the batch.
    pub(crate) row: u32,
    pub(crate) field: FieldId,
    pub(crate) value: BulkCell,
    /// Microseconds of a DateTime.
    pub(crate) at: BulkCell,
}

/// Objects of one type.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Type of the objects.
    pub(crate) ty: TypeId,
    /// True if the rows are objects to create; else they name the owners of edges that exist.
    pub(crate) makes_objects: bool,
    /// The columns of their table that `cells` are for.
    pub(crate) columns: Vec<ColumnId>,
    /// Object number by row; 0 for a new object.
    pub(crate) ids: Vec<i64>,
    /// Line by row.
    pub(crate) lines: Vec<u64>,
    /// Row after row.
    pub(crate) cells: Vec<BulkCell>,
    /// Items of lists, by row.
    pub(crate) items: Vec<Item>,
    /// Edges, by row.
    pub(crate) edges: Vec<Edge>,
    /// Lines of edges in columns, by row.
    pub(crate) column_lines: Vec<ColumnLine>,
    /// The line that is read: of the last row, or of one of its statements.
    pub(crate) line: u64,
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
            column_lines: Vec::new(),
            line: 0,
            text: String::new(),
        }
    }

    /// Begins a row of nulls and gives the place of its first cell.
    pub(crate) fn begin(&mut self, line: u64) -> usize {
        let first = self.cells.len();
        self.ids.push(0);
        self.lines.push(line);
        self.line = line;
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
        self.column_lines.retain(|it| it.row < rows);
    }

    /// Sets a cell that has no value, or the same.
    pub(crate) fn set_once(&mut self, place: usize, cell: BulkCell) -> Result<(), String> {
        let before = self.cells[place];
        if before != BulkCell::Null && self.render_cell(before) != self.render_cell(cell) {
            return Err("it has another value already".into());
        }
        self.cells[place] = cell;
        Ok(())
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

    /// Lines that give the edge `field` of a row, which is stored in a column: the row's own line, if none has its own.
    pub(crate) fn lines_of(&self, row: u32, field: FieldId) -> Vec<u64> {
        let from = self.column_lines.partition_point(|it| it.row < row);
        let own = self.column_lines[from..].iter().take_while(|it| it.row == row);
        let own: Vec<u64> = own.filter(|it| it.field == field).map(|it| it.line).collect();
        if own.is_empty() { vec![self.lines[row as usize]] } else { own }
    }

    /// A row's cells.
    pub(crate) fn row(&self, at: usize) -> &[BulkCell] {
        let width = self.columns.len();
        &self.cells[at * width..(at + 1) * width]
    }

    /// A cell in words, for messages and keys.
    pub(crate) fn render_cell(&self, cell: BulkCell) -> String {
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

impl Parcel {
    /// Nothing but how far the files are read.
    pub(crate) fn progress(reached: Reached, bytes: u64) -> Self {
        Self {
            batches: Vec::new(),
            rejects: Vec::new(),
            loose: Vec::new(),
            unknown: Vec::new(),
            facets: 0,
            reached,
            bytes,
        }
    }

    /// True if there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.rejects.is_empty() && self.loose.is_empty()
    }
}

/// Statements with one predicate that is no field.
#[derive(Clone, Debug)]
pub(crate) struct UnknownCount {
    pub(crate) predicate: String,
    /// Number of statements.
    pub(crate) statements: i64,
    /// The line of the first.
    pub(crate) line: u64,
}

/// Batches that belong together with the place in the file after them.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// Batches, one per type.
    pub(crate) batches: Vec<Batch>,
    /// Lines that could not be read: line, kind, and reason.
    pub(crate) rejects: Vec<(u64, RejectKind, String)>,
    /// Edges of objects that are not in the batches.
    pub(crate) loose: Vec<LooseEdge>,
    /// Statements with a predicate that is no field of their object: the predicate, and the line of the first.
    pub(crate) unknown: Vec<UnknownCount>,
    /// Statements whose facets were left out.
    pub(crate) facets: u64,
    /// Start of the next batch.
    pub(crate) reached: Reached,
    /// Bytes of the file read so far.
    pub(crate) bytes: u64,
}

/// A truth value as the database has it.
pub(crate) fn boolean(types: &Types, value: bool) -> BulkCell {
    if types.kind.store_dialect().booleans_are_numbers() {
        BulkCell::Int(value.into())
    } else {
        BulkCell::Bool(value)
    }
}
