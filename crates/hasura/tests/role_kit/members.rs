//! The members of the schema that a role sees, by the permissions' JSON alone.

use super::grant::{Grants, lists};
use super::judge::{DOUBLES, RELATIONS, TABLES, table};
use std::collections::{BTreeMap, BTreeSet};

/// Names of members by type.
pub type Members = BTreeMap<String, BTreeSet<String>>;

/// A role's permissions, as far as they decide what is there.
struct Seen<'g> {
    grants: &'g Grants,
    role: &'g str,
}

impl Seen<'_> {
    fn reads(&self, of: &str) -> bool {
        !self.grants.of(self.role, of, "select").is_empty()
    }

    fn aggregates(&self, of: &str) -> bool {
        self.grants.of(self.role, of, "select").iter().any(|it| it.1["allow_aggregations"] == true)
    }

    fn columns(&self, of: &str) -> BTreeSet<String> {
        let all = table(of).1.iter().map(|it| it.0);
        all.filter(|it| self.grants.shows(self.role, of, it)).map(Into::into).collect()
    }

    fn sees_key(&self, of: &str) -> bool {
        table(of).2.iter().all(|it| self.grants.shows(self.role, of, it))
    }

    /// Columns that the role gives a value when it inserts or updates.
    fn given(&self, of: &str, kind: &str) -> Option<BTreeSet<String>> {
        let rule = self.grants.write(self.role, of, kind)?;
        let all = table(of).1.iter().map(|it| it.0);
        Some(all.filter(|it| lists(rule, it) && rule["set"].get(it).is_none()).map(Into::into).collect())
    }

    fn is_root(&self, of: &str, root: &str) -> bool {
        let rules = self.grants.of(self.role, of, "select");
        let names = |it: &serde_json::Value| {
            it["query_root_fields"].as_array().is_none_or(|it| it.iter().any(|it| it == root))
        };
        // Without a list a parent has all of them.
        rules.iter().any(|it| names(it.1))
    }

    /// Predicates on aggregates: all but the number of rows need a column of doubles.
    fn predicates(&self, of: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::from(["count".to_owned()]);
        if self.columns(of).iter().any(|it| DOUBLES.contains(&it.as_str())) {
            let of_doubles = ["avg", "corr", "covar_samp", "max", "min", "stddev_samp", "sum", "var_samp"];
            all.extend(of_doubles.map(Into::into));
        }
        all
    }

    /// Values of a row that are computed: a parent has to have them.
    fn computed(&self, of: &str) -> bool {
        let rules = self.grants.of(self.role, of, "select");
        of == "book" && rules.iter().any(|it| it.1["computed_fields"][0] == "size")
    }
}

/// The members of the tables' own types and of the roots, where the role sees the types. `calls`: there are functions.
pub fn members(grants: &Grants, role: &str, calls: bool) -> Members {
    let seen = Seen { grants, role };
    let mut all = Members::new();
    for (of, ..) in TABLES {
        let relations = || RELATIONS.iter().filter(|it| it.0 == *of);
        let own = |out: &mut BTreeSet<String>, of: &str| {
            if calls && seen.computed(of) {
                out.insert("size".into());
            }
            if calls && of == "author" && seen.reads("book") {
                out.insert("works".into());
            }
        };
        let mut output = seen.columns(of);
        let mut condition = seen.columns(of);
        let mut order = seen.columns(of);
        for out in [&mut output, &mut condition] {
            own(out, of);
            for (_, name, many, to, ..) in relations().filter(|it| seen.reads(it.3)) {
                out.insert((*name).to_owned());
                if *many && seen.aggregates(to) {
                    out.insert(format!("{name}_aggregate"));
                }
            }
        }
        if calls && *of == "author" && seen.aggregates("book") {
            output.insert("works_aggregate".into());
            condition.insert("works_aggregate".into());
        }
        condition.extend(["_and", "_or", "_not"].map(Into::into));
        if calls && seen.computed(of) {
            order.insert("size".into());
        }
        if calls && *of == "author" && seen.reads("book") {
            order.insert("works_aggregate".into());
        }
        for (_, name, many, ..) in relations().filter(|it| seen.reads(it.3)) {
            order.insert(if *many { format!("{name}_aggregate") } else { (*name).to_owned() });
        }
        let given = seen.given(of, "insert");
        let is_preset = given.as_ref().is_some_and(BTreeSet::is_empty);
        let mut insert = given.unwrap_or_default();
        insert.extend(is_preset.then(|| "_PLACEHOLDER".to_owned()));
        insert.extend(
            relations().filter(|it| grants.write(role, it.3, "insert").is_some()).map(|it| it.1.to_owned()),
        );
        all.insert((*of).to_owned(), output);
        all.insert(format!("{of}_bool_exp"), condition);
        all.insert(format!("{of}_aggregate_bool_exp"), seen.predicates(of));
        all.insert(format!("{of}_order_by"), order);
        all.insert(format!("{of}_select_column"), seen.columns(of));
        all.insert(format!("{of}_insert_input"), insert);
        all.insert(format!("{of}_set_input"), seen.given(of, "update").unwrap_or_default());
    }
    all.insert("query_root".into(), queries(&seen, calls));
    all.insert("mutation_root".into(), mutations(&seen));
    while drop_useless(&mut all) {}
    all
}

