//! Makes a plan from its text.

use super::check::Checks;
use super::generators::{Generators, ValueName};
use super::json_path::JsonPath;
use super::load_options::LoadOptions;
use super::operation::{HeaderTemplate, Mark, Operation, Over, PathTemplate};
use super::plan_text::{CheckText, OperationText, PlanText};
use super::request_parts::{RequestParts, RequestTarget};
use super::{Flow, Plan, replay};
use crate::notation::expression_text::Piece;
use crate::notation::json_template::{JsonTemplate, Naming, TemplateReader};
use crate::notation::yaml::{Mistake, Pairs, Span, header_name, unknown_name};
use crate::result::OperationKind;
use crate::wire::Target;
use http::HeaderName;
use serde_saphyr::{Location, Spanned};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// Time that an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A value without a place.
pub(super) fn without_location<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Location::UNKNOWN, Location::UNKNOWN)
}

/// A mistake in something that has no lines.
pub(super) fn whole(message: impl Into<String>) -> Mistake {
    Mistake { line: 0, column: 0, message: message.into() }
}

pub(super) fn build(
    text: PlanText,
    base: &Path,
    target: Option<&str>,
    options: LoadOptions,
) -> Result<Plan, Mistake> {
    let (url, place) = match (target, &text.target) {
        (Some(url), _) => (url, Location::UNKNOWN),
        (None, Some(it)) => (it.value.as_str(), it.referenced),
        (None, None) => {
            return Err(whole("the plan has no `target`; write `target: http://127.0.0.1:8080/graphql`"));
        }
    };
    let target = Target::read(url).map_err(|message| Mistake::at(place, message))?;
    let generators = Generators::read(text.values, base)?;
    let mut builder =
        Builder { target, base, generators, headers: text.headers, captures: Vec::new(), calls: 0 };
    for (_, operation) in &text.operations.0 {
        builder.captures.extend(operation.value.capture.0.iter().map(|it| it.0.value.clone()));
    }
    let mut operations = builder.operations(text.operations, &text.flows, text.timeout)?;
    let (load_text, load_place) =
        text.load.map_or((Default::default(), Location::UNKNOWN), |it| (it.value, it.referenced));
    let load_text = options.override_plan(load_text).map_err(|message| Mistake::at(load_place, message))?;
    if load_text.replay.is_some() {
        operations.push(builder.replayed_operation()?);
    }
    let flows = flows(text.flows, &operations)?;
    let load = load_text.load(base, |file| {
        let opened = std::fs::File::open(file)
            .map_err(|cause| format!("{} cannot be read: {cause}", file.display()))?;
        let flow = |name: &str| flows.iter().position(|it| it.name == name);
        replay::read(std::io::BufReader::new(opened), flow, flow(REPLAYED))
    });
    let load = load.map_err(|message| Mistake::at(load_place, message))?;
    let errors_max = text.errors_max.map(|it| percent(&it)).transpose()?;
    Ok(Plan {
        name: text.name.unwrap_or_else(|| url.to_owned()),
        target: builder.target,
        seed: text.seed,
        protocol: text.protocol.unwrap_or_default(),
        connections: text.connections,
        streams: text.streams.unwrap_or(16).max(1),
        warmup: text.warmup.unwrap_or_default().0,
        errors_max_percent: errors_max.unwrap_or(0.1),
        ca: text.ca.map(|it| base.join(it.value)),
        schema: text.schema.map(|it| base.join(it.value)),
        load,
        operations,
        flows,
        generators: builder.generators,
        captures: builder.captures.len(),
        watch: text.watch,
    })
}

/// The operation of a log's plain requests.
const REPLAYED: &str = "GET of the log";

/// Reads `0.1%`.
fn percent(text: &Spanned<String>) -> Result<f64, Mistake> {
    let number = text.value.strip_suffix('%').and_then(|it| it.trim().parse::<f64>().ok());
    number.filter(|it| (0.0..=100.0).contains(it)).ok_or_else(|| {
        Mistake::at(text.referenced, format!("`{}` is no share; write one as `0.1%`", text.value))
    })
}

