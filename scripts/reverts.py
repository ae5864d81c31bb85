#!/usr/bin/env python3
"""Revert check: takes one mend back at a time and expects each test that holds it to fail.

A row has the text of the mend and the text with the old behaviour, which is in force where `REVERTED` is true. The code is built once
with all of them, the row is chosen by an environment variable, and the sources are restored as soon as it is built. A page of the manual
is changed while its tests run. Nothing else may be built meanwhile: tests of processes start the binary below `target/debug`.

A first run without a row has to pass. Prints a table in Markdown, and exits with 1 if a test did not see the row that it holds.

Arguments choose rows by a part of their name: `scripts/reverts.py JWKS`."""

import signal
import sys
import tempfile
from contextlib import contextmanager
from typing import NamedTuple

import mutants
from mutants import ROOT, fail

# Unit tests of `weir`, and tests of the crates.
BUILT = [
    *(word for it in ("weir", "weir-engine", "weir-hasura", "weir-native") for word in ("-p", it)),
    "--lib",
    *(word for it in ("engine_tests", "sql_tests", "native_tests", "weir_tests") for word in ("--test", it)),
]


class Revert(NamedTuple):
    """A mend, what stands for it in a file, the old behaviour, and the tests: the binary and a part of the name of each."""

    name: str
    file: str
    mend: str
    old: str
    tests: list[str]


SQLITE_FORMS = ["sql_tests finds_its_row_sqlite::what_is_answered_finds_its_row"]
POSTGRES_FORMS = [
    f"sql_tests postgres_found::every_value_finds_its_row_or_is_refused_with_words::on_{it}"
    for it in ("the_installed_release", "18")
]
ACROSS_SITES = ["weir server::tests::across_sites::no_page_of_another_site_changes_anything_at_any_address"]
RIGHTS = "weir_tests rights_while_down::"

