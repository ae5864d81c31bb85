//! Typed rows as columns: what a source answers when it does not write the response itself.
//!
//! A [`Table`] has one [`Column`] per member of its set (in the set's order, constants and foreign members
//! left empty) and the hidden ones its children in other sources need. Lists nest by offsets, so rows of a
//! level lie flat whatever their parents: parent indexes are implied.
//!
//! **Invariant:** every column of a table has the table's number of rows; offsets ascend, one more than rows.
//!
//! **Cost:** one allocation per column, none per row; texts of a column share one buffer.

use super::field_error::FieldError;
use std::ops::Range;
use weir_language::schema::TypeId;

/// The values of one member for all rows of its table.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Null rows; empty when there are none. Rows with an error are null too.
    pub nulls: Bitmap,
    /// The values; rows that are null hold anything of the right kind.
    pub data: Data,
    /// Rows of [`Data::Text`] whose text is digits that the source gave as a number: of identifiers. Equal texts are equal keys, whichever
    /// they are.
    pub digits: Bitmap,
    /// Rows that failed, ascending by row.
    pub errors: Vec<CellError>,
}

impl Column {
    /// Number of rows, as far as the data shows it: 0 for [`Data::Empty`].
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Empty => 0,
            Data::Bool(values) => values.len(),
            Data::Int(values) => values.len(),
            Data::Float(values) => values.len(),
            Data::Text(texts) | Data::Json(texts) => texts.ends.len(),
            Data::List { offsets, .. } => offsets.len().saturating_sub(1),
            Data::Object(table) => table.rows as usize,
            Data::Abstract(variants) => variants.types.len(),
            Data::Foreign(places) => places.len(),
        }
    }
    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Appends the rows `range` of `from`, a column of the same kind, as the rows from `at` on. Foreign members are left empty: their
    /// places are those of other rows.
    pub(crate) fn append(&mut self, at: usize, from: &Self, range: Range<usize>) {
        let shifted = |row: usize| row - range.start + at;
        for (to, from) in [(&mut self.nulls, &from.nulls), (&mut self.digits, &from.digits)] {
            if !from.is_empty() {
                range.clone().filter(|it| from.get(*it)).for_each(|it| to.set(shifted(it)));
            }
        }
        let first = from.errors.partition_point(|it| (it.row as usize) < range.start);
        let failed = from.errors[first..].iter().take_while(|it| (it.row as usize) < range.end);
        self.errors.extend(
            failed.map(|it| CellError { row: shifted(it.row as usize) as u32, error: it.error.clone() }),
        );
        self.data.append(&from.data, range);
    }
    /// Appends the value at `row` of `from` as row `at`: a leaf, of the kind that the others here are of, or null.
    pub fn push_from(&mut self, at: usize, from: &Self, row: usize) {
        if from.nulls.get(row) || row >= from.len() {
            self.nulls.set(at);
            return self.data.fill(at + 1);
        }
        if matches!(self.data, Data::Empty) {
            self.data = match from.data {
                Data::Bool(_) => Data::Bool(Vec::new()),
                Data::Int(_) => Data::Int(Vec::new()),
                Data::Float(_) => Data::Float(Vec::new()),
                Data::Text(_) => Data::Text(Texts::default()),
                Data::Json(_) => Data::Json(Texts::default()),
                Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
                    Data::Empty
                }
            };
            self.data.fill(at);
        }
        if from.digits.get(row) {
            self.digits.set(at);
        }
        match (&mut self.data, &from.data) {
            (Data::Bool(to), Data::Bool(from)) => to.push(from[row]),
            (Data::Int(to), Data::Int(from)) => to.push(from[row]),
            (Data::Float(to), Data::Float(from)) => to.push(from[row]),
            (Data::Text(to) | Data::Json(to), Data::Text(from) | Data::Json(from)) => to.push(from.get(row)),
            // One field of one source is of one kind in all its rows.
            (to, _) => *to = Data::Empty,
        }
    }
}

