#!/usr/bin/env python3
"""Mutation check of the permission tests: takes one part out of the policy pass at a time and expects a test to fail.

The pass is built once with a hook that reads the mutant from an environment variable; the source is restored as soon as it is
built. A first run without a mutant has to pass, and notes which parts of a policy the tests reach on which database.
Prints a table in Markdown. Exits with 1 if no test saw a mutant, or if a part that no policy has is reached after all.

Arguments choose mutants by a part of their name: `scripts/policy-mutants.py "@auth: rows"`."""

import signal
import sys
import tempfile
from itertools import product
from pathlib import Path

import mutants
from mutants import ROOT, fail

PASS = ROOT / "crates/relational/src/passes/policy.rs"
DATABASES = {"sqlite": "postgres", "postgres": "sqlite"}

PURPOSES = "Root Opened Related Exists Value Aggregate Update Delete Insert Reference Lookup".split()
PARTS = {
    **{f"rows {it}": f"condition on rows of `Purpose::{it}`" for it in PURPOSES},
    **{f"cells {it}": f"hidden cells in rows of `Purpose::{it}`" for it in PURPOSES},
    "limit Root": "limit of a root's list",
    "limit Related": "limit of a list below a row",
    "order": "null as the value of a hidden cell in an order",
    "keys": "stored keys behind hidden cells",
    "calls": "hidden values of functions of a row",
    "barrier": "the policy in front of conditions that may fail by the row",
    "check Insert": "check of inserted rows",
    "check Update": "check of updated rows",
    "check upsert": "check of rows that an upsert updates",
    "presets Insert": "presets of inserts",
    "presets Update": "presets of updates",
    "presets upsert": "presets of upserts",
    "given Update": "a client's value for a preset column of an update",
    "given upsert": "a client's value for a preset column of an upsert",
}

# Where policies come from: the types of the policies, and the tests, by binary and parts of their names, with and without. The second
# group is asked only about mutants that the first, the quicker one, does not see.
FRONT_ENDS = {
    "roles": (
        ["RolePolicy"],
        [
            {"sql_tests": (["permissions::", "permission_attacks", "permission_members", "permission_writes"], ["client_texts_are_never_sql", "session_variables"])},
            {"sql_tests": (["permission_functions", "permission_secrets", "permission_stay", "permissions_", "role_wall", "error_wall"], [])},
        ],
    ),
    "@auth": (
        ["AuthPolicy"],
        [{"native_tests": (["auth"], ["auth_wall"])}, {"native_tests": (["auth_wall"], [])}, {"native_tests": (["error_wall"], [])}],
    ),
    "wall of SQL": (["Wall"], [{"sql_tests": (["wall::nobody_gets"], [])}]),
    "wall of native": (
        ["Wall"],
        [{"native_tests": (["wall::nobody_names"], [])}, {"native_tests": (["wall::nobody_gets", "wall::nobody_changes", "wall::nobody_orders"], [])}],
    ),
    "by hand": (
        ["ByHand"],
        [{"sql_tests": (["policy::", "policy_writes"], [])}, {"sql_tests": (["policy_wall"], [])}],
    ),
}

