//! Resolution of the input's objects: queries for existing ones, and the results.
//!
//! **Invariant:** every name (a number, or the value of a key) is queried once; objects with the same name in one input are
//! one object, and an object with the key that a patch sets is the patched object.

use super::Writes;
use super::object::{Content, InputObject, Role};
use super::refusal::MutationRefusal;
use super::statement::{RowCondition, TemplateKey};
use super::type_info::{copy, key_scope};
use crate::auth::Right;
use crate::auth::policy::AuthPolicy;
use crate::layout::Storage;
use crate::model::{Field, FieldId, FieldKind, Key, Model, TypeId, TypeKind};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::sync::Arc;
use weir_database::frontend::program::{Answers, BoundStatement, Cell, Value};
use weir_relational::catalog::{ColumnId, TableId};

/// Name of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// The number of an object of this type.
    Id(TypeId, i64),
    /// A key with a number.
    Int(FieldId, i64),
    /// A key with a text.
    Text(FieldId, Arc<str>),
}

impl Name {
    /// The name by `value` of the key `field`; `None` if the value cannot be a key.
    fn key(field: FieldId, value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(Self::Int(field, *number)),
            Value::Text(text) => Some(Self::Text(field, Arc::clone(text))),
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Ids(_) => None,
        }
    }

    /// The name as clients write it, for messages.
    pub(super) fn to_client_text(&self) -> String {
        match self {
            Self::Id(_, id) => format!("0x{id:x}"),
            Self::Int(_, number) => number.to_string(),
            Self::Text(_, text) => text.to_string(),
        }
    }

    /// True if the name is unique across all types: for an interface's key only if it says so.
    pub(super) fn is_of_all_types(&self, model: &Model) -> bool {
        match self {
            Self::Id(..) => true,
            Self::Int(field, _) | Self::Text(field, _) => model.field(*field).key == Some(Key::Interface),
        }
    }

    /// The name of an object of type `ty` with the same key.
    fn of_type(&self, model: &Model, ty: TypeId) -> Option<Self> {
        let own = |field: FieldId| key_scope(model, copy(model, field, ty));
        match self {
            Self::Id(..) => None,
            Self::Int(field, number) => Some(Self::Int(own(*field), *number)),
            Self::Text(field, text) => Some(Self::Text(own(*field), Arc::clone(text))),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Id(_, number) | Self::Int(_, number) => Value::Int(*number),
            Self::Text(_, text) => Value::Text(Arc::clone(text)),
        }
    }
}

/// Names of the input's objects, and the stored objects that have these names.
#[derive(Debug, Default)]
pub(super) struct ObjectNames {
    /// By object: indexes into `all`.
    of: Vec<Places>,
    pub(super) all: Vec<Name>,
    /// Parallel to `all`.
    found: Vec<Hits>,
}

/// Places in the list of names.
type Places = SmallVec<[u32; 2]>;

/// The objects with one name.
type Hits = SmallVec<[(i64, TypeId); 1]>;

impl ObjectNames {
    /// Collects the names of `objects`. Keys of a patch are names too: they must not be taken.
    pub(super) fn new(model: &Model, objects: &[InputObject]) -> Self {
        let mut known: HashMap<Name, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut names = Self::default();
        for object in objects {
            let mut of = SmallVec::new();
            let id = object.id.map(|id| Name::Id(object.ty, id));
            let keys = object.fields.iter().filter_map(|(field, content)| match content {
                Content::Columns(columns) if model.field(*field).key.is_some() => {
                    Name::key(key_scope(model, *field), &columns.first()?.1)
                }
                Content::Columns(_) | Content::Null | Content::Items(_) | Content::Edges(_) => None,
            });
            // A number says it all.
            for name in id.into_iter().chain(keys.filter(|_| object.id.is_none())) {
                let next = names.all.len() as u32;
                let at = *known.entry(name.clone()).or_insert(next);
                if at == next {
                    names.all.push(name);
                }
                of.push(at);
            }
            names.of.push(of);
        }
        names
    }

