//! A question by key, written so that one statement asks it for many keys at once.

use super::assembly::{Assembler, MergedText};
use super::{ParentKey, Renderer};
use crate::catalog::Placement;
use crate::plan::operators::Comparison;
use crate::plan::{Expr, Filter, MemberKind, Origin, Output, Reader};

/// The merged form of a level with at most one row: its only parameters are the values of its key.
pub(super) fn merge_level(assembler: &Assembler<'_>, level: u32) -> Option<MergedText> {
    let plan = assembler.plan;
    let query = &plan.levels[level as usize].query;
    let single = plan.members.iter().any(|it| it.kind == MemberKind::One(level));
    let table = assembler.renderer.relations.catalog.table(query.table());
    let is_spread = matches!(table.placement, Placement::Sharded { .. } | Placement::Single { .. });
    if query.call.is_some() || is_spread && !assembler.dialect.flavour.abilities().merges_by_join {
        return None;
    }
    let Output::Rows(columns) = &query.output else { return None };
    let plain = columns.iter().all(|it| matches!(it, Expr::Column(_)));
    let conditions = match &query.filter {
        Filter::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let origins: Option<Vec<_>> = conditions.iter().map(key).collect();
    let origins = origins.filter(|it| single && plain && !it.is_empty())?;
    let dialect = assembler.dialect;
    let mut renderer = Renderer::new(dialect, assembler.renderer.relations, origins.len());
    let column = |at: usize| format!("p.k{at}");
    let keys = origins.iter().enumerate();
    renderer.parents =
        keys.map(|(at, origin)| ParentKey { origin: origin.clone(), column: column(at), ty: None }).collect();
    let scope = renderer.scope(query);
    let columns: String = renderer.columns(columns, scope).into_iter().map(|it| format!(", {it}")).collect();
    renderer.sql = format!("SELECT p.n{columns} FROM {} JOIN ", unnest(origins.len(), "p", "k"));
    renderer.table(scope);
    renderer.conditions(query, scope, " ON ");
    // A value of the policy is each caller's own.
    if !renderer.parameters.is_empty() {
        return None;
    }
    let oids: Vec<u32> =
        renderer.parents.iter().map(|it| dialect.list_of_keys(it.ty.unwrap_or(0))).collect::<Option<_>>()?;
    Some(MergedText { sql: renderer.sql, oids })
}

/// The origin of the value that a column has to equal.
fn key(filter: &Filter) -> Option<Origin> {
    let Filter::Compare { of: Expr::Column(_), by: Comparison::Eq, with } = filter else { return None };
    matches!(with.reader, Reader::Column(_)).then(|| with.origin.clone())
}

/// Lists as a relation, such as `p`: columns like `k0`, `k1` …, and `n`, the place from one.
pub(super) fn unnest(lists: usize, relation: &str, column: &str) -> String {
    let names: String = (0..lists).map(|it| format!("{column}{it}, ")).collect();
    let lists: Vec<String> = (1..=lists).map(|it| format!("${it}")).collect();
    format!("unnest({}) WITH ORDINALITY AS {relation}({names}n)", lists.join(", "))
}
