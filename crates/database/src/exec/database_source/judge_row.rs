//! Judges one row for an operator: asks the database for the truth of each condition of a caller's policy.
//!
//! **Invariant:** the policy is the one that reads of the same identity have, rendered and bound by the same code; the answer
//! of the database is a row or none, so that no value of the row leaves.
//!
//! **Cost:** one statement per level; a plan is made for each question and kept by nobody.

use crate::exec::driver::{Driver, PlannedFetch, RelationalFetch, SourceState};
use crate::exec::plans::forms::Forms;
use crate::frontend::form::Form;
use crate::frontend::{ApiFrontend, Ask, RowRights};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use weir_engine::caller::Facts;
use weir_engine::plan::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSet, SelectionSetId,
};
use weir_engine::source::{
    FetchBody, FetchInput, Ids, JudgedColumn, JudgedCondition, NoJudgement, Protocol, RowJudgement,
    RowQuestion, SourceError, Truth,
};
use weir_language::schema::{FieldId, TypeId, TypeRef};
use weir_language::value::Variables;
use weir_language::wraps::Wraps;
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{Table, TableId};
use weir_relational::passes::policy::row_questions::{AskedCondition, ConditionKind, RowQuestions};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Expr, Filter, Member, MemberKind, Parameter, Plan, Purpose, Reader, Run};

/// Values of a key.
const KEY_MAX: usize = 32;

/// Conditions on the asked row, and the levels that answer them.
struct Questions {
    there: u32,
    /// `None`: a session variable is missing.
    seen: Option<u32>,
    missing: Vec<Box<str>>,
    condition: AskedCondition,
    cells: Vec<(u32, AskedCondition)>,
    is_cut: bool,
}

/// Judges the row that `question` asks for.
pub(super) async fn judge<D: Driver>(
    state: &Arc<SourceState<D>>,
    question: RowQuestion<'_>,
) -> Result<RowJudgement, NoJudgement> {
    let frontend = &*state.frontend;
    let mut facts = Facts::new();
    frontend.profile(question.identity, &mut facts);
    if let Some(reason) = frontend.refusal(question.caller.claims(), &facts) {
        let words = format!("the caller's token does not hold: {reason}");
        return Err(NoJudgement::Question(words.into()));
    }
    let table = find_table(frontend, question.table)?;
    let mut rights = frontend.row_rights(table, &facts).map_err(NoJudgement::Question)?;
    let draft = question.filter.map(|it| frontend.read_condition(table, it));
    let draft = draft.transpose().map_err(|it| NoJudgement::Question(format!("`filter`: {it}").into()))?;
    if draft.is_some() {
        rights.is_granted = true;
        rights.parts = Vec::new();
    }
    let key = make_key_condition(frontend, table, question.key)?;
    let (questions, plan) = ask_conditions(frontend, &facts, &question, (table, key), (&rights, draft));
    let found = find_rows(state, plan, &question, &facts).await?;
    Ok(make_judgement(&questions, rights, frontend.relations().catalog.table(table), &found))
}

/// By level of `plan`: whether it has a row.
async fn find_rows<D: Driver>(
    state: &Arc<SourceState<D>>,
    mut plan: Plan,
    question: &RowQuestion<'_>,
    facts: &[u64],
) -> Result<Vec<bool>, NoJudgement> {
    let levels = plan.levels.len() as u32;
    add_members(&mut plan);
    let fetch = make_fetch(state, plan, levels, facts)?;
    let output = Arc::new(make_output_plan(levels));
    let variables = Arc::new(Variables::default());
    let input = FetchInput {
        output: &output,
        variables: &variables,
        caller: question.caller,
        parent_keys: None,
        headers: question.headers,
        deadline: question.deadline,
        hold_back_bytes: usize::MAX,
        request_scope: None,
        objects: None,
        changes: None,
        span: None,
        may_join: false,
        stream: None,
        first_items: None,
    };
    let Some(prepared) = fetch.forms.fixed_plan() else { return Ok(Vec::new()) };
    let run = PlannedFetch { fetch: &fetch, input, prepared: Cow::Borrowed(prepared), form: Form::default() };
    let answer = tokio::time::timeout_at(question.deadline.into(), D::read(run, Vec::new())).await;
    let result = answer.unwrap_or(Err(SourceError::Timeout)).map_err(NoJudgement::Source)?;
    if let Some(error) = result.errors.into_iter().next() {
        return Err(error.error.into());
    }
    let FetchBody::Finished(finished) = result.body else {
        return Err(NoJudgement::Source(SourceError::Broken("a judgement came as rows".into())));
    };
    let starts = std::iter::once(0).chain(finished.ends.iter().copied());
    let members = starts.zip(&finished.ends).map(|(start, end)| start as usize..*end as usize);
    Ok(members.map(|it| !finished.bytes[it].ends_with(b":null,")).collect())
}