/// The mix: operations with a weight, and flows.
fn flows(
    text: Pairs<Spanned<super::plan_text::FlowText>>,
    operations: &[Operation],
) -> Result<Vec<Flow>, Mistake> {
    let mut flows = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        let is_mixed = operation.over == Over::Http && operation.weight > 0.0;
        if is_mixed && !operation.needs.is_empty() {
            return Err(whole(format!(
                "`{}` uses a value that another operation captures; make both steps of a flow: `flows: {{visit: {{steps: [login, {0}]}}}}`",
                operation.name
            )));
        }
        if is_mixed {
            let name = operation.name.clone();
            let used = operation.used.clone();
            flows.push(Flow { name, weight: operation.weight, think: Duration::ZERO, steps: vec![at], used });
        }
    }
    for (name, flow) in text.0 {
        let mut steps = Vec::new();
        let mut used = Vec::new();
        let mut known = Vec::new();
        for step in &flow.value.steps {
            let Some(at) = operations.iter().position(|it| it.name == step.value) else {
                let names: Vec<&str> = operations.iter().map(|it| it.name.as_str()).collect();
                return Err(Mistake::at(step.referenced, unknown_name("operation", &step.value, &names)));
            };
            let operation = &operations[at];
            if operation.over != Over::Http {
                let message = format!("`{}` is a subscription; it stays open and is no step", step.value);
                return Err(Mistake::at(step.referenced, message));
            }
            if operation.needs.iter().any(|it| !known.contains(it)) {
                let message = format!(
                    "`{}` uses a value that no step before it captures; change the order",
                    step.value
                );
                return Err(Mistake::at(step.referenced, message));
            }
            known.extend(operation.captures.iter().map(|it| it.0));
            used.extend(operation.used.iter().copied());
            steps.push(at);
        }
        if steps.is_empty() || !(flow.value.weight.is_finite() && flow.value.weight > 0.0) {
            return Err(Mistake::at(name.referenced, "a flow needs steps and a weight above 0"));
        }
        used.sort_unstable();
        used.dedup();
        let weight = flow.value.weight;
        let think = flow.value.think.0;
        flows.push(Flow { name: name.value, weight, think, steps, used });
    }
    if flows.is_empty() {
        return Err(whole(
            "there is nothing to send; name operations by `--query`, `--operations`, `--get`, or `operations:` of a plan",
        ));
    }
    Ok(flows)
}

struct Builder<'b> {
    target: Target,
    base: &'b Path,
    generators: Generators,
    headers: Pairs<Spanned<String>>,
    captures: Vec<String>,
    calls: u64,
}

impl Builder<'_> {
    fn resolve(&self, name: &str) -> Result<ValueName, String> {
        if let Some(found) = self.generators.resolve(name)? {
            return Ok(found);
        }
        if let Some(at) = self.captures.iter().position(|it| it == name) {
            return Ok(ValueName::Capture(at));
        }
        let mut known: Vec<&str> = self.generators.names().collect();
        known.extend(self.captures.iter().map(String::as_str));
        known.extend(["words", "between", "pick", "chance"]);
        Err(unknown_name("value", name, &known))
    }

    /// The operations. Those that are steps of a flow are in the mix only if they have a weight.
    fn operations(
        &mut self,
        text: Pairs<Spanned<OperationText>>,
        flows: &Pairs<Spanned<super::plan_text::FlowText>>,
        timeout: Option<Span>,
    ) -> Result<Vec<Operation>, Mistake> {
        let stepped: Vec<&str> =
            flows.0.iter().flat_map(|it| &it.1.value.steps).map(|it| it.value.as_str()).collect();
        let mut operations: Vec<Operation> = Vec::new();
        for (name, mut operation) in text.0 {
            if operations.iter().any(|it| it.name == name.value) {
                return Err(Mistake::at(
                    name.referenced,
                    format!("there are two operations `{}`", name.value),
                ));
            }
            let otherwise = if stepped.contains(&name.value.as_str()) { 0.0 } else { 1.0 };
            operation.value.weight.get_or_insert(otherwise);
            operation.value.timeout = operation.value.timeout.or(timeout);
            operations.push(self.operation(&name, operation)?);
        }
        Ok(operations)
    }

    fn operation(
        &mut self,
        name: &Spanned<String>,
        text: Spanned<OperationText>,
    ) -> Result<Operation, Mistake> {
        let place = text.referenced;
        let text = text.value;
        let named: RefCell<Vec<ValueName>> = RefCell::default();
        let mut calls = self.calls;
        let resolve = |it: &str| {
            let found = self.resolve(it)?;
            named.borrow_mut().push(found);
            Ok(found)
        };
        let mut naming = Naming { resolve: &resolve, calls: &mut calls };
        let target = RequestTarget { path: &self.target.path, base: self.base };
        let parts = RequestParts::read(target, name, &text, place, &mut naming)?;
        let mut headers = self.headers(&text.headers, &mut naming)?;
        for (name, value) in parts.headers {
            let fixed = HeaderName::from_static(name);
            if !headers.iter().any(|it| it.0 == fixed) {
                headers.push((fixed, vec![Piece::Plain(value.to_owned())]));
            }
        }
        let checks = self.checks(&text.check, parts.document.is_some(), &mut naming)?;
        let is_open = parts.kind == OperationKind::Subscription;
        let mark = match &text.mark {
            None => None,
            Some(mark) if is_open => Some(Mark::Pushed(path(mark)?)),
            Some(mark) => Some(Mark::Sent(naming.pieces(&mark.value, mark.referenced)?)),
        };
        let mut captures = Vec::new();
        for (name, from) in &text.capture.0 {
            let slot = self.captures.iter().position(|it| *it == name.value).unwrap_or_default();
            captures.push((slot, path(from)?));
        }
        let (used, needs) = names(&named.into_inner(), &captures);
        let mut operation = Operation {
            name: name.value.clone(),
            kind: parts.kind,
            weight: weight(&text, place)?,
            over: read_over(&text, is_open, place)?,
            clients: text.clients.unwrap_or(1),
            method: parts.method,
            path: parts.path,
            headers,
            body: parts.body,
            document: parts.document,
            checks,
            captures,
            mark,
            timeout: text.timeout.map_or(TIMEOUT, |it| it.0),
            used,
            needs,
            constant: None,
        };
        operation.prepare(&self.target);
        self.calls = calls;
        Ok(operation)
    }

    /// The operation of a log's plain requests.
    fn replayed_operation(&mut self) -> Result<Operation, Mistake> {
        let text = OperationText {
            get: Some(without_location("/".to_owned())),
            weight: Some(1.0),
            ..OperationText::default()
        };
        let mut operation = self.operation(&without_location(REPLAYED.to_owned()), without_location(text))?;
        operation.path = PathTemplate::Replayed;
        operation.constant = None;
        Ok(operation)
    }

    /// The headers of the plan, replaced by those of the operation.
    fn headers(
        &self,
        own: &Pairs<Spanned<String>>,
        naming: &mut Naming<'_, ValueName>,
    ) -> Result<Vec<HeaderTemplate>, Mistake> {
        let mut found: Vec<HeaderTemplate> = Vec::new();
        for (name, value) in self.headers.0.iter().chain(&own.0) {
            let header = header_name(name, value)?;
            found.retain(|it| it.0 != header);
            found.push((header, naming.pieces(&value.value, value.referenced)?));
        }
        Ok(found)
    }

    fn checks(
        &self,
        text: &CheckText,
        is_graphql: bool,
        naming: &mut Naming<'_, ValueName>,
    ) -> Result<Checks, Mistake> {
        let mut equals = Vec::new();
        for (key, value) in &text.equals.0 {
            let mut template = JsonTemplate::default();
            template.push_tree(value, naming)?;
            equals.push((path(key)?, template));
        }
        let expected = text.file.as_ref().map(|file| {
            let found = self.base.join(&file.value);
            let wrong = |cause: String| Mistake::at(file.referenced, format!("{}: {cause}", found.display()));
            let bytes = std::fs::read(&found).map_err(|cause| wrong(cause.to_string()))?;
            serde_json::from_slice(&bytes).map_err(|cause| wrong(format!("it is no JSON: {cause}")))
        });
        Ok(Checks {
            status: text.status,
            refuses_errors: is_graphql && !text.errors.unwrap_or(false),
            exists: text.exists.iter().map(path).collect::<Result<_, _>>()?,
            equals,
            expected: expected.transpose()?,
        })
    }
}

