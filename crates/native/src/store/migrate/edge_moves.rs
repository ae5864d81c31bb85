//! Edges that stand elsewhere after a migration: from a table of pairs to a column, from one side to the other.
//!
//! An edge has one place, whichever of its two fields names it. What an old field held is read as pairs of numbers before
//! anything is changed, and written to the new place when that is there.
//!
//! **Invariant:** a pair is moved once, though both of its fields name it.

use super::data_check::{Change, DataCheck, NAMED_MAX, Verdict, place};
use super::renames::Renames;
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, TypeId, TypeKind};
use crate::store::Types;
use crate::store::ddl::quote_identifier;
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::plan::ddl::Definition;

/// The new model's storage of an edge: a field that has the column or table of pairs.
pub(super) struct EdgeMove {
    pub(super) field: FieldId,
    /// Old fields whose pairs move there; `true` if the pairs are swapped.
    pub(super) from: Vec<(FieldId, bool)>,
    /// Old field that keeps its column or table.
    pub(super) carried: Option<FieldId>,
}

/// The pairs of an object's edge before: `a` has the field, `b` is the other.
pub(super) fn pairs(types: &Types, id: FieldId) -> String {
    let owner = types.model.field(id).owner;
    match types.layout.fields[id.index()] {
        Storage::ToOne { column, .. } => {
            let table = types.layout.tables[owner.index()];
            let (name, column) = place(types, table, column);
            format!(
                "SELECT {} AS a, {column} AS b FROM {name} WHERE {column} IS NOT NULL",
                id_of(types, table)
            )
        }
        Storage::ToOneBack { table, column, .. } | Storage::ToMany { table, column, .. } => {
            let (name, column) = place(types, table, column);
            format!(
                "SELECT {column} AS a, {} AS b FROM {name} WHERE {column} IS NOT NULL",
                id_of(types, table)
            )
        }
        Storage::Join { table, ours, theirs, .. } => {
            let (name, ours) = place(types, table, ours);
            let theirs = place(types, table, theirs).1;
            format!("SELECT {ours} AS a, {theirs} AS b FROM {name}")
        }
        _ => "SELECT 0 AS a, 0 AS b WHERE 1 = 0".into(),
    }
}

/// The column of the number in an object's table or an interface's view.
pub(super) fn id_of(types: &Types, table: TableId) -> String {
    let layout = &types.layout;
    let view = layout.all.iter().flatten().find(|it| it.table == table).map(|it| it.id);
    let object = || layout.tables.iter().position(|&it| it == table).map(|at| layout.ids[at]);
    let column = view.or_else(object).unwrap_or(ColumnId(0));
    place(types, table, column).1
}

/// The objects that an edge could lead to and cannot any more.
pub(super) fn gone_members(renames: Renames<'_>, before: FieldId, now: FieldId) -> Vec<TypeId> {
    let to = |kind: FieldKind| match kind {
        FieldKind::Edge { to, .. } => Some(to),
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
    };
    let (Some(was), Some(is)) = (to(renames.old.field(before).kind), to(renames.new.field(now).kind)) else {
        return Vec::new();
    };
    let stays = |it: &&TypeId| {
        let became = renames.new_type(**it);
        became.is_some_and(|it| renames.new.ty(is).members.contains(&it))
    };
    renames.old.ty(was).members.iter().filter(|it| !stays(it)).copied().collect()
}

/// The other side's fields, those of objects.
fn others(renames: Renames<'_>, id: FieldId) -> Vec<FieldId> {
    let model = renames.new;
    let FieldKind::Edge { inverse: Some(other), .. } = model.field(id).kind else { return Vec::new() };
    let owner = model.ty(model.field(other).owner);
    match owner.kind {
        TypeKind::Interface => {
            let name = &model.field(other).name;
            owner.members.iter().filter_map(|&it| model.field_by_name(it, name)).collect()
        }
        TypeKind::Object | TypeKind::Union => vec![other],
    }
}

