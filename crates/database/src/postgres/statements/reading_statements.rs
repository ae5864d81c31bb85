//! Makes the reading statements of a plan.

use super::asked_levels::Asked;
use crate::postgres::driver::PostgresState;
use weir_relational::passes::reach;
use weir_relational::plan::Plan;
use weir_relational::sql::assemble::{Assembly, MergedText, Parents, TooWide, assemble, assemble_alone};
use weir_relational::sql::together::assemble_together;

impl PostgresState {
    /// Prepares one statement for the levels `tops` and all below them.
    pub(crate) fn ask(&self, plan: &Plan, tops: &[u32], parents: Parents<'_>) -> Result<Asked, TooWide> {
        let relations = self.frontend.relations();
        let assembly = assemble(&self.driver.dialect, relations, plan, tops, parents)?;
        let has_keys = matches!(parents, Parents::Keys(_) | Parents::Rows(_));
        let reach = reach::of_levels(relations, plan, tops, has_keys);
        Ok(self.prepare_read(assembly, plan, has_keys, &[]).reaching(reach))
    }

    /// Prepares a statement for the level `only` without its nested levels; its columns `keys` are parameters of the next one.
    pub(crate) fn ask_alone(&self, plan: &Plan, only: u32, keys: &[u16]) -> Result<Asked, TooWide> {
        let relations = self.frontend.relations();
        let assembly = assemble_alone(&self.driver.dialect, relations, plan, only)?;
        let reach = reach::of_level(relations, plan, only);
        Ok(self.prepare_read(assembly, plan, false, keys).reaching(reach))
    }

    /// All of a query in one statement that is asked for many sets of values, if it can be.
    pub(crate) fn together(&self, plan: &Plan) -> Option<MergedText> {
        let dialect = &self.driver.dialect;
        let relations = self.frontend.relations();
        assemble_together(dialect, relations, plan, &plan.levels_below(plan.root))
    }

    fn prepare_read(&self, assembly: Assembly, plan: &Plan, has_parents: bool, keys: &[u16]) -> Asked {
        let types = &self.driver.dialect.types;
        Asked::new(assembly, plan.levels.len(), has_parents, types, |at, oid| {
            self.driver.decoder_at(at, oid, keys)
        })
    }
}
