//! `add`, `update` and `delete`: the objects that a filter finds, and what the answer shows of objects.
//!
//! The program in [`crate::write`] decides the changes; a plan holds only the two queries here.

use super::row_arguments::{ObjectRows, ascending};
use super::{At, Compiler};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use crate::auth::policy::Allowed;
use crate::auth::{Right, reachable};
use crate::model::TypeId;
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::{self, OutputField, SelectionSetId};
use weir_engine::source::PlanError;
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::write::{ObjectCheck, Work, Write, WriteAnswer};
use weir_relational::plan::{
    Expr, Filter, Level, MemberKind, Origin, Output, Page, Parameter, Purpose, Query, Reader, Run, Scan,
};

impl Compiler<'_> {
    /// A root field that changes objects of `ty`.
    pub(super) fn change(&mut self, field: &OutputField, ty: TypeId) -> Result<MemberKind, PlanError> {
        let find = match self.field_meaning(field) {
            FieldMeaning::Add(_) => None,
            FieldMeaning::Delete(_) => Some(self.finder(field, ty, Purpose::Delete)?),
            _ => Some(self.finder(field, ty, Purpose::Update)?),
        };
        let output_plan::OutputKind::Object(set) = field.member else {
            return Err(self.refuse("this field needs a selection of an object"));
        };
        let answer = WriteAnswer::Response(self.payload(set)?);
        let checks = self.checks(field, ty);
        let field = self.field;
        let path = self.keys.join(".");
        let works = vec![Work::Program { find, checks }];
        self.plan.writes.push(Write { works, answer, missing: None, field, path });
        Ok(MemberKind::Write(self.plan.writes.len() as u32 - 1))
    }

    /// The numbers of the objects that the filter finds, in order.
    fn finder(&mut self, field: &OutputField, ty: TypeId, purpose: Purpose) -> Result<u32, PlanError> {
        let at = self.native.rows_of(ty);
        let filter = match self.change_filter(field) {
            Some(place) => {
                let filter = self.root_filter(place, at)?;
                self.check_bounds(filter)?
            }
            None => Filter::TRUE,
        };
        let query = Query {
            scan: Scan::of(at.table, purpose),
            call: None,
            nest: Vec::new(),
            through: None,
            filter,
            distinct_on: Vec::new(),
            order: vec![ascending(at.id)],
            page: Page::default(),
            output: Output::Rows(vec![Expr::Column(at.id)]),
        };
        let field = self.field;
        let path = self.keys.join(".");
        let members = Run::default();
        let hidden = Vec::new();
        Ok(self.level(Level { query, members, choice: None, hidden, by: None, field, path }))
    }

    /// The conditions that rules put on objects which an add or an update makes, names, or takes an edge from.
    fn checks(&mut self, field: &OutputField, ty: TypeId) -> Vec<ObjectCheck> {
        let Some(policy) = self.policy.clone() else { return Vec::new() };
        if let FieldMeaning::Delete(_) = self.field_meaning(field) {
            return Vec::new();
        }
        let asked =
            [(Right::Query, Purpose::Root), (Right::Add, Purpose::Insert), (Right::Update, Purpose::Update)];
        let mut checks = Vec::new();
        for ty in reachable(&self.native.api.model, ty) {
            let at = self.native.registry(ty);
            for (operation, purpose) in asked {
                if let Allowed::If(_) = policy.allowed_in(at.table, operation) {
                    let level = self.among_shown(at, purpose);
                    checks.push(ObjectCheck { number: operation.number(ty), level });
                }
            }
        }
        checks
    }

    /// Finds the numbers of objects that a program names, if their rows are accessible for `purpose`.
    fn among_shown(&mut self, at: At, purpose: Purpose) -> u32 {
        let with = Parameter { origin: Origin::Shown, reader: Reader::Ids, path: "".into() };
        let query = Query {
            scan: Scan::of(at.table, purpose),
            call: None,
            nest: Vec::new(),
            through: None,
            filter: Filter::Compare { of: Expr::Column(at.id), by: Comparison::In, with },
            distinct_on: Vec::new(),
            order: Vec::new(),
            page: Page::default(),
            output: Output::Rows(vec![Expr::Column(at.id)]),
        };
        let field = self.field;
        let path = self.keys.join(".");
        let members = Run::default();
        let hidden = Vec::new();
        self.level(Level { query, members, choice: None, hidden, by: None, field, path })
    }

    /// The filter argument of an update or delete.
    fn change_filter(&self, field: &OutputField) -> Option<Place> {
        let arguments = self.output.arguments(field).iter();
        let mut given = arguments.map(|it| (self.meaning(it.input), self.argument(it)));
        given.find_map(|(meaning, place)| match meaning {
            InputMeaning::Filter(_) => Some(place),
            InputMeaning::Input(_) => {
                let mut members = self.inputs.members(place).into_iter();
                let filter = |input| matches!(self.meaning(input), InputMeaning::Filter(_));
                members.find(|it| filter(it.0)).map(|it| it.1)
            }
            _ => None,
        })
    }

    /// Members of a mutation's payload.
    fn payload(&mut self, set: SelectionSetId) -> Result<Run, PlanError> {
        let output = self.output;
        let mut members = Vec::new();
        for at in output.set(set).range() {
            let field = &output.fields[at];
            let outer = std::mem::replace(&mut self.field, at as u32);
            self.check_cascade(at as u32)?;
            self.keys.push(field.key.name());
            let kind = match (field.member, self.field_meaning(field)) {
                (output_plan::OutputKind::Constant { .. }, _) => MemberKind::Constant,
                (_, FieldMeaning::NumUids) => MemberKind::Affected,
                (_, FieldMeaning::Msg) => MemberKind::Message,
                (_, FieldMeaning::PayloadObjects(ty)) => self.changed_rows(field, ty)?,
                _ => return Err(self.refuse("this field cannot be answered here")),
            };
            self.keys.pop();
            self.field = outer;
            members.push(weir_database::frontend::member(at as u32, field, kind));
        }
        weir_relational::plan::mark_copied(&mut members);
        Ok(self.store(members))
    }

    /// The changed objects of a payload, filtered by the field's own arguments.
    fn changed_rows(&mut self, field: &OutputField, ty: TypeId) -> Result<MemberKind, PlanError> {
        let ObjectRows { at, filter, order, page } = self.rows_arguments(field, ty)?;
        let with = Parameter { origin: Origin::Shown, reader: Reader::Ids, path: "".into() };
        let changed = Filter::Compare { of: Expr::Column(at.id), by: Comparison::In, with };
        let filter = if filter.is_true() { changed } else { Filter::All(vec![changed, filter]) };
        self.rows(field, ObjectRows { at, filter, order, page }, Vec::new(), None, false)
    }

    /// The object of `check…Password`: the one that the password belongs to.
    pub(super) fn checked_password_object(
        &mut self,
        field: &OutputField,
        ty: TypeId,
    ) -> Result<MemberKind, PlanError> {
        let at = self.native.registry(ty);
        let origin = Origin::LookedUp(self.plan.lookups.len() as u32);
        self.plan.lookups.push(self.field);
        let with = Parameter { origin, reader: Reader::Id, path: "".into() };
        let mut all = vec![Filter::Compare { of: Expr::Column(at.id), by: Comparison::Eq, with }];
        self.apply_cascade(field, at, &mut all)?;
        let filter = self.check_bounds(Filter::All(all))?;
        let rows = ObjectRows { at, filter, order: Vec::new(), page: Page::default() };
        self.purpose = Purpose::Opened;
        self.rows(field, rows, Vec::new(), None, true)
    }
}