fn make_fetch<D: Driver>(
    state: &Arc<SourceState<D>>,
    plan: Plan,
    levels: u32,
    facts: &[u64],
) -> Result<Arc<RelationalFetch<D>>, NoJudgement> {
    let ask = Ask {
        set: SelectionSetId::ROOT,
        fields: (1..=levels).collect(),
        protocol: Protocol::GraphqlOverHttp,
        structural: Vec::new(),
        objects: Vec::new(),
        signed: Vec::new(),
        steered: Vec::new(),
        named: Vec::new(),
        conditions_max: u32::MAX,
        is_stream: false,
        facts: facts.into(),
    };
    let too_wide =
        || NoJudgement::Question("the policy is too large to be asked condition by condition".into());
    let prepared = D::prepare(state, plan, None, false).map_err(|_| too_wide())?;
    Ok(Arc::new(RelationalFetch {
        state: Arc::clone(state),
        ids: Arc::new(Ids::default()),
        ask,
        rows: false,
        streams: false,
        answer_bytes: AtomicUsize::new(256),
        forms: Forms::one(prepared),
        parent_keys: None,
        in_mutation: false,
    }))
}

/// Gives each level of `plan` a member at the root: an object of one null, or null.
fn add_members(plan: &mut Plan) {
    let member = |field: u32, kind: MemberKind| Member {
        field,
        same_as: None,
        copied: false,
        nullable: true,
        null_items: false,
        kind,
    };
    plan.members.push(member(0, MemberKind::Leaf { column: 0, cell: Cell::Text }));
    for at in 0..plan.levels.len() as u32 {
        plan.levels[at as usize].members = Run { start: 0, len: 1 };
        plan.members.push(member(at + 1, MemberKind::One(at)));
    }
    plan.root = Run { start: 1, len: plan.levels.len() as u32 };
}

/// The form of the answer: a member per level.
fn make_output_plan(levels: u32) -> OutputPlan {
    let field = |key: &str, member: OutputKind| OutputField {
        key: ResponseKey::new(key),
        field: FieldId(0),
        ty: TypeRef { base: TypeId(0), wraps: Wraps::default() },
        arguments_start: 0,
        arguments_len: 0,
        member,
        same_as: None,
        offset: 0,
        membership: 0,
    };
    let set = |start, len| SelectionSet { on: TypeId(0), start, len, hidden: Vec::new(), is_entity: false };
    let rows = (0..levels).map(|_| field("row", OutputKind::Object(SelectionSetId(1))));
    OutputPlan {
        sets: vec![set(1, levels), set(0, 1)],
        fields: std::iter::once(field("value", OutputKind::Leaf)).chain(rows).collect(),
        ..OutputPlan::default()
    }
}

fn find_table(frontend: &dyn ApiFrontend, name: &str) -> Result<TableId, NoJudgement> {
    let catalog = &frontend.relations().catalog;
    let parted = name.split_once('.').and_then(|(schema, name)| catalog.find(schema, name));
    // The name of a table may hold dots itself.
    let found = parted.or_else(|| catalog.find("", name));
    found.ok_or_else(|| NoJudgement::Question(format!("there is no table \"{name}\"").into()))
}

/// The condition that a row has these values, which identify one.
fn make_key_condition(
    frontend: &dyn ApiFrontend,
    table: TableId,
    key: &[(String, String)],
) -> Result<Filter, NoJudgement> {
    let refuse = |words: String| NoJudgement::Question(words.into());
    if key.len() > KEY_MAX {
        return Err(refuse(format!("a key has at most {KEY_MAX} columns")));
    }
    let of = frontend.relations().catalog.table(table);
    let mut columns = Vec::with_capacity(key.len());
    let mut all = Vec::with_capacity(key.len());
    for (name, value) in key {
        let (column, text) =
            frontend.row_key(table, name, value).map_err(|it| refuse(format!("`key`: {it}")))?;
        let reader = Reader::Column(of.column(column).ty.clone());
        let with = Parameter::constant(text, reader);
        columns.push(column);
        all.push(Filter::Compare { of: Expr::Column(column), by: Comparison::Eq, with });
    }
    let keys = of.primary_key.iter().chain(&of.unique_keys);
    let mut keys = keys.map(|it| &it.columns);
    if !keys.any(|it| it.iter().all(|column| columns.contains(column))) {
        return Err(refuse(format!("`key` has to name all columns of a key of \"{}\"", of.name)));
    }
    Ok(Filter::All(all))
}