# Parts that a front end's policies do not have, and why.
NO_CELLS = "`@auth` rules are about objects: `AuthPolicy` has no `cells`"
NO_WRITES = "what a mutation made is judged by reading it (`compile/changes.rs`): `AuthPolicy` has neither checks nor presets"
NOT_IN_SQL = "only `native` makes such a scan (`compile/changes.rs`, `write/statement.rs`), and this is a policy of SQL sources"
ASKED_APART = "`AuthPolicy::rows` has none for it: the program of a mutation asks for the rights on what it looks up and clears"
NOT_WALLED = "the wall leaves it alone (`wall_kit/mod.rs`): new rows hide nothing, and a reference to a deleted row is cleared"
SAME_BARRIER = "the barrier does not depend on the policy: the tests of errors are those of roles and of `@auth`"
NOT_GIVEN = "a role has no argument for a column with a preset (`given` in `permission/table_rules.rs`)"
ABSENT = {
    "roles": {
        **{it: NOT_GIVEN for it in PARTS if it.startswith("given")},
        "rows Insert": "`RolePolicy::rows` has none for it: inserted rows are checked after they are written",
        **{f"{of} {it}": NOT_IN_SQL for of in ("rows", "cells") for it in ("Opened", "Reference", "Lookup")},
    },
    "@auth": {
        "rows Reference": ASKED_APART,
        "rows Lookup": ASKED_APART,
        **{f"cells {it}": NO_CELLS for it in PURPOSES},
        **{it: NO_CELLS for it in ("order", "keys", "calls")},
        **{it: "`@auth` limits no list" for it in ("limit Root", "limit Related")},
        **{it: NO_WRITES for it in PARTS if it.startswith(("check", "presets", "given"))},
    },
    "wall of SQL": {
        **{f"rows {it}": NOT_IN_SQL for it in ("Opened", "Lookup", "Reference")},
        "rows Insert": NOT_WALLED,
        **{it: "a wall hides rows alone" for it in PARTS if not it.startswith("rows")},
        "barrier": SAME_BARRIER,
    },
    "wall of native": {
        **{f"rows {it}": NOT_WALLED for it in ("Insert", "Reference")},
        "rows Opened": "no type behind the wall has a password",
        **{it: "a wall hides rows alone" for it in PARTS if not it.startswith("rows")},
        "barrier": SAME_BARRIER,
    },
    "by hand": {
        "barrier": SAME_BARRIER,
        "calls": "no function is guarded: that is tested by roles",
        "rows Insert": "inserted rows are checked after they are written",
        **{f"{of} {it}": NOT_IN_SQL for of in ("rows", "cells") for it in ("Opened", "Reference", "Lookup")},
    },
}

# Mutants that a database answers as the code: nothing can see them there, and why.
LAST_WINS = "SQLite takes the last of two values for a column, and the preset is the last"
ONE_PASS = "patterns of native types are matched in one pass, and nothing else of theirs fails by the row on SQLite"
SAME = {
    **{("sqlite", part): LAST_WINS for part in ("given Update", "given upsert")},
    ("sqlite", "barrier"): ONE_PASS,
}

# Parts that one of the databases cannot have, and why.
NOWHERE = {("sqlite", "calls"): "SQLite has no functions of a row"}

HOOK = r'''
/// True if the barrier changes the plan.
fn puts_behind(plan: &Plan, relations: &Relations) -> bool {
    let mut other = plan.clone();
    super::barrier::raise(&mut other, relations);
    format!("{other:?}") != format!("{plan:?}")
}

/// The mutant of this process. No part of the product: added for the mutation check of the tests.
mod mutant {
    use super::{ColumnId, Filter, GuardedCall, GuardedColumn, Policy, Preset, Purpose, Relations, TableId, WriteKind};
    use std::collections::HashSet;
    use std::fmt::{self, Write as _};
    use std::io::Write as _;
    use std::sync::{LazyLock, Mutex};

    /// `POLICIES|DATABASE|PART`
    static CHOSEN: LazyLock<Option<[String; 3]>> = LazyLock::new(|| {
        let chosen = std::env::var("WEIR_POLICY_MUTANT").ok()?;
        let mut words = chosen.split('|').map(str::to_owned);
        Some(std::array::from_fn(|_| words.next().expect("three words")))
    });
    static REACHED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

    #[derive(Debug)]
    pub(super) struct Mutated<'p> {
        policy: &'p dyn Policy,
        name: String,
        database: &'static str,
    }

    struct FirstWord(String);

    impl fmt::Write for FirstWord {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.push_str(text);
            Err(fmt::Error)
        }
    }

    impl<'p> Mutated<'p> {
        pub(super) fn new(policy: &'p dyn Policy, relations: Option<&Relations>) -> Self {
            let mut name = FirstWord(String::new());
            let _ = write!(name, "{policy:?}");
            let first = relations.and_then(|it| it.catalog.tables.first());
            let database = first.map_or("any", |it| if it.schema == "main" { "sqlite" } else { "postgres" });
            Self { policy, name: name.0, database }
        }
    }

    impl Policy for Mutated<'_> {
        fn lacks(&self, part: &str, is_there: bool) -> bool {
            // The barrier is the same for every policy: the tests of errors are those of roles and of `@auth`.
            let is_asked = part != "barrier" || matches!(self.name.as_str(), "RolePolicy" | "AuthPolicy");
            if !is_there || !is_asked {
                return false;
            }
            if let Some([policies, database, chosen]) = &*CHOSEN {
                let is_there = self.database == "any" || self.database == database;
                return chosen == part && is_there && policies.split(' ').any(|it| it == self.name);
            }
            let line = format!("{}|{}|{part}\n", self.name, self.database);
            if REACHED.lock().unwrap().insert(line.clone()) && let Ok(file) = std::env::var("WEIR_POLICY_REACHED") {
                let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
                file.write_all(line.as_bytes()).unwrap();
            }
            false
        }

        fn name(&self) -> &str {
            self.policy.name()
        }

        fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
            let rows = self.policy.rows(table, purpose);
            if self.lacks(&format!("rows {purpose:?}"), rows.is_some()) { None } else { rows }
        }

        fn limit(&self, table: TableId, purpose: Purpose) -> Option<u32> {
            self.policy.limit(table, purpose)
        }

        fn calls(&self, table: TableId) -> &[GuardedCall] {
            self.policy.calls(table)
        }
        fn cells(&self, table: TableId) -> &[GuardedColumn] {
            self.policy.cells(table)
        }

        fn check(&self, table: TableId, kind: WriteKind) -> Option<Filter> {
            let check = self.policy.check(table, kind);
            if self.lacks(&format!("check {kind:?}"), check.is_some()) { None } else { check }
        }

        fn upsert_check(&self, table: TableId) -> Option<Filter> {
            let check = self.policy.upsert_check(table);
            if self.lacks("check upsert", check.is_some()) { None } else { check }
        }

        fn presets(&self, table: TableId, kind: WriteKind) -> &[(ColumnId, Preset)] {
            let presets = self.policy.presets(table, kind);
            let is_insert = kind == WriteKind::Insert && !presets.is_empty();
            if self.lacks("presets Insert", is_insert) { &[] } else { presets }
        }
    }
}
'''


