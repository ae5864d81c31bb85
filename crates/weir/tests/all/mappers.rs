//! Tables of object mappers go round: each value that a mapper wrote is read in a list, by its key and by equality, is set again, and
//! its row is deleted and inserted again; afterwards the database holds what it held.
//!
//! The databases are those that the kits in `tests/kits/mappers` wrote, one table with every field type of the mapper. A kit has its own
//! database taken round by the address in `WEIR_KIT`, and reads it again.

use crate::postgres_kit::database;
use crate::postgres_kit::release::Release;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use weir::Weir;
use weir_engine::source::Protocol;
use weir_language::json::{Json, JsonRef};

/// A column, or an argument of a field.
struct Member {
    name: String,
    /// As a variable is declared.
    ty: String,
}

/// A table as its schema shows it.
struct Table {
    name: String,
    columns: Vec<Member>,
    keys: Vec<Member>,
    /// Columns that have `_eq`.
    comparable: Vec<String>,
    /// Columns that take a value.
    settable: Vec<String>,
}

/// How documents of a file are compared: a new row has them as texts, for only a row that was there says that they were bytes.
#[derive(Clone, Copy)]
enum Documents {
    AsStored,
    AsTexts,
}

/// Rows of tables, by their names.
type Stored = BTreeMap<String, Vec<String>>;

/// A row: a JSON text for each column.
type Row = BTreeMap<String, String>;

/// A database that is served.
struct Round {
    weir: Weir,
    address: String,
    runtime: tokio::runtime::Runtime,
}

/// True for a type whose values are in the row.
fn is_leaf(ty: &Value) -> bool {
    match ty["kind"].as_str() {
        Some("NON_NULL" | "LIST") => is_leaf(&ty["ofType"]),
        kind => matches!(kind, Some("SCALAR" | "ENUM")),
    }
}

fn show_type(ty: &Value) -> String {
    match ty["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", show_type(&ty["ofType"])),
        Some("LIST") => format!("[{}]", show_type(&ty["ofType"])),
        _ => ty["name"].as_str().unwrap_or_default().to_owned(),
    }
}

fn members(of: &Value) -> Vec<(String, &Value)> {
    let list = of.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|it| (it["name"].as_str().unwrap_or_default().to_owned(), &it["type"])).collect()
}

impl Round {
    fn new(address: &str) -> Self {
        let (kind, more) = if address.starts_with("sqlite:") {
            ("sqlite", "    integers: bigint\n")
        } else {
            ("postgres", "")
        };
        let config = format!("sources:\n  - name: kit\n    kind: {kind}\n    url: {address}\n{more}");
        let name = address.replace(|it: char| !it.is_ascii_alphanumeric(), "");
        let file = std::env::temp_dir().join(format!("weir-kit-{}-{name}.yaml", std::process::id()));
        std::fs::write(&file, config).expect("a configuration can be written");
        let weir =
            Weir::open(&file.display().to_string()).unwrap_or_else(|error| panic!("{address}: {error}"));
        std::fs::remove_file(&file).expect("it is there");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        Self { weir, address: address.to_owned(), runtime }
    }

    fn answer(&self, operation: &str, variables: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        let answer = self.weir.execute_as(operation, variables, None, Protocol::GraphqlOverHttp, deadline);
        let answer = self.runtime.block_on(answer).unwrap_or_else(|error| panic!("{operation}: {error}"));
        String::from_utf8(answer).expect("JSON is UTF-8")
    }

    /// An answer without errors.
    fn success(&self, operation: &str, variables: &str) -> String {
        let answer = self.answer(operation, variables);
        assert!(!answer.contains("\"errors\""), "{}: {operation}\n{variables}\n{answer}", self.address);
        answer
    }

    /// Members of a type of the schema.
    fn describe_type(&self, name: &str, of: &str) -> Value {
        let ty = "type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";
        let args = if of == "fields" { format!("args {{ name {ty} }}") } else { String::new() };
        let text = format!("{{ __type(name: \"{name}\") {{ {of} {{ name {ty} {args} }} }} }}");
        let answer: Value = serde_json::from_str(&self.answer(&text, "{}")).expect("it is JSON");
        answer["data"]["__type"][of].clone()
    }

