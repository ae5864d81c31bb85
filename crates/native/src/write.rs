//! Mutations: from the input of `add`, `update` and `delete` to what is done to the store.
//!
//! A mutation is a [`Program`]: the input becomes a flat list of objects (`object`), their names are asked for (`resolve`),
//! it is decided what becomes of each, and the changes are said (`change`). No step does any input or output, so an
//! embedded database drives a mutation inside one job of its writer and a server in one transaction, a trip per step.
//!
//! **Invariant:** a mutation is refused before it has changed anything, or everything it asks for is done.
//!
//! **Cost:** `addDish` with two links is three questions in one step and two statements in another; texts of statements are
//! rendered once per store.

mod change;
mod input;
mod numbers;
mod object;
mod one_to_one;
mod refusal;
mod resolve;
pub(crate) mod secret;
mod statement;
pub(crate) mod type_info;

mod mutation;
mod stored_values;
#[cfg(test)]
mod tests;

use crate::api::meaning::{Api, FieldMeaning, InputMeaning};
use crate::auth::Rules;
use crate::layout::{Database, Layout, Storage};
use crate::model::{FieldId, Model, TypeId};
use crate::store::ddl;
use hashbrown::HashMap;
use input::InputValue;
use mutation::{Mutation, MutationInput, MutationKind};
use object::{Objects, Role};
use refusal::{MutationRefusal, PERMISSION, reveal_denial};
use statement::{RowCondition, TemplateKey, Templates};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use stored_values::ValueReader;
use type_info::TypeInfos;
use weir_database::frontend::program::{
    Answers, BoundStatement, Call, Cell, ObjectLookup, PossibleStatement, Program, Programs, UNTOLD, Value,
};
use weir_engine::plan::output_plan::OutputKind;
use weir_engine::source::{BoxFuture, FieldError};
use weir_language::value::Node;
use weir_relational::catalog::ColumnId;
use weir_relational::dialect::store::SideIndex;
use weir_relational::passes::policy::Policy;

/// State shared by all mutations of a store.
#[derive(Debug)]
struct Writes {
    api: Arc<Api>,
    layout: Arc<Layout>,
    type_info: TypeInfos,
    templates: Templates,
    hashing: secret::Hashing,
}

impl Writes {
    fn new(api: Arc<Api>, layout: Arc<Layout>, database: Database, policy: Arc<dyn Policy>) -> Arc<Self> {
        let type_info = TypeInfos::new(&api.model, &layout);
        let templates = Templates::new(database, policy);
        let hashing = secret::Hashing::new();
        Arc::new(Self { api, layout, type_info, templates, hashing })
    }

    fn model(&self) -> &Model {
        &self.api.model
    }

    fn bind_statement(&self, key: TemplateKey, values: impl IntoIterator<Item = Value>) -> BoundStatement {
        let template = self.templates.get(&self.layout, key);
        BoundStatement { template, values: values.into_iter().collect() }
    }

    fn meaning(&self, call: &Call<'_>) -> FieldMeaning {
        self.api.field(call.ids.field(call.output.fields[call.field as usize].field))
    }

    /// The name of the root field of `call`.
    fn field_name(&self, call: &Call<'_>) -> &str {
        let field = call.ids.field(call.output.fields[call.field as usize].field);
        self.api.schema.str(self.api.schema.field(field).name)
    }

    /// The statement that finds number and hash of the object of a `check…Password`, and the password.
    fn guard(&self, call: &Call<'_>) -> Result<(BoundStatement, Arc<str>), MutationRefusal> {
        let layout = &self.layout;
        let mut named = None;
        let mut password = None;
        for (argument, given) in InputValue::arguments(call) {
            match self.api.input(argument) {
                InputMeaning::Field(field) => named = self.name(field, given)?,
                InputMeaning::Secret(ty) => password = Some((ty, given.text().unwrap_or_default())),
                _ => {}
            }
        }
        let Some((ty, password)) = password else { return Err(MutationRefusal::NoId) };
        let (Some((by, value)), Some(secret)) = (named, layout.secrets[ty.index()]) else {
            return Err(MutationRefusal::NoId);
        };
        // The hash of an interface's object is in the object's own table.
        let (table, id) = match &layout.all[ty.index()] {
            Some(view) => (view.table, view.id),
            None => (layout.tables[ty.index()], layout.ids[ty.index()]),
        };
        let kind = TemplateKey::Find {
            table,
            columns: [id, secret].into_iter().collect(),
            rows: RowCondition::by(by),
        };
        Ok((self.bind_statement(kind, [value]), password.into()))
    }

