//! Reads the catalog of a PostgreSQL database, in four statements whatever its size.
//!
//! Whoever has a connection sends the [`questions`] together and hands the rows to [`assemble`]. They ask the system catalogs that PostgreSQL has had since version 13
//! and that CockroachDB, YugabyteDB and Citus have too; what is not needed for tables (functions) is asked for only
//! where it is wanted. Left out: what the role may not read, what belongs to an extension, partitions (they are
//! served through their table).
//!
//! A domain is served as what it is over, as Hasura does; its own number stays with the column, for casts.
//!
//! **Cost:** a few microseconds per table beside what the database takes.

mod cells;
pub mod grants;
pub mod setting_readers;

use cells::Cells;
use hashbrown::HashMap;
use weir_relational::catalog::abilities::ValueAbilities;
use weir_relational::catalog::postgres_types::{Kind, Type, Types, oid};
use weir_relational::catalog::{
    Arbiter, Argument, Catalog, Column, ColumnId, ColumnType, ConflictTarget, Follow, ForeignKey, Function,
    Placement, Storage, Table, TableId, TableKind, UniqueKey, Volatility, Warning,
};
use weir_relational::quoting::quote_identifier;

const TYPES: &str = include_str!("introspect/types.sql");
const OPERATORS: &str = include_str!("introspect/operators.sql");
const FUNCTIONS: &str = include_str!("introspect/functions.sql");
const RELATIONS: &str = include_str!("introspect/relations.sql");
const KEYS: &str = include_str!("introspect/keys.sql");
const PLACEMENTS: &str = include_str!("introspect/placements.sql");
const NO_PLACEMENTS: &str = "SELECT NULL WHERE $1::text[] IS NULL";

/// Distribution of tables over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shards {
    /// Read from `pg_dist_partition`, a catalog of Citus.
    Read,
    /// The database has one node.
    None,
}

/// Functions to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// Functions of the served schemas, and the operators of types.
    Read,
    /// None: compatible databases do not emulate these catalogs.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadRelations {
    /// All but those of extensions, which nobody who made the database meant to serve.
    Own,
    /// All, with those of extensions: only what is named is served, and that may be one of them.
    All,
}

/// The condition of `relations.sql` that leaves out what belongs to an extension.
const IS_OWN: &str = "\n    AND x.objid IS NULL";

/// The statements, in the order in which [`assemble`] takes their answers. Each has one parameter: the schemas that are
/// served, a `text[]`. They are to see one moment, so they belong into one transaction.
pub fn questions(functions: Functions, shards: Shards, relations: ReadRelations) -> [String; 4] {
    let types = match functions {
        Functions::Read => [TYPES, OPERATORS, FUNCTIONS].concat(),
        Functions::Ignored => TYPES.to_owned(),
    };
    let placements = match shards {
        Shards::Read => PLACEMENTS,
        Shards::None => NO_PLACEMENTS,
    };
    let relations = match relations {
        ReadRelations::Own => RELATIONS.to_owned(),
        ReadRelations::All => RELATIONS.replacen(IS_OWN, "", 1),
    };
    [types, relations, KEYS.to_owned(), placements.to_owned()]
}

/// Makes a catalog of the answers to [`questions`]: their rows, and of each the columns in text format.
pub fn assemble<'r, R>(answers: [Vec<R>; 4]) -> (Catalog, Types, Vec<Warning>)
where
    R: Iterator<Item = Option<&'r [u8]>>,
{
    let [types, relations, keys, placements] = answers;
    let mut reading = Reading::new();
    types.into_iter().for_each(|row| reading.ty(Cells(row)));
    let relations = relations.into_iter().filter_map(|row| reading.relation(Cells(row))).collect();
    reading.place(relations);
    keys.into_iter().for_each(|row| reading.key(Cells(row)));
    placements.into_iter().for_each(|row| reading.placement(Cells(row)));
    reading.finish()
}

/// The schemas as the statements' parameter: an array in text form.
pub fn schemas_array(schemas: &[String]) -> String {
    let quoted = |name: &String| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    format!("{{{}}}", schemas.iter().map(quoted).collect::<Vec<_>>().join(","))
}

