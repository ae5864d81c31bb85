//! Session variables that conditions and values of a policy read, and functions that they call.
//!
//! **Invariant:** a part of a condition that may hold a parameter is matched here by name, so that a new one stops the build.

use crate::catalog::{FunctionId, Relations, RelationshipId};
use crate::plan::{Expr, Filter, Origin, Parameter, Reader};

/// The names and the calls so far.
#[derive(Debug, Default)]
pub(super) struct Claims {
    names: Vec<Box<str>>,
    functions: Vec<FunctionId>,
    ways: Vec<RelationshipId>,
}

impl Claims {
    /// Each name once, sorted.
    pub(super) fn names(mut self) -> Vec<Box<str>> {
        self.names.sort_unstable();
        self.names.dedup();
        self.names
    }

    /// The functions that are called, as columns or as ways to related rows.
    pub(super) fn functions<'c>(&'c self, relations: &'c Relations) -> impl Iterator<Item = FunctionId> + 'c {
        let ways = self.ways.iter().filter_map(|it| relations.relationship(*it).call);
        self.functions.iter().copied().chain(ways)
    }

    pub(super) fn note(&mut self, filter: &Filter) {
        match filter {
            Filter::All(parts) | Filter::Any(parts) => parts.iter().for_each(|it| self.note(it)),
            Filter::Not(part) | Filter::NotTrue(part) | Filter::Behind { filter: part, .. } => {
                self.note(part)
            }
            Filter::Each { with, filter } => {
                self.note_parameter(with);
                self.note(filter);
            }
            Filter::Null { of, is: _ } | Filter::Columns { of, .. } => self.note_expr(of),
            Filter::Compare { of, by: _, with } => {
                self.note_expr(of);
                self.note_parameter(with);
            }
            Filter::Measure { of, by: _, with } => {
                self.note_expr(of);
                with.iter().flatten().for_each(|it| self.note_parameter(it));
            }
            Filter::Exists { by, scan: _, filter } => {
                self.ways.push(*by);
                self.note(filter);
            }
            Filter::Somewhere { scan: _, filter } => self.note(filter),
            // Only requests produce this filter, never a policy.
            Filter::Among { .. } => {}
            Filter::Missing { with, .. } | Filter::Words { with, .. } => self.note_parameter(with),
            Filter::Place { with, .. } => with.iter().for_each(|it| self.note_parameter(it)),
            Filter::Named { .. } => {}
        }
    }

    fn note_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::JsonPath(of, path) => {
                self.note_expr(of);
                self.note_parameter(path);
            }
            Expr::Cast(of, _) => self.note_expr(of),
            Expr::Related { by, scan: _, filter, of } => {
                self.ways.push(*by);
                self.note(filter);
                self.note_expr(of);
            }
            Expr::Computed(call) => {
                self.functions.push(call.function);
                call.arguments.iter().filter_map(|it| it.1.as_ref()).for_each(|it| self.note_parameter(it));
            }
            Expr::Column(_)
            | Expr::Key(_)
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Instant { .. }
            | Expr::Statistic { .. } => {}
        }
    }

    pub(super) fn note_parameter(&mut self, parameter: &Parameter) {
        self.note_origin(&parameter.origin);
        match &parameter.reader {
            Reader::Gathered { ty: _, values } => values.iter().for_each(|it| self.note_parameter(it)),
            Reader::Place { metres: Some(origin) } => self.note_origin(origin),
            // A half of a pattern has the pattern's origin.
            Reader::Half { .. } => {}
            Reader::Place { metres: None }
            | Reader::Column(_)
            | Reader::Each(_)
            | Reader::Limit
            | Reader::BatchSize
            | Reader::Offset
            | Reader::First
            | Reader::Skip
            | Reader::Id
            | Reader::Ids
            | Reader::Words { .. }
            | Reader::Pattern
            | Reader::EachWord(_)
            | Reader::Sequence
            | Reader::Grams(_)
            | Reader::Instant
            | Reader::Instants
            | Reader::JsonPath
            | Reader::AsIs
            | Reader::Capped { .. } => {}
        }
    }

    fn note_origin(&mut self, origin: &Origin) {
        if let Origin::Claim(name) = origin {
            self.names.push(name.clone());
        }
    }
}