    fn tables(&self) -> Vec<Table> {
        let roots = self.describe_type("query_root", "fields");
        let roots = roots.as_array().expect("there are fields");
        let keyed = roots.iter().filter_map(|it| {
            let name = it["name"].as_str()?.strip_suffix("_by_pk")?.to_owned();
            Some((name, &it["args"]))
        });
        keyed.map(|(name, keys)| self.table(name, keys)).collect()
    }

    fn table(&self, name: String, keys: &Value) -> Table {
        let fields = self.describe_type(&name, "fields");
        let member = |(name, ty): (String, &Value)| Member { name, ty: show_type(ty) };
        let columns = members(&fields).into_iter().filter(|it| is_leaf(it.1)).map(member).collect();
        let conditions = self.describe_type(&format!("{name}_bool_exp"), "inputFields");
        let has_eq = |ty: &Value| {
            let comparisons = self.describe_type(&show_type(ty), "inputFields");
            members(&comparisons).iter().any(|it| it.0 == "_eq")
        };
        let comparable = members(&conditions).into_iter().filter(|it| has_eq(it.1)).map(|it| it.0).collect();
        let settable = self.describe_type(&format!("{name}_set_input"), "inputFields");
        let settable = members(&settable).into_iter().map(|it| it.0).collect();
        let keys = members(keys).into_iter().map(member).collect();
        Table { name, columns, keys, comparable, settable }
    }