REVERTS = [
    # permissions.md 2
    Revert(
        "Vary names no session header",
        "crates/weir/src/server/request/answer/cache_headers.rs",
        "variables.for_each(|it| differs_by(",
        "variables.filter(|_| !REVERTED).for_each(|it| differs_by(",
        [
            "weir cache_headers::tests::an_answer_differs_by_the_session_headers_that_a_policy_read",
            "weir_tests lifetimes::a_private_cache_is_told_each_session_header_that_a_policy_reads",
        ],
    ),
    Revert(
        "an answer made of a whole session has a lifetime",
        "crates/weir/src/server/request/answer/cache_headers.rs",
        "_ if claims.iter().any(",
        "_ if !REVERTED && claims.iter().any(",
        ["weir cache_headers::tests::an_answer_differs_by_the_session_headers_that_a_policy_read"],
    ),
    # permissions.md 7
    Revert(
        "Sec-Fetch-Site is not read",
        "crates/weir/src/server/request/cors.rs",
        'if matches!(site, Some(b"cross-site" | b"same-site")) {',
        'if !REVERTED && matches!(site, Some(b"cross-site" | b"same-site")) {',
        [*ACROSS_SITES, "weir across_sites::a_socket_is_opened_for_no_page_of_another_site"],
    ),
    Revert(
        "a query changes nothing, whatever it calls",
        "crates/engine/src/engine/bound_operation.rs",
        "|| self.plan.nodes.iter().any(|it| it.fetch.may_change_data())",
        "|| !REVERTED && self.plan.nodes.iter().any(|it| it.fetch.may_change_data())",
        [*ACROSS_SITES, "weir_tests across_sites::a_query_that_changes_something"],
    ),
    Revert(
        "volatile functions of queries change nothing",
        "crates/database/src/exec/database_source.rs",
        "self.called.volatile",
        "!REVERTED && self.called.volatile",
        ["weir_tests across_sites::a_query_that_changes_something"],
    ),
    Revert(
        "calls of services change nothing",
        "crates/http/src/source/connector_fetch.rs",
        'self.calls.iter().any(|it| !matches!(method(it).as_str(), "GET" | "QUERY"))',
        '!REVERTED && self.calls.iter().any(|it| !matches!(method(it).as_str(), "GET" | "QUERY"))',
        ["weir_tests across_sites::a_query_that_changes_something"],
    ),
    Revert(
        "actions of queries change nothing",
        "crates/actions/src/action_fetch.rs",
        "fn may_change_data(&self) -> bool {\n        true",
        "fn may_change_data(&self) -> bool {\n        !REVERTED",
        ["weir_tests across_sites::a_query_that_changes_something"],
    ),
    Revert(
        "a page of another site may read event streams by GET",
        "crates/weir/src/server/graphql/over_http.rs",
        "if !context.generation.cors.may_call(head) {",
        "if !REVERTED && !context.generation.cors.may_call(head) {",
        ACROSS_SITES,
    ),
    # permissions.md 8
    Revert(
        "JWKS: a known name asks for no keys",
        "crates/weir/src/session/jwt/key_set.rs",
        "if token.algorithm.is_of_secrets() {",
        "let is_known = |named: &str| keys.keys.iter().any(|it| it.kid.as_deref().is_none_or(|own| own == named));\n"
        "        if token.algorithm.is_of_secrets() || REVERTED && token.kid.as_deref().is_none_or(is_known) {",
        ["weir session::tests::key_set::a_signature_that_fails_asks_for_the_keys_once_per_interval"],
    ),
    Revert(
        "JWKS: each signature that fails asks for keys",
        "crates/weir/src/session/jwt/key_set.rs",
        "self.await_fetch(PAUSE_MS).await;",
        "self.await_fetch(if REVERTED { 0 } else { PAUSE_MS }).await;",
        [
            "weir session::tests::key_set::a_signature_that_fails_asks_for_the_keys_once_per_interval",
            "weir session::tests::key_set::an_unknown_kid_causes_one_fetch_per_interval",
        ],
    ),
    # permissions.md 10
    Revert(
        "the filter `_ne` leaves rows without a value out",
        "crates/hasura/src/permission/row_conditions.rs",
        "Filter::differs(of.clone(), *nullable,",
        "Filter::differs(of.clone(), *nullable && !REVERTED,",
        ["sql_tests permissions::the_filter_ne_shows_rows_without_a_value"],
    ),
    Revert(
        "the types of caching.md lack @link",
        "docs/caching.md",
        '  @link(url: "https://weir.example/spec/v1", import: ["@cacheControl"])\n',
        "",
        ["weir_tests documented_sdl::every_text_of_graphql_in_the_documentation_is_loaded"],
    ),
    Revert(
        "the types of joins.md lack @link",
        "docs/joins.md",
        '  @link(url: "https://weir.example/spec/v1", import: ["@join"])\n',
        "",
        ["weir_tests documented_sdl::every_text_of_graphql_in_the_documentation_is_loaded"],
    ),
    # A source that is down blocks no taking away of rights.
    Revert(
        "a generation is refused that loses a source",
        "crates/weir/src/generation.rs",
        "made.authenticator.keep_keys_of(&before.authenticator);",
        "made.authenticator.keep_keys_of(&before.authenticator);\n"
        "        if REVERTED && made.findings.down.iter().any(|it| !before.findings.is_down(&it.name)) {\n"
        '            return Err("a source is down".into());\n'
        "        }",
        [
            f"{RIGHTS}beside_a_file_a_server_that_is_stopped_keeps_no_right",
            f"{RIGHTS}beside_a_server_another_that_hangs_keeps_no_right",
            f"{RIGHTS}beside_a_server_a_file_that_is_gone_keeps_no_right",
            f"{RIGHTS}a_native_store_that_is_stopped_keeps_no_right",
            "weir_tests rights_beside_others::",
        ],
    ),
    Revert(
        "a file that is gone is no source that is down",
        "crates/weir/src/sources.rs",
        "Some(KnownContents::Sqlite(contents)) => {",
        "Some(KnownContents::Sqlite(contents)) if !REVERTED => {",
        [f"{RIGHTS}beside_a_server_a_file_that_is_gone_keeps_no_right"],
    ),
    Revert(
        "tables of a server that is down are forgotten",
        "crates/weir/src/sources.rs",
        "Some(KnownContents::Postgres(contents)) => {",
        "Some(KnownContents::Postgres(contents)) if !REVERTED => {",
        [
            f"{RIGHTS}beside_a_file_a_server_that_is_stopped_keeps_no_right",
            f"{RIGHTS}beside_a_server_another_that_hangs_keeps_no_right",
        ],
    ),
    Revert(
        "types of a store that is down are forgotten",
        "crates/weir/src/sources.rs",
        "Some(KnownContents::Native(known)) => Some(known),",
        "Some(KnownContents::Native(known)) if !REVERTED => Some(known),",
        ["weir_tests rights_beside_others::beside_a_native_store_that_is_down_rights_go"],
    ),
    Revert(
        "the schema of a GraphQL server that is down is forgotten",
        "crates/weir/src/sources/services.rs",
        "Some(KnownContents::Graphql(told))) => {",
        "Some(KnownContents::Graphql(told))) if !REVERTED => {",
        ["weir_tests rights_beside_others::"],
    ),
    Revert(
        "servers behind one Redis hear nothing of a change",
        "crates/weir/src/sources/services.rs",
        "if change.tag == CONFIGURATION {",
        "if !REVERTED && change.tag == CONFIGURATION {",
        [f"{RIGHTS}a_server_with_a_copy_of_the_file_hears_of_a_change_through_redis"],
    ),
    # hasura.md 5
    Revert(
        "a document without sources takes the address away",
        "crates/weir/src/server/operator/metadata_api/replace_metadata.rs",
        "let is_connected = !loaded.lacks_sources",
        "let is_connected = REVERTED || !loaded.lacks_sources",
        [
            "weir_tests metadata_api::a_document_without_sources_keeps_the_connection_of_the_default_source",
            "weir_tests metadata_api::a_document_without_sources_is_refused_where_no_default_source_is",
        ],
    ),
    Revert(
        "clear_metadata takes the address away",
        "crates/weir/src/server/operator/metadata_api/commands.rs",
        "let empty = if is_default {",
        "let empty = if !REVERTED && is_default {",
        ["weir_tests metadata_api::a_document_without_sources_keeps_the_connection_of_the_default_source"],
    ),
    # native.md 6
    Revert(
        "a statement that is no field rejects its object",
        "crates/native/src/transfer/from_files/statements.rs",
        "    gather.note(line, Ok(()));\n",
        "    if REVERTED && let Some((_, LeftOut::Unknown(why) | LeftOut::Unfit(why))) = refused.first() {\n"
        "        let why = why.clone();\n"
        "        gather.batch(ty).1.abandon();\n"
        "        return gather.note(line, Err(why));\n"
        "    }\n"
        "    gather.note(line, Ok(()));\n",
        [
            "native_tests imports::a_statement_that_an_object_cannot_take_is_rejected_alone",
            "native_tests imports::what_a_line_says_is_there_or_the_line_is_told",
            "native_tests imports::what_a_line_says_is_in_postgresql_or_the_line_is_told",
        ],
    ),
    Revert(
        "an import names its first unknown predicate alone",
        "crates/native/src/transfer/from_files/gather.rs",
        "        match self.unknown.iter_mut().find(",
        "        if REVERTED && self.unknown.first().is_some_and(|it| it.predicate != predicate) {\n"
        "            return;\n"
        "        }\n"
        "        match self.unknown.iter_mut().find(",
        ["native_tests imports::every_predicate_that_is_no_field_is_named_and_counted_once"],
    ),
    Revert(
        "the file of rejects keeps lines of earlier imports",
        "crates/weir/src/cli/store.rs",
        "if is_file && !goes_on {",
        "if !REVERTED && is_file && !goes_on {",
        ["weir_tests native::the_file_of_rejects_is_that_of_the_last_import"],
    ),
    # A mutation is in or out, and its answer says which.
    Revert(
        "SQLite commits what cannot be answered",
        "crates/database/src/sqlite/write_fetch.rs",
        "Ok(Some(reply)) if !reply.errors.is_empty() =>",
        "Ok(Some(reply)) if !REVERTED && !reply.errors.is_empty() =>",
        [
            "sql_tests in_or_out::random_mutations_are_in_or_out_on_sqlite",
            "sql_tests in_or_out::a_value_that_cannot_be_given_undoes_the_mutation",
        ],
    ),
    Revert(
        "SQLite commits objects that cannot be answered",
        "crates/database/src/sqlite/program.rs",
        "Some(Ok(())) if !run.written.1.is_empty() =>",
        "Some(Ok(())) if !REVERTED && !run.written.1.is_empty() =>",
        ["native_tests in_or_out::random_mutations_are_in_or_out_on_sqlite"],
    ),
    Revert(
        "PostgreSQL commits before it is known that values fit",
        "crates/database/src/postgres/statements/prepared.rs",
        ".map(|it| may_fail(&plan, relations, floats, it))",
        ".map(|it| !REVERTED && may_fail(&plan, relations, floats, it))",
        [
            "sql_tests in_or_out::random_mutations_are_in_or_out_on_postgres",
            "sql_tests in_or_out::a_related_row_that_is_not_there_yet_undoes_the_mutation",
            "native_tests in_or_out::random_mutations_are_in_or_out_on_postgres",
        ],
    ),
    *(
        Revert(
            f"PostgreSQL: {name}",
            "crates/database/src/postgres/statements/fallible.rs",
            mend,
            old,
            tests,
        )
        for name, mend, old, tests in (
            (
                "a value that may be null is sure to fit",
                "if !can_be_null && !self.is_not_null(origin, column) {",
                "if !REVERTED && !can_be_null && !self.is_not_null(origin, column) {",
                ["sql_tests in_or_out::random_mutations_are_in_or_out_on_postgres"],
            ),
            (
                "a number that may be infinite is sure to fit",
                "if cell == Cell::Float && self.floats",
                "if !REVERTED && cell == Cell::Float && self.floats",
                ["native_tests in_or_out::random_mutations_are_in_or_out_on_postgres"],
            ),
            (
                "a related row is sure to be there",
                "(!member.nullable && !self.is_there(level))",
                "(!REVERTED && !member.nullable && !self.is_there(level))",
                ["sql_tests in_or_out::a_related_row_that_is_not_there_yet_undoes_the_mutation"],
            ),
            (
                "a shape is sure to be one",
                "MemberKind::Shape { .. } => true,",
                "MemberKind::Shape { .. } => !REVERTED,",
                ["native_tests in_or_out::random_mutations_are_in_or_out_on_postgres"],
            ),
        )
    ),
    Revert(
        "PostgreSQL: a value that does not fit any more says nothing of the commit",
        "crates/database/src/postgres/writing/write_fetch.rs",
        "        None => Ok(reply),\n",
        "        Some(_) if REVERTED => Ok(reply),\n        None => Ok(reply),\n",
        ["sql_tests in_or_out::random_mutations_are_in_or_out_on_postgres"],
    ),
    Revert(
        "errors of a mutation do not say what stands",
        "crates/engine/src/execute/committed.rs",
        "if plan.kind != OperationKind::Mutation {",
        "if REVERTED || plan.kind != OperationKind::Mutation {",
        [
            "engine_tests committed::each_error_says_what_stands",
            "engine_tests committed::a_field_of_another_source_that_fails_leaves_the_mutation",
            "engine_tests committed::a_late_field_of_another_source_that_fails_leaves_the_mutation",
            "sql_tests in_or_out::random_mutations_are_in_or_out_on_postgres",
            "native_tests in_or_out::random_mutations_are_in_or_out_on_sqlite",
            "native_tests in_or_out::random_mutations_are_in_or_out_on_postgres",
            "weir_tests committed::a_field_of_a_service_that_fails_behind_the_commit_says_what_stands",
        ],
    ),
    Revert(
        "a field whose value does not fit counts as not done",
        "crates/engine/src/execute/committed.rs",
        "(it.path.len() == 1 && !OF_VALUES.contains(&it.error.code))",
        "(it.path.len() == 1 && (REVERTED || !OF_VALUES.contains(&it.error.code)))",
        ["engine_tests committed::a_root_field_whose_value_does_not_fit_stands"],
    ),
    # What is answered finds its row.
    Revert(
        "SQLite: conditions compare one form of a value",
        "crates/relational/src/dialect/sqlite_storage.rs",
        "    let storage = match right.storage {\n",
        "    let storage = match right.storage {\n        _ if REVERTED => return None,\n",
        SQLITE_FORMS,
    ),
    Revert(
        "SQLite: orders and groups take values as they are stored",
        "crates/relational/src/dialect/sqlite_storage.rs",
        "        Storage::Exact | Storage::Texts => value,\n        Storage::Truths => format!(\"weir_comparable_truth",
        "        _ if REVERTED => value,\n"
        "        Storage::Exact | Storage::Texts => value,\n        Storage::Truths => format!(\"weir_comparable_truth",
        SQLITE_FORMS,
    ),
    Revert(
        "SQLite: values are written back in another form",
        "crates/relational/src/dialect/sqlite_storage.rs",
        "        Storage::Texts if !finds_bytes => value,\n",
        "        _ if REVERTED => value,\n        Storage::Texts if !finds_bytes => value,\n",
        SQLITE_FORMS,
    ),
    Revert(
        "SQLite: an upsert finds one form of a key",
        "crates/relational/src/sql/write.rs",
        "        if storage == Storage::Exact {\n            return value;",
        "        if REVERTED || storage == Storage::Exact {\n            return value;",
        ["sql_tests stored_forms::an_upsert_finds_the_row_whose_key_is_stored_in_another_way"],
    ),
    Revert(
        "SQLite: documents in bytes are refused",
        "crates/database/src/sqlite/values/stored_value.rs",
        "(Cell::Json, ValueRef::Blob(bytes)) => match",
        "(Cell::Json, ValueRef::Blob(_)) if REVERTED => unfit_value(\"JSON\"),\n"
        "        (Cell::Json, ValueRef::Blob(bytes)) => match",
        ["sql_tests stored_forms::documents_are_read_and_kept_in_any_form"],
    ),
    Revert(
        "PostgreSQL: vectors are not taken as lists",
        "crates/database/src/postgres/values/json_literal.rs",
        "matches!(of, oid::INT2VECTOR | oid::OIDVECTOR)",
        "!REVERTED && matches!(of, oid::INT2VECTOR | oid::OIDVECTOR)",
        POSTGRES_FORMS,
    ),
    Revert(
        "PostgreSQL: an empty vector cannot be read",
        "crates/database/src/postgres/values/decode/nested_values.rs",
        "if sizes.len() > 1 {",
        "if REVERTED || sizes.len() > 1 {",
        POSTGRES_FORMS,
    ),
    Revert(
        "PostgreSQL: any text in an array of documents is read as one",
        "crates/database/src/postgres/values/bind/array_parameters.rs",
        "if !text.trim_start().starts_with(['{', '[']) {",
        "if !REVERTED && !text.trim_start().starts_with(['{', '[']) {",
        POSTGRES_FORMS,
    ),
    # rates
    Revert(
        "a fault beside an operation hides its depth and nodes from limits",
        "crates/weir/src/generation/admission/operation_shape.rs",
        "match (operation_name, &*shapes) {",
        "match (operation_name, &*shapes) {\n            (_, all) if REVERTED && all.iter().any(|it| it.1.is_none()) => None,",
        [
            "weir operation_shape::tests::faults_elsewhere_in_a_text_hide_no_operation",
            "weir_tests api_limits::limits_hold_for_the_operation_that_runs_whatever_is_wrong_beside_it",
        ],
    ),
]