/// The values themselves.
#[derive(Clone, Debug, Default)]
pub enum Data {
    /// No values: a constant, a foreign member (whose errors say why a row has no keys), or a column all of whose rows
    /// are null.
    #[default]
    Empty,
    /// Booleans.
    Bool(Vec<bool>),
    /// Integers of up to 64 bits.
    Int(Vec<i64>),
    /// Numbers written with the shortest digits that read back. Not finite: the field error `FLOAT_RANGE`.
    Float(Vec<f64>),
    /// Text, written as JSON strings.
    Text(Texts),
    /// Bytes that are JSON already (numbers with their digits kept, documents): copied.
    Json(Texts),
    /// Lists: row `i` has items `offsets[i]..offsets[i + 1]` of `items`.
    List {
        /// One more than rows.
        offsets: Vec<u32>,
        /// The items of all rows, one after another.
        items: Box<Column>,
    },
    /// Objects of one type: row `i` is row `i` of the table.
    Object(Box<Table>),
    /// Objects of several types.
    Abstract(Box<Variants>),
    /// References for [`crate::answer::output_plan::OutputKind::Foreign`], set by the engine, never by a source: row `i` is row
    /// `places[i]` of the node's reply. [`NO_PLACE`] is null: a key was null.
    Foreign(Vec<u32>),
}

impl Data {
    /// Appends the rows `range` of `from`, values of the same kind; the first that come say which. Rows that `from` lacks are left out.
    fn append(&mut self, from: &Self, range: Range<usize>) {
        if matches!(self, Self::Empty) {
            *self = from.none();
        }
        match (self, from) {
            (Self::Bool(to), Self::Bool(from)) => to.extend_from_slice(cut_values(from, range)),
            (Self::Int(to), Self::Int(from)) => to.extend_from_slice(cut_values(from, range)),
            (Self::Float(to), Self::Float(from)) => to.extend_from_slice(cut_values(from, range)),
            (Self::Text(to), Self::Text(from)) | (Self::Json(to), Self::Json(from)) => {
                range.filter_map(|it| from.find(it)).for_each(|it| to.push(it));
            }
            (Self::List { offsets: ends, items: to }, Self::List { offsets, items }) => {
                for row in range {
                    let (Some(&start), Some(&end)) = (offsets.get(row), offsets.get(row + 1)) else { return };
                    let last = ends.last().copied().unwrap_or_default();
                    to.append(last as usize, items, start as usize..end.max(start) as usize);
                    ends.push(last + end.saturating_sub(start));
                }
            }
            (Self::Object(to), Self::Object(from)) => to.append(from, range),
            (Self::Abstract(to), Self::Abstract(from)) => range.for_each(|it| to.append(from, it)),
            _ => {}
        }
    }

    /// No values of the same kind.
    fn none(&self) -> Self {
        match self {
            Self::Empty | Self::Foreign(_) => Self::Empty,
            Self::Bool(_) => Self::Bool(Vec::new()),
            Self::Int(_) => Self::Int(Vec::new()),
            Self::Float(_) => Self::Float(Vec::new()),
            Self::Text(_) => Self::Text(Texts::default()),
            Self::Json(_) => Self::Json(Texts::default()),
            Self::List { .. } => Self::List { offsets: vec![0], items: Box::default() },
            Self::Object(_) => Self::Object(Box::default()),
            Self::Abstract(_) => Self::Abstract(Box::default()),
        }
    }

    /// Makes the values of leaves `rows` long by some that mean nothing.
    fn fill(&mut self, rows: usize) {
        match self {
            Self::Bool(values) => values.resize(rows, false),
            Self::Int(values) => values.resize(rows, 0),
            Self::Float(values) => values.resize(rows, 0.0),
            Self::Text(texts) | Self::Json(texts) => texts.ends.resize(rows, texts.bytes.len() as u32),
            Self::Empty | Self::List { .. } | Self::Object(_) | Self::Abstract(_) | Self::Foreign(_) => {}
        }
    }
}

/// Values of `range`, cut at the end of `values`.
fn cut_values<T>(values: &[T], range: Range<usize>) -> &[T] {
    let end = range.end.min(values.len());
    &values[range.start.min(end)..end]
}

