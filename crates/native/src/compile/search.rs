//! Conditions on the words of texts.

use super::Compiler;
use super::filter::Compared;
use crate::api::meaning::Operator;
use crate::layout::IndexKind;
use weir_engine::source::PlanError;
use weir_sql::api::meaning::Comparison;
use weir_sql::relational::input::Place;
use weir_sql::relational::{Expr, Filter, Reader, Words};

impl Compiler<'_> {
    /// A text has words, or fits a pattern.
    pub(super) fn search(
        &self,
        of: Compared,
        operator: Operator,
        operand: Place,
    ) -> Result<Filter, PlanError> {
        let (index, kind, all) = match operator {
            Operator::AllOfTerms => (IndexKind::Terms, Words::Plain, true),
            Operator::AnyOfTerms => (IndexKind::Terms, Words::Plain, false),
            Operator::AllOfText => (IndexKind::Fulltext, Words::Stems, true),
            Operator::AnyOfText => (IndexKind::Fulltext, Words::Stems, false),
            Operator::Regexp => return Ok(self.fits(of, Reader::Pattern, operand)),
            Operator::Ngram => return Ok(self.fits(of, Reader::Sequence, operand)),
            Operator::Eq
            | Operator::In
            | Operator::Le
            | Operator::Lt
            | Operator::Ge
            | Operator::Gt
            | Operator::Between
            | Operator::Near
            | Operator::Within
            | Operator::Contains
            | Operator::Intersects => return Err(self.refuse("this is no search for words")),
        };
        let indexes = self.native.indexes(of.at.table, of.column, index);
        let with = self.parameter(operand, Reader::Words { all, kind });
        let key = self.native.layout.sql.catalog.table(of.at.table).primary_key.as_ref();
        let key = key.map_or(of.at.id, |it| it.columns[0]);
        Ok(Filter::Words { key, of: of.column, indexes, kind, with })
    }

    fn fits(&self, of: Compared, reader: Reader, operand: Place) -> Filter {
        let with = self.parameter(operand, reader);
        Filter::Compare { of: Expr::Column(of.column), by: Comparison::Regex, with }
    }
}
