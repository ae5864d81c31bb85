//! Compiles a plan node of native types into a relational plan over their tables.
//!
//! The drivers of `weir-database` take the plan as they take any: a [`Native`] is one more frontend of API. Where an object of an
//! interface or union stands, a row tells its number and its type, and its own columns come from the table of that type.
//!
//! **Invariant:** reads nothing of a request but the form of its structural variables.
//!
//! **Cost:** linear in the output and its arguments; run once per plan and form.

mod aggregate;
mod cascade;
mod changes;
mod edges;
mod fields;
mod filter;
mod list_sizes;
mod native;
mod objects;
mod place_conditions;
mod row_arguments;
mod search;

mod rules;

pub use native::Native;

use self::cascade::Cascade;
use crate::api::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use crate::auth::Right;
use crate::auth::graph::GraphQuery;
use crate::auth::policy::{Allowed, AuthPolicy};
use crate::model::TypeId;
use std::cell::Cell;
use std::sync::Arc;
use weir_database::frontend::Ask;
use weir_database::frontend::form::Form;
use weir_database::frontend::input::{Inputs, Place};
use weir_engine::plan::output_plan::{self, OutputArgument, OutputField, OutputPlan, SelectionSetId};
use weir_engine::source::{FieldError, Ids, PlanError, Protocol};
use weir_language::schema::InputId;
use weir_language::value::{Node, Variables};
use weir_relational::catalog::facts::Cell as CellFormat;
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::passes::bounds::{Bounds, Excess, FILTER_DEPTH_MAX};
use weir_relational::plan::{
    Expr, Filter, Level, Member, MemberKind, Parameter, Plan, Purpose, Reader, Run, mark_copied,
};

/// Position of the rows of a type in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    ty: TypeId,
    table: TableId,
    id: ColumnId,
    /// For an abstract type: the column with the object type of a row.
    kind: Option<ColumnId>,
}

/// Columns that a row of the current level has to bring.
#[derive(Debug)]
struct LevelRow {
    at: At,
    columns: Vec<Expr>,
}

impl LevelRow {
    const fn new(at: At) -> Self {
        Self { at, columns: Vec::new() }
    }

    /// The output column that holds `expr`, new or not.
    fn column(&mut self, expr: Expr) -> u16 {
        let found = self.columns.iter().position(|it| *it == expr);
        found.unwrap_or_else(|| {
            self.columns.push(expr);
            self.columns.len() - 1
        }) as u16
    }
}

struct Compiler<'c> {
    native: &'c Native,
    ids: &'c Ids,
    output: &'c OutputPlan,
    protocol: Protocol,
    inputs: Inputs<'c>,
    plan: Plan,
    /// Response keys from the root to the current field.
    keys: Vec<&'c str>,
    /// Index of the current field.
    field: u32,
    depth: u32,
    bounds: Bounds,
    /// The `@cascade` above that applies here.
    cascade: Option<Arc<Cascade>>,
    /// The caller's rights; `None`: all.
    policy: Option<Arc<AuthPolicy>>,
    /// The query of a rule that is compiled, in place of a request's.
    rule: Option<&'c GraphQuery>,
    /// A literal of the rule cannot be a constant of a policy.
    is_inexpressible: Cell<bool>,
    /// The purpose of a root field's rows.
    purpose: Purpose,
}

/// Makes the plan of `ask`.
fn compile(
    native: &Native,
    ids: &Ids,
    output: &OutputPlan,
    ask: &Ask,
    variables: Option<(&Variables, &Form)>,
) -> Result<Plan, PlanError> {
    let inputs = Inputs { literals: &output.literals, variables, structural: &ask.structural };
    let mut compiler = Compiler {
        native,
        ids,
        output,
        protocol: ask.protocol,
        inputs,
        plan: Plan::default(),
        keys: Vec::new(),
        field: ask.fields.first().copied().unwrap_or(0),
        depth: 0,
        bounds: Bounds::new(ask.conditions_max),
        cascade: None,
        policy: native.rules.policy(&ask.facts),
        rule: None,
        is_inexpressible: Cell::new(false),
        purpose: Purpose::Root,
    };
    let members = compiler.members(ask.fields.iter().copied(), None)?;
    compiler.plan.root_copied = members.iter().any(|it| it.same_as.is_some());
    compiler.plan.root = compiler.store(members);
    Ok(compiler.plan)
}

impl<'c> Compiler<'c> {
    fn meaning(&self, input: InputId) -> InputMeaning {
        self.native.api.input(self.ids.input(input))
    }

    fn enum_meaning(&self, place: Place) -> Option<EnumMeaning> {
        match self.inputs.node(place) {
            Node::Enum(value) => Some(self.native.api.enum_value(self.ids.enum_value(value))),
            _ => None,
        }
    }

    fn field_meaning(&self, field: &OutputField) -> FieldMeaning {
        self.native.api.field(self.ids.field(field.field))
    }

    /// True if the argument is absent.
    fn is_missing(&self, place: Place) -> bool {
        matches!(self.inputs.node(place), Node::Null | Node::Absent)
    }

    /// Start of an argument's value, or of its default if the variable was not sent.
    fn argument(&self, argument: &OutputArgument) -> Place {
        let place = self.inputs.resolve(Place::Literal(argument.value));
        match (self.inputs.node(place), argument.default) {
            (Node::Absent, Some(default)) => Place::Literal(default),
            _ => place,
        }
    }

