//! The executor of plans: values that are bound, answers that are written.

pub(crate) mod answer;
pub(crate) mod array_text;
pub(crate) mod bind;
mod called_functions;
pub(crate) mod columns;
mod confined_tables;
pub(crate) mod coordinates;
pub(crate) mod encoded;
pub(crate) mod errors;
mod explain;
pub(crate) mod forms;
pub(crate) mod full;
pub(crate) mod item_batches;
pub(crate) mod json_path;
pub(crate) mod judge;
pub mod planning;
pub(crate) mod prepared_plan;
pub(crate) mod program;
mod program_runs;
pub(crate) mod response_writer;
pub(crate) mod row_collector;
pub(crate) mod row_source;
pub(crate) mod shards;
pub mod source;
pub(crate) mod stream;
pub(crate) mod turn;
pub mod value;
