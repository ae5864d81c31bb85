//! The relational plan: the levels of queries and the writes that answer one part of a request.
//!
//! A [`Plan`] is the output tree as [`Member`]s and, for each nested level, one [`Query`] over one table. Scalars are
//! never in it: a [`Parameter`] tells where the value of a request is found and how it is read.
//!
//! **Invariant:** flat tables; ids are places in the tables of one plan. Filters are at most
//! [`FILTER_DEPTH_MAX`](crate::passes::bounds::FILTER_DEPTH_MAX) deep, so walking them may recurse;
//! [`bounds`](crate::passes::bounds) limits their size.

mod children;
pub mod comparison_table;
mod condition;
pub mod ddl;
mod lacking;
pub mod operators;
mod output;
mod parameter;
mod plan_text;
mod query;
mod scan;
mod walk;
pub mod write;

pub use children::Children;
pub use condition::{Filter, Judged, RowAt};
pub use output::{
    Choice, Code, CodePiece, GraphType, Hidden, Level, Member, MemberKind, Object, Plan, Run, StreamRows,
    Unset, Variant, mark_copied,
};
pub use parameter::{CursorPath, Encoded, EncodedPart, Origin, Parameter, Position, Reader};
pub use plan_text::{describe, describe_condition};
pub use query::{Call, Expr, Order, Output, Page, Query, Tie};
pub use scan::{GuardedCall, GuardedColumn, Purpose, Scan};