    fn parameter(&self, place: Place, reader: Reader) -> Parameter {
        let parameter = self.inputs.parameter(place, reader, "");
        let Some(rule) = self.rule else { return parameter };
        let enum_name = |node| match node {
            Node::Enum(value) => {
                let value = self.ids.enum_value(value);
                self.native.api.schema.str(self.native.api.schema.enum_value(value).name).to_owned()
            }
            _ => String::new(),
        };
        rule.of_policy(parameter.clone(), &enum_name).unwrap_or_else(|| {
            self.is_inexpressible.set(true);
            parameter
        })
    }

    /// True if the caller has no right to see any object of `ty`.
    fn is_denied(&self, ty: TypeId) -> bool {
        let Some(policy) = &self.policy else { return false };
        let members = &self.native.api.model.ty(ty).members;
        !members.is_empty()
            && members.iter().all(|it| *policy.allowed_objects(*it, Right::Query) == Allowed::Nothing)
    }

    /// True if the caller does not see all objects of `ty`.
    fn is_hidden(&self, ty: TypeId) -> bool {
        let Some(policy) = &self.policy else { return false };
        let members = &self.native.api.model.ty(ty).members;
        members.iter().any(|it| *policy.allowed_objects(*it, Right::Query) != Allowed::All)
    }

    fn cell(&self, table: TableId, column: ColumnId) -> CellFormat {
        self.native.layout.relations.catalog.table(table).column(column).ty.facts().cell
    }

    fn is_nullable(&self, table: TableId, column: ColumnId) -> bool {
        self.native.layout.relations.catalog.table(table).column(column).nullable
    }

    fn refuse(&self, message: impl Into<Box<str>>) -> PlanError {
        let code = match self.protocol {
            Protocol::GraphqlOverHttp => "BAD_USER_INPUT",
            Protocol::Hasura => "validation-failed",
        };
        let error = FieldError { code, message: message.into(), hasura_path: None, extensions: None };
        PlanError { error, field: self.field }
    }

    /// Counts a level of nesting of filters and orders.
    fn enter_nesting(&mut self) -> Result<(), PlanError> {
        self.depth += 1;
        if self.depth > FILTER_DEPTH_MAX {
            let mut refused = self.refuse("the argument is nested too deeply");
            refused.error.code = "LIMIT_NESTING";
            return Err(refused);
        }
        Ok(())
    }

    /// Returns `filter`, or an error if it exceeds the limits of a condition.
    fn check_bounds(&mut self, filter: Filter) -> Result<Filter, PlanError> {
        self.bounds.check(&filter).map_err(|it| self.bounds_error(it))?;
        Ok(filter)
    }

    /// The error of a condition or an order that exceeds its limits.
    fn bounds_error(&self, excess: Excess) -> PlanError {
        let mut refused = self.refuse(excess.message());
        refused.error.code = excess.code();
        refused
    }

    fn store(&mut self, members: Vec<Member>) -> Run {
        let start = self.plan.members.len() as u32;
        let len = members.len() as u32;
        self.plan.members.extend(members);
        Run { start, len }
    }

    fn level(&mut self, level: Level) -> u32 {
        self.plan.levels.push(level);
        self.plan.levels.len() as u32 - 1
    }

    fn members(
        &mut self,
        fields: impl Iterator<Item = u32>,
        mut row: Option<&mut LevelRow>,
    ) -> Result<Vec<Member>, PlanError> {
        let mut members = Vec::new();
        for at in fields {
            members.push(self.member(at, row.as_deref_mut())?);
        }
        mark_copied(&mut members);
        Ok(members)
    }

    fn set(&mut self, set: SelectionSetId, row: &mut LevelRow) -> Result<Run, PlanError> {
        let range = self.output.set(set).range();
        let members = self.members(range.map(|it| it as u32), Some(row))?;
        Ok(self.store(members))
    }

    fn member(&mut self, at: u32, row: Option<&mut LevelRow>) -> Result<Member, PlanError> {
        let output = self.output;
        let field = &output.fields[at as usize];
        let outer = std::mem::replace(&mut self.field, at);
        let kind = match field.member {
            output_plan::OutputKind::Constant { .. } => MemberKind::Constant,
            output_plan::OutputKind::Foreign { .. } => MemberKind::Foreign,
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Object(_)
            | output_plan::OutputKind::Abstract(_) => {
                self.check_cascade(at)?;
                self.keys.push(field.key.name());
                let kind = match row {
                    Some(row) => self.kind(field, row)?,
                    None => self.root(field)?,
                };
                self.keys.pop();
                kind
            }
        };
        self.field = outer;
        Ok(weir_database::frontend::member(at, field, kind))
    }

    fn root(&mut self, field: &'c OutputField) -> Result<MemberKind, PlanError> {
        match self.field_meaning(field) {
            FieldMeaning::Query(ty) => {
                let rows = self.rows_arguments(field, ty)?;
                self.rows(field, rows, Vec::new(), None, false)
            }
            FieldMeaning::Get(ty) => {
                let rows = self.get_arguments(field, ty)?;
                self.rows(field, rows, Vec::new(), None, true)
            }
            FieldMeaning::Aggregate(ty) => {
                let mut rows = self.rows_arguments(field, ty)?;
                rows.at = self.native.rows_of(ty);
                self.aggregate(field, rows, Vec::new(), None)
            }
            FieldMeaning::CheckPassword(ty) => self.checked_password_object(field, ty),
            FieldMeaning::Add(ty) | FieldMeaning::Update(ty) | FieldMeaning::Delete(ty) => {
                self.change(field, ty)
            }
            _ => Err(self.refuse("this field cannot be answered here")),
        }
    }
}
