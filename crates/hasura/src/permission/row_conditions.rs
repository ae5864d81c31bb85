//! Reads the `filter` or `check` of a permission.
//!
//! Names are those of the database. A condition sees all tables whole: the permissions of the tables it walks to do not apply.
//!
//! Source: `docs/permissions.md`.

use crate::model::{Model, Serves};
use weir_metadata::json::{Json, Members};
use weir_relational::catalog::facts::Operators;
use weir_relational::catalog::{Column, ColumnId, ColumnType, FunctionId, Table, TableId};
use weir_relational::plan::comparison_table::{MEASURES, Needed};
use weir_relational::plan::operators::{Cast, Comparison, Sign};
use weir_relational::plan::{Call, Expr, Filter, Parameter, Reader, RowAt};

/// Prefix of the names of session variables.
const VARIABLE: &str = "x-hasura-";
/// A name of the user's id from before there was a prefix.
const OLD_USER_ID: &str = "req_user_id";
/// Levels of objects in a condition.
const DEPTH_MAX: u32 = 64;

/// The lower-case name of the session variable that `text` names as a whole.
pub(super) fn variable(text: &str) -> Option<String> {
    let name = text.to_ascii_lowercase();
    (name.starts_with(VARIABLE) || name == OLD_USER_ID).then_some(name)
}

/// Reads the conditions of one permission.
pub(super) struct Conditions<'m> {
    model: &'m Model,
    /// The table that the permission belongs to.
    root: TableId,
    depth: u32,
}

/// A value of a row that is compared.
struct Operand<'m> {
    of: Expr,
    ty: ColumnType,
    nullable: bool,
    /// Name of the operand, for messages.
    name: &'m str,
}

impl<'m> Conditions<'m> {
    pub(super) const fn new(model: &'m Model, root: TableId) -> Self {
        Self { model, root, depth: 0 }
    }