/// The generators that are named, and the captured values that another operation captures.
fn names(named: &[ValueName], own: &[(usize, JsonPath)]) -> (Vec<usize>, Vec<usize>) {
    let mut used: Vec<usize> = named.iter().filter_map(|it| generator(*it)).collect();
    used.sort_unstable();
    used.dedup();
    let capture = |it: &ValueName| if let ValueName::Capture(at) = it { Some(*at) } else { None };
    let is_own = |slot: &usize| own.iter().any(|it| it.0 == *slot);
    (used, named.iter().filter_map(capture).filter(|it| !is_own(it)).collect())
}

fn generator(name: ValueName) -> Option<usize> {
    match name {
        ValueName::Generator(at) | ValueName::Column(at, _) => Some(at),
        ValueName::Capture(_) => None,
    }
}

fn path(text: &Spanned<String>) -> Result<JsonPath, Mistake> {
    JsonPath::read(&text.value).map_err(|message| Mistake::at(text.referenced, message))
}

fn weight(text: &OperationText, place: Location) -> Result<f64, Mistake> {
    let weight = text.weight.unwrap_or(1.0);
    if weight.is_finite() && weight >= 0.0 {
        Ok(weight)
    } else {
        Err(Mistake::at(place, format!("{weight} is no weight; write 0 or more")))
    }
}

fn read_over(text: &OperationText, is_open: bool, place: Location) -> Result<Over, Mistake> {
    match (text.over, is_open) {
        (None, true) => Ok(Over::Websocket),
        (None | Some(Over::Http), false) => Ok(Over::Http),
        (Some(it @ (Over::Websocket | Over::Sse)), true) => Ok(it),
        (Some(Over::Http), true) => {
            Err(Mistake::at(place, "a subscription is `over: websocket` or `over: sse`"))
        }
        (Some(_), false) => Err(Mistake::at(place, "only a subscription is `over` a WebSocket or SSE")),
    }
}