    /// Name of the object in `given`: a column and its value; nothing if it is null.
    fn name(
        &self,
        field: FieldId,
        given: InputValue<'_>,
    ) -> Result<Option<(ColumnId, Value)>, MutationRefusal> {
        let value = match (given.text(), given.node()) {
            (Some(text), _) => stored_values::text(text)?,
            (None, Node::Int(number) | Node::QuotedInt(number)) => Value::Int(number),
            (None, _) => return Ok(None),
        };
        Ok(match (self.layout.fields[field.index()], value) {
            // A text that is no number names no object.
            (Storage::Id(column), Value::Text(id)) => {
                Some((column, Value::Int(object::parse_id(&id).unwrap_or(0))))
            }
            (Storage::Id(column) | Storage::Column(column), value) => Some((column, value)),
            (_, _) => None,
        })
    }

    /// True if the answer to `call` has objects.
    fn shows(&self, call: &Call<'_>) -> bool {
        let OutputKind::Object(set) = call.output.fields[call.field as usize].member else { return false };
        let mut fields = call.output.set(set).range().map(|at| call.ids.field(call.output.fields[at].field));
        fields.any(|it| matches!(self.api.field(it), FieldMeaning::PayloadObjects(_)))
    }

    /// Reads the input of the field of `call`.
    fn read(
        &self,
        call: &Call<'_>,
        kind: MutationKind,
        now_us: i64,
    ) -> Result<MutationInput, MutationRefusal> {
        let reader = ValueReader { api: &self.api, now_us };
        let mut objects =
            Objects { layout: &self.layout, reader, list: Vec::new(), passwords: HashMap::new() };
        let mut input = MutationInput { now_us, ..MutationInput::default() };
        for (argument, given) in InputValue::arguments(call) {
            match (self.api.input(argument), kind) {
                (InputMeaning::Input(ty), MutationKind::Add(_)) => {
                    for item in given.items() {
                        input.roots.push(objects.read(ty, item, Role::Top, 0)?);
                    }
                }
                (InputMeaning::Upsert, _) => input.upsert = given.node() == Node::Bool(true),
                (InputMeaning::Input(_), MutationKind::Update(_)) => {
                    for (member, given) in given.members().filter(|it| it.1.members().next().is_some()) {
                        match self.api.input(member) {
                            InputMeaning::Set(ty) if self.sets(ty, given) => {
                                input.set =
                                    Some(objects.read(ty, given, Role::Patch { removes: false }, 0)?);
                            }
                            InputMeaning::Remove(ty) => {
                                input.remove =
                                    Some(objects.read(ty, given, Role::Patch { removes: true }, 0)?);
                            }
                            _ => {}
                        }
                    }
                    objects.keep_secret(input.set, input.remove)?;
                }
                _ => {}
            }
        }
        input.objects = objects.list;
        Ok(input)
    }

    /// True if a non-empty `set` changes anything: null sets nothing, except a field with a default for updates.
    fn sets(&self, ty: TypeId, given: InputValue<'_>) -> bool {
        let model = self.model();
        let has_default = |ty: &TypeId| model.fields_of(*ty).any(|it| it.1.default_update.is_some());
        given.members().any(|it| !it.1.is_null()) || model.ty(ty).members.iter().any(has_default)
    }
}

/// The kind of mutation of a root field; `None` for other fields.
fn kind_of(meaning: FieldMeaning) -> Option<MutationKind> {
    match meaning {
        FieldMeaning::Add(ty) => Some(MutationKind::Add(ty)),
        FieldMeaning::Update(ty) => Some(MutationKind::Update(ty)),
        FieldMeaning::Delete(ty) => Some(MutationKind::Delete(ty)),
        _ => None,
    }
}

/// Makes the programs of a store's mutations.
#[derive(Debug)]
pub struct Mutations {
    writes: Arc<Writes>,
    side_indexes: Vec<SideIndex>,
    rules: Arc<Rules>,
    tells_denials: bool,
}

impl Mutations {
    /// Serves mutations of the store in `database` with the tables of `layout`; `policy` restricts every statement.
    pub fn new(api: Arc<Api>, layout: Arc<Layout>, database: Database, policy: Arc<dyn Policy>) -> Self {
        let side_indexes = ddl::side_indexes(database, &layout);
        let writes = Writes::new(api, layout, database, policy);
        Self { writes, side_indexes, rules: Arc::default(), tells_denials: false }
    }

