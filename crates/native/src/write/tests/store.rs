//! The product's side: the tables of the types on a SQLite database, mutations driven by hand, and what is stored, read by
//! plain SQL through the layout.

use super::types::{CITY, COUNTRY, NAMED, OracleKind, OracleType, SDL, TYPES};
use super::words::{Given, Operation, OracleInput as Words};
use crate::api::meaning::Api;
use crate::layout::{Database, Layout, Storage};
use crate::model::{FieldKind, TypeId};
use crate::write::Writes;
use crate::write::mutation::{Mutation, MutationInput, MutationKind};
use crate::write::object::{Content, InputObject, Role};
use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use std::sync::Arc;
use weir_database::frontend::program::{Answers, BoundStatement, Cell, Program, Step, Value};
use weir_language::schema::Schema;
use weir_relational::catalog::{ColumnId, TableId, TableKind};
use weir_relational::passes::policy::Everything;

pub(super) struct OracleStore {
    connection: Connection,
    writes: Arc<Writes>,
}

impl OracleStore {
    pub(super) fn new() -> Self {
        let model = crate::sdl::read(SDL).expect("sound types").model;
        let layout = Arc::new(Layout::new(&model, Database::Sqlite, "main"));
        let connection = Connection::open_in_memory().expect("SQLite opens");
        connection.execute_batch(&tables(&layout)).expect("sound tables");
        let schema = Arc::new(Schema::from_sdl("type Query { a: Int }").expect("a sound schema"));
        let fields = Vec::new();
        let inputs = Vec::new();
        let enum_values = Vec::new();
        let types = Vec::new();
        let entity_lookups = Vec::new();
        let api = Arc::new(Api { schema, model, fields, inputs, enum_values, types, entity_lookups });
        Self { connection, writes: Writes::new(api, layout, Database::Sqlite, Arc::new(Everything)) }
    }

    fn ty(&self, ty: usize) -> TypeId {
        self.writes.model().type_by_name(TYPES[ty].name).expect("it is in the text")
    }

    fn name(&self, table: TableId, column: ColumnId) -> String {
        self.writes.layout.relations.catalog.table(table).column(column).name.clone()
    }

    fn table(&self, table: TableId) -> String {
        self.writes.layout.relations.catalog.table(table).name.clone()
    }

    /// Runs `mutation` in a transaction: the numbers that are shown, in order, and the count, or why it was refused.
    pub(super) fn run(&self, mutation: &Operation) -> Result<(Vec<i64>, i64), String> {
        let mut input = MutationInput { shows: true, ..MutationInput::default() };
        let (what, keys) = match mutation {
            Operation::Add { ty, inputs, upsert } => {
                input.upsert = *upsert;
                for it in inputs {
                    let at = self.object(it, Role::Top, &mut input.objects);
                    input.roots.push(at);
                }
                (MutationKind::Add(self.ty(*ty)), &Vec::new())
            }
            Operation::Update { ty, keys, set, remove } => {
                let patch = |it: &Words, removes, objects: &mut Vec<InputObject>| {
                    self.object(it, Role::Patch { removes }, objects)
                };
                input.set = set.as_ref().map(|it| patch(it, false, &mut input.objects));
                input.remove = remove.as_ref().map(|it| patch(it, true, &mut input.objects));
                (MutationKind::Update(self.ty(*ty)), keys)
            }
            Operation::Delete { ty, keys } => (MutationKind::Delete(self.ty(*ty)), keys),
        };
        let mut work = Mutation::new(Arc::clone(&self.writes), what, "it", input);
        self.connection.execute_batch("BEGIN").expect("no transaction is open");
        let outcome = self.drive(&mut work, what, keys);
        if outcome.is_ok()
            && let Err(error) = self.connection.execute_batch("COMMIT")
        {
            return Err(format!("it cannot be committed: {error}"));
        }
        if outcome.is_err() {
            self.connection.execute_batch("ROLLBACK").expect("it is open");
        }
        outcome
    }