    /// The names of the object at `at`: place, name, and the objects with it.
    pub(super) fn of_object(&self, at: u32) -> impl Iterator<Item = (u32, &Name, &Hits)> {
        let found = |it: &u32| (*it, &self.all[*it as usize], &self.found[*it as usize]);
        self.of[at as usize].iter().map(found)
    }

    /// The place of a given name.
    fn place(&self, name: &Name) -> Option<u32> {
        self.all.iter().position(|it| it == name).map(|at| at as u32)
    }

    /// True if the object at `at` has a name.
    pub(super) fn has(&self, at: u32) -> bool {
        !self.of[at as usize].is_empty()
    }

    /// Asks for the objects with each name.
    pub(super) fn ask(&self, writes: &Writes, asked: &mut Vec<BoundStatement>) {
        for name in &self.all {
            let (table, by, shown) = match name {
                Name::Id(ty, _) => writes.registry(*ty),
                Name::Int(field, _) | Name::Text(field, _) => writes.key(*field),
            };
            let shown = shown.into_iter().collect();
            let kind = TemplateKey::Find { table, columns: shown, rows: RowCondition::by(by) };
            asked.push(writes.bind_statement(kind, [name.value()]));
        }
    }

    /// Takes the answers, which begin at statement `first`.
    pub(super) fn take(&mut self, writes: &Writes, answers: &Answers, first: usize) {
        let hits = |(at, name): (usize, &Name)| writes.hits(name, answers.cells(first + at));
        self.found = self.all.iter().enumerate().map(hits).collect();
    }
}

impl Writes {
    /// Lookup of the objects of `ty` by number: table, column, and the columns shown of a row.
    pub(super) fn registry(&self, ty: TypeId) -> (TableId, ColumnId, SmallVec<[ColumnId; 2]>) {
        let layout = &self.layout;
        let table = layout.tables[ty.index()];
        let id = layout.ids[ty.index()];
        (table, id, [id].into_iter().chain(layout.kinds[ty.index()]).collect())
    }

    /// Lookup of objects by the key `field`, see [`Self::registry`].
    fn key(&self, field: FieldId) -> (TableId, ColumnId, SmallVec<[ColumnId; 2]>) {
        let layout = &self.layout;
        let owner = self.model().field(field).owner.index();
        let column = match layout.fields[field.index()] {
            Storage::Column(column) => column,
            _ => layout.ids[owner],
        };
        match (&layout.all[owner], layout.registry_keys[field.index()]) {
            (_, Some(key)) => {
                let (table, _, shown) = self.registry(self.model().field(field).owner);
                (table, key, shown)
            }
            // Unique in each type only, so several may be found.
            (Some(view), None) => (view.table, column, SmallVec::from_slice(&[view.id, view.kind])),
            (None, None) => (layout.tables[owner], column, SmallVec::from_slice(&[layout.ids[owner]])),
        }
    }

    /// The objects in the answer to a question for `name`.
    fn hits(&self, name: &Name, cells: &[Cell]) -> Hits {
        let asked = match name {
            Name::Id(ty, _) => *ty,
            Name::Int(field, _) | Name::Text(field, _) => self.model().field(*field).owner,
        };
        self.read_hits(asked, cells)
    }

    /// Reads numbers and types of objects of `ty` from an answer.
    pub(super) fn read_hits(&self, ty: TypeId, cells: &[Cell]) -> Hits {
        match self.model().ty(ty).kind {
            TypeKind::Object => cells.iter().filter_map(|it| Some((it.int()?, ty))).collect(),
            TypeKind::Interface | TypeKind::Union => {
                let pair = |pair: &[Cell]| match pair {
                    [id, Cell::Text(kind)] => Some((id.int()?, *self.type_info.names.get(&**kind)?)),
                    _ => None,
                };
                cells.chunks(2).filter_map(pair).collect()
            }
        }
    }
}

/// Resolution of an object of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// The object is created; index of its new number.
    Made(u32),
    /// The object exists.
    There(i64, TypeId),
    /// The object exists and is updated.
    Changed(i64, TypeId),
    /// The object is the same as another one of the input, with this index.
    Same(u32),
    /// The object does not exist and is not needed.
    Nothing,
}