    /// Lets `rules` hold.
    pub(crate) fn restrict(&mut self, rules: Arc<Rules>) {
        self.rules = rules;
    }

    /// Lets clients know of denials.
    pub(crate) const fn tell_denials(&mut self) {
        self.tells_denials = true;
    }

    /// The code of errors that reveal something the caller may not see.
    pub(crate) const fn denial_code(&self) -> &'static str {
        if self.tells_denials { PERMISSION } else { UNTOLD }
    }

    /// The error of a root field for a caller whose token is invalid.
    pub(crate) fn token_error(&self, call: &Call<'_>, reason: &str) -> FieldError {
        let name = self.writes.field_name(call);
        let (code, message) = match kind_of(self.writes.meaning(call)) {
            None => {
                let key = call.output.fields[call.field as usize].key.name();
                ("INVALID_TOKEN", format!("couldn't rewrite query {key} because {reason}"))
            }
            Some(MutationKind::Add(_)) => {
                (UNTOLD, format!("mutation failed because authorization failed because {reason}"))
            }
            Some(MutationKind::Update(_) | MutationKind::Delete(_)) => {
                ("INVALID_TOKEN", format!("couldn't rewrite mutation {name} because {reason}"))
            }
        };
        let error = FieldError { code, message: message.into(), hasura_path: None, extensions: None };
        reveal_denial(error, self.tells_denials)
    }
}

impl Programs for Mutations {
    fn side_indexes(&self) -> &[SideIndex] {
        &self.side_indexes
    }

    fn begin<'r>(&'r self, call: Call<'r>) -> BoxFuture<'r, Result<Box<dyn Program>, FieldError>> {
        Box::pin(async move {
            let writes = &self.writes;
            let name = writes.field_name(&call);
            let Some(kind) = kind_of(writes.meaning(&call)) else {
                let message = format!("`{name}` is no mutation").into();
                return Err(FieldError { code: "INTERNAL", message, hasura_path: None, extensions: None });
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let input = writes.read(&call, kind, now.as_micros() as i64);
            let mut input = input.map_err(|refusal| refusal.into_field_error(name))?;
            input.shows = writes.shows(&call);
            for object in input.objects.iter_mut().filter(|it| it.secret.is_some()) {
                let Some(password) = object.secret.take() else { continue };
                object.secret = Some(writes.hashing.hash(password).await?);
            }
            let policy = self.rules.policy(call.facts);
            let mutation = Mutation::new(Arc::clone(writes), kind, name, input);
            let mutation = mutation.with_policy(policy, self.tells_denials);
            Ok(Box::new(mutation) as Box<dyn Program>)
        })
    }

    fn lookup(&self, call: &Call<'_>) -> Result<ObjectLookup, FieldError> {
        let writes = Arc::clone(&self.writes);
        let refused = |refusal: MutationRefusal| refusal.into_field_error(writes.field_name(call));
        let (statement, password) = writes.guard(call).map_err(refused)?;
        let choose = move |answers: &Answers| -> BoxFuture<'static, Result<i64, FieldError>> {
            let (id, hash) = match answers.cells(0) {
                [id, Cell::Text(hash)] => (id.int(), Some(hash.clone())),
                [id, _] => (id.int(), None),
                _ => (None, None),
            };
            Box::pin(async move {
                let is_right = writes.hashing.is_right(password, hash).await?;
                Ok(id.filter(|_| is_right).unwrap_or(0))
            })
        };
        Ok(ObjectLookup { statement, choose: Box::new(choose) })
    }

    fn possible(&self, call: &Call<'_>) -> Result<Vec<PossibleStatement>, FieldError> {
        let writes = &self.writes;
        let name = writes.field_name(call);
        let statements = match kind_of(writes.meaning(call)) {
            Some(kind) => {
                let mut input =
                    writes.read(call, kind, 0).map_err(|refusal| refusal.into_field_error(name))?;
                input.shows = writes.shows(call);
                Mutation::new(Arc::clone(writes), kind, name, input).possible()
            }
            None => vec![writes.guard(call).map_err(|refusal| refusal.into_field_error(name))?.0],
        };
        let words = |it: BoundStatement| {
            let words = writes.templates.describe_template(&writes.layout, &it.template);
            PossibleStatement { words, template: it.template }
        };
        Ok(statements.into_iter().map(words).collect())
    }
}

/// The type that a mutation is about.
impl MutationKind {
    fn ty(self) -> TypeId {
        match self {
            Self::Add(ty) | Self::Update(ty) | Self::Delete(ty) => ty,
        }
    }
}