/// The catalog read so far. Each step takes one row of an answer.
struct Reading {
    catalog: Catalog,
    types: Types,
    warnings: Vec<Warning>,
    /// Places of tables by their numbers in the database.
    places: HashMap<u32, TableId>,
    /// Places of tables by the numbers of their rows' types.
    rows: HashMap<u32, TableId>,
    /// Parallel to the tables: the number of each column; dropped columns leave holes.
    numbers: Vec<Vec<u32>>,
    functions: Vec<Function>,
}

/// Facts of the columns of a relation, one list each.
struct ColumnLists {
    types: Vec<u32>,
    declared: Vec<String>,
    /// Bits of `relations.sql`.
    marks: Vec<u32>,
    comments: Vec<String>,
}

impl ColumnLists {
    /// True if the role may read the column at `at`.
    fn may_read(&self, at: usize) -> bool {
        self.marks.get(at).is_none_or(|mark| mark & 16 == 0)
    }

    /// The column at `at`.
    fn column(&self, at: usize, name: String, types: &Types) -> Column {
        let oid = self.types.get(at).copied().unwrap_or(0);
        let mark = self.marks.get(at).copied().unwrap_or(0);
        Column {
            name,
            declared: self.declared.get(at).cloned().unwrap_or_default(),
            ty: column_type(types, oid),
            oid,
            nullable: mark & 1 == 0,
            has_default: mark & 2 != 0,
            generated: mark & 4 != 0,
            insertable: mark & 64 == 0,
            updatable: mark & 128 == 0,
            derived: mark & 32 != 0,
            folds: mark & 8 != 0,
            by_prefix: false,
            is_loose: false,
            storage: Storage::Exact,
            comment: self.comments.get(at).cloned().unwrap_or_default(),
        }
    }
}

impl Reading {
    fn new() -> Self {
        Self {
            catalog: Catalog { default_schema: "public", ..Catalog::default() },
            types: Types::builtin(),
            warnings: Vec::new(),
            places: HashMap::new(),
            rows: HashMap::new(),
            numbers: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Reads a row of the types and functions.
    fn ty<'r>(&mut self, mut row: Cells<'r, impl Iterator<Item = Option<&'r [u8]>>>) {
        let what = row.letter();
        let oid = row.number();
        let schema = row.text();
        let name = row.text();
        let letter = row.letter();
        let other = row.number();
        let of = row.number();
        let names = row.texts();
        let types = row.numbers();
        let modes = row.text();
        let defaults = row.number() as usize;
        let comment = row.text();
        if what == 'o' {
            return self.types.learn(oid, ValueAbilities::of_bits(other));
        }
        if what == 'f' {
            let arguments = arguments(names, types, &modes, defaults);
            let volatility = match letter {
                'i' => Volatility::Immutable,
                's' => Volatility::Stable,
                _ => Volatility::Volatile,
            };
            let is_set = other == 1;
            self.functions.push(Function {
                schema,
                name,
                arguments,
                returns: of,
                ty: None,
                table: None,
                is_set,
                volatility,
                comment,
                code: None,
            });
            return;
        }
        let kind = match letter {
            'c' => Kind::Composite { fields: names.into_iter().zip(types).collect() },
            'd' => Kind::Domain { base: of },
            'e' => Kind::Enum { labels: names },
            'r' => Kind::Range { subtype: of },
            'm' => Kind::Multirange { range: of },
            'p' => Kind::Pseudo,
            _ => Kind::Base,
        };
        let cast = format!("{}.{}", quote_identifier(&schema), quote_identifier(&name));
        self.types.add(Type { oid, array_oid: other, cast, name, schema, kind });
    }

    /// Reads a row of the relations.
    fn relation<'r>(
        &mut self,
        mut row: Cells<'r, impl Iterator<Item = Option<&'r [u8]>>>,
    ) -> Option<Relation> {
        let oid = row.number();
        let schema = row.text();
        let name = row.text();
        let letter = row.letter();
        let row_type = row.number();
        let rows_estimate = row.count();
        let can = row.number();
        let is_whole = row.flag();
        let acts = row.flag();
        let acts_late = row.flag();
        let comment = row.text();
        let mut numbers = row.numbers();
        let names = row.texts();
        let lists = ColumnLists {
            types: row.numbers(),
            declared: row.texts(),
            marks: row.numbers(),
            comments: row.texts(),
        };
        let may_read = |at: usize| lists.may_read(at);
        if !is_whole && !self.may_read_some(&format!("{schema}.{name}"), &names, &may_read) {
            return None;
        }
        let mut at = 0..;
        numbers.retain(|_| at.next().is_none_or(may_read));
        self.warn_of_rights(&format!("{schema}.{name}"), can, &names, &lists.marks);
        let columns = names.into_iter().enumerate().filter(|it| lists.may_read(it.0));
        let columns = columns.map(|(at, name)| lists.column(at, name, &self.types));
        let table = Table {
            schema,
            name,
            kind: table_kind(letter),
            columns: columns.collect(),
            primary_key: None,
            unique_keys: Vec::new(),
            arbiters: Vec::new(),
            foreign_keys: Vec::new(),
            comment,
            updatable: can & 4 != 0,
            insertable: can & 8 != 0,
            deletable: can & 16 != 0,
            rows_estimate,
            is_whole,
            acts,
            acts_late,
            has_broken_index: false,
            placement: Placement::Local,
        };
        Some(Relation { oid, row_type, table, numbers })
    }

