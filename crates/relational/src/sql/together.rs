//! A question of several callers, or with several sets of values: one statement asks it for all of them.
//!
//! Each set of values is a member, and the members are the rows of the relation `m`. The question stands in a `LATERAL` of its own behind them, so
//! the database answers it for one member after the other, as it would answer them alone.
//!
//! **Invariant:** a member's rows are those of its own values, in the order of the question. `OFFSET 0` keeps PostgreSQL from making one join of
//! all, in whose plan the order is lost.

use super::assembly::{Assembler, MergedText, Parents};
use super::merged::unnest;
use crate::catalog::Relations;
use crate::catalog::postgres_types::oid;
use crate::dialect::postgres::Postgres;
use crate::plan::Plan;

/// The statement of [`super::assemble::assemble`] for the levels `tops` without parents, asked for many sets of values. Each parameter is a list
/// of texts. `None`: it has no values, one of an unknown type, or the database does not read such a statement well.
pub fn assemble_together(
    dialect: &Postgres,
    relations: &Relations,
    plan: &Plan,
    tops: &[u32],
) -> Option<MergedText> {
    if !dialect.flavour.abilities().lateral_pages {
        return None;
    }
    let mut assembler = Assembler::new(dialect, relations, plan, Parents::None);
    assembler.renderer.members = Some(dialect);
    let assembly = assembler.assemble(tops).ok()?;
    let is_sound = !assembly.oids.is_empty() && !assembly.oids.contains(&0) && !assembly.columns.is_empty();
    is_sound.then(|| MergedText {
        sql: format!(
            "SELECT m.n, q.* FROM {} CROSS JOIN LATERAL (SELECT * FROM ({}) AS q OFFSET 0) AS q",
            unnest(assembly.oids.len(), "m", "v"),
            assembly.sql
        ),
        oids: vec![oid::TEXT_ARRAY; assembly.oids.len()],
    })
}
