//! Wraps the source of services for a native source: callers with an invalid token get errors.

use std::sync::Arc;
use weir_engine::caller::{Caller, Facts, Identity, Token};
use weir_engine::demand::CostRule;
use weir_engine::lifetime::HintAt;
use weir_engine::rows::{CellError, Column, Table};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, FieldResolver, OthersChanges,
    PlanError, PlanNode, PreparedFetch, Source, SourceError, Tag,
};
use weir_http::source::HttpSource;
use weir_language::ast::OperationKind;
use weir_language::schema::{FieldId, Schema, Visibility};
use weir_native::custom::Customs;

/// Fact of a caller with an invalid token.
const REFUSED: u64 = 1;

/// The services of the `@custom` fields of one native source.
pub(crate) struct CustomSource {
    http: HttpSource,
    /// True if tokens are verified, because of a line `# Dgraph.Authorization`.
    is_guarded: bool,
    /// Queries with `@withSubscription`.
    live: Vec<FieldId>,
}

impl CustomSource {
    pub(crate) fn new(http: HttpSource, customs: &Customs, is_guarded: bool) -> Self {
        let schema = http.schema();
        let live = customs.fields.iter().filter(|it| it.is_live);
        let live = live.filter_map(|it| schema.field_by_name(schema.query, &it.name)).collect();
        Self { http, is_guarded, live }
    }
}

impl Source for CustomSource {
    fn name(&self) -> &str {
        self.http.name()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.http.schema()
    }

    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        self.http.field_resolver()
    }

    fn is_live(&self, field: FieldId) -> bool {
        self.live.contains(&field)
    }

    fn others_changes(&self) -> OthersChanges {
        self.http.others_changes()
    }

    fn cost_rules(&self) -> &[CostRule] {
        self.http.cost_rules()
    }

    fn hints(&self) -> &[HintAt] {
        self.http.hints()
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        let is_refused = matches!(identity.claims.token(), Token::Refused(_));
        facts.extend((self.is_guarded && is_refused && !identity.is_admin()).then_some(REFUSED));
    }

    fn visibility(&self, _: &[u64]) -> Option<Visibility> {
        None
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        if node.facts.is_empty() {
            return self.http.prepare(node);
        }
        let what = |field: &u32| {
            let member = &node.output.fields[*field as usize];
            match node.kind {
                OperationKind::Mutation => format!("mutation {}", node.schema.field_name(member.field)),
                OperationKind::Query | OperationKind::Subscription => format!("query {}", member.key.name()),
            }
        };
        Ok(Box::new(RefusedFetch { fields: node.fields.iter().map(what).collect() }))
    }
}

/// Error of the call `what` for a caller with an invalid token.
fn refusal(what: &str, caller: &Caller) -> FieldError {
    let reason = match caller.claims().token() {
        Token::Refused(reason) => &**reason,
        Token::Absent | Token::Claims(_) => "",
    };
    let message = format!("couldn't rewrite {what} because {reason}").into();
    FieldError { code: "INVALID_TOKEN", message, hasura_path: None, extensions: None }
}

/// A fetch that makes no call and returns errors.
struct RefusedFetch {
    /// Name of each member's call, for messages.
    fields: Vec<String>,
}

impl PreparedFetch for RefusedFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let rows = input.parent_keys.and_then(<[Column]>::first).map_or(1, Column::len);
        let column = |what: &String| {
            let error = refusal(what, input.caller);
            let mut column = Column::default();
            for row in 0..rows {
                column.nulls.set(row);
                column.errors.push(CellError { row: row as u32, error: error.clone() });
            }
            column
        };
        let columns = self.fields.iter().map(column).collect();
        let table = Table { rows: rows as u32, columns, hidden: Vec::new() };
        let result = FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None };
        Box::pin(std::future::ready(Ok(result)))
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn refusal(&self, input: FetchInput<'_>) -> Option<FieldError> {
        self.fields.first().map(|what| refusal(what, input.caller))
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("nothing: the token does not hold\n");
    }
}