/// Resolutions of all objects of an input.
#[derive(Debug, Default)]
pub(super) struct Resolutions {
    pub(super) of: Vec<Resolution>,
    /// Number of created objects.
    pub(super) made: u32,
}

/// Objects that the caller may not use as the input does.
#[derive(Debug, Default)]
pub(super) struct Denied {
    /// Objects that the caller does not see: links to them lead nowhere.
    hidden: HashSet<i64>,
    /// Objects that an upsert passes over.
    passed_over: HashSet<i64>,
}

impl Denied {
    pub(super) fn add(&mut self, operation: Right, id: i64) {
        let _ = match operation {
            Right::Update => self.passed_over.insert(id),
            Right::Query | Right::Add | Right::Delete | Right::Password => self.hidden.insert(id),
        };
    }
}

/// Decides which objects exist, are created, or are updated.
pub(super) struct Resolver<'w> {
    pub(super) writes: &'w Writes,
    pub(super) objects: &'w [InputObject],
    pub(super) names: &'w ObjectNames,
    /// Objects to be added that are there are changed instead.
    pub(super) upsert: bool,
    /// The object that a patch changes, if it is just one.
    pub(super) patched: Option<(i64, TypeId)>,
    /// The caller's rights; `None`: all.
    pub(super) policy: Option<&'w AuthPolicy>,
    pub(super) denied: &'w Denied,
}