    /// True if the role may read some columns of `table`; warns of the others.
    fn may_read_some(&mut self, table: &str, columns: &[String], may_read: &impl Fn(usize) -> bool) -> bool {
        let (seen, hidden): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(|&it| may_read(it));
        if seen.is_empty() {
            let reason = "it is not served: the role may not SELECT from it".to_owned();
            self.warnings.push(Warning::new(table.to_owned(), reason));
            return false;
        }
        for at in hidden {
            let reason = "it is not served: the role may not SELECT it".to_owned();
            self.warnings.push(Warning::new(format!("{table}.{}", columns[at]), reason));
        }
        true
    }

    /// Warns if the role may write only some columns of `table`; `can` has the kinds of writes that it may do at all.
    fn warn_of_rights(&mut self, table: &str, can: u32, columns: &[String], marks: &[u32]) {
        for (bit, way, right) in [(64, 8, "INSERT"), (128, 4, "UPDATE")] {
            let lacks = |it: &usize| marks.get(*it).is_some_and(|mark| mark & bit != 0);
            let lacking: Vec<&str> =
                (0..columns.len()).filter(lacks).map(|it| columns[it].as_str()).collect();
            if can & way != 0 && !lacking.is_empty() {
                let reason = format!(
                    "the role may not {right} the columns {}: no mutation does it",
                    lacking.join(", ")
                );
                self.warnings.push(Warning::new(table.to_owned(), reason));
            }
        }
    }

    /// Puts the relations into the order of their names and gives them their places.
    fn place(&mut self, mut relations: Vec<Relation>) {
        relations.sort_by(|a, b| (&a.table.name, &a.table.schema).cmp(&(&b.table.name, &b.table.schema)));
        for (at, relation) in relations.into_iter().enumerate() {
            self.places.insert(relation.oid, TableId(at as u32));
            self.rows.insert(relation.row_type, TableId(at as u32));
            self.numbers.push(relation.numbers);
            self.catalog.tables.push(relation.table);
        }
    }

