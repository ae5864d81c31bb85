//! Answers: rows of a driver on their way to bytes, or to the typed columns of the engine.

pub(crate) mod answer;
pub(crate) mod item_batches;
pub(crate) mod response_writer;
mod row_code;
pub(crate) mod row_collector;
pub(crate) mod row_source;
pub(crate) mod shapes;
pub(crate) mod stream_batch;
pub(crate) mod typed_columns;
pub(crate) mod written_rows;
