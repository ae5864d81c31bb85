//! Differences between two versions of types: in words, with the queries that decide if the data allows them.
//!
//! A question is a statement that finds rows in the old tables. Rows that would be lost need the leave of whoever asks;
//! rows that a new rule does not allow forbid the change and are named.
//!
//! **Invariant:** a change without questions loses nothing and cannot fail.

use super::convert::convert;
use super::data_check::{Change, DataCheck, NAMED_MAX, Verdict, field_name, place, values};
use super::renames::{FieldPair, Renames};
use super::{edge_moves, key_length, unused_directives};
use crate::layout::IndexKind;
use crate::model::{Field, FieldId, FieldKind, Model, Type, TypeId, TypeKind};
use crate::store::Types;
use crate::store::ddl::quote_identifier;

/// Everything that differs.
pub(super) fn differences(old: &Types, new: &Types) -> Vec<Change> {
    let renames = Renames { old: &old.model, new: &new.model };
    let mut it = Differences { old, new, renames, found: Vec::new() };
    it.types();
    it.enums();
    it.fields();
    it.note_crowded_edges();
    it.keys();
    it.indexes();
    for change in unused_directives::find_stale_renames(renames) {
        it.add(change.words, change.questions);
    }
    for change in key_length::find_new_limits(old, new, renames) {
        it.add(change.words, change.questions);
    }
    it.found
}

pub(super) struct Differences<'t> {
    pub(super) old: &'t Types,
    pub(super) new: &'t Types,
    pub(super) renames: Renames<'t>,
    found: Vec<Change>,
}

fn kind_word(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Object => "type",
        TypeKind::Interface => "interface",
        TypeKind::Union => "union",
    }
}

/// A field's type as the text has it.
pub(super) fn type_words(model: &Model, field: &Field) -> String {
    let name = match field.kind {
        FieldKind::Id => "ID".to_owned(),
        FieldKind::Scalar(scalar) => format!("{scalar:?}"),
        FieldKind::Enum(id) => model.enumeration(id).name.clone(),
        FieldKind::Edge { to, .. } => model.ty(to).name.clone(),
    };
    let required = if field.is_required { "!" } else { "" };
    match (field.is_list, field.items_required) {
        (true, true) => format!("[{name}!]{required}"),
        (true, false) => format!("[{name}]{required}"),
        (false, _) => format!("{name}{required}"),
    }
}