/// The place of a foreign member that has no row in the reply.
pub const NO_PLACE: u32 = u32::MAX;

/// Texts of a column in one buffer: row `i` is `bytes[ends[i - 1]..ends[i]]`.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// All texts, one after another. UTF-8 of [`Data::Text`] is the source's promise, checked when filled.
    pub bytes: Vec<u8>,
    /// End of each text.
    pub ends: Vec<u32>,
}

impl Texts {
    /// Appends one.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
    }
    /// The text of `row`.
    pub fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        &self.bytes[start..self.ends[row] as usize]
    }
    /// The text of `row`, if there is such a row.
    #[inline]
    pub fn find(&self, row: usize) -> Option<&[u8]> {
        self.bytes.get(self.find_range(row)?)
    }
    /// Where in [`Texts::bytes`] the text of `row` stands, if there is such a row.
    #[inline]
    pub(crate) fn find_range(&self, row: usize) -> Option<Range<usize>> {
        let end = *self.ends.get(row)? as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        (start <= end && end <= self.bytes.len()).then_some(start..end)
    }
}

/// Objects of several types: row `i` is row `places[i]` of the table for type `types[i]`.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    /// Concrete type of each row.
    pub types: Vec<TypeId>,
    /// Row in that type's table.
    pub places: Vec<u32>,
    /// One table per concrete type that occurs.
    pub tables: Vec<(TypeId, Table)>,
}

impl Variants {
    /// Appends the row `row` of `from`.
    fn append(&mut self, from: &Self, row: usize) {
        let (Some(&ty), Some(&place)) = (from.types.get(row), from.places.get(row)) else { return };
        self.types.push(ty);
        // A row that is null has no place in any of the tables.
        let known = from.tables.iter().find(|it| it.0 == ty && place < it.1.rows);
        let Some((_, table)) = known else { return self.places.push(u32::MAX) };
        let at = self.tables.iter().position(|it| it.0 == ty).unwrap_or_else(|| {
            self.tables.push((ty, Table::default()));
            self.tables.len() - 1
        });
        self.places.push(self.tables[at].1.rows);
        self.tables[at].1.append(table, place as usize..place as usize + 1);
    }
}

/// The rows of one set.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Number of rows.
    pub rows: u32,
    /// One per member of the set.
    pub columns: Vec<Column>,
    /// One per [`crate::answer::output_plan::SelectionSet::hidden`].
    pub hidden: Vec<Column>,
}

impl Column {
    /// The error of the first value that failed, of the column or below it. The recursion is as deep as the selection.
    pub fn find_error(&self) -> Option<&FieldError> {
        if let Some(first) = self.errors.first() {
            return Some(&first.error);
        }
        match &self.data {
            Data::List { items, .. } => items.find_error(),
            Data::Object(table) => table.find_error(),
            Data::Abstract(variants) => variants.tables.iter().find_map(|it| it.1.find_error()),
            Data::Empty
            | Data::Bool(_)
            | Data::Int(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::Json(_)
            | Data::Foreign(_) => None,
        }
    }
}

impl Table {
    /// The error of the first value that failed, by columns.
    pub(crate) fn find_error(&self) -> Option<&FieldError> {
        self.columns.iter().find_map(Column::find_error)
    }
    /// Appends the rows `range` of `from`, a table of the same set.
    fn append(&mut self, from: &Self, range: Range<usize>) {
        let at = self.rows as usize;
        let append = |to: &mut Vec<Column>, from: &[Column]| {
            to.resize_with(from.len(), Column::default);
            to.iter_mut().zip(from).for_each(|(to, from)| to.append(at, from, range.clone()));
        };
        append(&mut self.columns, &from.columns);
        append(&mut self.hidden, &from.hidden);
        self.rows += range.len() as u32;
    }
}

/// A cell without a value because of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    /// Row of the cell.
    pub row: u32,
    /// Why, for the client.
    pub error: FieldError,
}

/// One bit per row; bits past the end are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap(Vec<u64>);