def behind(statement, part, is_there):
    """The edit that runs `statement` unless the mutant lacks `part`."""
    return statement, f'if !policy.lacks("{part}", {is_there}) {{ {statement} }}'


def wrapped(head, relations):
    made = f"let mutated = mutant::Mutated::new(policy, {relations});\n    let policy: &dyn Policy = &mutated;"
    return head, f"{head}\n    {made}"


TRAIT = "pub trait Policy: Debug + Send + Sync {"
CELLS = "for cell in policy.cells(table) {"
CALLS = "for call in policy.calls(table) {"
CAP = "cap_page(&mut query.page, rows_max);"
EDITS = [
    (TRAIT, f"{TRAIT}\n    /// True without `part`.\n    fn lacks(&self, _part: &str, _is_there: bool) -> bool {{\n        false\n    }}\n"),
    wrapped("pub fn restrict(plan: &mut Plan, relations: &Relations, policy: &dyn Policy) {", "Some(relations)"),
    wrapped("pub fn restrict_query(query: &mut Query, policy: &dyn Policy) {", "None"),
    wrapped("pub fn restrict_change(change: &mut Change, policy: &dyn Policy) {", "None"),
    (
        CELLS,
        'let part = format!("cells {:?}", scan.purpose());\n    '
        + CELLS.replace("(table)", "(table).iter().filter(|_| !policy.lacks(&part, true))"),
    ),
    (CALLS, CALLS.replace("(table)", '(table).iter().filter(|_| !policy.lacks("calls", true))')),
    (CAP, f'if !policy.lacks(&format!("limit {{:?}}", query.scan.purpose()), true) {{ {CAP} }}'),
    behind("mark_nullable(&mut level.query);", "order", "!level.query.scan.cells().is_empty()"),
    behind("super::barrier::raise(plan, relations);", "barrier", "puts_behind(plan, relations)"),
    behind("super::stored_keys::keep(plan);", "keys", "plan.levels.iter().any(|it| !it.query.scan.cells().is_empty())"),
    behind("conflict.presets.extend(values());", "presets upsert", "!presets.is_empty()"),
    behind("update.set.extend(values());", "presets Update", "!presets.is_empty()"),
    behind(
        "conflict.update.retain(|it| presets.iter().all(|preset| preset.0 != *it));",
        "given upsert",
        "conflict.update.iter().any(|it| presets.iter().any(|preset| preset.0 == *it))",
    ),
    behind(
        "update.set.retain(|it| presets.iter().all(|preset| preset.0 != it.0));",
        "given Update",
        "update.set.iter().any(|it| presets.iter().any(|preset| preset.0 == it.0))",
    ),
]


