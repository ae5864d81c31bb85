//! Programs: mutations whose statements depend on what the database answers.
//!
//! A program asks and is answered, step by step, and does no input or output itself, so that every database drives the
//! same one: in process statement by statement, over a wire one trip per step.
//!
//! **Invariant:** a program begins in a transaction of its own and has done nothing outside it; taken back, it starts
//! again from its beginning.
//!
//! **Cost:** texts are rendered once and shared; a statement of a program is a counted reference and its values.

use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Arc, OnceLock};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{BoxFuture, FieldError, Ids};
use weir_language::value::Variables;
use weir_relational::catalog::TableId;
use weir_relational::dialect::store::SideIndex;

/// Code of an error that is hidden from clients: the root field is null without an error.
pub const UNTOLD: &str = "UNTOLD";

/// Makes the programs of an API's mutations.
pub trait Programs: Send + Sync {
    /// The program of the root field `call.field`, which a plan has as `Work::Program`.
    ///
    /// Work without the database, off the writer's thread: checks and prepares values.
    fn begin<'r>(&'r self, call: Call<'r>) -> BoxFuture<'r, Result<Box<dyn Program>, FieldError>>;

    /// The indexes that are tables of their own, where the writer keeps those up to date.
    fn side_indexes(&self) -> &[SideIndex];

    /// Lookup of the object that the root field `call.field` of a query shows, one of `Plan::lookups`.
    /// # Errors
    /// Errors of the operation.
    fn lookup(&self, call: &Call<'_>) -> Result<ObjectLookup, FieldError>;

    /// The statements that the program of `call.field` may run with its input, in an order in which it can. The store is
    /// not asked.
    /// # Errors
    /// The input is refused whatever is in the store.
    fn possible(&self, call: &Call<'_>) -> Result<Vec<PossibleStatement>, FieldError>;
}

/// Chooses an object by the rows of a statement: its number, or 0.
pub type ChooseObject = Box<dyn FnOnce(&Answers) -> BoxFuture<'static, Result<i64, FieldError>> + Send>;

/// Finds an object before the plan runs that shows it.
pub struct ObjectLookup {
    /// A statement that is run first.
    pub statement: BoundStatement,
    /// Takes its rows.
    pub choose: ChooseObject,
}

/// A root field of a mutation and the request it belongs to.
#[derive(Clone, Copy)]
pub struct Call<'r> {
    /// The shape of the answer, with the literals.
    pub output: &'r OutputPlan,
    /// Index of the field in the output plan.
    pub field: u32,
    /// The request's variables.
    pub variables: &'r Variables,
    /// Maps ids of the graph to ids of the source.
    pub ids: &'r Ids,
    /// The source's facts of the caller.
    pub facts: &'r [u64],
}

/// A mutation as a state machine without input or output: it receives answers and returns the next step.
pub trait Program: Send {
    /// Restarts from the beginning, after its changes were rolled back.
    fn restart(&mut self);
    /// Takes the number of an object that was found.
    /// # Errors
    /// More objects were found than a mutation may change.
    fn take_object_id(&mut self, id: i64) -> Result<(), FieldError>;
    /// Takes the answers to the last step and says the next one. What is to be asked is appended to `asked`.
    /// # Errors
    /// Errors of the operation; the transaction is to be rolled back.
    fn next(&mut self, answers: &Answers, asked: &mut Vec<BoundStatement>) -> Result<Step, FieldError>;
}

/// Next step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Finds the objects of the field's filter; [`Program::take_object_id`] takes each.
    Find,
    /// Finds those of the objects `ids` that fulfil a condition of the field; [`Program::take_object_id`] takes each.
    Check {
        /// The condition's number in the plan.
        number: u32,
        /// The objects.
        ids: Vec<i64>,
    },
    /// Run the appended statements and return their answers, in order.
    Ask,
    /// Execute the appended statements, in order, without reading their rows.
    Execute,
    /// The field's answer is to be written now, while the objects are as it shows them.
    Answer(Shown),
    Done,
}

/// Objects in the answer of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The numbers of the objects.
    pub ids: Vec<i64>,
    /// Number of inserted, updated or deleted objects.
    pub affected: i64,
    /// A word to people.
    pub message: Option<&'static str>,
}

/// A statement of a mutation: its template and the values it binds.
#[derive(Clone, Debug)]
pub struct BoundStatement {
    /// The statement without values.
    pub template: Arc<StatementTemplate>,
    /// Values to bind: value `i` is placeholder `i + 1`.
    pub values: SmallVec<[Value; 6]>,
}

/// A statement that a program may run, for people.
#[derive(Clone, Debug)]
pub struct PossibleStatement {
    /// Effect of the statement, in words without SQL.
    pub words: String,
    pub template: Arc<StatementTemplate>,
}

/// A statement without its values, the same for every request.
#[derive(Debug)]
pub struct StatementTemplate {
    /// The text; placeholders are those of the database.
    pub sql: String,
    /// Number of columns of its rows in the answer.
    pub width: usize,
    /// True if it changes data of one of [`Programs::side_indexes`].
    pub is_indexed: bool,
    /// Rows that the statement may change; `None`: it changes none.
    pub changes: Option<ChangedRows>,
    /// The statement as the driver knows it; filled at its first use.
    driver: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl StatementTemplate {
    /// A statement whose rows have `width` columns; `is_indexed`: it may change rows of a side index.
    pub const fn new(sql: String, width: usize, is_indexed: bool) -> Self {
        Self { sql, width, is_indexed, changes: None, driver: OnceLock::new() }
    }

    /// Sets the rows that the statement may change.
    #[must_use]
    pub fn changing(self, rows: Option<ChangedRows>) -> Self {
        Self { changes: rows, ..self }
    }

    /// The driver's form of the statement; `make` runs at the first use. A source has one driver, so one type `T`.
    pub(crate) fn driver_statement<T: Any + Clone + Send + Sync>(&self, make: impl Fn() -> T) -> T {
        let kept = self.driver.get_or_init(|| Box::new(make()));
        kept.downcast_ref::<T>().cloned().unwrap_or_else(make)
    }
}

/// The rows that a statement may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRows {
    /// Tables of the rows; `None`: any of the source.
    pub tables: Option<Vec<TableId>>,
    /// Place of the bound value that is the primary key of all rows, or their primary keys, if they are in one table.
    pub key: Option<usize>,
}

/// A value that is bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite floating point number.
    Float(f64),
    Text(Arc<str>),
    /// Numbers of objects.
    Ids(Arc<[i64]>),
}

/// A value that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `null`.
    Null,
    /// A whole number.
    Int(i64),
    Text(Box<str>),
}

impl Cell {
    /// The value as an integer, which PostgreSQL sends as text.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Null => None,
        }
    }
}

/// The rows of the statements of one step.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    cells: Vec<Cell>,
    /// One past the last cell of each statement.
    ends: Vec<usize>,
}

impl Answers {
    /// Forgets everything but the room.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.ends.clear();
    }

    /// Adds a cell of the statement that is being answered.
    pub fn push(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    /// The statement has no more rows.
    pub fn end(&mut self) {
        self.ends.push(self.cells.len());
    }

    /// The cells of statement `at` of the step, row by row.
    pub fn cells(&self, at: usize) -> &[Cell] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.cells[start..self.ends[at]]
    }
}
