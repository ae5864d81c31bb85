//! Preparation of pieces for all relational sources, in any style of API.
//!
//! **Cost:** a [`Style`] is asked while planning; in a request only for the enum values of structural variables.

use super::Plan;
use super::compile::{Ask, compile};
use super::form::{Form, objects, structural};
use super::program::Programs;
use crate::api::meaning::{Api, EnumMeaning};
use crate::catalog::TableId;
use crate::model::Model;
use std::sync::Arc;
use weir_engine::plan::shape::Shape;
use weir_engine::source::{Accent, FieldError, Ids, Piece, PlanError, Tag};
use weir_language::schema::{EnumValueId, InputId, Schema};
use weir_language::value::Variables;

/// A style of API over a relational model. The drivers take any: what differs is the schema, and the plan that a piece of it
/// becomes.
pub trait Style: std::fmt::Debug + Send + Sync {
    /// The types and fields it serves.
    fn schema(&self) -> &Arc<Schema>;
    /// The tables below, and how they are related.
    fn model(&self) -> &Model;
    /// The request of `piece` to the database.
    fn ask(&self, piece: &Piece<'_>) -> Ask;
    /// True if an enum value of its schema changes the statement, false if it is data.
    fn chooses(&self, value: EnumValueId) -> bool;
    /// True if a text under an input changes the statement's search for rows.
    fn steers(&self, _input: InputId, _text: &str) -> bool {
        false
    }
    /// Makes the plan of `ask`. `variables` are those of a request with their form, where some are structural.
    /// # Errors
    /// Errors of the operation.
    fn compile(
        &self,
        ids: &Ids,
        shape: &Shape,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError>;
    /// What makes the programs of its mutations, if they are programs. Then each root field is a transaction of its own.
    fn programs(&self) -> Option<&dyn Programs> {
        None
    }
}

impl Style for Api {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn ask(&self, piece: &Piece<'_>) -> Ask {
        let structural = structural(piece, self);
        Ask {
            set: piece.set,
            fields: piece.fields.to_vec(),
            accent: piece.accent,
            objects: objects(&structural, piece, self),
            signed: Vec::new(),
            steered: Vec::new(),
            named: Vec::new(),
            conditions_max: piece.conditions_max,
            structural,
        }
    }

    /// Values of enum tables are data.
    fn chooses(&self, value: EnumValueId) -> bool {
        match self.enum_values.get(value.index()) {
            Some(EnumMeaning::TableValue(..)) | None => false,
            Some(
                EnumMeaning::None
                | EnumMeaning::Column(..)
                | EnumMeaning::Order { .. }
                | EnumMeaning::Constraint(..),
            ) => true,
        }
    }

    fn compile(
        &self,
        ids: &Ids,
        shape: &Shape,
        ask: &Ask,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Plan, PlanError> {
        compile(self, ids, shape, ask, variables)
    }
}

/// The names of `tables`; of all there are while that depends on the variables of a request, or is known only when a program
/// runs.
pub(crate) fn tags(model: &Model, tables: Option<Vec<TableId>>) -> Vec<Tag> {
    let all = || (0..model.catalog.tables.len() as u32).map(TableId).collect();
    let mut tables = tables.unwrap_or_else(all);
    tables.sort_unstable();
    tables.dedup();
    let tag = |table: &TableId| {
        let table = model.catalog.table(*table);
        Tag(format!("{}.{}", table.schema, table.name).into())
    };
    tables.iter().map(tag).collect()
}

/// Children in other sources would need the rows of a mutation as tables, which are read while the transaction is still
/// open.
pub(crate) fn no_foreign_below(piece: &Piece<'_>) -> PlanError {
    let code = match piece.accent {
        Accent::Spec => "NOT_SUPPORTED",
        Accent::Hasura => "not-supported",
    };
    let message = "a mutation cannot select fields of another source yet: ask for them in a query".into();
    let error = FieldError { code, message, hasura_path: None, extensions: None };
    PlanError { error, field: piece.fields.first().copied().unwrap_or(0) }
}
