//! `@auth` on types and interfaces: who may read, add, update, delete, and open by a password.
//!
//! A rule is a test of a claim, `{ $ROLE: { eq: "ADMIN" } }`, a query that finds the objects, or several rules under `and`, `or`
//! and `not`. Words of errors are Dgraph's.

use super::SdlReader;
use crate::auth::graph;
use crate::model::{Auth, ClaimTest, Model, Rule, TypeId};
use regex::Regex;
use weir_language::ast::{Directive, ValueId, ValueKind};
use weir_language::error::{Code, Error};
use weir_language::json::Json;
use weir_language::span::Span;

/// Operands nest no deeper.
const DEPTH_MAX: u32 = 16;
const ONE: &str = "there should be only one of \"and\", \"or\", \"not\" and \"rule\"";

/// A query that is a rule, where it was written.
pub(super) struct GraphRule {
    pub(super) ty: TypeId,
    pub(super) text: String,
    pub(super) span: Span,
}

impl SdlReader<'_> {
    /// `@auth(query:, add:, update:, delete:, password:)`.
    pub(super) fn auth(&mut self, id: TypeId, directive: Directive) {
        let given = self.arguments(directive, ["query", "add", "update", "delete", "password"]);
        let [query, add, update, delete, password] =
            given.map(|it| it.and_then(|value| self.rule(id, value)));
        self.own_auth[id.index()] = Auth { query, add, update, delete, password };
    }

    fn wrong(&mut self, id: TypeId, span: Span, words: &str) {
        let name = self.draft(id).ty.name.clone();
        self.complain(span, format!("Type {name}: @auth: {words}"));
    }

    fn rule(&mut self, id: TypeId, value: ValueId) -> Option<Rule> {
        let span = self.document.value(value).span;
        let members = match self.document.value(value).kind {
            ValueKind::Object(members) if !members.is_empty() => members,
            ValueKind::Object(_) | ValueKind::Null => {
                self.wrong(id, span, &format!("no arguments - {ONE}"));
                return None;
            }
            _ => {
                self.wrong(id, span, ONE);
                return None;
            }
        };
        let [and, or, not, rule] = self.object_fields(value, ["and", "or", "not", "rule"]);
        let known = [and, or, not, rule].into_iter().flatten().count();
        if known != 1 || members.len() != 1 {
            if known == members.len() || known > 1 {
                self.wrong(id, span, ONE);
            }
            return None;
        }
        match (and, or, not, rule) {
            (Some(list), ..) => self.rules(id, list, "AND").map(Rule::All),
            (_, Some(list), ..) => self.rules(id, list, "OR").map(Rule::Any),
            (_, _, Some(value), _) => self.rule(id, value).map(|it| Rule::Not(Box::new(it))),
            (.., Some(text)) => self.text(id, text),
            _ => None,
        }
    }

    fn rules(&mut self, id: TypeId, value: ValueId, name: &str) -> Option<Vec<Rule>> {
        let span = self.document.value(value).span;
        let items: Vec<ValueId> = match self.document.value(value).kind {
            ValueKind::List(items) => items.range().map(|at| ValueId(at as u32)).collect(),
            _ => vec![value],
        };
        match items.len() {
            0 => {
                self.wrong(id, span, ONE);
                return None;
            }
            1 => {
                self.wrong(id, span, &format!("'{name}' should contain at least two rules"));
                return None;
            }
            _ => {}
        }
        let read: Vec<Option<Rule>> = items.into_iter().map(|it| self.rule(id, it)).collect();
        read.into_iter().collect()
    }

    fn text(&mut self, id: TypeId, value: ValueId) -> Option<Rule> {
        let (text, span) = self.string(value)?;
        if !text.trim_start().starts_with('{') {
            self.graph_rules.push(GraphRule { ty: id, text: text.clone(), span });
            return Some(Rule::Graph { text, on: id });
        }
        match claim_rule(&text) {
            Ok(rule) => Some(rule),
            Err(words) => {
                self.wrong(id, span, &words);
                None
            }
        }
    }

    /// A rule of an interface is one of all its types too.
    pub(super) fn inherit_auth(&mut self) {
        for id in self.type_ids() {
            let interfaces = self.draft(id).ty.interfaces.clone();
            let mut auth = self.own_auth[id.index()].clone();
            for above in interfaces {
                auth.join(&self.own_auth[above.index()]);
            }
            self.types[id.index()].ty.auth = auth;
        }
    }
}

/// Reads `{ $NAME: { OPERATOR: OPERAND } }`.
fn claim_rule(text: &str) -> Result<Rule, String> {
    let whole = text.trim();
    let invalid = || format!("`{text}` is not a valid rule.");
    if whole.contains('\n') {
        return Err(invalid());
    }
    let inner = whole.strip_prefix('{').and_then(|it| it.strip_suffix('}')).ok_or_else(invalid)?;
    let (name, test) = inner.split_once(':').ok_or_else(invalid)?;
    let name = name.trim();
    let not_a_variable = || format!("`{name}` is not a valid GraphQL variable.");
    let claim = name.strip_prefix('$').filter(|it| !it.is_empty()).ok_or_else(not_a_variable)?;
    let test = test.trim().strip_prefix('{').and_then(|it| it.strip_suffix('}')).ok_or_else(invalid)?;
    let (operator, operand) = test.split_once(':').ok_or_else(invalid)?;
    let operator = operator.trim();
    let operand = operand.trim();
    let json = Json::parse(operand.as_bytes(), DEPTH_MAX).map_err(|_| not_a_variable())?;
    let value = json.root();
    if !["eq", "in", "regexp"].contains(&operator) {
        return Err(format!("`{operator}` operator is not supported."));
    }
    if value.is_null() {
        return Err(format!("`{operator}` operator has invalid value. null values aren't supported."));
    }
    let wrong = |words: &str| Err(format!("`{operator}` operator has invalid value `{operand}`. {words}"));
    let test = match operator {
        "eq" if value.is_array() => return wrong("Array values in eq operator will not be supported."),
        "eq" => ClaimTest::Equals(operand.to_owned()),
        "in" if !value.is_array() => return wrong("Value should be an array."),
        "in" => ClaimTest::In(operand.to_owned()),
        _ => {
            let Some(pattern) = value.as_str() else { return wrong("Value should be of type String.") };
            if Regex::new(&pattern).is_err() {
                return Err(format!("`{name}` does not have a valid regex expression."));
            }
            ClaimTest::Matches(pattern.into_owned())
        }
    };
    Ok(Rule::Claim { name: claim.to_owned(), test })
}

/// Checks the queries among the rules of `model` against its API.
pub(super) fn check(model: &Model, rules: Vec<GraphRule>) -> Result<(), Vec<Error>> {
    if rules.is_empty() {
        return Ok(());
    }
    let api = crate::api::generate(model.clone())?;
    let mut errors = Vec::new();
    for GraphRule { ty, text, span } in rules {
        let name = &model.ty(ty).name;
        if let Err(words) = graph::read(&api, name, &text) {
            let message = format!("Type {name}: @auth: {words}");
            errors.push(Error { message, spans: vec![span], code: Code::Schema });
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
