//! Answered values find their rows: each value that a query reads of a column is given back to every way of asking for it, to conditions
//! of order, and to writes.
//!
//! A table of the kit has the columns `id` (a number of its own in each row), `v` (the values) and `n` (a number that writes set). A
//! database fills it with every form of a value that it can store. The kit asks for it over the API alone; what is stored comes from
//! [`Answering::stored`], to see that a value that is written back keeps its form.

#![allow(unreachable_pub, reason = "the tests of this binary share it")]

use std::collections::{BTreeMap, BTreeSet};
use weir_language::json::{Json, JsonRef};

/// A table of the kit.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name in the API.
    pub table: String,
    /// The GraphQL type of `v`.
    pub scalar: String,
    /// `v` is the primary key.
    pub is_keyed: bool,
    /// Rows can be changed.
    pub is_writable: bool,
    /// The type has `_gt` and the like, and groups.
    pub is_ordered: bool,
}

/// A server of such tables.
pub trait Answering {
    /// The answer to an operation, by the rules of GraphQL over HTTP.
    fn answer(&self, operation: &str, variables: &str) -> String;
    /// The values of `v` as they are stored, by `id`.
    fn stored(&self, table: &str) -> BTreeMap<i64, String>;
    /// True if two values of `v`, as JSON, are one.
    fn is_same(&self, one: &str, other: &str) -> bool {
        one == other
    }
    /// False for a value that equals one of another form, whose place in the order it does not have.
    fn has_order(&self, _subject: &Subject, _id: i64) -> bool {
        true
    }
}

/// A row as it was answered.
#[derive(Clone, Debug)]
struct AnsweredRow {
    id: i64,
    /// As JSON; `None`: null, or refused with an error.
    v: Option<String>,
}

/// Number of values that were read, and of those that were refused with words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub answered: usize,
    pub refused: usize,
}

/// Asks for every value of `subject` in every way.
pub fn check(server: &dyn Answering, subject: &Subject) -> Counts {
    let asking = Asking { server, subject };
    let rows = asking.rows("order_by: {id: asc}");
    let read: Vec<&AnsweredRow> = rows.iter().filter(|it| it.v.is_some()).collect();
    let ordered = subject.is_ordered.then(|| asking.rows("order_by: {v: asc}"));
    for row in &read {
        asking.check_reads(row, &rows);
        if let Some(ordered) = &ordered
            && server.has_order(subject, row.id)
        {
            asking.check_order(row, &rows, ordered);
        }
    }
    if subject.is_ordered {
        asking.check_groups(&rows);
    }
    if subject.is_writable {
        read.iter().for_each(|row| asking.check_kept(row));
        read.iter().for_each(|row| asking.check_update(row));
        read.iter().enumerate().for_each(|(at, row)| asking.check_delete(row, at));
    }
    Counts { answered: read.len(), refused: rows.len() - read.len() }
}

struct Asking<'a> {
    server: &'a dyn Answering,
    subject: &'a Subject,
}