    /// Reads a row of the keys. Keys of and to tables that are not served are skipped.
    fn key<'r>(&mut self, mut row: Cells<'r, impl Iterator<Item = Option<&'r [u8]>>>) {
        let letter = row.letter();
        let relation = row.number();
        let name = row.text();
        let columns = row.numbers();
        let target = row.number();
        let target_columns = row.numbers();
        let holds = row.flag();
        let on_delete = follow(row.letter(), Follow::Delete);
        let on_update = follow(row.letter(), Follow::Update);
        let of_period = row.flag();
        let deferrable = row.flag();
        let conflict = conflict_target(letter, row.text());
        let Some((at, columns)) = self.columns(relation, &columns) else { return };
        if letter != 'f' && !deferrable && !of_period {
            let arbiter = Arbiter { name: name.clone(), columns: columns.clone(), target: conflict };
            let arbiters = &mut self.catalog.tables[at.0 as usize].arbiters;
            arbiters.insert(if letter == 'p' { 0 } else { arbiters.len() }, arbiter);
        }
        match letter {
            // An index of some rows, of expressions, or by another equality is no key of the columns.
            'j' => {}
            'f' if of_period => self.pass_over_period(at, &name),
            'f' => {
                let Some((target, target_columns)) = self.columns(target, &target_columns) else { return };
                let enforced = holds;
                let key = ForeignKey {
                    name,
                    columns,
                    target,
                    target_columns,
                    holds,
                    enforced,
                    deferrable,
                    on_delete,
                    on_update,
                };
                self.catalog.tables[at.0 as usize].foreign_keys.push(key);
            }
            'p' => self.catalog.tables[at.0 as usize].primary_key = Some(UniqueKey { name, columns }),
            _ => {
                let table = &mut self.catalog.tables[at.0 as usize];
                if !table.unique_keys.iter().any(|key| key.columns == columns) {
                    table.unique_keys.push(UniqueKey { name, columns });
                }
            }
        }
    }

    /// Rows of a period have no equal values in the rows that they refer to: those cover the period, several of them together.
    fn pass_over_period(&mut self, at: TableId, name: &str) {
        let table = self.catalog.table(at);
        let place = format!("{}.{}.{name}", table.schema, table.name);
        let reason = "it makes no relationship: the foreign key compares periods, not equal values";
        self.warnings.push(Warning::new(place, reason.to_owned()));
    }

    /// Reads a row of the placements: a distributed table, a table of one shard, a reference table, or the mark of a worker node.
    fn placement<'r>(&mut self, mut row: Cells<'r, impl Iterator<Item = Option<&'r [u8]>>>) {
        let relation = row.number();
        let letter = row.letter();
        let colocation = row.number();
        if letter == 'w' {
            return self.on_worker();
        }
        let key = [row.number()];
        let key = if matches!(letter, 'r' | 'o') { &[][..] } else { &key[..] };
        let Some((at, columns)) = self.columns(relation, key) else { return };
        self.catalog.tables[at.0 as usize].placement = match columns.first() {
            None if letter == 'o' => Placement::Single { colocation },
            None => Placement::Reference,
            Some(&column) => Placement::Sharded { column, colocation },
        };
    }

    /// Workers have the foreign keys of the coordinator as `NOT VALID`: what the rows fulfil there, they fulfil here, and the schema is
    /// to be the same on every node.
    fn on_worker(&mut self) {
        for key in self.catalog.tables.iter_mut().flat_map(|it| &mut it.foreign_keys) {
            (key.holds, key.enforced) = (true, true);
        }
        let reason = "the server is a worker of Citus: local tables of the coordinator are missing, and columns of type serial may \
                      not count; connect to the coordinator";
        self.warnings.push(Warning::new("pg_dist_local_group".into(), reason.into()));
    }

    /// A table and columns of it by their numbers.
    fn columns(&self, relation: u32, numbers: &[u32]) -> Option<(TableId, Vec<ColumnId>)> {
        let at = *self.places.get(&relation)?;
        let known = &self.numbers[at.0 as usize];
        let place = |number: &u32| known.iter().position(|it| it == number).map(|at| ColumnId(at as u32));
        Some((at, numbers.iter().map(place).collect::<Option<Vec<_>>>()?))
    }

    /// Connects functions with the tables that they take and return, and resolves the types of their arguments.
    fn finish(mut self) -> (Catalog, Types, Vec<Warning>) {
        for mut function in std::mem::take(&mut self.functions) {
            function.table = self.rows.get(&function.returns).copied();
            let returned = self.types.by_oid(function.returns).filter(|it| it.kind != Kind::Pseudo);
            function.ty = returned.map(|it| column_type(&self.types, it.oid));
            for argument in &mut function.arguments {
                argument.table = self.rows.get(&argument.oid).copied();
                argument.ty = match argument.table {
                    // The name of the table is that of its rows in the API.
                    Some(table) => ColumnType::Other(format!("{}_scalar", self.catalog.table(table).name)),
                    None => column_type(&self.types, argument.oid),
                };
            }
            self.catalog.functions.push(function);
        }
        for ty in self.types.iter().filter(|it| it.kind != Kind::Pseudo) {
            let of = column_type(&self.types, ty.oid);
            let abilities = self.types.abilities(ty.oid);
            // Documents of type `json` are compared as those of `jsonb`.
            let compared =
                if of == ColumnType::Json { ValueAbilities::COMPARISONS } else { ValueAbilities::NONE };
            self.catalog.abilities.note(of, abilities.or(compared));
        }
        self.catalog.functions.sort_by(|a, b| (&a.name, &a.schema).cmp(&(&b.name, &b.schema)));
        self.warnings.sort_by(|a, b| a.place.cmp(&b.place));
        (self.catalog, self.types, self.warnings)
    }
}

