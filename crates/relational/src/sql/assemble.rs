//! Levels become one statement: all rows of all levels of a plan in one trip and one snapshot.
//!
//! One level alone is a plain `SELECT`. Several are common table expressions, computed once, and the arms of a
//! `UNION ALL`, one per level: the first column is the arm's place, the others are `Slots` that arms share. A level
//! below another runs over the keys of its parent's rows and gives them back, so that rows find their parents by equal
//! bytes.
//!
//! **Invariant:** an arm comes after that of its parent. Where an order was asked, the rows of an arm are in it.
//!
//! **Cost:** linear in the plan; run once per plan and form.

use super::assembly::{Assembler, Draft};
use super::nested::Nested;
use super::slots::Slots;
use super::{ParentKey, QueryParts, Renderer};
use crate::catalog::Relations;
use crate::catalog::postgres_types::oid;
use crate::dialect::postgres::Postgres;
use crate::plan::{Judged, Plan, Query};

pub use super::assembly::{Arm, Assembly, MergedText, Parents, TooWide};

/// PostgreSQL's lists of columns end at 1,664.
const COLUMNS_MAX: usize = 1_600;

/// Renders one statement for the levels `tops` of `plan` and all below them.
/// # Errors
/// The statement would have too many columns.
pub fn assemble(
    dialect: &Postgres,
    relations: &Relations,
    plan: &Plan,
    tops: &[u32],
    parents: Parents<'_>,
) -> Result<Assembly, TooWide> {
    Assembler::new(dialect, relations, plan, parents).assemble(tops)
}

/// Renders the rows of the level `only` alone, without the levels below it.
/// # Errors
/// The rows have too many columns.
pub fn assemble_alone(
    dialect: &Postgres,
    relations: &Relations,
    plan: &Plan,
    only: u32,
) -> Result<Assembly, TooWide> {
    let mut assembler = Assembler::new(dialect, relations, plan, Parents::None);
    // The levels below may never be asked, where there is no row.
    assembler.judges_below = true;
    assembler.single(only)
}

impl<'a> Assembler<'a> {
    /// One statement of the levels `tops` and all below them.
    pub(super) fn assemble(mut self, tops: &[u32]) -> Result<Assembly, TooWide> {
        if let ([only], Parents::None | Parents::Row(_)) = (tops, self.parents)
            && self.nested_levels(*only).is_empty()
        {
            return self.single(*only);
        }
        self.several = tops.len() > 1;
        self.levels(tops);
        self.finish()
    }

    /// The levels directly below a level.
    fn nested_levels(&self, level: u32) -> Vec<u32> {
        self.plan.levels_of(level)
    }

    /// Renders a single level without parents as a plain `SELECT`.
    fn single(mut self, level: u32) -> Result<Assembly, TooWide> {
        let query = &self.plan.levels[level as usize].query;
        let types = self.types(level);
        let parts = self.renderer.query(query);
        let sql = self.renderer.replace_marks(parts.sql());
        for judged in self.patterns_below(level) {
            self.renderer.judge_pattern(judged);
        }
        let sql = self.renderer.with_judgement(sql, Some(query));
        let sql = self.renderer.with_natives(sql);
        let arm = Arm { level, columns: (0..types.len() as u16).collect(), keys: Vec::new() };
        if types.len() > COLUMNS_MAX {
            return Err(TooWide);
        }
        let is_root = matches!(self.parents, Parents::None);
        let merged = if is_root { super::merged::merge_level(&self, level) } else { None };
        let mut oids = self.key_types();
        let Renderer { parameters, types: bound, tables, .. } = self.renderer;
        oids.extend(bound);
        Ok(Assembly { sql, parameters, oids, columns: types, arms: vec![arm], tables, merged })
    }

