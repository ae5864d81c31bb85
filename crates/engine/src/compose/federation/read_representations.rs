//! Reads representations: the type and key of each become a row of that type's table, in the order in which they came.
//!
//! Of the lookups of a type the first is used whose whole key is in the representation; other members of it mean nothing here.

use super::key_column::{KeyColumn, KeyValue};
use crate::answer::field_error::{FieldError, SourceError};
use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan, SelectionSet, SelectionSetId};
use crate::answer::rows::{CellError, Column, Data, Table, Variants};
use crate::source::{EntityLookup, KeyForm, PlanNode};
use std::fmt::Write as _;
use weir_language::json::Json;
use weir_language::schema::{FieldId, TypeId};
use weir_language::value::{Node, Values, Variables};

/// Brackets open at once in a representation, which was read once before.
const DEPTH_MAX: u32 = u32::MAX;

/// Letters of a client's name in a message.
const NAME_MAX: usize = 60;

/// The field `_entities` in one place.
pub(super) struct EntitiesField {
    /// Place of the member in the output plan.
    pub(super) field: u32,
    /// The types of the union.
    pub(super) types: Vec<SwitchedType>,
    /// Representations that it may have.
    pub(super) items_max: u32,
}

/// A type of the union.
pub(super) struct SwitchedType {
    ty: TypeId,
    name: Box<str>,
    /// Number of members of the set in the output plan.
    members: usize,
    /// The lookups that the caller may use, in the order of the set's members. Empty: the type has no fields here.
    lookups: Vec<KeyNames>,
    /// By hidden column: the form of its values.
    columns: Vec<KeyForm>,
    /// Members that are parts of the key, and their hidden columns.
    copies: Vec<(usize, usize)>,
    /// True if the operation asks for something of it.
    is_selected: bool,
}

/// The key of a lookup: names of fields, and their hidden columns.
struct KeyNames(Vec<(Box<str>, usize)>);

impl SwitchedType {
    /// The type `ty` with its set; `lookups` are all that it has.
    pub(super) fn new<'l>(
        node: &PlanNode<'_>,
        (ty, set): (TypeId, SelectionSetId),
        lookups: impl Iterator<Item = &'l EntityLookup>,
    ) -> Self {
        let set = node.output.set(set);
        let members = &node.output.fields[set.range()];
        let mut found = Self {
            ty,
            name: node.schema.type_name(ty).into(),
            members: members.len(),
            lookups: Vec::new(),
            columns: vec![KeyForm::Text; set.hidden.len()],
            copies: Vec::new(),
            is_selected: !set.hidden.is_empty() || !members.is_empty(),
        };
        let lookups: Vec<&EntityLookup> = lookups.collect();
        if set.is_entity {
            for member in members {
                let lookup = lookups.iter().find(|it| is_asked(node, member, it));
                lookup.into_iter().for_each(|it| found.add(node, set, it));
            }
        } else if let Some(lookup) = lookups.iter().find(|it| it.target.is_none())
            && !set.hidden.is_empty()
        {
            found.add(node, set, lookup);
            let copies = members.iter().enumerate().filter(|it| it.1.member == OutputKind::Leaf);
            let hidden = |field: FieldId| set.hidden.iter().position(|it| *it == field);
            found.copies = copies.filter_map(|(at, it)| Some((at, hidden(it.field)?))).collect();
        }
        found
    }

    /// Adds a lookup whose key stands in the hidden columns of `set`.
    fn add(&mut self, node: &PlanNode<'_>, set: &SelectionSet, lookup: &EntityLookup) {
        let keys = lookup.keys.iter().filter_map(|key| {
            let at = set.hidden.iter().position(|it| node.schema.field_name(*it) == &*key.field)?;
            self.columns[at] = key.form;
            Some((key.field.clone(), at))
        });
        let keys = keys.collect();
        self.lookups.push(KeyNames(keys));
    }

    /// The row of a representation: a value by hidden column.
    fn row(&self, json: &Json<'_>) -> Result<Vec<Option<KeyValue>>, String> {
        let root = json.root();
        let value = |name: &str| root.get(name).filter(|it| !it.is_null());
        let key = self.lookups.iter().find(|it| it.0.iter().all(|key| value(&key.0).is_some()));
        let Some(key) = key else {
            let names = self.lookups.iter().map(|it| {
                let names = it.0.iter().map(|key| &*key.0);
                format!("`{}`", names.collect::<Vec<_>>().join(" "))
            });
            let names = names.collect::<Vec<_>>().join(" or ");
            return Err(format!("`{}` needs the fields of a key: {names}", self.name));
        };
        let mut row: Vec<Option<KeyValue>> = self.columns.iter().map(|_| None).collect();
        for (name, at) in &key.0 {
            let Some(json) = value(name) else { continue };
            let read = self.columns[*at].read(json);
            row[*at] = Some(read.map_err(|fit| format!("`{name}` of `{}` has to be {fit}", self.name))?);
        }
        Ok(row)
    }
}

/// True if `member` leads to its object by `lookup`: by the field, and by these arguments of it.
fn is_asked(node: &PlanNode<'_>, member: &OutputField, lookup: &EntityLookup) -> bool {
    let OutputKind::Foreign { field, .. } = member.member else { return false };
    let asked = node.output.arguments(&node.output.fields[field as usize]);
    let names = asked.iter().map(|it| node.schema.input_name(it.input));
    lookup.target.as_deref() == Some(node.schema.field_name(member.field))
        && names.eq(lookup.keys.iter().map(|it| &*it.argument))
}

