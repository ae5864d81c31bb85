//! Rules that are queries: checked against the API, planned once, and compiled into a condition on rows.
//!
//! The engine plans the query as any other; a source that answers nothing keeps the plan. Where a query has a variable, the
//! condition has a session variable, and its literals are constants of the policy.

use super::claims::{ClaimKind, TokenVariable, array, id};
use crate::api::meaning::{Api, EnumMeaning, InputMeaning, Operator};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weir_engine::caller::{Facts, Identity};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{FieldError, PlanError, PlanNode, PreparedFetch, Source};
use weir_language::ast::{Definition, OperationKind, Selection};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{Schema, TypeKind, TypeRef};
use weir_language::validate::{Options, validate};
use weir_language::value::Node;
use weir_relational::catalog::ColumnType;
use weir_relational::plan::{Origin, Parameter, Reader};

/// Longest time that planning a rule may take.
const PLAN_MAX: Duration = Duration::from_secs(60);

/// A query of a rule, planned.
#[derive(Debug)]
pub(crate) struct GraphQuery {
    pub(crate) output: OutputPlan,
    /// Place of its root field.
    pub(crate) field: u32,
    /// Variables of the query, in order.
    pub(crate) variables: Vec<TokenVariable>,
}

/// Reads the query, or returns Dgraph's message about the first error in it.
pub(crate) fn read(api: &Api, ty: &str, text: &str) -> Result<GraphQuery, String> {
    let document = parser::parse(text, &Limits::STANDARD)
        .map_err(|error| format!("failed to parse GraphQL rule [reason : {}]", error.message))?;
    let invalid = |reason: &str| format!("failed to validate GraphQL rule [reason : {reason}]");
    let operations = document.definitions.iter().filter_map(|it| match it {
        Definition::Operation(operation) => Some(operation),
        _ => None,
    });
    let operations: Vec<_> = operations.collect();
    let [operation] = operations.as_slice() else {
        let count = operations.len();
        return Err(format!("a rule should be exactly one query, found {count} GraphQL operations"));
    };
    let roots = document.list(operation.selections);
    let root = match roots {
        [Selection::Field(root)] if operation.kind == OperationKind::Query => root,
        _ => {
            let is_query = operation.kind == OperationKind::Query;
            let count = if is_query { roots.len() } else { 0 };
            return Err(format!("a rule should be exactly one query, found {count} queries"));
        }
    };
    let name = document.str(root.name);
    if name != format!("query{ty}") {
        return Err(format!("expected only query{ty} rules,but found {name}"));
    }
    let options = Options {
        limits: Limits::STANDARD,
        suggestions: false,
        edition_2026: false,
        subscriptions_beside: false,
    };
    if let Err(errors) = validate(&api.schema, &document, &options) {
        return Err(invalid(errors.first().map_or("", |it| it.message.as_str())));
    }
    let steers = |it: &weir_language::ast::Directive| ["skip", "include"].contains(&document.str(it.name));
    if document.directives.iter().any(steers) {
        return Err(invalid("`@skip` and `@include` have no place in a rule"));
    }
    let planned = plan(api, text).map_err(|reason| invalid(&reason))?;
    check(api, planned).map_err(|reason| invalid(&reason))
}

/// The plan that the engine made.
struct Planned {
    output: OutputPlan,
    field: u32,
    variables: Vec<(Box<str>, TypeRef)>,
}

/// A source that keeps the plan node that it is asked to prepare.
struct PlanKeeper {
    schema: Arc<Schema>,
    kept: Arc<Mutex<Option<Planned>>>,
}

impl Source for PlanKeeper {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// A rule is written by the owner of the types: it sees all of them.
    fn profile(&self, _identity: &Identity, _facts: &mut Facts) {}

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let field = node.fields.first().copied().unwrap_or_default();
        let variables = node.variables.iter().map(|it| (it.name.clone(), it.ty)).collect();
        let planned = Planned { output: node.output.clone(), field, variables };
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(planned);
        let message = "a rule is not run".into();
        let error = FieldError { code: "INTERNAL", message, hasura_path: None, extensions: None };
        Err(PlanError { error, field })
    }
}

fn plan(api: &Api, text: &str) -> Result<Planned, String> {
    let kept = Arc::new(Mutex::new(None));
    let keeper = PlanKeeper { schema: Arc::clone(&api.schema), kept: Arc::clone(&kept) };
    let graph = Graph::compose(vec![Arc::new(keeper)], &[]).map_err(|errors| format!("{errors:?}"))?;
    let engine = Engine::new(graph, Settings::STANDARD);
    let nobody =
        Identity { role: "rules".into(), is_backend: false, is_anonymous: true, claims: Arc::default() };
    let explained = engine.explain(Request::new(text, Instant::now() + PLAN_MAX), &engine.caller(&nobody));
    let planned = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    planned.ok_or_else(|| match explained {
        Ok(_) => "nothing is asked".to_owned(),
        Err(answer) => String::from_utf8_lossy(&answer).into_owned(),
    })
}