/// The place in a statement of a key of the kind `letter`; `text` is the database's own for an index that needs one.
fn conflict_target(letter: char, text: String) -> ConflictTarget {
    match letter {
        'p' | 'u' => ConflictTarget::Constraint,
        _ if text.is_empty() => ConflictTarget::Columns,
        _ => ConflictTarget::Index(text),
    }
}

/// A relation before it has a place.
struct Relation {
    oid: u32,
    row_type: u32,
    table: Table,
    numbers: Vec<u32>,
}

/// Action `letter` of a foreign key, where a cascade is `cascade`.
fn follow(letter: char, cascade: Follow) -> Follow {
    match letter {
        'c' => cascade,
        'n' | 'd' => Follow::Update,
        _ => Follow::Nothing,
    }
}

/// Arguments of a function, without outputs; the last `defaults` inputs may be left out.
fn arguments(names: Vec<String>, types: Vec<u32>, modes: &str, defaults: usize) -> Vec<Argument> {
    let mut names = names.into_iter();
    let mut modes = modes.chars();
    let mut arguments = Vec::with_capacity(types.len());
    for oid in types {
        let name = names.next().unwrap_or_default();
        let mode = modes.next().unwrap_or('i');
        if matches!(mode, 'i' | 'b' | 'v') {
            let ty = ColumnType::Text;
            let is_variadic = mode == 'v';
            arguments.push(Argument { name, oid, ty, table: None, has_default: false, is_variadic });
        }
    }
    for argument in arguments.iter_mut().rev().take(defaults) {
        argument.has_default = true;
    }
    arguments
}

/// The kind of a relation by its letter in `pg_class`.
fn table_kind(letter: char) -> TableKind {
    match letter {
        'v' => TableKind::View,
        'm' => TableKind::MaterializedView,
        _ => TableKind::Table,
    }
}

/// Weir's type for the type with OID `oid`.
pub fn column_type(types: &Types, oid: u32) -> ColumnType {
    match types.base(oid) {
        oid::INT2 => ColumnType::SmallInt,
        oid::INT4 => ColumnType::Int,
        oid::INT8 => ColumnType::BigInt,
        oid::FLOAT4 => ColumnType::Real,
        oid::FLOAT8 => ColumnType::Double,
        oid::NUMERIC => ColumnType::Numeric,
        oid::MONEY => ColumnType::Money,
        oid::BOOL => ColumnType::Boolean,
        oid::TEXT | oid::VARCHAR => ColumnType::Text,
        oid::BPCHAR => ColumnType::Char,
        oid::UUID => ColumnType::Uuid,
        oid::DATE => ColumnType::Date,
        oid::TIMESTAMP => ColumnType::Timestamp,
        oid::TIMESTAMPTZ => ColumnType::TimestampTz,
        oid::TIME => ColumnType::Time,
        oid::TIMETZ => ColumnType::TimeTz,
        oid::INTERVAL => ColumnType::Interval,
        oid::JSON => ColumnType::Json,
        oid::JSONB => ColumnType::Jsonb,
        oid::BYTEA => ColumnType::Bytes,
        base => match types.by_oid(base) {
            // An extension may be in any schema.
            Some(ty) if ty.name == "citext" && ty.kind == Kind::Base => ColumnType::CiText,
            Some(ty) if ty.kind == Kind::Base => match ty.name.as_str() {
                "ltree" => ColumnType::Ltree,
                "geometry" => ColumnType::Geometry,
                "geography" => ColumnType::Geography,
                "raster" => ColumnType::Raster,
                name => ColumnType::Other(name.to_owned()),
            },
            Some(ty) => made_type(types, ty),
            None => ColumnType::Other("unknown".into()),
        },
    }
}

/// The type of a column of an array, enum or composite type, see [`column_type`].
fn made_type(types: &Types, ty: &Type) -> ColumnType {
    match &ty.kind {
        Kind::Array { element } => match column_type(types, *element) {
            // The element is a domain over arrays.
            nested @ ColumnType::Array(_) => nested,
            element => ColumnType::Array(Box::new(element)),
        },
        Kind::Enum { .. } => ColumnType::Enum(ty.name.clone()),
        Kind::Composite { .. } => ColumnType::Composite(ty.name.clone()),
        Kind::Base | Kind::Domain { .. } | Kind::Range { .. } | Kind::Multirange { .. } | Kind::Pseudo => {
            ColumnType::Other(ty.name.clone())
        }
    }
}