/// Every place of an edge in the new model, with the old edges that belong there.
pub(super) fn places(old: &Types, new: &Types, renames: Renames<'_>) -> Vec<EdgeMove> {
    let mut all = Vec::new();
    let mut seen: Vec<TableId> = Vec::new();
    for at in 0..new.model.fields.len() {
        let field = FieldId(at as u32);
        if new.model.ty(new.model.field(field).owner).kind != TypeKind::Object {
            continue;
        }
        match new.layout.fields[at] {
            Storage::ToOne { .. } => all.push(place_of(old, new, renames, field)),
            Storage::Join { table, .. } if !seen.contains(&table) => {
                seen.push(table);
                all.push(place_of(old, new, renames, field));
            }
            _ => {}
        }
    }
    all
}

fn place_of(old: &Types, new: &Types, renames: Renames<'_>, field: FieldId) -> EdgeMove {
    let is_edge = |id: &FieldId| matches!(old.model.field(*id).kind, FieldKind::Edge { .. });
    let before = renames.old_field(field).filter(is_edge);
    let same = |id: &FieldId| {
        let was = old.layout.fields[id.index()];
        let is = new.layout.fields[field.index()];
        let columns = matches!((was, is), (Storage::ToOne { .. }, Storage::ToOne { .. }));
        columns || matches!((was, is), (Storage::Join { .. }, Storage::Join { .. }))
    };
    let carried = before.filter(same);
    let mut from: Vec<(FieldId, bool)> =
        before.filter(|_| carried.is_none()).map(|it| (it, false)).into_iter().collect();
    for other in others(renames, field) {
        let Some(was) = renames.old_field(other).filter(is_edge) else { continue };
        let known = before.is_some_and(|it| are_sides(old, it, was));
        if !known {
            from.push((was, true));
        }
    }
    EdgeMove { field, from, carried }
}

/// True if two old fields were the two sides of one edge.
fn are_sides(old: &Types, one: FieldId, other: FieldId) -> bool {
    let inverse = |id: FieldId| match old.model.field(id).kind {
        FieldKind::Edge { inverse, .. } => inverse,
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
    };
    inverse(one) == Some(other) || inverse(other) == Some(one)
}

/// The pairs that belong in `place`, those that are there already too.
fn union(old: &Types, place: &EdgeMove) -> String {
    let carried = place.carried.map(|it| (it, false));
    let selects = carried.into_iter().chain(place.from.iter().copied()).map(|(id, is_turned)| {
        let (a, b) = if is_turned { ("b", "a") } else { ("a", "b") };
        format!("SELECT {a} AS a, {b} AS b FROM ({}) AS pairs", pairs(old, id))
    });
    selects.collect::<Vec<_>>().join(" UNION ALL ")
}

/// The numbers of the objects that will have something at the edge `field`, as one column.
pub(super) fn holders(old: &Types, new: &Types, renames: Renames<'_>, field: FieldId) -> Option<String> {
    let all = places(old, new, renames);
    let is_back = |it: &&EdgeMove| others(renames, it.field).contains(&field);
    let (place, side) = match all.iter().find(|it| it.field == field) {
        Some(place) => (place, "a"),
        None => (all.iter().find(is_back)?, "b"),
    };
    let is_empty = place.carried.is_none() && place.from.is_empty();
    let none = || "SELECT 0 WHERE 1 = 0".to_owned();
    Some(if is_empty { none() } else { format!("SELECT {side} FROM ({}) AS every", union(old, place)) })
}

