//! Limits the cost of conditions and orders for a database's planner, for every API.
//!
//! A condition is counted by its parts: comparisons, relationships, and objects that say nothing. A list of values is one part,
//! however long it is. An order has each term once: what an earlier term sorts by leaves nothing to a later equal one.
//!
//! **Cost:** linear in the condition; a term of an order is compared with those before it, of which there are no more than columns
//! and [`RELATIONSHIPS_MAX`].

use crate::plan::{Children, Expr, Filter, Order};

/// Filters nest at most so deep. SQLite allows expressions of depth 1,000; each of our levels takes a few.
pub const FILTER_DEPTH_MAX: u32 = 100;

/// Relationships that the condition and the order of one field lead through: planners compare each with the others.
pub const RELATIONSHIPS_MAX: usize = 100;

/// All conditions of a plan together may have this many times the parts that one may have: they share a statement.
const TOGETHER: usize = 10;

/// Counts the parts of all conditions of one plan.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Parts of one condition.
    conditions_max: u32,
    /// Parts of the conditions so far.
    parts: usize,
}

/// A condition or an order that is refused for its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// A condition has more parts than this.
    Parts(u32),
    /// All conditions together have more parts than this.
    Together(usize),
    /// More than [`RELATIONSHIPS_MAX`].
    Relationships,
}

impl Excess {
    /// The stable code in `extensions.code`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Parts(_) | Self::Together(_) => "LIMIT_CONDITIONS",
            Self::Relationships => "LIMIT_RELATIONSHIPS",
        }
    }

    /// Words for the client.
    pub fn message(self) -> String {
        match self {
            Self::Parts(max) => {
                format!("the condition has more than {max} parts; a list of values, as in `_in`, is one part")
            }
            Self::Together(max) => {
                format!("the conditions of the request have more than {max} parts together")
            }
            Self::Relationships => {
                format!(
                    "the condition and the order lead through more than {RELATIONSHIPS_MAX} relationships"
                )
            }
        }
    }
}

impl Bounds {
    /// Lets each condition have `conditions_max` parts.
    pub const fn new(conditions_max: u32) -> Self {
        Self { conditions_max, parts: 0 }
    }

    /// Counts the parts of `filter`, which belongs to one field.
    /// # Errors
    /// The filter has too many parts, or leads through too many relationships.
    pub fn check(&mut self, filter: &Filter) -> Result<(), Excess> {
        let parts = if filter.is_true() { 0 } else { filter.parts() };
        self.parts += parts;
        let together = self.conditions_max as usize * TOGETHER;
        if parts > self.conditions_max as usize {
            Err(Excess::Parts(self.conditions_max))
        } else if self.parts > together {
            Err(Excess::Together(together))
        } else {
            check_relationships(filter.relationships())
        }
    }
}

/// Holds the relationships of one field to [`RELATIONSHIPS_MAX`].
fn check_relationships(count: usize) -> Result<(), Excess> {
    if count > RELATIONSHIPS_MAX { Err(Excess::Relationships) } else { Ok(()) }
}

/// The terms of an order, each once.
#[derive(Debug, Default)]
pub struct Terms {
    order: Vec<Order>,
    relationships: usize,
}

impl Terms {
    /// Adds `term`, unless an earlier one sorts by the same.
    /// # Errors
    /// The order leads through too many relationships.
    pub fn push(&mut self, term: Order) -> Result<(), Excess> {
        if self.order.iter().all(|it| it.of != term.of) {
            self.relationships += term.of.relationships();
            check_relationships(self.relationships)?;
            self.order.push(term);
        }
        Ok(())
    }

    /// The order of a field with the condition `filter`.
    /// # Errors
    /// Both together lead through too many relationships.
    pub fn with_filter(self, filter: &Filter) -> Result<Vec<Order>, Excess> {
        check_relationships(self.relationships + filter.relationships())?;
        Ok(self.order)
    }
}

impl Filter {
    /// Number of comparisons and relationships; an empty object counts too.
    pub fn parts(&self) -> usize {
        match self {
            Self::All(of) | Self::Any(of) => of.iter().map(Self::parts).sum::<usize>().max(1),
            Self::Not(of)
            | Self::NotTrue(of)
            | Self::Each { filter: of, .. }
            | Self::Behind { filter: of, .. } => of.parts(),
            Self::Exists { filter, .. } => 1 + of_related(filter),
            Self::Somewhere { filter, .. } => 1 + of_related(filter),
            Self::Null { of, .. }
            | Self::Compare { of, .. }
            | Self::Measure { of, .. }
            | Self::Columns { of, .. } => 1 + of.parts(),
            Self::Among { .. }
            | Self::Missing { .. }
            | Self::Named { .. }
            | Self::Words { .. }
            | Self::Place { .. } => 1,
        }
    }

