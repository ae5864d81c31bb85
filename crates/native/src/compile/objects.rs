//! Levels of objects: of one type, or of several told apart by their rows.

use super::row_arguments::ObjectRows;
use super::{Compiler, LevelRow};
use crate::api::meaning::FieldMeaning;
use crate::model::FieldKind;
use weir_engine::plan::output_plan::{self, OutputField, SelectionSetId, TypeSwitchId};
use weir_engine::source::PlanError;
use weir_language::schema;
use weir_relational::catalog::{ColumnId, Through};
use weir_relational::plan::{
    Choice, Expr, Filter, GraphType, Level, MemberKind, Object, Output, Page, Purpose, Query, Run, Scan, Tie,
    Variant,
};

impl Compiler<'_> {
    /// A level of objects under a field.
    pub(super) fn rows(
        &mut self,
        field: &OutputField,
        rows: ObjectRows,
        nest: Vec<(Tie, u16)>,
        through: Option<(Through, ColumnId)>,
        one: bool,
    ) -> Result<MemberKind, PlanError> {
        let at = self.field;
        let path = self.keys.join(".");
        let root = std::mem::replace(&mut self.purpose, Purpose::Root);
        let purpose = if nest.is_empty() { root } else { Purpose::Related };
        let mut row = LevelRow::new(rows.at);
        let outer = self.cascade.clone();
        if let Some(cascade) = self.cascade_of(field, rows.at.ty)? {
            self.cascade = Some(cascade);
        }
        let (members, choice, hidden) = match field.member {
            output_plan::OutputKind::Object(set) => {
                let members = self.set(set, &mut row)?;
                (members, None, self.hidden(set, &mut row)?)
            }
            output_plan::OutputKind::Abstract(choice) => {
                (Run::default(), Some(self.choice(choice, &mut row, purpose)?), Vec::new())
            }
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Constant { .. }
            | output_plan::OutputKind::Foreign { .. } => {
                return Err(self.refuse("this field needs a selection of an object"));
            }
        };
        self.cascade = outer;
        // A single row needs no order.
        let order = if one { Vec::new() } else { rows.order };
        let query = Query {
            scan: Scan::of(rows.at.table, purpose),
            call: None,
            nest,
            through,
            filter: rows.filter,
            distinct_on: Vec::new(),
            order,
            page: rows.page,
            output: Output::Rows(row.columns),
        };
        let level = self.level(Level { query, members, choice, hidden, by: None, field: at, path });
        Ok(if one { MemberKind::One(level) } else { MemberKind::Many(level) })
    }

    /// The choice of members by the concrete type of rows of an abstract type, which are accessed for `purpose`.
    fn choice(
        &mut self,
        choice: TypeSwitchId,
        row: &mut LevelRow,
        purpose: Purpose,
    ) -> Result<Choice, PlanError> {
        // An object that a password opened is under that rule in every table.
        let purpose = if purpose == Purpose::Opened { purpose } else { Purpose::Related };
        let Some(kind) = row.at.kind else {
            return Err(self.refuse("this field needs a selection of an object"));
        };
        let column = row.column(Expr::Column(kind));
        let output = self.output;
        let mut variants = Vec::new();
        for &(on, set) in &output.type_switches[choice.0 as usize].sets {
            // Types of other sources may implement an interface of ours.
            let Some(name) = self.native_name(on) else { continue };
            let object = self.variant(on, set, row, purpose)?;
            variants.push(Variant { name, on: GraphType(on.0), object });
        }
        Ok(Choice { column, variants })
    }

    fn native_name(&self, on: schema::TypeId) -> Option<Box<str>> {
        let own = self.ids.has_type(on).then(|| self.ids.ty(on))?;
        let ty = self.native.api.ty(own)?;
        Some(self.native.api.model.ty(ty).name.as_str().into())
    }

    /// The object of one type: made of the row itself if its number is all that is asked.
    fn variant(
        &mut self,
        on: schema::TypeId,
        set: SelectionSetId,
        row: &mut LevelRow,
        purpose: Purpose,
    ) -> Result<Object, PlanError> {
        let output = self.output;
        let is_id = |field: &OutputField| {
            let FieldMeaning::Field(of) = self.field_meaning(field) else { return false };
            self.native.api.model.field(of).kind == FieldKind::Id
        };
        let is_known = |field: &OutputField| match field.member {
            output_plan::OutputKind::Constant { .. } => true,
            output_plan::OutputKind::Leaf => is_id(field),
            output_plan::OutputKind::Object(_)
            | output_plan::OutputKind::Abstract(_)
            | output_plan::OutputKind::Foreign { .. } => false,
        };
        let Some(ty) = self.native.api.ty(self.ids.ty(on)) else {
            return Err(self.refuse("this type cannot be answered here"));
        };
        let mut own = self.native.registry(ty);
        if output.set(set).hidden.is_empty() && output.members(set).iter().all(is_known) {
            // The number has another column there.
            let mut alias = LevelRow { at: own, columns: Vec::new() };
            let run = self.set(set, &mut alias)?;
            let id = row.column(Expr::Column(row.at.id));
            for member in &mut self.plan.members[run.range()] {
                if let MemberKind::Leaf { column, .. } = &mut member.kind {
                    *column = id;
                }
            }
            return Ok(Object::Row(run));
        }
        own.kind = None;
        let field = self.field;
        let path = self.keys.join(".");
        let mut below = LevelRow::new(own);
        let members = self.set(set, &mut below)?;
        let hidden = self.hidden(set, &mut below)?;
        let nest = vec![(Tie::Column(own.id), row.column(Expr::Column(row.at.id)))];
        let query = Query {
            scan: Scan::of(own.table, purpose),
            call: None,
            nest,
            through: None,
            filter: Filter::TRUE,
            distinct_on: Vec::new(),
            order: Vec::new(),
            page: Page::default(),
            output: Output::Rows(below.columns),
        };
        Ok(Object::Level(self.level(Level { query, members, choice: None, hidden, by: None, field, path })))
    }
}