/// Drops members whose type has none: true if there were any.
fn drop_useless(all: &mut Members) -> bool {
    let mut useless: Vec<(String, String)> = Vec::new();
    let mut drop = |ty: &str, member: &str| useless.push((ty.to_owned(), member.to_owned()));
    for (of, ..) in TABLES {
        let to_it = || RELATIONS.iter().filter(|it| it.3 == *of);
        if all[*of].is_empty() {
            to_it().for_each(|it| drop(it.0, it.1));
            drop("query_root", of);
            drop("query_root", &format!("{of}_by_pk"));
            for kind in ["insert", "update", "delete"] {
                let name = if kind == "insert" { "one" } else { "by_pk" };
                drop("mutation_root", &format!("{kind}_{of}_{name}"));
            }
            if *of == "book" {
                drop("author", "works");
                drop("query_root", "books_of");
            }
        }
        if all[&format!("{of}_order_by")].is_empty() {
            to_it().filter(|it| !it.2).for_each(|it| drop(&format!("{}_order_by", it.0), it.1));
        }
    }
    let dropped =
        useless.into_iter().map(|(ty, member)| all.get_mut(&ty).is_some_and(|it| it.remove(&member)));
    dropped.fold(false, |any, it| any | it)
}

fn queries(seen: &Seen<'_>, calls: bool) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    for (of, ..) in TABLES.iter().filter(|it| seen.reads(it.0)) {
        let aggregates = seen.aggregates(of) && seen.is_root(of, "select_aggregate");
        roots.extend(seen.is_root(of, "select").then(|| (*of).to_owned()));
        roots.extend((seen.sees_key(of) && seen.is_root(of, "select_by_pk")).then(|| format!("{of}_by_pk")));
        roots.extend(aggregates.then(|| format!("{of}_aggregate")));
        // Groups are by columns.
        roots.extend((aggregates && !seen.columns(of).is_empty()).then(|| format!("{of}_group_by")));
    }
    if calls && seen.reads("book") {
        roots.insert("books_of".into());
        roots.extend(seen.aggregates("book").then(|| "books_of_aggregate".to_owned()));
    }
    roots
}

fn mutations(seen: &Seen<'_>) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    for (of, ..) in TABLES {
        let may = |kind: &str| seen.grants.write(seen.role, of, kind).is_some();
        for (kind, is_there, name) in [
            ("insert", true, format!("insert_{of}")),
            ("insert", seen.reads(of), format!("insert_{of}_one")),
            ("update", true, format!("update_{of}")),
            ("update", true, format!("update_{of}_many")),
            ("update", seen.sees_key(of), format!("update_{of}_by_pk")),
            ("delete", true, format!("delete_{of}")),
            ("delete", seen.sees_key(of), format!("delete_{of}_by_pk")),
        ] {
            roots.extend((is_there && may(kind)).then_some(name));
        }
    }
    roots
}