/// Checks, for each edge that becomes to-one, that no object has several; with a description of the change.
pub(super) fn check_crowded_edges(old: &Types, new: &Types, renames: Renames<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for place in places(old, new, renames) {
        let field = new.model.field(place.field);
        let is_one = |id: FieldId| !new.model.field(id).is_list;
        let other = others(renames, place.field).first().copied();
        let is_unique = !field.is_list && other.is_some_and(is_one);
        let was_unique = place.carried.is_some_and(|it| {
            let FieldKind::Edge { inverse: Some(other), .. } = old.model.field(it).kind else { return false };
            !old.model.field(other).is_list
        });
        if place.carried.is_none() && place.from.is_empty() {
            continue;
        }
        let mut ask = |id: FieldId, a: &str, b: &str| {
            let field = new.model.field(id);
            let name = format!("{}.{}", new.model.ty(field.owner).name, field.name);
            let sql = format!(
                "SELECT {a} FROM ({}) AS every GROUP BY {a} HAVING count(DISTINCT {b}) > 1 ORDER BY 1 LIMIT {NAMED_MAX}",
                union(old, &place)
            );
            let verdict = Verdict::Forbidden {
                what: format!("some have several objects for `{name}`"),
                mend: "remove all but one first, or make it a list".into(),
                by_id: true,
            };
            let words = format!("`{name}` holds one object");
            changes.push(Change { words, questions: vec![DataCheck { sql, verdict }] });
        };
        if !field.is_list && !place.from.is_empty() {
            ask(place.field, "a", "b");
        }
        if let Some(other) = other.filter(|_| is_unique && !(was_unique && place.from.is_empty())) {
            ask(other, "b", "a");
        }
    }
    changes
}

/// Definitions that take pairs aside before anything changes, and those that put them in place when the tables are there.
pub(super) fn moves(old: &Types, new: &Types, renames: Renames<'_>) -> (Vec<Definition>, Vec<Definition>) {
    let mut before = Vec::new();
    let mut after = Vec::new();
    for it in places(old, new, renames) {
        for &(id, is_turned) in &it.from {
            let aside = format!("weir_move_{}", before.len() + 1);
            let (a, b) = if is_turned { ("b", "a") } else { ("a", "b") };
            let select = format!("SELECT {a} AS a, {b} AS b FROM ({}) AS pairs", pairs(old, id));
            before.push(Definition::SetAside { name: aside.clone(), select });
            after.push(Definition::Run(put(new, it.field, &aside)));
            after.push(Definition::DropTable(aside));
        }
        let gone = it.carried.is_some_and(|before| !gone_members(renames, before, it.field).is_empty());
        if gone
            || it.from.iter().any(|(id, turned)| !turned && !gone_members(renames, *id, it.field).is_empty())
        {
            after.push(Definition::Run(clear(new, it.field)));
        }
    }
    (before, after)
}

/// Writes the pairs that were taken aside to the place of `field`.
fn put(new: &Types, field: FieldId, aside: &str) -> String {
    let table = new.layout.tables[new.model.field(field).owner.index()];
    match new.layout.fields[field.index()] {
        Storage::Join { table, ours, theirs, .. } => {
            let (name, ours) = place(new, table, ours);
            let theirs = place(new, table, theirs).1;
            format!(
                "INSERT INTO {name} ({ours}, {theirs}) SELECT a, b FROM {aside} WHERE true ON CONFLICT DO NOTHING"
            )
        }
        Storage::ToOne { column, .. } => {
            let (name, column) = place(new, table, column);
            let id = id_of(new, table);
            format!(
                "UPDATE {name} SET {column} = m.b FROM {aside} AS m WHERE m.a = {name}.{id} AND {column} IS NULL"
            )
        }
        _ => String::new(),
    }
}

/// Removes edges to objects that do not belong there.
fn clear(new: &Types, field: FieldId) -> String {
    let FieldKind::Edge { to, .. } = new.model.field(field).kind else { return String::new() };
    let target = new.layout.tables[to.index()];
    let known = format!(
        "SELECT {} FROM {}",
        id_of(new, target),
        quote_identifier(&new.layout.relations.catalog.table(target).name)
    );
    let table = new.layout.tables[new.model.field(field).owner.index()];
    match new.layout.fields[field.index()] {
        Storage::Join { table, theirs, .. } => {
            let (name, theirs) = place(new, table, theirs);
            format!("DELETE FROM {name} WHERE {theirs} NOT IN ({known})")
        }
        Storage::ToOne { column, .. } => {
            let (name, column) = place(new, table, column);
            format!("UPDATE {name} SET {column} = NULL WHERE {column} NOT IN ({known})")
        }
        _ => String::new(),
    }
}