    /// The patterns of the levels below `level`, at any depth.
    fn patterns_below(&self, level: u32) -> Vec<&'a Judged> {
        let mut levels = if self.judges_below { self.nested_levels(level) } else { Vec::new() };
        let mut at = 0;
        while let Some(level) = levels.get(at) {
            levels.extend(self.nested_levels(*level));
            at += 1;
        }
        self.plan.judged.iter().filter(|it| it.level.is_some_and(|level| levels.contains(&level))).collect()
    }

    /// Drafts all levels, parents before children.
    fn levels(&mut self, tops: &[u32]) {
        // A level and the arm of its parent.
        let mut waiting: Vec<(u32, Option<usize>)> = tops.iter().rev().map(|&it| (it, None)).collect();
        while let Some((level, parent)) = waiting.pop() {
            let below = self.nested_levels(level);
            let draft = match (parent, self.parents) {
                (Some(parent), _) => Nested::below_arm(self, level, parent).draft(),
                (None, Parents::Keys(_) | Parents::Rows(_)) => Nested::below_memory(self, level).draft(),
                (None, Parents::None | Parents::Row(_)) => self.top(level),
            };
            let at = self.arms.len();
            let ordered = !self.plan.levels[level as usize].query.order.is_empty();
            let limited = self.plan.levels[level as usize].query.page.limit.is_some();
            // Two parallel workers could share a sorted arm between them; none reads a common table expression.
            let shuffled = parent.is_none() && self.several && ordered && !limited;
            let draft = if below.is_empty() && !shuffled { draft } else { self.set_aside(at, draft) };
            self.arms.push(draft);
            waiting.extend(below.into_iter().rev().map(|it| (it, Some(at))));
        }
    }

    /// A level of a root field.
    fn top(&mut self, level: u32) -> Draft {
        let query = &self.plan.levels[level as usize].query;
        let types = self.types(level);
        let QueryParts { distinct, columns, rest } = self.renderer.query(query);
        let columns = columns.into_iter().zip(types).collect();
        let paged = query.page.limit.is_some() || query.page.offset.is_some();
        let bracketed = paged || !query.order.is_empty();
        Draft { level, columns, keys: Vec::new(), distinct, rest, bracketed, repeats: false }
    }

    /// Makes the level of arm `at` a common table expression that its children read too.
    fn set_aside(&mut self, at: usize, draft: Draft) -> Draft {
        let Draft { level, columns, keys, distinct, rest, bracketed: _, repeats } = draft;
        let mut named: Vec<String> =
            columns.iter().enumerate().map(|(at, (text, _))| format!("{text} AS c{at}")).collect();
        // A key that is an output column already has its name.
        let mut outer_keys = Vec::with_capacity(keys.len());
        for (place, (text, ty)) in keys.into_iter().enumerate() {
            let known = columns.iter().position(|it| it.0 == text);
            outer_keys.push(match known {
                Some(known) => (format!("l{at}.c{known}"), ty),
                None => {
                    named.push(format!("{text} AS k{place}"));
                    (format!("l{at}.k{place}"), ty)
                }
            });
        }
        if named.is_empty() {
            named.push("1".to_owned());
        }
        self.ctes.push(format!("l{at} AS MATERIALIZED (SELECT {distinct}{}{rest})", named.join(", ")));
        let columns =
            columns.into_iter().enumerate().map(|(c, (_, ty))| (format!("l{at}.c{c}"), ty)).collect();
        let rest = format!(" FROM l{at}");
        Draft { level, columns, keys: outer_keys, distinct: String::new(), rest, bracketed: false, repeats }
    }

    fn finish(mut self) -> Result<Assembly, TooWide> {
        let mut slots = Slots::default();
        let mut arms = Vec::with_capacity(self.arms.len());
        let mut texts = Vec::with_capacity(self.arms.len());
        for draft in &self.arms {
            let mut taken = Vec::new();
            // Column 0 of the result says which arm.
            let after = |slots: Vec<u16>| slots.into_iter().map(|it| it + 1).collect();
            if slots.types.len() + draft.columns.len() + draft.keys.len() > COLUMNS_MAX {
                return Err(TooWide);
            }
            let columns = after(slots.place(&draft.columns, &mut taken));
            let keys = after(slots.place(&draft.keys, &mut taken));
            arms.push(Arm { level: draft.level, columns, keys });
            texts.push(taken);
        }
        let mut sql = String::new();
        for (at, cte) in self.ctes.iter().enumerate() {
            sql.push_str(if at == 0 { "WITH " } else { ", " });
            sql.push_str(cte);
        }
        sql.push_str(if self.ctes.is_empty() { "" } else { " " });
        for (at, (draft, texts)) in self.arms.iter().zip(texts).enumerate() {
            sql.push_str(if at == 0 { "" } else { " UNION ALL " });
            self.write_arm(&mut sql, at, draft, &texts, &slots);
        }
        let sql = self.renderer.replace_marks(sql);
        let sql = self.renderer.with_judgement(sql, self.last_query());
        let sql = self.renderer.with_natives(sql);
        let mut oids = self.key_types();
        let Renderer { parameters, types, tables, .. } = self.renderer;
        oids.extend(types);
        let columns = std::iter::once(oid::INT2).chain(slots.types).collect();
        Ok(Assembly { sql, parameters, oids, columns, arms, tables, merged: None })
    }

    /// The query of the only arm, which stands without brackets as that of a root field does.
    fn last_query(&self) -> Option<&'a Query> {
        match (self.arms.as_slice(), self.parents) {
            ([only], Parents::None | Parents::Row(_)) if only.bracketed => {
                Some(&self.plan.levels[only.level as usize].query)
            }
            _ => None,
        }
    }

    /// The numbers of the types of the parents' keys.
    fn key_types(&self) -> Vec<u32> {
        let is_row = matches!(self.parents, Parents::Row(_));
        let ty = |it: &ParentKey| {
            let ty = it.ty.unwrap_or(oid::TEXT);
            match self.dialect.list_of_keys(ty) {
                Some(_) if is_row => ty,
                Some(list) => list,
                // Without lists it goes as text.
                None if is_row => oid::TEXT,
                None => oid::TEXT_ARRAY,
            }
        };
        self.renderer.parents.iter().map(ty).collect()
    }

    fn write_arm(&self, sql: &mut String, at: usize, draft: &Draft, texts: &[Option<String>], slots: &Slots) {
        let bracketed = draft.bracketed && self.arms.len() > 1;
        sql.push_str(if bracketed { "(SELECT " } else { "SELECT " });
        sql.push_str(&draft.distinct);
        sql.push_str(&format!("{at}::int2"));
        for (slot, &ty) in slots.types.iter().enumerate() {
            sql.push_str(", ");
            match texts.get(slot).and_then(Option::as_ref) {
                Some(text) => sql.push_str(text),
                None if at == 0 => sql.push_str(&format!("NULL::{}", self.dialect.cast_name(ty))),
                None => sql.push_str("NULL"),
            }
        }
        sql.push_str(&draft.rest);
        sql.push_str(if bracketed { ")" } else { "" });
    }
}
