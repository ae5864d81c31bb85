//! From files to parcels: lines, records and statements become the cells of rows.

pub(crate) mod cell_values;
pub(crate) mod gather;
pub(crate) mod lines;
pub(crate) mod nquads;
mod quad;
pub(crate) mod slots;
mod statement_list;
mod statements;
