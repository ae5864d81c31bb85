//! Answered values find their rows: each value of each type that a query reads is taken back by conditions, keys and writes, or refused
//! with words.
//!
//! The types are those of the server's catalog; one without values in the corpus fails the test, unless no value of it can be written.
//! The database writes texts in other forms than usual, as a database may for reasons of its own.

use crate::hasura_kit::{Served, serve};
use crate::postgres_kit::database;
use crate::postgres_kit::hand::Hand;
use crate::postgres_kit::release::on_each_release;
use crate::postgres_values::corpus;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use weir_engine::source::Protocol;
use weir_language::json::Json;

const PROTOCOLS: [Protocol; 2] = [Protocol::GraphqlOverHttp, Protocol::Hasura];

/// Extensions with types, as far as the server has them, and other forms of texts.
const SET_UP: &str = "DO $$ DECLARE it text; BEGIN
    FOREACH it IN ARRAY '{hstore,cube,seg,isn,lo,intarray,earthdistance,postgis}'::text[] LOOP
      CONTINUE WHEN NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = it);
      EXECUTE format('CREATE EXTENSION %I', it);
    END LOOP;
    EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database());
    EXECUTE format('ALTER DATABASE %I SET IntervalStyle = iso_8601', current_database());
    EXECUTE format('ALTER DATABASE %I SET extra_float_digits = 0', current_database());
END $$;
CREATE SCHEMA kept;
CREATE FUNCTION kept.runs(statement text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE statement;
    RETURN true;
EXCEPTION WHEN undefined_object OR undefined_function THEN
    RETURN false;
END $$;
CREATE FUNCTION kept.takes_values(type regtype) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('SELECT %L::%s', '', type);
    RETURN true;
EXCEPTION WHEN feature_not_supported OR internal_error THEN RETURN false;
    WHEN OTHERS THEN RETURN true;
END $$;";

/// Types that columns can have and values can be written of, but arrays: each type has those of it.
const TYPES: &str = "SELECT string_agg(t.oid::regtype::text, E'\\n' ORDER BY t.oid) FROM pg_type t
    JOIN pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_class c ON c.oid = t.typrelid
    LEFT JOIN pg_type e ON e.typarray = t.oid
    WHERE t.typtype <> 'p' AND e.oid IS NULL AND (t.typrelid = 0 OR c.relkind = 'c')
      AND n.nspname NOT IN ('information_schema', 'pg_toast') AND kept.takes_values(t.oid)";

/// A type with SQL expressions of its values.
struct Case {
    ty: String,
    values: Vec<String>,
}

/// The cases of a database: the corpus, and arrays of each type.
async fn cases(hand: &mut Hand) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut seen = BTreeSet::new();
    for (ty, mut values) in corpus::typed_values() {
        // Lower bounds, which are not shown, make another array.
        values.retain(|it| !(ty.ends_with("[]") && it.starts_with("'[")));
        if values.is_empty() {
            continue;
        }
        let name = hand.run(&format!("SELECT to_regtype('{ty}')::text")).await;
        if name.is_empty() {
            // Of an extension that the server has not.
            continue;
        }
        seen.insert(name);
        if !ty.ends_with("[]") {
            // A null of JSON is no value of an item.
            let of: Vec<&str> =
                values.iter().map(String::as_str).filter(|it| !it.starts_with("'null'::json")).collect();
            let array = format!("{ty}[]");
            let all = of.join(", ");
            let first = of[0];
            let mut values = vec![format!("ARRAY[{all}, NULL]"), "'{}'".to_owned()];
            // A list in an array of documents or of vectors is one of these.
            let is_list = ty.starts_with("json") || matches!(&*ty, "int2vector" | "oidvector");
            values.extend((!is_list).then(|| format!("ARRAY[[{first}], [{first}]]")));
            let values = values.into_iter().map(|it| format!("{it}::{array}")).collect();
            cases.push(Case { ty: array, values });
        }
        cases.push(Case { ty, values });
    }
    let all = hand.run(TYPES).await;
    let missing: Vec<&str> = all.lines().filter(|it| !seen.contains(*it)).collect();
    assert!(missing.is_empty(), "types without values in the corpus: {missing:?}");
    cases
}

/// Statements that make the table `c7` of the case 7, a copy, and `k7` with its values as keys, if they can be that.
fn tables(cases: &[Case]) -> String {
    let mut sql = String::new();
    for (at, Case { ty, values }) in cases.iter().enumerate() {
        let rows = (1..).zip(values).map(|(id, it)| format!("({id}, {it})"));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let key = format!(
            "CREATE TABLE public.k{at} (v {ty} PRIMARY KEY);
             INSERT INTO public.k{at} SELECT v FROM public.c{at} ON CONFLICT DO NOTHING"
        );
        let key = key.replace('\'', "''");
        let _ = writeln!(
            sql,
            "CREATE TABLE c{at} (id int4 PRIMARY KEY, v {ty}); INSERT INTO c{at} VALUES {rows};
             CREATE TABLE kept.c{at} AS TABLE c{at}; SELECT kept.runs('{key}');"
        );
    }
    sql
}

