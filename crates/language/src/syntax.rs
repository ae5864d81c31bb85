//! Text of GraphQL and the tree that it is parsed to: lexer, parser.

pub mod ast;
pub mod chosen_operation;
pub(crate) mod lexer;
pub mod normal_form;
pub mod parser;
pub mod wraps;
