//! Conditions on the words of texts.

use super::filter::Compared;
use super::{At, Compiler};
use crate::api::meaning::Operator;
use crate::layout::IndexKind;
use weir_database::frontend::input::Place;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, RelationshipId};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Expr, Filter, Parameter, Reader};
use weir_relational::values::text_search::Words;
use weir_relational::values::trigram::{self, Written};

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
            Operator::Regexp => return Ok(self.fits(of, Written::Pattern, operand)),
            Operator::Ngram => return Ok(self.fits(of, Written::Sequence, operand)),
            _ => return Err(self.refuse("this is no search for words")),
        };
        let indexes = self.native.indexes(of.at.table, of.column, index);
        let with = self.parameter(operand, Reader::Words { all, kind });
        Ok(Filter::Words { key: self.row_key(of.at), of: of.column, indexes, kind, with })
    }

    /// `search` of the items of a list, to which `by` leads: one of them fits. Where all words have to be there, each may be in
    /// another item.
    pub(super) fn of_items(&self, search: Filter, by: RelationshipId) -> Filter {
        let exists = |filter| self.exists(by, filter);
        let Filter::Words { key, of, indexes, kind, with } = search else { return exists(search) };
        let read = |reader| Parameter { reader, ..with.clone() };
        let words = |with| exists(Filter::Words { key, of, indexes: indexes.clone(), kind, with });
        match with.reader {
            Reader::Words { all: true, .. } => {
                let any = words(read(Reader::Words { all: false, kind }));
                let filter = Box::new(words(with.clone()));
                Filter::All(vec![any, Filter::Each { with: read(Reader::EachWord(kind)), filter }])
            }
            _ => words(with.clone()),
        }
    }

    /// The column by which an index apart from the table knows a row.
    pub(super) fn row_key(&self, at: At) -> ColumnId {
        let key = self.native.layout.relations.catalog.table(at.table).primary_key.as_ref();
        key.map_or(at.id, |it| it.columns[0])
    }

    /// A text fits a pattern, or has words in a row. The index is asked first for what a text needs, if that is known; one that
    /// is no separate table does that by itself for patterns.
    fn fits(&self, of: Compared, written: Written, operand: Place) -> Filter {
        let reader = match written {
            Written::Pattern => Reader::Pattern,
            Written::Sequence => Reader::Sequence,
        };
        let with = self.parameter(operand, reader);
        let fits = Filter::Compare { of: Expr::Column(of.column), by: Comparison::Regex, with };
        let narrows = match self.inputs.node(operand) {
            Node::Text(span) => trigram::narrows(self.inputs.text(operand, span), written),
            _ => false,
        };
        let indexes = self.native.indexes(of.at.table, of.column, IndexKind::Trigrams);
        let is_apart = self.native.has_side_indexes() || written == Written::Sequence;
        if indexes.is_empty() || !narrows || !is_apart {
            return fits;
        }
        let with = self.parameter(operand, Reader::Grams(written));
        let key = self.row_key(of.at);
        let may_fit = if self.native.has_side_indexes() {
            Filter::Words { key, of: of.column, indexes, kind: Words::Trigrams, with }
        } else {
            Filter::Compare { of: Expr::Column(of.column), by: Comparison::Regex, with }
        };
        Filter::All(vec![may_fit, fits])
    }
}

/// Notation of an operator's patterns; `None` if it takes none.
pub(super) const fn pattern_notation(operator: Operator) -> Option<Written> {
    match operator {
        Operator::Regexp => Some(Written::Pattern),
        Operator::Ngram => Some(Written::Sequence),
        Operator::Eq
        | Operator::In
        | Operator::Le
        | Operator::Lt
        | Operator::Ge
        | Operator::Gt
        | Operator::Between
        | Operator::AllOfTerms
        | Operator::AnyOfTerms
        | Operator::AllOfText
        | Operator::AnyOfText
        | Operator::Near
        | Operator::Within
        | Operator::Contains
        | Operator::Intersects => None,
    }
}