    /// Number of relationships on its path.
    pub fn relationships(&self) -> usize {
        self.children().relationships()
    }
}

/// The parts of a condition on related rows, where none is asked for too.
fn of_related(filter: &Filter) -> usize {
    if filter.is_true() { 0 } else { filter.parts() }
}

impl Expr {
    /// The parts of conditions in it.
    fn parts(&self) -> usize {
        let own = if let Self::Related { filter, .. } = self { 1 + of_related(filter) } else { 0 };
        own + self.children().of.map_or(0, Self::parts)
    }

    /// Number of relationships on its path.
    pub fn relationships(&self) -> usize {
        self.children().relationships()
    }
}

impl Children<'_> {
    fn relationships(&self) -> usize {
        let filters: usize = self.filters.iter().map(Filter::relationships).sum();
        let below = self.query.map_or(0, |it| it.filter.relationships());
        usize::from(self.scan.is_some()) + filters + self.of.map_or(0, Expr::relationships) + below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::TableId;
    use crate::catalog::{ColumnId, RelationshipId};
    use crate::plan::{Purpose, Scan};

    fn scan() -> Scan {
        Scan::of(TableId(0), Purpose::Exists)
    }

    fn null(column: u32) -> Filter {
        Filter::Null { of: Expr::Column(ColumnId(column)), is: true }
    }

    fn related(column: u32, times: u32) -> Expr {
        (0..times).fold(Expr::Column(ColumnId(column)), |of, by| Expr::Related {
            scan: scan(),
            by: RelationshipId(by),
            filter: Box::new(Filter::TRUE),
            of: Box::new(of),
        })
    }

    fn term(of: Expr, descending: bool) -> Order {
        Order { of, descending, nulls_first: descending, nullable: true }
    }

    #[test]
    fn parts_are_comparisons_relationships_and_objects_that_say_nothing() {
        let exists =
            |filter| Filter::Exists { by: RelationshipId(0), scan: scan(), filter: Box::new(filter) };
        for (filter, parts) in [
            (Filter::All(vec![null(0), null(1)]), 2),
            (Filter::Any(vec![Filter::TRUE, Filter::Any(Vec::new()), null(0)]), 3),
            (Filter::Not(Box::new(exists(Filter::TRUE))), 1),
            (exists(Filter::All(vec![null(0), exists(null(1))])), 4),
            (Filter::Null { of: related(0, 2), is: true }, 3),
        ] {
            assert_eq!(filter.parts(), parts, "{filter:?}");
        }
    }

    #[test]
    fn one_condition_and_all_together_are_bounded() {
        let of = |parts: u32| Filter::Any((0..parts).map(null).collect());
        let mut bounds = Bounds::new(3);
        assert_eq!(bounds.check(&of(3)), Ok(()));
        assert_eq!(bounds.check(&of(4)), Err(Excess::Parts(3)));
        let mut bounds = Bounds::new(3);
        (0..10).for_each(|_| assert_eq!(bounds.check(&of(3)), Ok(())));
        assert_eq!(bounds.check(&Filter::TRUE), Ok(()));
        assert_eq!(bounds.check(&of(1)), Err(Excess::Together(30)));
    }

    #[test]
    fn an_order_has_each_term_once_and_a_bound_on_relationships() {
        let mut terms = Terms::default();
        for _ in 0..1_000 {
            assert_eq!(terms.push(term(related(0, 1), true)), Ok(()));
            assert_eq!(terms.push(term(related(0, 1), false)), Ok(()));
            assert_eq!(terms.push(term(related(1, 0), false)), Ok(()));
        }
        let order = terms.with_filter(&Filter::TRUE).unwrap();
        assert_eq!(order, [term(related(0, 1), true), term(related(1, 0), false)]);
        let mut terms = Terms::default();
        (0..100).for_each(|at| assert_eq!(terms.push(term(related(at, 1), true)), Ok(())));
        assert_eq!(terms.push(term(related(100, 1), true)), Err(Excess::Relationships));
        let mut terms = Terms::default();
        (0..10).for_each(|at| assert_eq!(terms.push(term(related(at, 10), true)), Ok(())));
        let filter = Filter::Exists { by: RelationshipId(0), scan: scan(), filter: Box::new(Filter::TRUE) };
        assert_eq!(terms.with_filter(&filter), Err(Excess::Relationships));
    }
}