/// The representations that were read so far.
struct Reading<'f> {
    field: &'f EntitiesField,
    variants: Variants,
    keys: Vec<Vec<KeyColumn>>,
    items: Column,
}

impl EntitiesField {
    /// The list of entities.
    pub(super) fn read(&self, output: &OutputPlan, variables: &Variables) -> Result<Column, SourceError> {
        let output_field = &output.fields[self.field as usize];
        let argument = output.arguments(output_field).first();
        let place = argument.map(|it| follow((&output.literals, it.value as usize), variables));
        let (values, at) = place.ok_or_else(|| SourceError::Broken("no representations".into()))?;
        // A value that is no list is a list of one.
        let single = !matches!(values.nodes[at], Node::List { .. });
        let places = || values.items(at).chain(single.then_some(at));
        let count = places().count();
        if count > self.items_max as usize {
            let message = format!(
                "_entities was sent {count} representations, and may have {}: send fewer at a time, or raise federation.representations_max.",
                self.items_max
            );
            let error = error("LIMIT_REPRESENTATIONS", message);
            return Err(SourceError::Rejected { error, field: Some(self.field) });
        }
        let keys = self.types.iter().map(|it| it.columns.iter().copied().map(KeyColumn::new).collect());
        let mut reading = Reading {
            field: self,
            variants: Variants::default(),
            keys: keys.collect(),
            items: Column::default(),
        };
        for (item, at) in places().enumerate() {
            reading.item(item, follow((values, at), variables));
        }
        Ok(reading.finish(count))
    }
}

/// The value at `place`, which may be a variable.
fn follow<'v>(place: (&'v Values, usize), variables: &'v Variables) -> (&'v Values, usize) {
    match place.0.nodes[place.1] {
        Node::Variable(number) => (&variables.values, variables.starts[number as usize] as usize),
        _ => place,
    }
}

impl Reading<'_> {
    fn item(&mut self, item: usize, (values, at): (&Values, usize)) {
        let read = match values.nodes[at] {
            Node::Json(span) => Json::parse(values.str(span).as_bytes(), DEPTH_MAX)
                .map_err(|_| "it is no JSON".to_owned())
                .and_then(|json| self.find(&json)),
            _ => Err("it has to be an object with `__typename`".to_owned()),
        };
        match read {
            Ok((ty, row)) => {
                let columns = &mut self.keys[ty];
                columns.iter_mut().zip(&row).for_each(|(column, value)| column.push(value.as_ref()));
                let place = self.rows(ty);
                self.variants.types.push(self.field.types[ty].ty);
                self.variants.places.push(place);
            }
            Err(words) => {
                let message = format!("representations[{item}]: {words}.");
                let error = error("BAD_USER_INPUT", message);
                self.items.nulls.set(item);
                self.items.errors.push(CellError { row: item as u32, error });
                self.variants.types.push(self.field.types.first().map_or(TypeId(0), |it| it.ty));
                self.variants.places.push(u32::MAX);
            }
        }
    }

    /// The place of the type that a representation names, and its row.
    fn find(&self, json: &Json<'_>) -> Result<(usize, Vec<Option<KeyValue>>), String> {
        let name = json.root().get("__typename").and_then(weir_language::json::JsonRef::as_str);
        let name = name.ok_or("it has to be an object with `__typename`")?;
        let types = &self.field.types;
        let at = types.iter().position(|it| *it.name == *name && (!it.lookups.is_empty() || !it.is_selected));
        let at = at.ok_or_else(|| {
            let mut words = String::from("\"");
            words.extend(name.chars().filter(|it| !it.is_control()).take(NAME_MAX));
            let _ = write!(words, "\" is no type that can be found here by a key");
            words
        })?;
        if !types[at].is_selected {
            return Err(format!("nothing of `{name}` is selected"));
        }
        Ok((at, types[at].row(json)?))
    }

    /// The number of the next row of the type at `ty`, whose table is made on its first.
    fn rows(&mut self, ty: usize) -> u32 {
        let id = self.field.types[ty].ty;
        let tables = &mut self.variants.tables;
        let at = tables.iter().position(|it| it.0 == id).unwrap_or_else(|| {
            let columns = (0..self.field.types[ty].members).map(|_| Column::default()).collect();
            tables.push((id, Table { rows: 0, columns, hidden: Vec::new() }));
            tables.len() - 1
        });
        tables[at].1.rows += 1;
        tables[at].1.rows - 1
    }

    fn finish(mut self, count: usize) -> Column {
        for (ty, keys) in self.field.types.iter().zip(self.keys) {
            if let Some((_, table)) = self.variants.tables.iter_mut().find(|it| it.0 == ty.ty) {
                table.hidden = keys.into_iter().map(KeyColumn::finish).collect();
                for &(member, key) in &ty.copies {
                    table.columns[member] = table.hidden[key].clone();
                }
            }
        }
        self.items.data = Data::Abstract(Box::new(self.variants));
        let offsets = vec![0, count as u32];
        Column { data: Data::List { offsets, items: Box::new(self.items) }, ..Column::default() }
    }
}

fn error(code: &'static str, message: String) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}