    fn drive(
        &self,
        work: &mut Mutation,
        what: MutationKind,
        keys: &[String],
    ) -> Result<(Vec<i64>, i64), String> {
        let mut answers = Answers::default();
        let mut asked = Vec::new();
        let mut outcome = (Vec::new(), 0);
        loop {
            asked.clear();
            let step = work.next(&answers, &mut asked).map_err(|error| error.message.to_string())?;
            answers.clear();
            match step {
                Step::Check { .. } => unreachable!("nothing is restricted"),
                Step::Find => self.find(what.ty(), keys, work),
                Step::Ask | Step::Execute => asked.iter().try_for_each(|it| self.ask(it, &mut answers))?,
                Step::Answer(mut shown) => {
                    shown.ids.sort_unstable();
                    outcome = (shown.ids, shown.affected);
                }
                Step::Done => return Ok(outcome),
            }
        }
    }

    fn find(&self, ty: TypeId, keys: &[String], work: &mut Mutation) {
        let layout = &self.writes.layout;
        let table = layout.tables[ty.index()];
        let id = layout.ids[ty.index()];
        let is_of = |it: &&OracleType| it.name == self.writes.model().ty(ty).name;
        let name = TYPES.iter().find(is_of).expect("it is one of them").key;
        let keys: Vec<String> = keys.iter().map(|it| format!("'{it}'")).collect();
        let only =
            if keys.is_empty() { String::new() } else { format!("WHERE {name} IN ({})", keys.join(",")) };
        let id = self.name(table, id);
        let table = self.table(table);
        for id in self.numbers(&format!("SELECT {id} FROM {table} {only} ORDER BY {id}")) {
            work.take_object_id(id).expect("there are few");
        }
    }

    fn numbers(&self, sql: &str) -> Vec<i64> {
        let mut statement = self.connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        let numbers = statement.query_map([], |row| row.get(0)).expect("it runs");
        numbers.map(|it| it.expect("a number")).collect()
    }

    fn ask(&self, asked: &BoundStatement, answers: &mut Answers) -> Result<(), String> {
        let mut statement = self.connection.prepare_cached(&asked.template.sql).expect("a sound statement");
        for (at, value) in asked.values.iter().enumerate() {
            let value = match value {
                Value::Null => Stored::Null,
                Value::Bool(it) => Stored::Integer(i64::from(*it)),
                Value::Int(it) => Stored::Integer(*it),
                Value::Float(it) => Stored::Real(*it),
                Value::Text(it) => Stored::Text(it.to_string()),
                Value::Ids(ids) => Stored::Text(format!("{ids:?}")),
            };
            statement.raw_bind_parameter(at + 1, value).expect("it has that many");
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| format!("{error}: {asked:?}"))? {
            for column in 0..asked.template.width {
                answers.push(match row.get(column).expect("it has that many") {
                    Stored::Integer(number) => Cell::Int(number),
                    Stored::Text(text) => Cell::Text(text.into()),
                    Stored::Null | Stored::Real(_) | Stored::Blob(_) => Cell::Null,
                });
            }
        }
        answers.end();
        Ok(())
    }

    /// As the product reads inputs, from words instead of a request.
    fn object(&self, words: &Words, role: Role, objects: &mut Vec<InputObject>) -> u32 {
        let model = self.writes.model();
        let at = objects.len();
        let ty = self.ty(words.ty);
        objects.push(InputObject {
            ty,
            role,
            id: words.id,
            fields: Vec::new(),
            secret: None,
            secret_place: 0,
        });
        let removes = matches!(role, Role::Unlinked | Role::Patch { removes: true });
        let mut fields = Vec::new();
        for (name, given) in &words.fields {
            let field = model.field_by_name(ty, name).expect("it is in the text");
            let below = if removes { Role::Unlinked } else { Role::Below(field) };
            let column = |value| match self.writes.layout.fields[field.index()] {
                Storage::Column(column) => Content::Columns(smallvec::smallvec![(column, value)]),
                _ => panic!("{name} is no column"),
            };
            let content = match given {
                Given::Null if removes => Content::Null,
                Given::Null => continue,
                Given::Int(number) => column(Value::Int(*number)),
                Given::Text(text) => column(Value::Text(text.as_str().into())),
                Given::Texts(texts) => {
                    Content::Items(texts.iter().map(|it| (Value::Text(it.as_str().into()), None)).collect())
                }
                Given::Object(it) => Content::Edges(vec![self.object(it, below, objects)]),
                Given::Objects(all) => {
                    Content::Edges(all.iter().map(|it| self.object(it, below, objects)).collect())
                }
            };
            fields.push((field, content));
        }
        objects[at].fields = fields;
        at as u32
    }

