//! Input of the planner: a validated operation with its variables, callers and graph.

use super::PlannedOperation;
use super::conditions::condition_variables;
use super::sharing::cache_directive::cache_directive;
use crate::caller::Profile;
use crate::compose::Graph;
use crate::errors::Failure;
use crate::request::demand::weights::Weights;
use crate::request::engine_settings;
use crate::request::protocol::Protocol;
use crate::source::PlanVariable;
use std::sync::Arc;
use weir_language::ast::{Document, Operation, ValueId};
use weir_language::coerce::{Reading, Settings, Unsent, VariableType, VariableTypes};
use weir_language::error::Code;
use weir_language::schema::{Schema, SchemaView};
use weir_language::validate::Selected;

/// Input of the planner: an operation of a document that was validated against the graph's schema.
pub(crate) struct PlanContext<'q> {
    pub(crate) graph: &'q Graph,
    /// The callers for whom the plan is made.
    pub(crate) profile: &'q Arc<Profile>,
    /// The members of the graph that they see.
    pub(crate) view: SchemaView<'q>,
    pub(crate) document: &'q Document<'q>,
    pub(crate) operation: &'q Operation,
    /// The operation with what its names mean.
    pub(crate) selected: &'q Selected<'q, 'q>,
    pub(crate) types: Arc<VariableTypes>,
    pub(crate) protocol: Protocol,
    pub(crate) coercion: Settings,
    /// True if any variable may be null.
    pub(crate) has_nullable: bool,
    /// True if introspection is allowed.
    pub(crate) introspection: bool,
    /// Parts that one condition may have.
    pub(crate) conditions_max: u32,
    /// True if parts of the answer may come later.
    pub(crate) is_incremental: bool,
    /// Weights, if costs are estimated.
    pub(crate) weights: Option<&'q Weights>,
}

/// Reading rules of scalars over `protocol`.
pub(crate) const fn scalar_reading(protocol: Protocol) -> Reading {
    match protocol {
        Protocol::GraphqlOverHttp => Reading::Strict,
        Protocol::Hasura => Reading::Lenient,
    }
}

/// Rules for reading values over `protocol`.
pub(crate) const fn coercion(protocol: Protocol, settings: &engine_settings::Settings) -> Settings {
    let coercion = Settings::new(scalar_reading(protocol), &settings.limits);
    if settings.unsent_is_null { coercion } else { Settings { unsent: Unsent::Absent, ..coercion } }
}

impl<'q> PlanContext<'q> {
    /// Makes the variables of an operation ready.
    /// # Errors
    /// Defaults of variables that do not fit.
    pub(crate) fn new(
        graph: &'q Graph,
        profile: &'q Arc<Profile>,
        selected: &'q Selected<'q, 'q>,
        protocol: Protocol,
        settings: &engine_settings::Settings,
    ) -> Result<Self, Vec<Failure>> {
        let introspection = settings.introspection && profile.may_introspect();
        let view = profile.view(graph.schema());
        let coercion = coercion(protocol, settings);
        let document = selected.valid().document();
        let operation = &selected.operation().ast;
        let wide = wide_variables(graph.schema(), selected);
        let wraps = |number: u32| selected.variable_type(number).wraps;
        let types = VariableTypes::with_wraps(view, document, operation.variables, coercion, &wide, wraps)
            .map_err(|errors| errors.into_iter().map(Failure::text).collect::<Vec<_>>())?;
        let types = types
            .with_templates(document, selected.json_literals(), &|value| selected.variable(value))
            .with_fallbacks(view, coercion, selected.variables_in_objects());
        let has_nullable = types.variables.iter().any(|it| !it.ty.is_non_null());
        let types = Arc::new(types);
        Ok(Self {
            graph,
            profile,
            view,
            document,
            operation,
            selected,
            types,
            protocol,
            coercion,
            has_nullable,
            introspection,
            conditions_max: settings.conditions_max,
            is_incremental: false,
            weights: None,
        })
    }

    /// The number of the variable, with its fallback if it has one, or of the JSON literal with variables inside, that stands at `value`.
    pub(crate) fn number(&self, value: ValueId) -> Option<u32> {
        let fallback = self.types.fallback(value);
        fallback.or_else(|| self.selected.variable(value)).or_else(|| self.types.template(value))
    }

    /// True if variable `number` can be null. A JSON literal with variables inside cannot.
    pub(crate) fn may_be_null(&self, number: u32) -> bool {
        let number = self.types.fallback_of(number).map_or(number, |it| it.variable);
        self.types.variables.get(number as usize).is_some_and(|it| !it.ty.is_non_null())
    }

    /// True if variable `number` can be absent.
    pub(crate) fn may_be_absent(&self, number: u32) -> bool {
        self.types.may_be_absent(number, self.coercion)
    }

    /// Variable types and defaults, for binding.
    /// # Errors
    /// More variables steer `@skip` and `@include` than a plan can hold.
    pub(crate) fn operation(&self) -> Result<Arc<PlannedOperation>, Vec<Failure>> {
        let Some(steering) = condition_variables(self.selected, self.is_incremental) else {
            let words = "Operation has more than 64 variables in @skip and @include.";
            return Err(vec![Failure::request(Code::LimitDirectives.text(), words)]);
        };
        let variables = self.types.variables.iter().map(|it| PlanVariable {
            name: it.name.clone(),
            ty: it.ty,
            has_default: it.default.is_some(),
        });
        let templates = self.types.templates().iter().map(|it| PlanVariable {
            name: it.name.clone(),
            ty: it.ty,
            has_default: false,
        });
        let fallbacks = self.types.fallbacks().iter().map(|it| {
            let VariableType { name, ty, .. } = &self.types.variables[it.variable as usize];
            PlanVariable { name: name.clone(), ty: *ty, has_default: true }
        });
        let variables = variables.chain(templates).chain(fallbacks).collect();
        let cache_directive = cache_directive(self.selected, self.protocol);
        Ok(Arc::new(PlannedOperation {
            variables,
            types: Arc::clone(&self.types),
            steering,
            cache_directive,
        }))
    }
}

/// The numbers of the variables that stand nowhere but in arguments whose `Int` may have 64 bits.
fn wide_variables(schema: &Schema, selected: &Selected<'_, '_>) -> Vec<u32> {
    let valid = selected.valid();
    let mut narrow = vec![0_u32; selected.variables().len()];
    if narrow.is_empty() {
        return Vec::new();
    }
    let document = valid.document();
    let used = (0..document.values.len()).filter_map(|at| selected.variable(ValueId(at as u32)));
    used.for_each(|number| narrow[number as usize] += 1);
    let mut wide = Vec::new();
    for (at, argument) in document.arguments.iter().enumerate() {
        if let Some(number) = selected.variable(argument.value)
            && schema.input(valid.input(at)).is_wide
        {
            narrow[number as usize] -= 1;
            wide.push(number);
        }
    }
    wide.retain(|it| narrow[*it as usize] == 0);
    wide
}