impl Asking<'_> {
    /// The table's rows by arguments; what is null has an error, unless null is stored.
    fn rows(&self, arguments: &str) -> Vec<AnsweredRow> {
        let table = &self.subject.table;
        let answer = self.server.answer(&format!("{{ a: {table}({arguments}) {{ id v }} }}"), "{}");
        let json = Json::parse(answer.as_bytes(), 600).unwrap();
        let rows = rows_of(json.root(), "a").unwrap_or_else(|| panic!("{table}: {answer}"));
        let stored = self.server.stored(table);
        let nulls = rows.iter().filter(|it| it.v.is_none() && stored[&it.id] != "null").count();
        let errors = json.root().get("errors").map_or(0, |it| it.items().count());
        assert_eq!(errors, nulls, "{table}: each value that is refused is refused with words\n{answer}");
        rows
    }

    fn ask(&self, operation: &str, v: &str) -> String {
        self.server.answer(operation, &format!("{{\"v\": {v}}}"))
    }

    fn is_same(&self, one: &Option<String>, other: &str) -> bool {
        one.as_ref().is_some_and(|it| it == other || self.server.is_same(it, other))
    }

    /// The numbers of the rows whose value is the same as `v`.
    fn same(&self, rows: &[AnsweredRow], v: &str) -> BTreeSet<i64> {
        rows.iter().filter(|it| self.is_same(&it.v, v)).map(|it| it.id).collect()
    }

    /// By key, equality and lists, the value as a variable, and a number as a literal too.
    fn check_reads(&self, row: &AnsweredRow, rows: &[AnsweredRow]) {
        let v = row.v.as_deref().unwrap_or_default();
        self.check_reads_by("$v", v, rows);
        if v.parse::<f64>().is_ok() {
            self.check_reads_by(v, v, rows);
        }
    }

    /// `given` stands for `v` in the operation.
    fn check_reads_by(&self, given: &str, v: &str, rows: &[AnsweredRow]) {
        let Subject { table, scalar, is_keyed, .. } = self.subject;
        let declared = if given == v { String::new() } else { format!("({given}: {scalar}!)") };
        let operation = format!(
            "query {declared} {{ eq: {table}(where: {{v: {{_eq: {given}}}}}) {{ id v }} in: {table}(where: {{v: {{_in: [{given}]}}}}) {{ id v }} \
             or: {table}(where: {{_or: [{{v: {{_eq: {given}}}}}, {{id: {{_eq: -1}}}}]}}) {{ id v }} \
             neq: {table}(where: {{v: {{_neq: {given}}}}}) {{ id v }} nin: {table}(where: {{v: {{_nin: [{given}]}}}}) {{ id v }} \
             not: {table}(where: {{_not: {{v: {{_eq: {given}}}}}}}) {{ id v }} {} }}",
            if *is_keyed { format!("pk: {table}_by_pk(v: {given}) {{ id v }}") } else { String::new() }
        );
        let answer = self.ask(&operation, v);
        if is_refused(&answer) {
            return;
        }
        let json = Json::parse(answer.as_bytes(), 600).unwrap();
        let found = |key: &str| -> BTreeSet<i64> {
            let found = rows_of(json.root(), key).unwrap_or_else(|| panic!("{table} {v}: {answer}"));
            found.iter().filter(|it| it.v.is_some()).map(|it| it.id).collect()
        };
        let same = self.same(rows, v);
        let others: BTreeSet<i64> =
            rows.iter().filter(|it| it.v.is_some() && !same.contains(&it.id)).map(|it| it.id).collect();
        for key in ["eq", "in", "or"] {
            assert_eq!(found(key), same, "{table} `{key}` {v}");
        }
        for key in ["neq", "nin", "not"] {
            assert_eq!(found(key), others, "{table} `{key}` {v}");
        }
        if *is_keyed {
            let one = json.root().get("data").and_then(|it| it.get("pk"));
            let one =
                one.filter(|it| !it.is_null()).unwrap_or_else(|| panic!("{table} by key {v}: {answer}"));
            assert!(same.contains(&row_of(one).id), "{table} by key {v}: {answer}");
        }
    }

    /// Conditions of order agree with the order of rows.
    fn check_order(&self, row: &AnsweredRow, rows: &[AnsweredRow], ordered: &[AnsweredRow]) {
        let Subject { table, scalar, .. } = self.subject;
        let v = row.v.as_deref().unwrap_or_default();
        let fields: Vec<String> = ["gt", "gte", "lt", "lte"]
            .iter()
            .map(|it| format!("{it}: {table}(where: {{v: {{_{it}: $v}}}}) {{ id v }}"))
            .collect();
        let answer = self.ask(&format!("query ($v: {scalar}!) {{ {} }}", fields.join(" ")), v);
        if is_refused(&answer) {
            return;
        }
        let json = Json::parse(answer.as_bytes(), 600).unwrap();
        let same = self.same(rows, v);
        let places = || ordered.iter().enumerate().filter(|it| same.contains(&it.1.id)).map(|it| it.0);
        let first = places().min().unwrap_or(0);
        let last = places().max().unwrap_or(0);
        assert_eq!(last + 1 - first, same.len(), "{table}: equal values stand together: {v}");
        let ids = |rows: &[AnsweredRow]| -> BTreeSet<i64> {
            rows.iter().filter(|it| it.v.is_some()).map(|it| it.id).collect()
        };
        for (key, expected) in [
            ("gt", ids(&ordered[last + 1..])),
            ("gte", ids(&ordered[first..])),
            ("lt", ids(&ordered[..first])),
            ("lte", ids(&ordered[..=last])),
        ] {
            let found = rows_of(json.root(), key).unwrap_or_else(|| panic!("{table} {v}: {answer}"));
            assert_eq!(ids(&found), expected, "{table} `{key}` {v}");
        }
    }

    /// Each value is one group, and counts once.
    fn check_groups(&self, rows: &[AnsweredRow]) {
        let table = &self.subject.table;
        let answer = self.server.answer(
            &format!(
                "{{ a: {table}_group_by(by: [v]) {{ key {{ v }} aggregate {{ count }} }} \
                 d: {table}(distinct_on: [v], order_by: {{v: asc}}) {{ id v }} \
                 c: {table}_aggregate {{ aggregate {{ count(columns: [v], distinct: true) }} }} }}"
            ),
            "{}",
        );
        let json = Json::parse(answer.as_bytes(), 600).unwrap();
        let data = json.root().get("data").unwrap_or_else(|| panic!("{table}: {answer}"));
        let groups: Vec<(Option<String>, usize)> = data
            .get("a")
            .unwrap_or_else(|| panic!("{table}: {answer}"))
            .items()
            .map(|group| {
                let v = group.get("key").and_then(|it| it.get("v")).filter(|it| !it.is_null());
                let count = group.get("aggregate").and_then(|it| it.get("count")).unwrap();
                (v.map(|it| it.raw().to_owned()), count.raw().parse().unwrap())
            })
            .collect();
        let read: Vec<&(Option<String>, usize)> = groups.iter().filter(|it| it.0.is_some()).collect();
        for (v, count) in &read {
            let v = v.as_deref().unwrap_or_default();
            assert_eq!(*count, self.same(rows, v).len(), "{table}: the group of {v}");
        }
        let distinct = rows_of(json.root(), "d").unwrap_or_else(|| panic!("{table}: {answer}"));
        assert_eq!(distinct.iter().filter(|it| it.v.is_some()).count(), read.len(), "{table}: distinct rows");
        let stored = self.server.stored(table);
        let has_null = stored.values().any(|it| it == "null");
        let count = data.get("c").and_then(|it| it.get("aggregate")).and_then(|it| it.get("count")).unwrap();
        let unread = groups.len() - read.len() - usize::from(has_null);
        // A stored value that is none of the type may count as null.
        let counts = read.len()..=read.len() + unread;
        assert!(counts.contains(&count.raw().parse().unwrap()), "{table}: {} not in {counts:?}", count.raw());
    }

    /// A value that is written back keeps its form.
    fn check_kept(&self, row: &AnsweredRow) {
        let Subject { table, scalar, .. } = self.subject;
        let v = row.v.as_deref().unwrap_or_default();
        let before = self.server.stored(table);
        let operation = format!(
            "mutation ($v: {scalar}!) {{ update_{table}(where: {{id: {{_eq: {}}}}}, _set: {{v: $v}}) {{ affected_rows }} }}",
            row.id
        );
        let answer = self.ask(&operation, v);
        if !is_refused(&answer) {
            assert!(answer.contains("\"affected_rows\":1}"), "{table} written back {v}: {answer}");
        }
        assert_eq!(self.server.stored(table), before, "{table}: {v} written back");
    }

    fn check_update(&self, row: &AnsweredRow) {
        let Subject { table, scalar, is_keyed, .. } = self.subject;
        let v = row.v.as_deref().unwrap_or_default();
        let operation = format!(
            "mutation ($v: {scalar}!) {{ eq: update_{table}(where: {{v: {{_eq: $v}}}}, _set: {{n: 1}}) {{ returning {{ id v }} }} \
             in: update_{table}(where: {{v: {{_in: [$v]}}}}, _set: {{n: 2}}) {{ returning {{ id v }} }} {} }}",
            if *is_keyed {
                format!("pk: update_{table}_by_pk(pk_columns: {{v: $v}}, _set: {{n: 3}}) {{ id v }}")
            } else {
                String::new()
            }
        );
        let answer = self.ask(&operation, v);
        if is_refused(&answer) {
            return;
        }
        let json = Json::parse(answer.as_bytes(), 600).unwrap();
        let data = json.root().get("data").unwrap_or_else(|| panic!("{table} updates {v}: {answer}"));
        for key in ["eq", "in"] {
            let changed = data.get(key).and_then(|it| it.get("returning"));
            let changed = changed.unwrap_or_else(|| panic!("{table} updates {v}: {answer}"));
            let is_changed = changed.items().any(|it| row_of(it).id == row.id);
            assert!(is_changed, "{table} updates {v} by `{key}`: {answer}");
        }
        let one = data.get("pk").filter(|it| !it.is_null());
        assert!(!*is_keyed || one.is_some(), "{table} updates {v} by key: {answer}");
    }

    /// By key, equality and list in turn; equal values are deleted together.
    fn check_delete(&self, row: &AnsweredRow, at: usize) {
        let Subject { table, scalar, is_keyed, .. } = self.subject;
        if !self.server.stored(table).contains_key(&row.id) {
            return;
        }
        let v = row.v.as_deref().unwrap_or_default();
        let field = match at % 3 {
            0 => format!("delete_{table}(where: {{v: {{_eq: $v}}}}) {{ affected_rows }}"),
            1 => format!("delete_{table}(where: {{v: {{_in: [$v]}}}}) {{ affected_rows }}"),
            _ if *is_keyed => format!("delete_{table}_by_pk(v: $v) {{ id }}"),
            _ => format!(
                "delete_{table}(where: {{_not: {{v: {{_neq: $v}}}}, v: {{_is_null: false}}}}) {{ affected_rows }}"
            ),
        };
        let answer = self.ask(&format!("mutation ($v: {scalar}!) {{ {field} }}"), v);
        let is_gone = !self.server.stored(table).contains_key(&row.id);
        assert!(is_gone || is_refused(&answer), "{table} deletes {v}: {field}\n{answer}");
    }
}

/// True if the operation was refused for its value, with words and a code for it, and nothing of it was done.
fn is_refused(answer: &str) -> bool {
    let json = Json::parse(answer.as_bytes(), 600).unwrap();
    let codes = ["BAD_USER_INPUT", "INVALID_TEXT"];
    let has_data =
        json.root().get("data").is_some_and(|it| !it.is_null() && it.members().any(|it| !it.1.is_null()));
    let errors = json.root().get("errors");
    let mut errors = errors.iter().flat_map(|it| it.items());
    !has_data
        && errors.any(|error| {
            let code = error.get("extensions").and_then(|it| it.get("code")).and_then(JsonRef::as_str);
            code.is_some_and(|it| codes.contains(&&*it))
        })
}

fn rows_of(answer: JsonRef<'_>, key: &str) -> Option<Vec<AnsweredRow>> {
    let rows = answer.get("data")?.get(key).filter(|it| !it.is_null())?;
    Some(rows.items().map(row_of).collect())
}

fn row_of(row: JsonRef<'_>) -> AnsweredRow {
    let v = row.get("v").filter(|it| !it.is_null());
    AnsweredRow { id: row.get("id").unwrap().raw().parse().unwrap(), v: v.map(|it| it.raw().to_owned()) }
}
