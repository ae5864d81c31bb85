//! Random permissions over random rows, judged by hand, and operations as a role sees the schema.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

pub mod asker;
pub mod fleet;
pub mod grant;
pub mod judge;
pub mod members;
pub mod side;