impl Resolver<'_> {
    fn model(&self) -> &Model {
        self.writes.model()
    }

    pub(super) fn resolve(&self) -> Result<Resolutions, MutationRefusal> {
        let Sames { same, ignored } = self.same()?;
        let mut resolutions = Resolutions::default();
        let mut refusals = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            let at = at as u32;
            let resolution = match (object.role, same[at as usize]) {
                (Role::Patch { .. }, _) => Resolution::Nothing,
                _ if ignored[at as usize] => Resolution::Nothing,
                (_, Some(other)) if self.is_patch(other) => {
                    self.patched.map_or(Resolution::Nothing, |(id, ty)| Resolution::There(id, ty))
                }
                (_, Some(other)) => Resolution::Same(other),
                (_, None) => self.resolution(at, object).unwrap_or_else(|refusal| {
                    refusals.push(refusal);
                    Resolution::Nothing
                }),
            };
            resolutions.of.push(match resolution {
                Resolution::Made(_) => {
                    resolutions.made += 1;
                    Resolution::Made(resolutions.made - 1)
                }
                Resolution::There(..)
                | Resolution::Changed(..)
                | Resolution::Same(_)
                | Resolution::Nothing => resolution,
            });
        }
        MutationRefusal::all(refusals)?;
        Ok(resolutions)
    }

    fn resolution(&self, at: u32, object: &InputObject) -> Result<Resolution, MutationRefusal> {
        let name = || self.model().ty(object.ty).name.clone();
        let is_linked = matches!(object.role, Role::Below(_) | Role::Unlinked);
        let is_hidden = |id: i64| is_linked && self.denied.hidden.contains(&id);
        let mut there: Option<((i64, TypeId), &Name)> = None;
        for (_, called, hits) in self.names.of_object(at) {
            for hit in hits.iter().filter(|it| !is_hidden(it.0)) {
                match there {
                    Some((other, by)) if other.0 != hit.0 => {
                        let refusal = if by == called {
                            self.shared_name(called, object.ty)
                        } else {
                            MutationRefusal::Ambiguous { ty: name(), keys: self.render_names([by, called]) }
                        };
                        // A link meets visible objects alone.
                        let taken = [other.1, hit.1].into_iter().filter(|_| !is_linked);
                        return Err(taken.fold(refusal, |told, ty| self.hide_refusal(ty, told)));
                    }
                    Some(_) | None => there = Some((*hit, called)),
                }
            }
        }
        match (object.role, there) {
            (Role::Top, Some(((id, ty), _))) if self.upsert && ty == object.ty => {
                Ok(Resolution::Changed(id, ty))
            }
            (Role::Top, Some(((_, ty), called))) => Err(self.exists(called, object.ty, ty)),
            (_, Some(((id, ty), called))) => {
                if self.model().ty(object.ty).members.contains(&ty) {
                    Ok(Resolution::There(id, ty))
                } else {
                    Err(self.no_such_object(called, object.ty))
                }
            }
            (Role::Unlinked, None) => Err(match object.id {
                None => MutationRefusal::NoId,
                Some(id) => MutationRefusal::NoSuch { id: format!("0x{id:x}"), ty: name() },
            }),
            (Role::Top | Role::Below(_) | Role::Patch { .. }, None) => {
                self.check_new(at, object)?;
                // The object's key is taken by an object that the caller does not see.
                let is_taken = self.names.of_object(at).any(|it| it.2.iter().any(|hit| is_hidden(hit.0)));
                if is_taken { Err(MutationRefusal::Denied) } else { Ok(Resolution::Made(0)) }
            }
        }
    }

    /// The refusal of `name`, which names no object of type `ty`.
    fn no_such_object(&self, name: &Name, ty: TypeId) -> MutationRefusal {
        let ty = self.model().ty(ty).name.clone();
        match name {
            Name::Id(..) => MutationRefusal::NoSuch { id: name.to_client_text(), ty },
            Name::Int(..) | Name::Text(..) => {
                MutationRefusal::NoKey { field: self.field_of(name).0, key: name.to_client_text(), ty }
            }
        }
    }

    /// The refusal of `name`, which names several objects of type `ty`.
    fn shared_name(&self, name: &Name, ty: TypeId) -> MutationRefusal {
        let ty = self.model().ty(ty).name.clone();
        MutationRefusal::Shared { field: self.field_of(name).0, key: name.to_client_text(), ty }
    }

    /// The refusal of an object of type `of` under a name that an object of type `taker` has.
    pub(super) fn exists(&self, called: &Name, of: TypeId, taker: TypeId) -> MutationRefusal {
        let (field, owner) = self.field_of(called);
        let key = called.to_client_text();
        let ty = self.model().ty(of);
        let refusal = if ty.kind == TypeKind::Object && of != taker {
            MutationRefusal::ExistsBeside { key, field, interface: owner }
        } else {
            MutationRefusal::Exists { key, field, ty: ty.name.clone() }
        };
        self.hide_refusal(taker, refusal)
    }

    /// Hides `refusal`, which reveals objects of `ty`, from a caller who does not see all of them.
    pub(super) fn hide_refusal(&self, ty: TypeId, refusal: MutationRefusal) -> MutationRefusal {
        let is_told = self.policy.is_none_or(|it| it.sees_all(self.model(), ty));
        if is_told || matches!(refusal, MutationRefusal::Untold(_)) {
            refusal
        } else {
            MutationRefusal::Untold(Box::new(refusal))
        }
    }

    /// The field that `name` is a value of, and the type that the field is of.
    fn field_of(&self, name: &Name) -> (String, String) {
        let (field, ty) = match name {
            Name::Id(ty, _) => ("id".to_owned(), *ty),
            Name::Int(field, _) | Name::Text(field, _) => {
                let of = self.model().field(*field);
                (of.name.clone(), of.owner)
            }
        };
        (field, self.model().ty(ty).name.clone())
    }

    /// Names with their fields, as clients write them.
    fn render_names<'n>(&self, names: impl IntoIterator<Item = &'n Name>) -> String {
        let named = names.into_iter().map(|it| format!("{} {}", self.field_of(it).0, it.to_client_text()));
        named.collect::<Vec<_>>().join(" and ")
    }

    /// An object that is made needs every value that has to be there.
    fn check_new(&self, at: u32, object: &InputObject) -> Result<(), MutationRefusal> {
        let ty = self.model().ty(object.ty);
        if let Some(id) = object.id {
            return Err(MutationRefusal::NoSuch { id: format!("0x{id:x}"), ty: ty.name.clone() });
        }
        if ty.kind != TypeKind::Object {
            let named = self.names.of_object(at).next();
            return Err(named.map_or(MutationRefusal::NoId, |it| self.no_such_object(it.1, object.ty)));
        }
        match self.missing_field(object) {
            Some(field) => Err(MutationRefusal::Missing { ty: ty.name.clone(), field }),
            None => Ok(()),
        }
    }

    /// A field that a new object would lack. A nested one may lack its password, as in Dgraph: an `update` or upsert gives it one.
    pub(super) fn missing_field(&self, object: &InputObject) -> Option<String> {
        let model = self.model();
        let by_parent = object.parent_field(model);
        let is_given = |field: FieldId| {
            object.fields.iter().any(|(of, content)| match content {
                _ if *of != field => false,
                Content::Edges(edges) => !edges.is_empty() || model.field(field).is_list,
                Content::Columns(_) | Content::Items(_) => true,
                Content::Null => false,
            })
        };
        let lacks = |(id, field): &(FieldId, &Field)| {
            field.is_required
                && field.kind != FieldKind::Id
                && field.default_add.is_none()
                && !is_given(*id)
                && by_parent != Some(*id)
        };
        model.fields_of(object.ty).find(lacks).map(|it| it.1.name.clone())
    }

    /// True if an upsert finds an object that the caller may not update.
    fn is_passed_over(&self, at: u32, object: &InputObject) -> bool {
        let is_denied = |hit: &(i64, TypeId)| self.denied.passed_over.contains(&hit.0);
        object.role == Role::Top
            && self.upsert
            && self.names.of_object(at).any(|it| it.2.iter().any(is_denied))
    }

    /// For each object, the equal one of the input that stands for it: the first with that name, or the one with more fields.
    fn same(&self) -> Result<Sames, MutationRefusal> {
        let mut first: Vec<Option<u32>> = vec![None; self.names.all.len()];
        let mut same = vec![None; self.objects.len()];
        let mut ignored = vec![false; self.objects.len()];
        let mut patched = Places::new();
        let mut refusals = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            ignored[at] |= self.is_passed_over(at as u32, object);
            let is_link = object.id.is_some() || object.role == Role::Unlinked;
            if object.role == (Role::Patch { removes: false }) {
                patched = self.patched_names(at as u32).collect();
                patched.iter().for_each(|it| first[*it as usize] = Some(at as u32));
            }
            if ignored[at] || is_link || matches!(object.role, Role::Patch { .. }) {
                self.ignore_below(object, ignored[at] || is_link, &mut ignored);
                continue;
            }
            let is_there = self.names.of_object(at as u32).any(|it| !it.2.is_empty());
            for (place, name, hits) in self.names.of_object(at as u32) {
                let other = *first[place as usize].get_or_insert(at as u32);
                let of = &self.objects[other as usize];
                let are_top = object.role == Role::Top && of.role == Role::Top;
                // An existing object is linked; its other fields are ignored.
                if other as usize == at || (!hits.is_empty() && !are_top) {
                    continue;
                }
                let says = self.has_other_fields(object);
                let said = self.has_other_fields(of);
                let is_patch = self.is_patch(other);
                if are_top || (says && is_patch) || (says && said && !self.is_equal(object, of)) {
                    refusals.push(MutationRefusal::Twice { key: name.to_client_text() });
                    continue;
                }
                // An object that was only linked so far may be described here.
                let is_here = (says && !said) || (says == said && object.role == Role::Top);
                let (link, is) = if is_here { (other, at as u32) } else { (at as u32, other) };
                let given = if self.is_patch(is) { &patched } else { &self.names.of[is as usize] };
                if let Err(refusal) = self.check_same(link, is, name, given) {
                    refusals.push(refusal);
                    continue;
                }
                first[place as usize] = Some(is);
                same[link as usize] = Some(is);
            }
            let is_said_elsewhere = same[at].is_some() || (is_there && object.role != Role::Top);
            self.ignore_below(object, is_said_elsewhere, &mut ignored);
        }
        MutationRefusal::all(refusals)?;
        Ok(Sames { same, ignored })
    }

    /// The names that the patch at `at` gives: a key of an interface is also the key of the patched object's type.
    fn patched_names(&self, at: u32) -> impl Iterator<Item = u32> {
        self.names.of_object(at).flat_map(|(place, name, _)| {
            let own = self.patched.and_then(|it| self.names.place(&name.of_type(self.model(), it.1)?));
            std::iter::once(place).chain(own.filter(|it| *it != place))
        })
    }

    /// True if the object at `at` is the patch of an update.
    fn is_patch(&self, at: u32) -> bool {
        matches!(self.objects[at as usize].role, Role::Patch { .. })
    }

    /// Checks that `link`, which has `name`, can be the object `is` of the input, which has the names `given`: by all its names, and
    /// by its type.
    fn check_same(&self, link: u32, is: u32, name: &Name, given: &Places) -> Result<(), MutationRefusal> {
        let ty = self.model().ty(self.objects[link as usize].ty);
        let is_patch = self.is_patch(is);
        let patched = self.patched.map(|it| it.0);
        let is_patched = |hits: &Hits| is_patch && hits.iter().any(|it| Some(it.0) == patched);
        let mut names = self.names.of_object(link);
        if !names.all(|(place, _, hits)| given.contains(&place) || is_patched(hits)) {
            let keys = self.render_names(self.names.of_object(link).map(|it| it.1));
            return Err(MutationRefusal::Ambiguous { ty: ty.name.clone(), keys });
        }
        let of = if is_patch { self.patched.map(|it| it.1) } else { Some(self.objects[is as usize].ty) };
        if of.is_none_or(|of| ty.members.contains(&of)) {
            Ok(())
        } else {
            Err(self.no_such_object(name, self.objects[link as usize].ty))
        }
    }

    /// Objects nested in an object that is only linked are ignored.
    fn ignore_below(&self, object: &InputObject, is_link: bool, ignored: &mut [bool]) {
        for at in edges(object).filter(|_| is_link) {
            ignored[at as usize] = true;
        }
    }

    /// True if two objects have equal fields.
    fn is_equal(&self, one: &InputObject, other: &InputObject) -> bool {
        let object = |at: &u32| &self.objects[*at as usize];
        let is_same = |(one, other): (&Content, &Content)| match (one, other) {
            (Content::Columns(one), Content::Columns(other)) => one == other,
            (Content::Items(one), Content::Items(other)) => one == other,
            (Content::Edges(one), Content::Edges(other)) => {
                let mut pairs = one.iter().zip(other);
                one.len() == other.len()
                    && pairs.all(|(one, other)| self.is_equal(object(one), object(other)))
            }
            (Content::Null, Content::Null) => true,
            (Content::Columns(_) | Content::Items(_) | Content::Edges(_) | Content::Null, _) => false,
        };
        let mut fields = one.fields.iter().zip(&other.fields);
        (one.ty, one.id, one.fields.len()) == (other.ty, other.id, other.fields.len())
            && one.secret.is_some() == other.secret.is_some()
            && one.secret_place == other.secret_place
            && fields.all(|(one, other)| one.0 == other.0 && is_same((&one.1, &other.1)))
    }

    /// True if an object has more fields than its name.
    fn has_other_fields(&self, object: &InputObject) -> bool {
        object.secret.is_some() || object.fields.iter().any(|it| self.model().field(it.0).key.is_none())
    }
}

/// Objects of an input that equal earlier ones, and objects that are ignored.
struct Sames {
    same: Vec<Option<u32>>,
    ignored: Vec<bool>,
}

/// The objects directly below one.
pub(super) fn edges(object: &InputObject) -> impl Iterator<Item = u32> {
    object
        .fields
        .iter()
        .flat_map(|(_, content)| match content {
            Content::Edges(edges) => edges.as_slice(),
            Content::Null | Content::Columns(_) | Content::Items(_) => &[],
        })
        .copied()
}