impl Differences<'_> {
    pub(super) fn add(&mut self, words: String, questions: Vec<DataCheck>) {
        match self.found.iter_mut().find(|it| it.words == words) {
            // Every implementer of an interface has its part in the same change.
            Some(same) => same.questions.extend(questions),
            None => self.found.push(Change { words, questions }),
        }
    }

    fn types(&mut self) {
        for (id, ty) in self.new.model.type_ids().zip(&self.new.model.types) {
            let kind = kind_word(ty.kind);
            match self.renames.old_type(id) {
                None => self.add(format!("add {kind} `{}`", ty.name), Vec::new()),
                Some(before) => {
                    let before = self.old.model.ty(before);
                    if before.name != ty.name {
                        self.add(format!("rename {kind} `{}` to `{}`", before.name, ty.name), Vec::new());
                    }
                    self.members(before, ty);
                    self.secret(before, ty);
                }
            }
        }
        for (id, ty) in self.old.model.type_ids().zip(&self.old.model.types) {
            if self.renames.new_type(id).is_none() {
                let lost = DataCheck {
                    sql: format!("SELECT count(*) FROM {}", self.old_table(id)),
                    verdict: Verdict::Lost(ty.name.clone()),
                };
                let questions = if ty.kind == TypeKind::Object { vec![lost] } else { Vec::new() };
                self.add(format!("drop {} `{}`", kind_word(ty.kind), ty.name), questions);
            }
        }
    }

    fn old_table(&self, id: TypeId) -> String {
        quote_identifier(&self.old.layout.relations.catalog.table(self.old.layout.tables[id.index()]).name)
    }

    /// The numbers of all objects of an old type.
    fn numbers(&self, id: TypeId) -> String {
        let table = self.old.layout.tables[id.index()];
        format!("SELECT {} FROM {}", edge_moves::id_of(self.old, table), self.old_table(id))
    }

    /// Members of an interface or union. Edges to types that leave it are counted with the edges.
    fn members(&mut self, before: &Type, now: &Type) {
        if now.kind == TypeKind::Object {
            return;
        }
        let whole = format!("{} `{}`", kind_word(now.kind), now.name);
        let part = "belongs to";
        for &member in &now.members {
            let was = self.renames.old_type(member).is_some_and(|it| before.members.contains(&it));
            if !was {
                let name = &self.new.model.ty(member).name;
                self.add(format!("`{name}` {part} {whole}"), Vec::new());
            }
        }
        for &member in &before.members {
            let became = self.renames.new_type(member);
            if became.is_some_and(|it| !now.members.contains(&it)) {
                let name = &self.old.model.ty(member).name;
                self.add(format!("`{name}` no longer {part} {whole}"), Vec::new());
            }
        }
    }

    fn secret(&mut self, before: &Type, now: &Type) {
        let id = self.old.model.type_by_name(&before.name);
        match (&before.secret, &now.secret, id) {
            (None, Some(secret), _) => {
                self.add(format!("add password `{}.{}`", now.name, secret.name), Vec::new());
            }
            (Some(secret), None, Some(id)) => {
                let name = format!("{}.{}", before.name, secret.name);
                let column = self.old.layout.secrets[id.index()];
                let lost = column.map(|column| {
                    let (table, column) = place(self.old, self.old.layout.tables[id.index()], column);
                    DataCheck {
                        sql: format!("SELECT count({column}) FROM {table}"),
                        verdict: Verdict::Lost(name.clone()),
                    }
                });
                self.add(format!("drop password `{name}`"), lost.into_iter().collect());
            }
            (Some(_) | None, _, _) => {}
        }
    }

    fn enums(&mut self) {
        for (at, now) in self.new.model.enums.iter().enumerate() {
            let Some(before) = self.renames.old_enum(crate::model::EnumId(at as u32)) else { continue };
            let before = self.old.model.enumeration(before);
            let added = now.values.iter().filter(|it| !before.values.iter().any(|old| old.name == it.name));
            let gone = before.values.iter().filter(|it| !now.values.iter().any(|new| new.name == it.name));
            let added: Vec<String> =
                added.map(|it| format!("add value `{}.{}`", now.name, it.name)).collect();
            // Fields that hold one are asked for with the fields.
            let gone = gone.map(|it| format!("drop value `{}.{}`", now.name, it.name));
            for words in added.into_iter().chain(gone.collect::<Vec<_>>()) {
                self.add(words, Vec::new());
            }
        }
    }

    fn fields(&mut self) {
        for (at, field) in self.new.model.fields.iter().enumerate() {
            let id = FieldId(at as u32);
            if self.renames.old_type(field.owner).is_none() {
                continue;
            }
            match self.renames.old_field(id) {
                None => self.note_added_field(id),
                Some(before) => self.note_changed_field(before, id),
            }
        }
        for at in 0..self.old.model.fields.len() {
            let id = FieldId(at as u32);
            let owner = self.old.model.field(id).owner;
            if self.renames.new_type(owner).is_some() && self.renames.new_field(id).is_none() {
                let words = format!("drop field `{}`", field_name(&self.old.model, id));
                let questions = self.lost_data(id);
                self.add(words, questions);
            }
        }
    }

    pub(super) fn is_object(model: &Model, field: &Field) -> bool {
        model.ty(field.owner).kind == TypeKind::Object
    }

    fn note_added_field(&mut self, id: FieldId) {
        let field = self.new.model.field(id);
        let name = field_name(&self.new.model, id);
        let words = format!("add field `{name}: {}`", type_words(&self.new.model, field));
        let is_value = matches!(field.kind, FieldKind::Scalar(_) | FieldKind::Enum(_));
        let needs_value = field.is_required && !field.is_list && is_value && field.default_add.is_none();
        let mut questions = Vec::new();
        if needs_value
            && Self::is_object(&self.new.model, field)
            && let Some(owner) = self.renames.old_type(field.owner)
        {
            questions.push(DataCheck {
                sql: format!("{} ORDER BY 1 LIMIT {NAMED_MAX}", self.numbers(owner)),
                verdict: Verdict::Forbidden {
                    what: format!("there are objects without a `{name}`"),
                    mend: "give it `@default(add: {value: …})`, or leave the `!` out until all have one"
                        .into(),
                    by_id: true,
                },
            });
        }
        if field.is_required
            && let Some(owner) = self.renames.old_type(field.owner)
        {
            questions.extend(self.without_edge(id, owner, &name));
        }
        self.add(words, questions);
    }

    /// Objects without an edge where one has to be from now on.
    fn without_edge(&self, id: FieldId, owner: TypeId, name: &str) -> Option<DataCheck> {
        let field = self.new.model.field(id);
        let is_one = matches!(field.kind, FieldKind::Edge { .. }) && !field.is_list;
        if !is_one || !Self::is_object(&self.new.model, field) {
            return None;
        }
        let held = edge_moves::holders(self.old, self.new, self.renames, id)?;
        let all = self.numbers(owner);
        let number = edge_moves::id_of(self.old, self.old.layout.tables[owner.index()]);
        Some(DataCheck {
            sql: format!("{all} WHERE {number} NOT IN ({held}) ORDER BY 1 LIMIT {NAMED_MAX}"),
            verdict: Verdict::Forbidden {
                what: format!("there are objects without a `{name}`"),
                mend: "give them one, or leave the `!` out until all have one".into(),
                by_id: true,
            },
        })
    }

    /// Checks for data that is lost when a field is dropped.
    fn lost_data(&self, id: FieldId) -> Vec<DataCheck> {
        let field = self.old.model.field(id);
        if !Self::is_object(&self.old.model, field) {
            return Vec::new();
        }
        let sql = match field.kind {
            FieldKind::Id => return Vec::new(),
            FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                let Some((table, _, value)) = values(self.old, id) else { return Vec::new() };
                format!("SELECT count({value}) FROM {table}")
            }
            // The other side still has them.
            FieldKind::Edge { inverse: Some(other), .. } if self.renames.new_field(other).is_some() => {
                return Vec::new();
            }
            FieldKind::Edge { .. } => {
                format!("SELECT count(*) FROM ({}) AS pairs", edge_moves::pairs(self.old, id))
            }
        };
        vec![DataCheck { sql, verdict: Verdict::Lost(field_name(&self.old.model, id)) }]
    }

    fn note_changed_field(&mut self, before: FieldId, now: FieldId) {
        let old = self.old.model.field(before);
        let new = self.new.model.field(now);
        let name = field_name(&self.new.model, now);
        if old.name != new.name {
            self.add(
                format!("rename field `{}` to `{}`", field_name(&self.old.model, before), new.name),
                Vec::new(),
            );
        }
        let was = type_words(&self.old.model, old);
        let is = type_words(&self.new.model, new);
        let is_edge = |field: &Field| matches!(field.kind, FieldKind::Edge { .. });
        let mut questions = match (is_edge(old), is_edge(new)) {
            (true, true) => self.lost_edges(before, now),
            (false, false) => self.unconvertible_values(before, now),
            (true, false) | (false, true) => self.lost_data(before),
        };
        questions.extend(self.now_required(before, now, &name));
        if was != is && !self.is_same_type_renamed(old, new) {
            self.add(format!("change `{name}` from {was} to {is}"), questions);
        } else if !questions.is_empty() {
            self.add(format!("`{name}` keeps its type {is}"), questions);
        }
        self.inverse(before, now, &name);
    }

    /// True if only the name of the type differs.
    fn is_same_type_renamed(&self, old: &Field, new: &Field) -> bool {
        let same = match (old.kind, new.kind) {
            (FieldKind::Edge { to: was, .. }, FieldKind::Edge { to: is, .. }) => {
                self.renames.old_type(is) == Some(was)
            }
            (FieldKind::Enum(was), FieldKind::Enum(is)) => self.renames.old_enum(is) == Some(was),
            (was, is) => was == is,
        };
        same && (old.is_list, old.is_required, old.items_required)
            == (new.is_list, new.is_required, new.items_required)
    }

    fn inverse(&mut self, before: FieldId, now: FieldId, name: &str) {
        let other = |kind: FieldKind| match kind {
            FieldKind::Edge { inverse, .. } => inverse,
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
        };
        let was = other(self.old.model.field(before).kind).map(|it| self.renames.new_field(it));
        let is = other(self.new.model.field(now).kind);
        match (was, is) {
            (None, Some(other)) => {
                let other = field_name(&self.new.model, other);
                self.add(format!("`{name}` and `{other}` become the two sides of one edge"), Vec::new());
            }
            (Some(Some(was)), None) => {
                let other = field_name(&self.new.model, was);
                self.add(format!("`{name}` and `{other}` become edges of their own"), Vec::new());
            }
            (Some(_) | None, _) => {}
        }
    }

    /// Notes edges that become to-one, with checks that no object has several.
    fn note_crowded_edges(&mut self) {
        for change in edge_moves::check_crowded_edges(self.old, self.new, self.renames) {
            self.add(change.words, change.questions);
        }
    }

    /// Edges to objects that can no longer stand there.
    fn lost_edges(&self, before: FieldId, now: FieldId) -> Vec<DataCheck> {
        let gone = edge_moves::gone_members(self.renames, before, now);
        let field = self.old.model.field(before);
        if gone.is_empty() || !Self::is_object(&self.old.model, field) {
            return Vec::new();
        }
        let tables: Vec<String> = gone.iter().map(|&it| self.numbers(it)).collect();
        vec![DataCheck {
            sql: format!(
                "SELECT count(*) FROM ({}) AS pairs WHERE b IN ({})",
                edge_moves::pairs(self.old, before),
                tables.join(" UNION ALL ")
            ),
            verdict: Verdict::Lost(field_name(&self.old.model, before)),
        }]
    }

    /// Checks for old values that cannot be converted to the new type.
    fn unconvertible_values(&self, before: FieldId, now: FieldId) -> Vec<DataCheck> {
        let old = self.old.model.field(before);
        let new = self.new.model.field(now);
        if !Self::is_object(&self.old.model, old) {
            return Vec::new();
        }
        let Some((table, _, value)) = values(self.old, before) else { return Vec::new() };
        let was = (old.kind, &self.old.model);
        let is = (new.kind, &self.new.model);
        let made = if old.is_list && !new.is_list { None } else { convert(self.old.kind, was, is, &value) };
        match made {
            None => self.lost_data(before),
            Some(made) => made
                .unfit
                .map(|unfit| DataCheck {
                    sql: format!(
                        "SELECT DISTINCT {value} FROM {table} WHERE {value} IS NOT NULL AND {unfit} ORDER BY 1 LIMIT {NAMED_MAX}"
                    ),
                    verdict: Verdict::Forbidden {
                        what: format!(
                            "`{}` has values that are no {}",
                            field_name(&self.old.model, before),
                            type_words(&self.new.model, new).trim_end_matches('!')
                        ),
                        mend: "change them first".into(),
                        by_id: false,
                    },
                })
                .into_iter()
                .collect(),
        }
    }

    /// Objects without a value where one has to be from now on.
    fn now_required(&self, before: FieldId, now: FieldId, name: &str) -> Option<DataCheck> {
        let old = self.old.model.field(before);
        let new = self.new.model.field(now);
        let is_value = matches!(new.kind, FieldKind::Scalar(_) | FieldKind::Enum(_));
        let is_new = new.is_required && !old.is_required && !new.is_list;
        if is_new && !is_value {
            return self.without_edge(now, old.owner, name);
        }
        if !is_new || new.default_add.is_some() || !Self::is_object(&self.old.model, old) {
            return None;
        }
        let (table, id, value) = values(self.old, before)?;
        Some(DataCheck {
            sql: format!("SELECT {id} FROM {table} WHERE {value} IS NULL ORDER BY 1 LIMIT {NAMED_MAX}"),
            verdict: Verdict::Forbidden {
                what: format!("there are objects without a `{name}`"),
                mend: "give them one, or give the field `@default(add: {value: …})`, or leave the `!` out"
                    .into(),
                by_id: true,
            },
        })
    }

    fn indexes(&mut self) {
        let words = |types: &Types, field: FieldId, kind: IndexKind| {
            let what = match kind {
                IndexKind::Tree => "values",
                IndexKind::Prefix => "equal values",
                IndexKind::Unique => return None,
                IndexKind::Terms => "terms",
                IndexKind::Fulltext => "full text",
                IndexKind::Trigrams => "trigrams",
                IndexKind::Boxes => "places",
            };
            Some(format!("index of {what} of `{}`", field_name(&types.model, field)))
        };
        let old: Vec<_> =
            self.old.layout.indexes.iter().filter_map(|it| Some((it.field?, it.kind))).collect();
        let new: Vec<_> =
            self.new.layout.indexes.iter().filter_map(|it| Some((it.field?, it.kind))).collect();
        for &(field, kind) in &new {
            let Some(before) = self.renames.old_field(field) else { continue };
            if let Some(words) = words(self.new, field, kind).filter(|_| !old.contains(&(before, kind))) {
                let question =
                    key_length::check_word_count(self.old, self.new, FieldPair { before, now: field }, kind);
                self.add(format!("add {words}"), question.into_iter().collect());
            }
        }
        for &(field, kind) in &old {
            let Some(now) = self.renames.new_field(field) else { continue };
            if let Some(words) = words(self.old, field, kind).filter(|_| !new.contains(&(now, kind))) {
                self.add(format!("drop {words}"), Vec::new());
            }
        }
    }
}