    /// Rows of the root field `field` as texts.
    fn rows(&self, table: &Table, field: &str, parameters: &str, variables: &str) -> Vec<Row> {
        let columns: Vec<&str> = table.columns.iter().map(|it| &*it.name).collect();
        let operation = format!("query {parameters} {{ rows: {field} {{ {} }} }}", columns.join(" "));
        let answer = self.success(&operation, variables);
        let answer = Json::parse(answer.as_bytes(), 400).expect("it is JSON");
        let rows = answer.root().get("data").and_then(|it| it.get("rows")).expect("there is a field");
        let row = |row: JsonRef<'_>| {
            let cell =
                |it: &&str| ((*it).to_owned(), row.get(it).expect("it was asked for").raw().to_owned());
            columns.iter().map(cell).collect()
        };
        if rows.raw().starts_with('[') { rows.items().map(row).collect() } else { vec![row(rows)] }
    }

    /// Everything in the tables, as the database's own text.
    fn read_tables(&self, tables: &[Table], documents: Documents) -> Stored {
        let rows = |table: &Table| match self.address.strip_prefix("sqlite:") {
            Some(file) => rows_of_file(file, &table.name, documents),
            None => rows_of_server(&self.address, &table.name),
        };
        let sorted = |table: &Table| {
            let mut rows = rows(table);
            rows.sort();
            (table.name.clone(), rows)
        };
        tables.iter().map(sorted).collect()
    }

    fn go(&self) -> usize {
        let tables = self.tables();
        assert!(tables.len() > 1, "{}: {} tables", self.address, tables.len());
        let [stored, texts] =
            [Documents::AsStored, Documents::AsTexts].map(|it| self.read_tables(&tables, it));
        let all: Vec<(&Table, Vec<Row>)> =
            tables.iter().map(|it| (it, self.rows(it, &it.name, "", "{}"))).collect();
        let mut values = 0;
        for (table, rows) in &all {
            for row in rows {
                values += row.len();
                self.check_reads(table, row);
                self.check_updates(table, row);
            }
        }
        let again = self.read_tables(&tables, Documents::AsStored);
        assert_same(&stored, &again, &format!("{}: values that were set again", self.address));
        self.delete(&all);
        self.insert(&all);
        let again = self.read_tables(&tables, Documents::AsTexts);
        assert_same(&texts, &again, &format!("{}: rows that were inserted again", self.address));
        values
    }

    fn check_reads(&self, table: &Table, row: &Row) {
        let (parameters, arguments, variables) = table.key(row);
        let by_key = self.rows(table, &format!("{}_by_pk({arguments})", table.name), &parameters, &variables);
        assert_eq!(by_key, std::slice::from_ref(row), "{}: {} by key", self.address, table.name);
        for column in table.columns.iter().filter(|it| table.comparable.contains(&it.name)) {
            let name = &column.name;
            let value = &row[&column.name];
            if value == "null" {
                continue;
            }
            let ty = column.ty.trim_end_matches('!');
            let field = format!("{}(where: {{{name}: {{_eq: $v}}}})", table.name);
            let parameters = format!("($v: {ty}!)");
            let variables = format!("{{\"v\": {value}}}");
            // Some types have no equality.
            let probe = self.answer(&format!("query {parameters} {{ {field} {{ {name} }} }}"), &variables);
            if probe.contains("has no operator `=`") {
                continue;
            }
            let found = self.rows(table, &field, &parameters, &variables);
            assert!(found.contains(row), "{}: {}.{name} {value}: {found:?}", self.address, table.name);
        }
    }

    fn check_updates(&self, table: &Table, row: &Row) {
        let (parameters, arguments, variables) = table.key(row);
        for column in table.columns.iter().filter(|it| table.settable.contains(&it.name)) {
            let name = &column.name;
            let ty = column.ty.trim_end_matches('!');
            let parameters = parameters.replace(')', &format!(", $v: {ty})"));
            let field =
                format!("update_{}_by_pk(pk_columns: {{{arguments}}}, _set: {{{name}: $v}})", table.name);
            let variables = format!("{}, \"v\": {}}}", variables.trim_end_matches('}'), row[name]);
            let operation = format!("mutation {parameters} {{ {field} {{ {name} }} }}");
            self.success(&operation, &variables);
        }
    }

    /// Deletes all rows, those that others refer to after these.
    fn delete(&self, all: &[(&Table, Vec<Row>)]) {
        self.repeat(all, |table, row| {
            let (parameters, arguments, variables) = table.key(row);
            let key = &table.keys[0].name;
            let operation =
                format!("mutation {parameters} {{ delete_{}_by_pk({arguments}) {{ {key} }} }}", table.name);
            (operation, variables)
        });
    }

    fn insert(&self, all: &[(&Table, Vec<Row>)]) {
        self.repeat(all, |table, row| {
            let mut parameters = String::new();
            let mut object = String::new();
            let mut variables = String::new();
            let keys = |it: &Member| table.keys.iter().any(|key| key.name == it.name);
            let given = table.columns.iter().filter(|it| table.settable.contains(&it.name) || keys(it));
            for (at, column) in given.enumerate() {
                let name = &column.name;
                let ty = column.ty.trim_end_matches('!');
                let comma = if at == 0 { "" } else { ", " };
                let _ = write!(parameters, "{comma}$v{at}: {ty}");
                let _ = write!(object, "{comma}{name}: $v{at}");
                let _ = write!(variables, "{comma}\"v{at}\": {}", row[name]);
            }
            let key = &table.keys[0].name;
            let field = format!("insert_{}_one(object: {{{object}}}) {{ {key} }}", table.name);
            (format!("mutation ({parameters}) {{ {field} }}"), format!("{{{variables}}}"))
        });
    }

    /// Runs an operation for each row until all are done: a key of another table may stand in the way of some for a while.
    fn repeat(&self, all: &[(&Table, Vec<Row>)], operation: impl Fn(&Table, &Row) -> (String, String)) {
        let mut left: Vec<(&Table, &Row)> =
            all.iter().flat_map(|(table, rows)| rows.iter().map(move |it| (*table, it))).collect();
        while !left.is_empty() {
            let mut refused = Vec::new();
            let mut error = String::new();
            for (table, row) in &left {
                let (operation, variables) = operation(table, row);
                let answer = self.answer(&operation, &variables);
                if answer.contains("\"errors\"") {
                    refused.push((*table, *row));
                    error = format!("{operation}\n{variables}\n{answer}");
                }
            }
            assert!(refused.len() < left.len(), "{}: {error}", self.address);
            left = refused;
        }
    }
}

