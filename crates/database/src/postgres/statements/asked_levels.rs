//! A reading statement with all that is needed to run it and to read its answer.

use crate::postgres::values::bind::OwnParameters;
use crate::postgres::values::decode::{Decoder, column_types};
use std::sync::{Arc, OnceLock};
use weir_postgres::rows::Row;
use weir_postgres::statement::{Format, Statement};
use weir_relational::catalog::TableId;
use weir_relational::catalog::postgres_types::{Types, oid};
use weir_relational::passes::reach::Reach;
use weir_relational::plan::Parameter;
use weir_relational::sql::assemble::{Arm, Assembly, MergedText};

/// The statement of `text`, whose rows are those with these columns behind the ordinal of their asker.
fn behind_ordinal(text: MergedText, formats: &[Format], columns: &[u32]) -> Arc<Statement> {
    let formats: Vec<Format> = [Format::Binary].into_iter().chain(formats.iter().copied()).collect();
    let columns: Vec<u32> = [oid::INT8].into_iter().chain(columns.iter().copied()).collect();
    Statement::new(text.sql, text.oids, formats, columns, None)
}

/// A level that is answered by another statement.
const ELSEWHERE: u16 = u16::MAX;

/// A reading statement with all that is needed to run it and to read its answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) statement: Arc<Statement>,
    /// Parameters that follow the arrays of the parents' keys.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) arms: Vec<Arm>,
    /// By result column.
    pub(crate) decoders: Vec<Decoder>,
    pub(crate) tables: Vec<TableId>,
    /// Shards that it asks.
    pub(crate) reach: Reach,
    /// The arm of each level of the plan.
    arm_of: Vec<u16>,
    /// Parents are given, so that even one arm has to be searched.
    has_parents: bool,
    /// See [`Asked::of_members`].
    of_members: OnceLock<Arc<Statement>>,
}

impl Asked {
    /// `levels`: number of levels of the plan; `decoder` makes the decoder of a column by its index and OID.
    pub(crate) fn new(
        assembly: Assembly,
        levels: usize,
        has_parents: bool,
        types: &Types,
        decoder: impl Fn(usize, u32) -> Decoder,
    ) -> Self {
        let columns = assembly.columns.iter().enumerate();
        let decoders: Vec<Decoder> = columns.map(|(at, &oid)| decoder(at, oid)).collect();
        let mut arm_of = vec![ELSEWHERE; levels];
        for (at, arm) in assembly.arms.iter().enumerate() {
            arm_of[arm.level as usize] = at as u16;
        }
        let formats: Vec<Format> = decoders.iter().map(Decoder::format).collect();
        let columns = column_types(types, &assembly.columns, &decoders);
        let merged = assembly.merged.map(|it| behind_ordinal(it, &formats, &columns));
        let statement = Statement::new(assembly.sql, assembly.oids, formats, columns, merged);
        Self {
            statement: statement.about(assembly.tables.iter().copied()),
            parameters: assembly.parameters,
            arms: assembly.arms,
            decoders,
            tables: assembly.tables,
            reach: Reach::None,
            arm_of,
            has_parents,
            of_members: OnceLock::new(),
        }
    }

    /// The parameters whose values are found in the request.
    pub(crate) fn own_parameters(&self) -> OwnParameters<'_> {
        OwnParameters { parameters: &self.parameters, oids: &self.statement.parameters }
    }

    /// The statement as members of live queries ask it: with other values it is asked for several at once, by the text that `together` makes when
    /// first asked. A statement of its own, as no other request should wait for the rows of all members.
    pub(crate) fn of_members(&self, together: impl FnOnce() -> Option<MergedText>) -> &Arc<Statement> {
        self.of_members.get_or_init(|| {
            let own = &self.statement;
            let text = if own.merged.is_none() { together() } else { None };
            let Some(text) = text else { return Arc::clone(own) };
            let merged = behind_ordinal(text, &own.formats, &own.columns);
            let parameters = own.parameters.clone();
            let formats = own.formats.clone();
            let columns = own.columns.clone();
            let statement = Statement::new(own.sql.clone(), parameters, formats, columns, Some(merged));
            statement.about(self.tables.iter().copied())
        })
    }

    /// Sets the shards that the statement reads.
    pub(crate) fn reaching(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// True if every row of the answer is one of the only level.
    pub(crate) const fn is_plain(&self) -> bool {
        self.arms.len() == 1 && !self.has_parents
    }

    /// The place of the arm that answers `level`, if this statement does.
    pub(crate) fn arm(&self, level: u32) -> Option<usize> {
        let arm = self.arm_of[level as usize];
        (arm != ELSEWHERE).then_some(usize::from(arm))
    }

    pub(crate) fn arm_of_row(&self, row: Row<'_>) -> Option<usize> {
        if self.arms.len() == 1 {
            return Some(0);
        }
        let number = row.column(0)??;
        let at = usize::from(u16::from_be_bytes(number.try_into().ok()?));
        (at < self.arms.len()).then_some(at)
    }
}