fn check(api: &Api, planned: Planned) -> Result<GraphQuery, String> {
    let Planned { output, field, variables } = planned;
    let mut read = Vec::new();
    for (name, ty) in &variables {
        read.push(variable(api, name, *ty)?);
    }
    for argument in &output.arguments {
        let is_variable = matches!(output.literals.nodes[argument.value as usize], Node::Variable(_));
        match api.input(argument.input) {
            InputMeaning::First | InputMeaning::Offset => {
                return Err("`first` and `offset` have no place in a rule: it finds all objects".to_owned());
            }
            InputMeaning::Cascade if is_variable => {
                return Err("the fields of `@cascade` have to be written out".to_owned());
            }
            _ => {}
        }
    }
    for at in 0..output.literals.nodes.len() {
        if let Node::Key(input) = output.literals.nodes[at]
            && let InputMeaning::Compare(operator) = api.input(input)
            && matches!(
                operator,
                Operator::Near | Operator::Within | Operator::Contains | Operator::Intersects
            )
        {
            return Err("places are not compared in a rule yet".to_owned());
        }
        if let Node::List { .. } = output.literals.nodes[at]
            && output.literals.items(at).any(|it| matches!(output.literals.nodes[it], Node::Variable(_)))
        {
            return Err("a list with variables in it is not taken: let one claim be the list".to_owned());
        }
    }
    Ok(GraphQuery { output, field, variables: read })
}

fn variable(api: &Api, name: &str, ty: TypeRef) -> Result<TokenVariable, String> {
    let schema = &api.schema;
    let of = schema.type_name(ty.base);
    let kind = match (schema.ty(ty.base).kind, of) {
        (TypeKind::Scalar(_), "String") => ClaimKind::Text,
        (TypeKind::Scalar(_), "ID") => ClaimKind::Id,
        (TypeKind::Scalar(_), "Int") => ClaimKind::Int,
        (TypeKind::Scalar(_), "Int64") => ClaimKind::Int64,
        (TypeKind::Scalar(_), "Float") => ClaimKind::Float,
        (TypeKind::Scalar(_), "Boolean") => ClaimKind::Boolean,
        (TypeKind::Scalar(_), "DateTime") => ClaimKind::DateTime,
        (TypeKind::Enum, _) => {
            let values = schema.ty(ty.base).members.range();
            let values = values.map(|at| weir_language::schema::EnumValueId(at as u32));
            let mut names = Vec::new();
            for value in values {
                if !matches!(api.enum_value(value), EnumMeaning::Value(..)) {
                    return Err(format!("`${name}` is of type {of}, whose values are names of fields"));
                }
                names.push(schema.str(schema.enum_value(value).name).to_owned());
            }
            ClaimKind::Enum(names)
        }
        (_, _) => return Err(format!("`${name}` is of type {of}: a claim is a scalar or a list of such")),
    };
    let item = ty.wraps.item();
    if item.is_some_and(|it| it.is_list()) {
        return Err(format!("`${name}` is a list of lists"));
    }
    Ok(TokenVariable::new(&api.model.authority, name, of, kind, ty.wraps.is_list()))
}

impl GraphQuery {
    /// `parameter` of the query as one of a policy. `None`: its literal cannot be.
    pub(crate) fn of_policy(
        &self,
        parameter: Parameter,
        enum_name: &dyn Fn(Node) -> String,
    ) -> Option<Parameter> {
        let reader = match parameter.reader {
            Reader::Place { .. } => return None,
            // Lists are read as arrays of numbers.
            Reader::Ids | Reader::Instants => Reader::Each(ColumnType::BigInt),
            Reader::Id => Reader::Column(ColumnType::BigInt),
            ref other => other.clone(),
        };
        match parameter.origin {
            Origin::Variable(number) => {
                Some(Parameter::claim(self.variables.get(number as usize)?.name.clone(), reader))
            }
            Origin::Literal(at) => {
                let text = self.literal(at as usize, &parameter.reader, enum_name)?;
                Some(Parameter::constant(text, reader))
            }
            _ => None,
        }
    }

    /// The text of the literal at `at`, which `reader` would read.
    fn literal(&self, at: usize, reader: &Reader, enum_name: &dyn Fn(Node) -> String) -> Option<String> {
        let literals = &self.output.literals;
        let scalar = |at: usize| match literals.nodes[at] {
            Node::Bool(value) => Some(value.to_string()),
            Node::Int(value) | Node::QuotedInt(value) => Some(value.to_string()),
            Node::Float(value) => Some(value.to_string()),
            Node::Number(span) | Node::Text(span) => Some(literals.str(span).to_owned()),
            node @ Node::Enum(_) => Some(enum_name(node)),
            _ => None,
        };
        let items = || {
            let one = (!matches!(literals.nodes[at], Node::List { .. })).then_some(at);
            literals.items(at).chain(one)
        };
        match reader {
            Reader::Ids => {
                let ids = items().filter_map(|it| id(&scalar(it)?)).map(|it| it.to_string());
                Some(array(ids))
            }
            Reader::Instants => {
                let instant =
                    |it| weir_relational::values::instant::parse(&scalar(it)?).map(|it| it.to_string());
                items().map(instant).collect::<Option<Vec<_>>>().map(array)
            }
            Reader::Each(_) => items().map(scalar).collect::<Option<Vec<_>>>().map(array),
            Reader::Id => scalar(at).and_then(|it| id(&it)).map(|it| it.to_string()),
            _ => scalar(at),
        }
    }
}