impl Table {
    /// Parameters, arguments and variables that name a row by its key.
    fn key(&self, row: &Row) -> (String, String, String) {
        let join = |of: &dyn Fn(&Member) -> String| self.keys.iter().map(of).collect::<Vec<_>>().join(", ");
        let parameters = join(&|it| format!("${}: {}", it.name, it.ty));
        let arguments = join(&|it| format!("{0}: ${0}", it.name));
        let variables = join(&|it| format!("\"{}\": {}", it.name, row[&it.name]));
        (format!("({parameters})"), arguments, format!("{{{variables}}}"))
    }
}

/// Shows the first row that differs.
fn assert_same(before: &Stored, after: &Stored, of: &str) {
    for (table, rows) in before {
        assert_eq!(rows.len(), after[table].len(), "{of}: {table}");
        for (row, again) in rows.iter().zip(&after[table]) {
            let mut one = row.split(", ");
            let mut other = again.split(", ");
            let cells = one.by_ref().zip(other.by_ref()).enumerate();
            let different: Vec<_> = cells.filter(|(_, (it, again))| it != again).collect();
            assert_eq!(row, again, "{of}: {table}: {different:?}");
        }
    }
}

/// Rows of a table with the class of each value.
fn rows_of_file(file: &str, table: &str, documents: Documents) -> Vec<String> {
    let file = Connection::open(file).expect("the file opens");
    let mut columns = file.prepare("SELECT name FROM pragma_table_xinfo(?1)").expect("it is known");
    let names = columns.query_map([table], |row| row.get::<_, String>(0)).expect("the columns can be read");
    let value = |name: String| {
        match documents {
        Documents::AsStored => format!("\"{name}\""),
        Documents::AsTexts => format!(
            "CASE WHEN typeof(\"{name}\") <> 'blob' THEN \"{name}\" WHEN json_valid(\"{name}\", 8) THEN json(\"{name}\")
             WHEN CAST(\"{name}\" AS TEXT) GLOB '[[{{]*' THEN CAST(\"{name}\" AS TEXT) ELSE \"{name}\" END"
        ),
    }
    };
    let values: Vec<String> = names.map(|it| value(it.expect("it has a name"))).collect();
    let select = format!("SELECT {} FROM \"{table}\"", values.join(", "));
    let mut statement = file.prepare(&select).expect("there is such a table");
    let row = |row: &rusqlite::Row<'_>| {
        let cells: Result<Vec<rusqlite::types::Value>, _> = (0..values.len()).map(|at| row.get(at)).collect();
        Ok(format!("{:?}", cells?))
    };
    let rows = statement.query_map([], row).expect("the table can be read");
    rows.map(|it| it.expect("a row can be read")).collect()
}

fn rows_of_server(address: &str, table: &str) -> Vec<String> {
    let mut psql = Command::new(Release::clients().join("psql"));
    psql.args(["-X", "-q", "-A", "-t", "-d", address, "-c", &format!("SELECT t FROM \"{table}\" t")]);
    let out = psql.output().expect("psql is installed");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("it is text").lines().map(str::to_owned).collect()
}

/// The databases of the kits that end with `ending`.
fn list_written(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kits/written");
    let files =
        std::fs::read_dir(folder).expect("there are databases").map(|it| it.expect("it is read").path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.extension().is_some_and(|it| it == ending)).collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    files
}

#[test]
fn files_of_each_mapper_go_round() {
    for file in list_written("sqlite") {
        let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let copy = std::env::temp_dir().join(format!("weir-mapper-{}-{name}.sqlite", std::process::id()));
        std::fs::copy(&file, &copy).expect("it can be copied");
        assert!(Round::new(&format!("sqlite:{}", copy.display())).go() > 30, "{name}");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", copy.display()));
        }
    }
}

#[test]
fn databases_of_each_mapper_go_round() {
    for file in list_written("sql") {
        let database = database(&std::fs::read_to_string(&file).expect("it is text"));
        assert!(Round::new(&database.url()).go() > 30, "{}", file.display());
    }
}

#[test]
fn the_database_of_a_kit_goes_round() {
    if let Ok(address) = std::env::var("WEIR_KIT") {
        println!("{address}: {} values went round", Round::new(&address).go());
    }
}