/// The questions about the row of `table` with `key`, and the plan that answers them.
fn ask_conditions(
    frontend: &dyn ApiFrontend,
    facts: &[u64],
    question: &RowQuestion<'_>,
    (table, key): (TableId, Filter),
    (rights, draft): (&RowRights, Option<Filter>),
) -> (Questions, Plan) {
    let has = |name: &str| question.caller.claims().variable(name).is_some();
    let mut asking = RowQuestions::new(frontend.relations(), table, key, &has);
    let policy = frontend.policy(facts);
    let is_draft = draft.is_some();
    let rows = draft.or_else(|| policy.rows(table, Purpose::Root));
    let guards = || policy.cells(table).iter().filter(|_| !is_draft);
    // A read is refused for what the guard of any cell lacks, too.
    let mut missing: Vec<Box<str>> = rows.iter().flat_map(|it| asking.find_missing(it)).collect();
    missing.extend(guards().flat_map(|it| asking.find_missing(&it.shown_if)));
    missing.sort_unstable();
    missing.dedup();
    let there = asking.ask_row(None).unwrap_or_default();
    let seen = asking.ask_row(rows.clone());
    let condition = match &*rights.parts {
        [] => asking.ask(&rows.unwrap_or_default()),
        parts => {
            let mut whole = asking.ask(&Filter::Any(Vec::new()));
            whole.kind = ConditionKind::Any;
            whole.text = "one of the roles that it inherits sees the row".to_owned();
            whole.asked = None;
            let part = |(role, filter): &(Box<str>, Arc<Filter>)| {
                let role = Some(role.clone());
                AskedCondition { role, ..asking.ask(filter) }
            };
            whole.parts = parts.iter().map(part).collect();
            whole
        }
    };
    let cells = guards().map(|it| (it.column.0, asking.ask(&it.shown_if))).collect();
    let questions = Questions { there, seen, missing, condition, cells, is_cut: asking.is_cut() };
    (questions, asking.into_plan(|level| level + 1))
}

fn make_judgement(questions: &Questions, rights: RowRights, table: &Table, found: &[bool]) -> RowJudgement {
    let has_row = |level: u32| found.get(level as usize).copied().unwrap_or_default();
    let exists = has_row(questions.there);
    let mut condition = judge_condition(&questions.condition, found);
    if exists && !rights.parts.is_empty() {
        condition.truth = match questions.seen {
            None => Truth::Unasked,
            Some(level) if has_row(level) => Truth::True,
            Some(_) => Truth::False,
        };
    }
    let column = |(at, column): (usize, &weir_relational::catalog::Column)| {
        let shown_if = questions.cells.iter().find(|it| it.0 as usize == at);
        JudgedColumn {
            name: column.name.clone(),
            is_granted: rights.columns.get(at).copied().unwrap_or_default(),
            shown_if: shown_if.map(|it| judge_condition(&it.1, found)),
        }
    };
    let columns = if rights.columns.is_empty() { &[][..] } else { &table.columns };
    RowJudgement {
        exists,
        is_visible: exists
            && rights.is_granted
            && questions.missing.is_empty()
            && questions.seen.is_some_and(has_row),
        is_granted: rights.is_granted,
        missing: questions.missing.clone(),
        condition,
        is_cut: questions.is_cut,
        columns: columns.iter().enumerate().map(column).collect(),
        limit: rights.limit,
    }
}

fn judge_condition(asked: &AskedCondition, found: &[bool]) -> JudgedCondition {
    let has_row = |level: u32| found.get(level as usize).copied().unwrap_or_default();
    let truth = match asked.asked {
        None => Truth::Unasked,
        Some(levels) if has_row(levels.is_true) => Truth::True,
        Some(levels) => match levels.is_false {
            Some(level) if !has_row(level) => Truth::Unknown,
            Some(_) | None => Truth::False,
        },
    };
    let kind = match asked.kind {
        ConditionKind::All => "all",
        ConditionKind::Any => "any",
        ConditionKind::Not => "not",
        ConditionKind::Exists => "exists",
        ConditionKind::Test => "test",
    };
    JudgedCondition {
        kind,
        text: asked.text.clone(),
        role: asked.role.clone(),
        truth,
        missing: asked.missing.clone(),
        parts: asked.parts.iter().map(|it| judge_condition(it, found)).collect(),
    }
}
