//! Prepared plans: a plan with the statements that a driver renders before it runs them.

use weir_relational::catalog::{Relations, TableId};
use weir_relational::plan::Plan;

/// A plan with its statements.
pub(crate) trait PreparedPlan: Send + Sync + 'static {
    fn plan(&self) -> &Plan;

    /// Number of rendered statements.
    fn statement_count(&self) -> usize;

    /// The tables that its statements name.
    fn tables(&self) -> Vec<TableId>;

    /// The statements, changes first, each after the path or table it is for.
    fn statements(&self, relations: &Relations) -> Vec<(String, &str)>;
}