    /// Everything that is stored of a type, in the form of the oracle's.
    pub(super) fn all(&self, ty: usize) -> serde_json::Value {
        if ty == NAMED {
            let mut both: Vec<_> = [COUNTRY, CITY].iter().flat_map(|it| self.rows(*it, NAMED)).collect();
            both.sort_by_key(|it| it.0);
            return both.into_iter().map(|it| it.1).collect::<Vec<_>>().into();
        }
        self.rows(ty, ty).into_iter().map(|it| it.1).collect::<Vec<_>>().into()
    }

    /// The objects of `ty`, with the fields of `shown`.
    fn rows(&self, ty: usize, shown: usize) -> Vec<(i64, serde_json::Value)> {
        let layout = &self.writes.layout;
        let of = self.ty(ty);
        let table = layout.tables[of.index()];
        let id = layout.ids[of.index()];
        let id = self.name(table, id);
        let table = self.table(table);
        let ids = self.numbers(&format!("SELECT {id} FROM {table} ORDER BY {id}"));
        let object = |number: i64| {
            let mut out = serde_json::Map::new();
            out.insert("id".into(), format!("0x{number:x}").into());
            for field in TYPES[shown].fields {
                out.insert(field.name.into(), self.value(of, field.name, &field.kind, number));
            }
            (number, out.into())
        };
        ids.into_iter().map(object).collect()
    }

    fn value(&self, ty: TypeId, name: &str, kind: &OracleKind, number: i64) -> serde_json::Value {
        let layout = &self.writes.layout;
        let model = self.writes.model();
        let field = model.field_by_name(ty, name).expect("it is in the text");
        let own = layout.tables[ty.index()];
        let id = layout.ids[ty.index()];
        let own_name = self.table(own);
        let id = self.name(own, id);
        let column = |column: ColumnId| {
            let column = self.name(own, column);
            let sql = format!("SELECT {column} FROM {own_name} WHERE {id} = {number}");
            self.connection.query_row(&sql, [], |row| row.get::<_, Stored>(0)).expect("it is there")
        };
        let ids: Vec<i64> = match layout.fields[field.index()] {
            Storage::Column(at) => return json(column(at)),
            Storage::Values { table, owner, value, .. } => {
                let owner = self.name(table, owner);
                let value = self.name(table, value);
                let table = self.table(table);
                let sql = format!("SELECT {value} FROM {table} WHERE {owner} = {number} ORDER BY {value}");
                let mut statement = self.connection.prepare(&sql).expect("a sound statement");
                let texts = statement.query_map([], |row| row.get::<_, String>(0)).expect("it runs");
                return texts.map(|it| it.expect("a text")).collect::<Vec<_>>().into();
            }
            Storage::ToOne { column: at, .. } => match column(at) {
                Stored::Integer(number) => vec![number],
                _ => Vec::new(),
            },
            Storage::ToOneBack { table, column, .. } | Storage::ToMany { table, column, .. } => {
                let FieldKind::Edge { to, .. } = model.field(field).kind else { panic!("{name} is an edge") };
                let id = self.name(layout.tables[to.index()], layout.ids[to.index()]);
                let column = self.name(table, column);
                let table = self.table(table);
                self.numbers(&format!("SELECT {id} FROM {table} WHERE {column} = {number} ORDER BY {id}"))
            }
            Storage::Join { table, ours, theirs, .. } => {
                let ours = self.name(table, ours);
                let theirs = self.name(table, theirs);
                let table = self.table(table);
                self.numbers(&format!(
                    "SELECT {theirs} FROM {table} WHERE {ours} = {number} ORDER BY {theirs}"
                ))
            }
            Storage::Id(_) | Storage::Instant { .. } | Storage::Point { .. } | Storage::Shape { .. } => {
                panic!("{name} is not read here")
            }
        };
        let ids: Vec<serde_json::Value> =
            ids.into_iter().map(|it| serde_json::json!({"id": format!("0x{it:x}")})).collect();
        match kind {
            OracleKind::Edge { many: true, .. } => ids.into(),
            OracleKind::Edge { many: false, .. } | OracleKind::Key | OracleKind::Int | OracleKind::Texts => {
                assert!(ids.len() <= 1, "{name} has several");
                ids.into_iter().next().unwrap_or_default()
            }
        }
    }