impl Bitmap {
    /// True if bit `row` is set.
    pub fn get(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
    /// Sets bit `row`.
    pub fn set(&mut self, row: usize) {
        if self.0.len() <= row / 64 {
            self.0.resize(row / 64 + 1, 0);
        }
        self.0[row / 64] |= 1 << (row % 64);
    }
    /// The bits of both.
    pub fn union(&self, other: &Self) -> Self {
        let words = 0..self.0.len().max(other.0.len());
        let word = |bitmap: &Self, at: usize| bitmap.0.get(at).copied().unwrap_or(0);
        Self(words.map(|at| word(self, at) | word(other, at)).collect())
    }
    /// True if no bit was ever set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A source's typed answer: the table of the node's members (columns in the order of [`crate::source::PlanNode::fields`]),
/// with one row at the root or one per parent key.
pub type Rows = Table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_may_be_null_keep_their_rows_whatever_comes_first() {
        let mut nulls = Bitmap::default();
        nulls.set(1);
        let mut bytes = Texts::default();
        let nothing = Column::default();
        [&b"a"[..], b"", b"c"].into_iter().for_each(|it| bytes.push(it));
        let texts = Column { data: Data::Text(bytes), nulls, ..Column::default() };
        let mut own = Column::default();
        for (at, (from, row)) in
            [(&nothing, 0), (&texts, 1), (&texts, 2), (&texts, 9), (&texts, 0)].into_iter().enumerate()
        {
            own.push_from(at, from, row);
        }
        let Data::Text(found) = &own.data else { panic!("{own:?}") };
        let rows: Vec<Option<&[u8]>> = (0..5).map(|at| (!own.nulls.get(at)).then(|| found.get(at))).collect();
        assert_eq!(rows, [None, None, Some(&b"c"[..]), None, Some(&b"a"[..])]);
    }

    #[test]
    fn rows_of_any_kind_are_copied_by_ranges() {
        let mut json = Texts::default();
        [&b"1"[..], b"[2]", b"3"].into_iter().for_each(|it| json.push(it));
        let mut nulls = Bitmap::default();
        nulls.set(1);
        let error = FieldError { code: "LEFT", message: "ouch".into(), hasura_path: None, extensions: None };
        let leaf = Column {
            data: Data::Json(json),
            nulls,
            errors: vec![CellError { row: 1, error }],
            ..Column::default()
        };
        let foreign = Column { data: Data::Foreign(vec![7, 8, 9]), ..Column::default() };
        let table = Table { rows: 3, columns: vec![leaf, foreign], hidden: Vec::new() };
        let a = TypeId(30);
        let b = TypeId(31);
        let variants = Variants {
            types: vec![a, b, a, a],
            places: vec![2, 0, 0, 1],
            tables: vec![(a, table.clone()), (b, table)],
        };
        let items = Box::new(Column { data: Data::Abstract(Box::new(variants)), ..Column::default() });
        let lists = Column { data: Data::List { offsets: vec![0, 1, 4], items }, ..Column::default() };
        let mut copy = Column::default();
        copy.append(0, &lists, 1..2);
        copy.append(1, &lists, 0..2);
        let Data::List { offsets, items } = &copy.data else { panic!("{copy:?}") };
        let Data::Abstract(variants) = &items.data else { panic!("{copy:?}") };
        assert_eq!(*offsets, [0, 3, 4, 7]);
        assert_eq!(variants.types, [b, a, a, a, b, a, a]);
        assert_eq!(variants.places, [0, 0, 1, 2, 1, 3, 4]);
        let (_, of_a) = variants.tables.iter().find(|it| it.0 == a).unwrap();
        let Data::Json(texts) = &of_a.columns[0].data else { panic!("{of_a:?}") };
        let all: Vec<_> = (0..5).map(|it| texts.get(it)).collect();
        assert_eq!(all, [&b"1"[..], b"[2]", b"3", b"1", b"[2]"]);
        let failed: Vec<u32> = of_a.columns[0].errors.iter().map(|it| it.row).collect();
        assert_eq!((failed, of_a.columns[0].nulls.get(4)), (vec![1, 4], true));
        assert!(matches!(of_a.columns[1].data, Data::Empty));
    }
}