/// Types of the keys of the tables that have one, as a variable is declared, by the number of the case.
async fn keys(served: &Served) -> BTreeMap<usize, String> {
    let ty = "type { kind name ofType { kind name ofType { kind name } } }";
    let asked = format!("{{ __schema {{ queryType {{ fields {{ name args {{ name {ty} }} }} }} }} }}");
    let answer: Value = serde_json::from_str(&served.ask(&asked).await).unwrap();
    let fields = answer["data"]["__schema"]["queryType"]["fields"].as_array().unwrap().clone();
    let key = |field: Value| {
        let number = field["name"].as_str()?.strip_prefix('k')?.strip_suffix("_by_pk")?.parse().ok()?;
        Some((number, shown(&field["args"][0]["type"])))
    };
    fields.into_iter().filter_map(key).collect()
}

fn shown(ty: &Value) -> String {
    match ty["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", shown(&ty["ofType"])),
        Some("LIST") => format!("[{}]", shown(&ty["ofType"])),
        _ => ty["name"].as_str().unwrap().to_owned(),
    }
}

/// Reasons for which values were refused, and faults.
#[derive(Default)]
struct Findings {
    refused: BTreeMap<String, BTreeSet<String>>,
    wrong: Vec<String>,
}

impl Findings {
    /// Notes the answer over `protocol` to an operation with a value of `ty`; it is right if it contains `expected`.
    fn note(
        &mut self,
        protocol: Protocol,
        (ty, operation, value): (&str, &str, &str),
        (answer, expected): (&str, &str),
    ) {
        if answer.contains(expected) {
            return;
        }
        let json: Value = serde_json::from_str(answer).unwrap();
        let error = &json["errors"][0];
        let words = error["message"].as_str().unwrap_or_default();
        let is_told = matches!(
            error["extensions"]["code"].as_str(),
            Some(
                "BAD_USER_INPUT" | "INVALID_VALUE" | "validation-failed" | "parse-failed" | "data-exception"
            )
        );
        // GraphQL's types have lists of one dimension, which are read to the letter here.
        let is_deep = value.starts_with("[[") && protocol == Protocol::GraphqlOverHttp;
        match is_told {
            true if is_deep => {}
            true => drop(self.refused.entry(words.to_owned()).or_default().insert(ty.to_owned())),
            false => self.wrong.push(format!("{ty}, {operation} {value}: {answer}")),
        }
    }
}

/// Asks for the rows of a case by each of its values, and writes each.
struct Asker<'a> {
    served: &'a Served,
    at: usize,
    ty: &'a str,
    /// The type of the key, if there is one.
    key: Option<&'a str>,
}

