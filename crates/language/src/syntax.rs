//! Text of GraphQL and the tree that it is parsed to: lexer, parser, printer.

pub mod ast;
pub mod chosen_operation;
pub(crate) mod lexer;
pub mod normal_form;
pub mod parser;
pub mod printer;
pub mod wraps;