    fn table(&self, id: TableId) -> &'m Table {
        self.model.relations.catalog.table(id)
    }

    /// A condition on rows of the permission's table.
    ///
    /// # Errors
    /// Names that the database does not have, operators that a type does not have, values that do not fit.
    pub(super) fn read(&mut self, json: &Json) -> Result<Filter, String> {
        self.condition(json, self.root)
    }

    fn condition(&mut self, json: &Json, table: TableId) -> Result<Filter, String> {
        let Json::Object(members) = json else {
            return Err(
                "a condition is an object: columns, relationships, `_and`, `_or`, `_not`, `_exists`".into()
            );
        };
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the condition has more than {DEPTH_MAX} levels"));
        }
        let mut all = Vec::with_capacity(members.0.len());
        for (key, value) in &members.0 {
            all.push(self.member(key, value, table)?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
    }

    fn member(&mut self, key: &str, value: &Json, table: TableId) -> Result<Filter, String> {
        match key {
            "_and" | "$and" => Ok(Filter::All(self.conditions(key, value, table)?)),
            "_or" | "$or" => Ok(Filter::Any(self.conditions(key, value, table)?)),
            "_not" | "$not" => Ok(Filter::Not(Box::new(self.condition(value, table)?))),
            "_exists" | "$exists" => self.exists(value),
            _ => self.field(key, value, table),
        }
    }

    fn conditions(&mut self, key: &str, value: &Json, table: TableId) -> Result<Vec<Filter>, String> {
        let Json::List(items) = value else { return Err(format!("`{key}` takes a list of conditions")) };
        items.iter().map(|it| self.condition(it, table)).collect()
    }

    /// `{_table: {schema, name}, _where: {…}}`.
    fn exists(&mut self, value: &Json) -> Result<Filter, String> {
        const WORDS: &str = "`_exists` takes `_table` and `_where`";
        let Json::Object(members) = value else { return Err(WORDS.into()) };
        let of = |name: &str| members.get(name).or_else(|| members.get(&name.replacen('_', "$", 1)));
        let (Some(table), Some(filter)) = (of("_table"), of("_where")) else { return Err(WORDS.into()) };
        let (schema, name) = match table {
            Json::Text(name) => ("", &**name),
            _ => (
                table.get("schema").and_then(Json::text).unwrap_or_default(),
                table.get("name").and_then(Json::text).ok_or("`_table` has no name")?,
            ),
        };
        let found = self.model.relations.catalog.find(schema, name);
        let found = found.filter(|&it| self.model.tracked_table(it).is_some());
        let found = found.ok_or_else(|| format!("table \"{name}\" does not exist"))?;
        let filter = self.condition(filter, found)?;
        Ok(Filter::any_row(found, filter))
    }

    /// A column, relationship or computed field.
    fn field(&mut self, name: &str, value: &Json, table: TableId) -> Result<Filter, String> {
        if let Some(operand) = self.column(name, table) {
            return self.compile_comparison(&operand, value, table);
        }
        let tracked = self.model.tracked_table(table).ok_or_else(|| self.unknown(name, table))?;
        let relations = &self.model.relations;
        let by = tracked.relationships.iter().find(|&&it| relations.relationship(it).name == name);
        if let Some(&by) = by {
            let call = relations.relationship(by).call;
            if call.is_some_and(|it| relations.function(it).1.code.is_some()) {
                return Err(format!("\"{name}\" leads to a native query, for which no condition can ask"));
            }
            let filter = self.condition(value, relations.relationship(by).to)?;
            return Ok(Filter::exists(relations, by, filter));
        }
        match self.computed_operand(name, table)? {
            Some(operand) => self.compile_comparison(&operand, value, table),
            None => Err(self.unknown(name, table)),
        }
    }

    #[cold]
    fn unknown(&self, name: &str, table: TableId) -> String {
        format!("\"{name}\" does not exist in table \"{}\"", self.table(table).name)
    }

    fn column(&self, name: &str, table: TableId) -> Option<Operand<'m>> {
        let (id, column) = find(self.table(table), name)?;
        Some(Operand {
            of: Expr::Column(id),
            ty: column.ty.clone(),
            nullable: column.nullable,
            name: &column.name,
        })
    }

    fn computed_operand(&self, name: &str, table: TableId) -> Result<Option<Operand<'m>>, String> {
        let Some(tracked) = self.model.tracked_table(table) else { return Ok(None) };
        let named = |it: &FunctionId| match &self.model.function(*it).0.serves {
            Serves::Row { name: own, .. } if own == name => Some((*it, own)),
            Serves::Row { .. } | Serves::Root { .. } => None,
        };
        let Some((function, name)) = tracked.computed.iter().find_map(named) else { return Ok(None) };
        let entry = self.model.function(function).1;
        let Some(ty) = entry.ty.clone() else {
            return Err(format!("computed field \"{name}\" gives no value that can be compared"));
        };
        let of = Expr::Computed(Call { function, arguments: Vec::new() });
        Ok(Some(Operand { of, ty, nullable: true, name }))
    }

    /// Compiles `{_eq: …}`, or a value that the operand has to equal.
    fn compile_comparison(
        &mut self,
        operand: &Operand<'_>,
        value: &Json,
        table: TableId,
    ) -> Result<Filter, String> {
        if operand.ty == ColumnType::Json {
            return Err("JSON column can not be part of boolean expression".into());
        }
        match value {
            Json::Object(operators) => self.operators(operand, operators, table),
            Json::Null => Ok(Filter::Null { of: operand.of.clone(), is: true }),
            _ => self.equal(operand, true, value),
        }
    }

    fn operators(
        &mut self,
        operand: &Operand<'_>,
        operators: &Members,
        table: TableId,
    ) -> Result<Filter, String> {
        let mut all = Vec::with_capacity(operators.0.len());
        for (key, value) in &operators.0 {
            all.push(self.operator(operand, key, value, table)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
    }

    fn operator(
        &mut self,
        operand: &Operand<'_>,
        key: &str,
        value: &Json,
        table: TableId,
    ) -> Result<Filter, String> {
        let name = match key.strip_prefix(['_', '$']).ok_or_else(|| unknown_operator(key))? {
            "ne" => "neq",
            name => name,
        };
        if let Some(sign) = between_columns(name) {
            return self.columns(operand, sign, value, table);
        }
        let Operand { of, nullable, .. } = operand;
        match (find_comparison(&Operators::ALL, name), value) {
            (Some(Comparison::Eq), Json::Null) => Ok(Filter::Null { of: of.clone(), is: true }),
            (Some(Comparison::Neq), Json::Null) => Ok(Filter::Null { of: of.clone(), is: false }),
            (Some(Comparison::Eq), _) => self.equal(operand, *nullable, value),
            (Some(Comparison::Neq), _) => {
                self.check_operator(operand, Comparison::Neq)?;
                Ok(Filter::differs(of.clone(), *nullable, Some(value_of(value, &operand.ty)?)))
            }
            (Some(Comparison::IsNull), Json::Bool(is)) => Ok(Filter::Null { of: of.clone(), is: *is }),
            (Some(Comparison::IsNull), _) => Err("`_is_null` takes true or false".into()),
            (Some(by), _) => {
                self.check_operator(operand, by)?;
                compare(operand, by, key, value)
            }
            (None, Json::Object(casts)) if name == "cast" => self.casts(operand, casts, table),
            (None, _) => measure(operand, name, value).unwrap_or_else(|| Err(unknown_operator(key))),
        }
    }

    fn equal(&self, operand: &Operand<'_>, is_nullable: bool, value: &Json) -> Result<Filter, String> {
        self.check_operator(operand, Comparison::Eq)?;
        Ok(Filter::same(operand.of.clone(), is_nullable, Some(value_of(value, &operand.ty)?)))
    }

    /// Refuses a comparison for which the database has no operator.
    fn check_operator(&self, operand: &Operand<'_>, by: Comparison) -> Result<(), String> {
        let missing = self.model.relations.catalog.missing_operator(&operand.ty, by);
        missing.map_or(Ok(()), |operator| Err(no_operator(operand, operator)))
    }

    /// `{_cast: {String: {_eq: …}}}`.
    fn casts(&mut self, operand: &Operand<'_>, casts: &Members, table: TableId) -> Result<Filter, String> {
        let mut all = Vec::with_capacity(casts.0.len());
        for (name, value) in &casts.0 {
            let to = match (&*name.to_ascii_lowercase(), &operand.ty) {
                ("string" | "text", ColumnType::Jsonb) => Cast::Text,
                ("geometry", ColumnType::Geography) => Cast::Geometry,
                ("geography", ColumnType::Geometry) => Cast::Geography,
                _ => return Err(format!("cannot cast column \"{}\" to type `{name}`", operand.name)),
            };
            let of = Expr::Cast(Box::new(operand.of.clone()), to);
            let cast = Operand { of, ty: to.result_type(), nullable: operand.nullable, name: operand.name };
            all.push(self.compile_comparison(&cast, value, table)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
    }

    /// `_ceq: other`, `_ceq: [other]`, `_ceq: ["$", other]`.
    fn columns(
        &self,
        operand: &Operand<'_>,
        by: Sign,
        value: &Json,
        table: TableId,
    ) -> Result<Filter, String> {
        let text =
            |it: &Json| it.text().map(str::to_owned).ok_or("a column is compared with a column's name");
        let (row, of, name) = match value {
            Json::List(path) => match path.as_slice() {
                [only] => (RowAt::Here, table, text(only)?),
                [start, name] if start.text() == Some("$") => {
                    (RowAt::Root(self.root), self.root, text(name)?)
                }
                _ => return Err("a longer path to a column is not supported".into()),
            },
            _ => (RowAt::Here, table, text(value)?),
        };
        let (column, found) = find(self.table(of), &name)
            .ok_or_else(|| format!("\"{name}\" does not exist in table \"{}\"", self.table(of).name))?;
        if found.ty != operand.ty {
            let ours = operand.ty.display_name();
            let theirs = found.ty.display_name();
            return Err(format!(
                "incompatible column types: column \"{}\" has type \"{ours}\", column \"{name}\" has type \"{theirs}\"",
                operand.name
            ));
        }
        Ok(Filter::Columns { of: operand.of.clone(), by, row, with: column })
    }
}

/// The column called `name` in the database.
pub(super) fn find<'t>(table: &'t Table, name: &str) -> Option<(ColumnId, &'t Column)> {
    let at = table.columns.iter().position(|it| it.name == name)?;
    Some((ColumnId(at as u32), &table.columns[at]))
}

fn unknown_operator(key: &str) -> String {
    format!("Unknown operator: {key}")
}

fn between_columns(name: &str) -> Option<Sign> {
    Some(match name {
        "ceq" => Sign::Eq,
        "cne" | "cneq" => Sign::Neq,
        "cgt" => Sign::Gt,
        "cgte" => Sign::Gte,
        "clt" => Sign::Lt,
        "clte" => Sign::Lte,
        _ => return None,
    })
}

/// The comparison with one argument that `families` call `name`, after a sign.
fn find_comparison(families: &[Operators], name: &str) -> Option<Comparison> {
    let mut all = families.iter().flat_map(|it| it.comparisons());
    all.find(|it| it.0[1..] == *name).map(|it| it.1)
}

fn no_operator(operand: &Operand<'_>, operator: &str) -> String {
    let name = operand.name;
    let ty = operand.ty.display_name();
    format!("column \"{name}\" is of type \"{ty}\", which has no operator `{operator}`")
}

fn compare(operand: &Operand<'_>, by: Comparison, key: &str, value: &Json) -> Result<Filter, String> {
    if find_comparison(operand.ty.facts().operators, &key[1..]) != Some(by) {
        return Err(no_operator(operand, key));
    }
    let reader = Reader::for_comparison(by, &operand.ty);
    let with = match (&reader, value) {
        (Reader::Each(ty), Json::List(items)) => list_of(items, ty)?,
        (Reader::Each(_), Json::Text(text)) => match variable(text) {
            Some(name) => Parameter::claim(name, reader),
            None => return Err(format!("`{key}` takes a list, or one session variable")),
        },
        (Reader::Each(_), _) => return Err(format!("`{key}` takes a list, or one session variable")),
        (_, Json::Null) => return Err(format!("`{key}` takes no null")),
        (Reader::Column(ty), _) => value_of(value, &ty.clone())?,
        _ => return Err(unknown_operator(key)),
    };
    Ok(Filter::Compare { of: operand.of.clone(), by, with })
}

/// `_st_d_within: {distance, from}` and the like.
fn measure(operand: &Operand<'_>, name: &str, value: &Json) -> Option<Result<Filter, String>> {
    let families = operand.ty.facts().operators;
    let mut measures = MEASURES.iter().filter(|it| families.contains(&it.0));
    let &(_, _, by, (_, members), _) = measures.find(|it| it.1[1..] == *name)?;
    let values = members.iter().zip(by.types()).map(|(&(key, needed), ty)| match value.get(key) {
        Some(value) => value_of(value, ty).map(Some),
        None if needed == Needed::Yes => Err(format!("`_{name}` needs `{key}`")),
        None => Ok(None),
    });
    let with = values.collect::<Result<Vec<_>, _>>();
    Some(with.map(|with| Filter::Measure { of: operand.of.clone(), by, with }))
}

/// A value of a column: a session variable, if it is the name of one as a whole, or a constant.
pub(super) fn value_of(value: &Json, ty: &ColumnType) -> Result<Parameter, String> {
    let reader = Reader::Column(ty.clone());
    match value {
        Json::Text(text) => Ok(match variable(text) {
            Some(name) => Parameter::claim(name, reader),
            None if is_json(ty) => Parameter::constant(value.to_string(), reader),
            None => Parameter::constant(&**text, reader),
        }),
        Json::Null => Err("null stands where a value is needed".into()),
        _ if is_json(ty) => Ok(Parameter::constant(value.to_string(), reader)),
        Json::Bool(is) => Ok(Parameter::constant(if *is { "true" } else { "false" }, reader)),
        Json::Number(digits) => Ok(Parameter::constant(&**digits, reader)),
        Json::List(items) if matches!(ty, ColumnType::Array(_)) => {
            Ok(Parameter::constant(array_text(items)?, reader))
        }
        Json::Object(_) if matches!(ty, ColumnType::Geometry | ColumnType::Geography) => {
            Ok(Parameter::constant(value.to_string(), reader))
        }
        Json::List(_) | Json::Object(_) => {
            Err(format!("a value of type \"{}\" is no list or object", ty.display_name()))
        }
    }
}

fn is_json(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Json | ColumnType::Jsonb)
}

/// A list of constants, as the text of an array. Names of session variables in it are texts like any other.
fn list_of(items: &[Json], ty: &ColumnType) -> Result<Parameter, String> {
    Ok(Parameter::constant(array_text(items)?, Reader::Each(ty.clone())))
}

/// A list as PostgreSQL writes arrays: `{1,"a b",NULL}`.
fn array_text(items: &[Json]) -> Result<String, String> {
    let mut out = String::from("{");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        match item {
            Json::Null => out.push_str("NULL"),
            Json::Bool(is) => out.push_str(if *is { "true" } else { "false" }),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(text) => quote(text, &mut out),
            Json::Object(_) => quote(&item.to_string(), &mut out),
            Json::List(items) => out.push_str(&array_text(items)?),
        }
    }
    out.push('}');
    Ok(out)
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for it in text.chars() {
        if matches!(it, '"' | '\\') {
            out.push('\\');
        }
        out.push(it);
    }
    out.push('"');
}
