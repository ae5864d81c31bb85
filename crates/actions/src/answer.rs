//! The answer of a handler: checked against the action's type, and made into columns.

mod columns;
mod member_names;

pub(crate) use columns::AnswerColumns;
pub(crate) use member_names::MemberNames;