    /// Inconsistencies of the database: dangling references, registries that differ from their members.
    pub(super) fn complaint(&self) -> Option<String> {
        let dangling = "SELECT count(*) FROM pragma_foreign_key_check";
        if self.numbers(dangling) != [0] {
            return Some("something refers to what is not there".into());
        }
        let registered = "SELECT id FROM Named WHERE (id, type, name) NOT IN (SELECT id, 'Country', name FROM Country \
             UNION SELECT id, 'City', name FROM City)";
        let unregistered = "SELECT id FROM Country WHERE id NOT IN (SELECT id FROM Sight) \
             UNION SELECT id FROM City WHERE id NOT IN (SELECT id FROM Named) OR id NOT IN (SELECT id FROM Sight)";
        let sights = "SELECT id FROM Sight WHERE id NOT IN (SELECT id FROM Named)";
        let mut wrong = [registered, unregistered, sights].into_iter();
        wrong.find(|it| !self.numbers(it).is_empty()).map(|it| format!("found by {it}"))
    }
}

fn json(value: Stored) -> serde_json::Value {
    match value {
        Stored::Null => serde_json::Value::Null,
        Stored::Integer(number) => number.into(),
        Stored::Text(text) => text.into(),
        Stored::Real(_) | Stored::Blob(_) => panic!("no such column"),
    }
}

/// The tables with their keys and references, as the layout has them.
fn tables(layout: &Layout) -> String {
    let catalog = &layout.relations.catalog;
    let mut out = String::from(
        "PRAGMA foreign_keys = on; CREATE TABLE weir_store (next_id INTEGER); INSERT INTO weir_store VALUES (1);",
    );
    for table in catalog.tables.iter().filter(|it| it.kind == TableKind::Table) {
        let names = |ids: &[ColumnId]| {
            ids.iter().map(|it| table.column(*it).name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let key = table.primary_key.as_ref().map(|it| it.columns.as_slice()).unwrap_or_default();
        let mut parts: Vec<String> = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let is_key = if key == [ColumnId(at as u32)] { " PRIMARY KEY" } else { "" };
            let null = if column.nullable { "" } else { " NOT NULL" };
            parts.push(format!("{} {}{is_key}{null}", column.name, column.declared));
        }
        parts.extend((key.len() > 1).then(|| format!("PRIMARY KEY ({})", names(key))));
        parts.extend(table.unique_keys.iter().map(|it| format!("UNIQUE ({})", names(&it.columns))));
        parts.extend(table.foreign_keys.iter().map(|it| {
            let to = catalog.table(it.target);
            format!(
                "FOREIGN KEY ({}) REFERENCES {} ({}) DEFERRABLE INITIALLY DEFERRED",
                names(&it.columns),
                to.name,
                to.column(it.target_columns[0]).name
            )
        }));
        out.push_str(&format!("CREATE TABLE {} ({}) STRICT;\n", table.name, parts.join(", ")));
    }
    out
}
