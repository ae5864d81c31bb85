//! `node`: a row of any table by its identifier.
//!
//! The table is part of the form of the request, so that one plan serves all rows of a table.
//!
//! **Invariant:** a table that the caller does not see is told from no other that does not exist.

use super::Compiler;
use super::select::RowSelection;
use crate::api::meaning::{Api, FieldMeaning, InputMeaning};
use weir_database::exec::encoded::{self, Identified};
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::{OutputField, OutputKind, SelectionSetId};
use weir_engine::source::{PlanError, PlanNode};
use weir_language::schema::InputId;
use weir_language::value::Node;
use weir_relational::catalog::TableId;
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Encoded, EncodedPart, Expr, Filter, MemberKind, Origin, Parameter, Reader};

/// The way of an identifier of no table.
const NO_TABLE: u32 = u32::MAX;

impl Api {
    /// The variables that stand for identifiers, with their inputs.
    pub(crate) fn identifiers(&self, plan_node: &PlanNode<'_>) -> Vec<(u32, InputId)> {
        let output = plan_node.output;
        let mut out = Vec::new();
        for argument in plan_node.fields.iter().flat_map(|&it| output.arguments(&output.fields[it as usize]))
        {
            let input = plan_node.ids.input(argument.input);
            if let (InputMeaning::NodeId, Node::Variable(variable)) =
                (self.input(input), output.literals.nodes[argument.value as usize])
                && !out.contains(&(variable, input))
            {
                out.push((variable, input));
            }
        }
        out
    }

    /// The way that the identifier `text` decides for: its table, and the number of its values.
    pub(crate) fn way(&self, input: InputId, text: &str) -> Option<u32> {
        let InputMeaning::NodeId = self.inputs.get(input.index())? else { return None };
        let found = encoded::identify(text, &self.model.relations.catalog);
        Some(found.map_or(NO_TABLE, |it| it.table.0 << 8 | (it.len as u32).min(0xff)))
    }
}

impl<'c> Compiler<'c> {
    pub(super) fn node(&mut self, field: &'c OutputField) -> Result<MemberKind, PlanError> {
        let arguments = self.output.arguments(field);
        let id = arguments.iter().find(|it| self.meaning(it.input) == InputMeaning::NodeId);
        let Some(place) = id.map(|it| self.argument(it)) else {
            return Err(self.refuse("`id` is needed"));
        };
        self.path.push("id".into());
        let text = match self.inputs.node(place) {
            Node::Text(span) => self.inputs.text(place, span),
            _ => "",
        };
        let catalog = &self.api.model.relations.catalog;
        let Identified { table, len } =
            encoded::identify(text, catalog).map_err(|it| self.no_identifier(&it))?;
        let Some(set) = self.set_of(field, table) else {
            let of = catalog.table(table);
            return Err(self.no_identifier(&encoded::no_table(&of.schema, &of.name)));
        };
        let rows = self.rows_by_identifier(place, table, len, text)?;
        self.path.pop();
        self.rows_of(set, table, rows, Vec::new(), true)
    }

    fn no_identifier(&self, reason: &str) -> PlanError {
        self.refuse_size("INVALID_CURSOR", format!("invalid node id: {reason}"))
    }

    /// The selection set of rows of `table`; `None`: the caller does not see the table.
    fn set_of(&self, field: &OutputField, table: TableId) -> Option<SelectionSetId> {
        let OutputKind::Abstract(switch) = field.member else { return None };
        let schema = &self.api.schema;
        let is_of_table = |own| {
            let id = schema.field_by_name(own, crate::api::IDENTIFIER);
            id.is_some_and(|id| self.api.field(id) == FieldMeaning::Identifier(table))
        };
        let sets = &self.output.type_switches[switch.0 as usize].sets;
        sets.iter().find(|it| is_of_table(self.ids.ty(it.0))).map(|it| it.1)
    }

    /// Selects the row with the primary key in the identifier at `place`.
    fn rows_by_identifier(
        &self,
        place: Place,
        table: TableId,
        len: usize,
        text: &str,
    ) -> Result<RowSelection, PlanError> {
        let of = self.api.model.relations.catalog.table(table);
        let key: Vec<_> = of.primary_key.iter().flat_map(|it| &it.columns).collect();
        if len > key.len() {
            let more = encoded::values_beyond(text, key.len());
            return Err(self.no_identifier(&format!("unexpected column values [{more}]")));
        }
        if len < key.len() {
            let missing: Vec<&str> = key[len..].iter().map(|it| of.column(**it).name.as_str()).collect();
            let missing = missing.join("', '");
            return Err(self.no_identifier(&format!("primary key columns ['{missing}'] are missing")));
        }
        let whole = self.parameter(place, Reader::AsIs);
        let one = |(at, column): (usize, &&weir_relational::catalog::ColumnId)| {
            let name = &of.column(**column).name;
            let ty = of.column(**column).ty.clone();
            let part = EncodedPart::Identifier { at: at as u16, column: name.as_str().into() };
            let origin = Origin::Encoded(Box::new(Encoded { text: whole.origin.clone(), part }));
            let with = Parameter { origin, reader: Reader::Column(ty), path: whole.path.clone() };
            Filter::Compare { of: Expr::Column(**column), by: Comparison::Eq, with }
        };
        let filter = Filter::All(key.iter().enumerate().map(one).collect());
        Ok(RowSelection { filter, ..RowSelection::default() })
    }
}