impl Asker<'_> {
    async fn check(&self, rows: usize, hand: &mut Hand, found: &mut Findings) {
        let at = self.at;
        let mut values = Vec::new();
        for id in 1..=rows {
            let query = format!("{{ c{at}(where: {{id: {{_eq: {id}}}}}) {{ v }} }}");
            let answer = self.served.ask_in(Protocol::Hasura, &query, "").await;
            let value = answer.strip_prefix(&format!(r#"{{"data":{{"c{at}":[{{"v":"#));
            match value.and_then(|it| it.strip_suffix("}]}}")) {
                // A null of JSON is answered as a missing value is; blanks around a document, and a key twice, no request may have.
                Some("null") => {}
                Some(value) if Json::parse(value.as_bytes(), 100).is_err() || value.trim() != value => {}
                Some(value) => values.push((id, value.to_owned())),
                None => found.wrong.push(format!("{}: {answer}", self.ty)),
            }
        }
        for (id, value) in &values {
            self.find(*id, value, found).await;
            self.write(*id, value, found).await;
        }
        let others = format!(
            "SELECT string_agg(concat(c.id, ': ', c.v), ', ') FROM c{at} c JOIN kept.c{at} k ON k.id = c.id % 1000
             WHERE c.v::text IS DISTINCT FROM k.v::text"
        );
        let others = hand.run(&others).await;
        if !others.is_empty() {
            found.wrong.push(format!("{}: written otherwise: {others}", self.ty));
        }
        for (id, value) in &values {
            self.delete(*id, value, found).await;
        }
    }

    async fn find(&self, id: usize, value: &str, found: &mut Findings) {
        let at = self.at;
        for protocol in PROTOCOLS {
            for (operator, given) in [("_eq", value.to_owned()), ("_in", format!("[{value}]"))] {
                let query = format!("query ($w: c{at}_bool_exp!) {{ c{at}(where: $w) {{ id }} }}");
                let variables = format!(r#"{{"w":{{"v":{{"{operator}":{given}}}}}}}"#);
                let answer = self.served.ask_in(protocol, &query, &variables).await;
                found.note(protocol, (self.ty, operator, value), (&answer, &format!(r#"{{"id":{id}}}"#)));
            }
            if let Some(key) = self.key {
                let query = format!("query ($v: {key}) {{ k{at}_by_pk(v: $v) {{ v }} }}");
                let answer = self.served.ask_in(protocol, &query, &format!(r#"{{"v":{value}}}"#)).await;
                found.note(
                    protocol,
                    (self.ty, "by_pk", value),
                    (&answer, &format!(r#""k{at}_by_pk":{{"v":"#)),
                );
            }
        }
    }

    async fn write(&self, id: usize, value: &str, found: &mut Findings) {
        let at = self.at;
        for (protocol, own) in PROTOCOLS.into_iter().zip([id + 1000, id + 2000]) {
            let insert =
                format!("mutation ($o: c{at}_insert_input!) {{ insert_c{at}_one(object: $o) {{ v }} }}");
            let answer = self
                .served
                .ask_in(protocol, &insert, &format!(r#"{{"o":{{"id":{own},"v":{value}}}}}"#))
                .await;
            found.note(protocol, (self.ty, "insert", value), (&answer, &format!(r#"_one":{{"v":{value}}}"#)));
            let update = format!(
                "mutation ($s: c{at}_set_input!) {{ update_c{at}_by_pk(pk_columns: {{id: {id}}}, _set: $s) {{ v }} }}"
            );
            let answer = self.served.ask_in(protocol, &update, &format!(r#"{{"s":{{"v":{value}}}}}"#)).await;
            found.note(
                protocol,
                (self.ty, "update", value),
                (&answer, &format!(r#"_by_pk":{{"v":{value}}}"#)),
            );
        }
    }

    async fn delete(&self, id: usize, value: &str, found: &mut Findings) {
        let at = self.at;
        for (protocol, own) in PROTOCOLS.into_iter().zip([id + 1000, id + 2000]) {
            let delete =
                format!("mutation ($w: c{at}_bool_exp!) {{ delete_c{at}(where: $w) {{ affected_rows }} }}");
            let variables = format!(r#"{{"w":{{"id":{{"_in":[{own}]}},"v":{{"_eq":{value}}}}}}}"#);
            let answer = self.served.ask_in(protocol, &delete, &variables).await;
            found.note(protocol, (self.ty, "delete", value), (&answer, r#""affected_rows":1"#));
        }
    }
}

/// Parts of the words of refusals, with the types that have them; of arrays, that of their items. Without types: any.
const REFUSALS: [(&str, &[&str]); 5] = [
    // Another test asks the server whether it has none.
    ("has no operator", &[]),
    // A number that is none, in GraphQL's own scalar.
    ("Float", &["float4"]),
    // Arrays of arrays, whose items are no lists to GraphQL.
    (
        "expected a value of type",
        &[
            "pair",
            "flat",
            "deep",
            "inner_row",
            "outer_row",
            "geometry",
            "geography",
            "geometry_dump",
            "valid_detail",
        ],
    ),
    ("key \"type\" not found", &["geometry", "geography"]),
    ("malformed array literal", &["words", "geometry", "geography"]),
];

async fn every_value_finds_its_row_or_is_refused_with_words() {
    let made = database(&[corpus::TYPES, SET_UP].concat());
    let cases = cases(&mut Hand::new(&made).await).await;
    made.run(&tables(&cases));
    let served = serve(made).await;
    let keys = keys(&served).await;
    let mut hand = served.hand().await;
    let mut found = Findings::default();
    for (at, Case { ty, values }) in cases.iter().enumerate() {
        let key = keys.get(&at).map(String::as_str);
        Asker { served: &served, at, ty, key }.check(values.len(), &mut hand, &mut found).await;
    }
    assert!(keys.len() > 80, "{} types can be keys", keys.len());
    assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
    let unknown = found.refused.iter().filter(|(words, types)| {
        let known = REFUSALS.iter().filter(|it| words.contains(it.0));
        let is_of = |ty: &str, of: &[&str]| of.is_empty() || of.contains(&ty.trim_end_matches("[]"));
        !types.iter().all(|ty| known.clone().any(|it| is_of(ty, it.1)))
    });
    let unknown: Vec<String> = unknown.map(|(words, types)| format!("{words}: {types:?}")).collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

on_each_release! {
    async
    every_value_finds_its_row_or_is_refused_with_words,
}