def hooked(text):
    if "mod mutant" in text:
        fail(f"{PASS} has the hook of a run that was killed: restore it with `git checkout -- {PASS}`")
    for old, new in EDITS:
        if text.count(old) != 1:
            fail(f"{PASS.name} does not have this once, so mend EDITS in {Path(__file__).name}: {old}")
        text = text.replace(old, new)
    return text + HOOK


def build(into):
    """The test binaries with the hook, copied into a folder, by name."""
    # Of the whole workspace, so that the features and with them the crates below are those of `make test`.
    return mutants.build(
        {PASS: hooked(PASS.read_text())}, ["--workspace", "--test", "sql_tests", "--test", "native_tests"], into
    )


def run(binaries, tests, database, environment):
    """The tests that failed, without those that are about the other database alone."""
    failed = []
    for binary, (names, without) in tests.items():
        skipped = [word for it in [*without, DATABASES[database]] for word in ("--skip", it)]
        failed += mutants.run(binaries[binary], binary, [*names, *skipped], environment)
    return failed


def reached(binaries, folder, front_end):
    """The parts of its policies that the tests of a front end reach, by database."""
    policies, groups = FRONT_ENDS[front_end]
    noted = Path(folder) / "reached"
    noted.write_text("")
    for tests, database in product(groups, DATABASES):
        failed = run(binaries, tests, database, {"WEIR_POLICY_REACHED": str(noted)})
        if failed:
            fail(f"tests fail without any mutant: {', '.join(failed)}")
    found = set()
    for policy, database, part in (it.split("|") for it in noted.read_text().splitlines()):
        if part not in PARTS:
            fail(f"a part of policies that is no mutant yet: {part}")
        found |= {(it, part) for it in DATABASES if policy in policies and database in (it, "any")}
    return found


def words(tests):
    shown = ", ".join(f"`{it}`" for it in tests[:4])
    return f"{shown} and {len(tests) - 4} more" if len(tests) > 4 else shown or "—"


def judge(binaries, front_end, part, known):
    """The cells of a mutant by database, the tests that saw it, and what is wrong."""
    policies, groups = FRONT_ENDS[front_end]
    cells, seen, faults = [], [], []
    for database in DATABASES:
        if (database, part) not in known and (why := NOWHERE.get((database, part))):
            cells.append(f"not there: {why}")
            continue
        if (database, part) not in known:
            cells.append("**not reached**")
            faults.append(f"{front_end}: {part} on {database} is not reached by any test")
            continue
        mutant = {"WEIR_POLICY_MUTANT": "|".join([" ".join(policies), database, part])}
        failed = next(filter(None, (run(binaries, it, database, mutant) for it in groups)), [])
        seen += [it for it in failed if it not in seen]
        same = not failed and SAME.get((database, part))
        cells.append(str(len(failed)) if failed else f"the same: {same}" if same else "**survived**")
        if not failed and not same:
            faults.append(f"{front_end}: {part} on {database} survived")
    return cells, seen, faults


def main(wanted):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    absent, faults = {}, []
    if wanted and not any(word in f"{front_end}: {it}" for word in wanted for front_end in FRONT_ENDS for it in PARTS):
        return
    with tempfile.TemporaryDirectory() as folder:
        binaries = build(folder)
        print("| what was removed | red on SQLite | red on PostgreSQL | tests that saw it |\n|---|---|---|---|", flush=True)
        for front_end in FRONT_ENDS:
            chosen = [it for it in PARTS if not wanted or any(word in f"{front_end}: {it}" for word in wanted)]
            known = reached(binaries, folder, front_end) if chosen else set()
            for part in chosen:
                if why := ABSENT[front_end].get(part):
                    absent.setdefault(f"{front_end}: {why}", []).append(part)
                    faults += [f"{front_end}: {part} is reached on {it}" for it in DATABASES if (it, part) in known]
                    continue
                faults += [f"{front_end}: {part} is reached on {it}" for it in DATABASES if (it, part) in NOWHERE and (it, part) in known]
                cells, seen, found = judge(binaries, front_end, part, known)
                faults += found
                print(f"| {front_end}: {PARTS[part]} | {' | '.join(cells)} | {words(seen)} |", flush=True)
    print("\nNot there, so nothing is removed:")
    print("\n".join(f"- {why}: {', '.join(parts)}" for why, parts in absent.items()))
    if faults:
        print("\nNo test saw:\n" + "\n".join(f"- {it}" for it in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