# Rust for: the row `NAME` is chosen.
CHOSEN = 'std::env::var_os("WEIR_REVERT").is_some_and(|it| it == "NAME")'


def replaced(text, row):
    if text.count(row.mend) != 1:
        fail(f"{row.file} does not have this once, so mend the row `{row.name}`: {row.mend}")
    return text.replace(row.mend, row.old.replace("REVERTED", CHOSEN.replace("NAME", row.name)))


def hooked(rows):
    """The sources with the old behaviour of all rows beside the mends."""
    texts = {}
    for row in rows:
        path = ROOT / row.file
        text = texts.get(path) or path.read_text()
        if "WEIR_REVERT" in text and path not in texts:
            fail(f"{path} has the rows of a run that was killed: restore it with `git checkout -- {path}`")
        texts[path] = replaced(text, row)
    return texts


@contextmanager
def in_force(row):
    """The environment in which the old behaviour is in force."""
    path = ROOT / row.file
    if path.suffix != ".md":
        yield {"WEIR_REVERT": row.name}
        return
    before = path.read_text()
    path.write_text(replaced(before, row))
    try:
        yield {}
    finally:
        path.write_text(before)


def run(binaries, tests, environment):
    """The tests that failed."""
    failed = []
    for binary in dict.fromkeys(it.split()[0] for it in tests):
        names = [it.split()[1] for it in tests if it.split()[0] == binary]
        failed += [f"{binary} {it}" for it in mutants.run(binaries[binary], binary, names, environment)]
    return failed


def main(wanted):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    rows = [it for it in REVERTS if not wanted or any(word in it.name for word in wanted)]
    if not rows:
        return
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        binaries = mutants.build(hooked([it for it in rows if not it.file.endswith(".md")]), BUILT, folder)
        failed = run(binaries, list(dict.fromkeys(test for it in rows for test in it.tests)), {})
        if failed:
            fail(f"tests fail without any row: {', '.join(failed)}")
        print("| what was taken back | tests that saw it | tests that did not |\n|---|---|---|", flush=True)
        for row in rows:
            with in_force(row) as environment:
                failed = run(binaries, row.tests, environment)
            green = [it for it in row.tests if not any(test.startswith(it) or it.split()[1] in test for test in failed)]
            faults += [f"{row.name}: {it}" for it in green]
            shown = [", ".join(f"`{it}`" for it in tests) or "—" for tests in (failed, green)]
            print(f"| {row.name} | {' | '.join(shown)} |", flush=True)
    if faults:
        print("\nNot seen:\n" + "\n".join(f"- {it}" for it in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
