//! The session inside PostgreSQL: `hasura.user` in triggers, functions and policies, and nobody else's.

use crate::answer_kit;
use crate::cluster_kit::shared;
use crate::hasura_kit::{Served, engine_settings, serve_with};
use crate::postgres_faults::{TRANSACTIONS, behind_a_pooler_of};
use crate::postgres_kit::database;
use crate::postgres_kit::hand::soon;
use crate::postgres_kit::release::on_each_release;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{LiveQueries, LiveSettings};
use weir_engine::source::Source;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::{CallerSettings, RowSecurity, Settings};

/// Tables whose triggers note who wrote, before and after, at once and at the commit.
const AUDITED: &str = r#"
CREATE TABLE thing (id int4 PRIMARY KEY, name text, by text DEFAULT current_setting('hasura.user', true));
CREATE TABLE part (id int4 PRIMARY KEY, thing_id int4 NOT NULL REFERENCES thing);
CREATE TABLE audit (number serial PRIMARY KEY, at text, id int4, session json, trace json);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO audit (at, id, session, trace) VALUES (TG_NAME, NEW.id, nullif(current_setting('hasura.user', 't'), '')::json,
        nullif(current_setting('hasura.tracecontext', 't'), '')::json);
    RETURN NEW;
END $$;
CREATE TRIGGER early BEFORE INSERT OR UPDATE ON thing FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER late AFTER INSERT OR UPDATE ON thing FOR EACH ROW EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER last AFTER INSERT OR UPDATE ON thing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER part AFTER INSERT ON part FOR EACH ROW EXECUTE FUNCTION note();
CREATE FUNCTION rename_thing(given int4) RETURNS SETOF thing LANGUAGE sql AS
    $$ UPDATE thing SET name = current_setting('hasura.user')::json ->> 'x-hasura-user-id' WHERE id = given RETURNING * $$;
CREATE VIEW who AS SELECT i AS id, nullif(current_setting('hasura.user', true), '') AS session FROM generate_series(1, 3) AS i;
"#;

const PERMISSIONS: &str = r#"[
    {"table": "audit"},
    {"table": "thing", "array_relationships": [{"name": "parts", "using": {"foreign_key_constraint_on": {"table": "part", "column": "thing_id"}}}],
     "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}],
     "insert_permissions": [{"role": "user", "permission": {"columns": "*", "check": {}}}],
     "update_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}, "check": {}}}]},
    {"table": "part", "insert_permissions": [{"role": "user", "permission": {"columns": "*", "check": {}}}],
     "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}]},
    {"table": "who", "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}]}]"#;

/// A user of the role `user`.
fn user(id: usize) -> Identity {
    let variables =
        [("X-Hasura-User-Id".to_owned(), id.to_string()), ("x-hasura-role".to_owned(), "user".to_owned())];
    let claims = Claims::new(variables, Token::Absent).into();
    Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims }
}

/// The session variables of a user, as the database has them.
fn session(id: usize) -> Value {
    json!({"x-hasura-role": "user", "x-hasura-user-id": id.to_string()})
}

async fn ask(engine: &Engine, identity: &Identity, query: &str) -> Value {
    serde_json::from_str(&answer_kit::ask(engine, identity, query).await).expect("it is JSON")
}

/// The audited tables, served to the role `user`, with these settings.
async fn audited(tune: impl FnOnce(&mut Settings)) -> Served {
    let database = database(AUDITED);
    let mut settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    tune(&mut settings);
    let source = open_permitted(settings).await;
    let graph = Graph::compose(vec![Arc::clone(&source) as Arc<dyn Source>], &[]).unwrap();
    Served { engine: Engine::new(graph, engine_settings(256 << 10)), source, database }
}

async fn open_permitted(settings: Settings) -> Arc<weir_database::postgres::PostgresSource> {
    let tables: Vec<_> = serde_json::from_str(PERMISSIONS).unwrap();
    let functions: Vec<_> = serde_json::from_str(
        r#"[{"function": "rename_thing", "configuration": {"exposed_as": "mutation"}, "permissions": [{"role": "user"}]}]"#,
    )
    .unwrap();
    let model = ModelOptions { tables: &tables, functions: &functions, ..ModelOptions::default() };
    let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    Arc::new(opened.unwrap().0)
}

/// The sessions that the triggers saw, by row and trigger.
fn noted(served: &Served) -> String {
    served.database.run(
        "SELECT id, at, session->>'x-hasura-user-id', session->>'x-hasura-role' FROM audit ORDER BY number",
    )
}

fn insert(id: usize) -> String {
    format!("mutation {{ insert_thing_one(object: {{id: {id}}}) {{ id by }} }}")
}

on_each_release! { async
    every_trigger_of_a_mutation_sees_the_caller,
    a_shared_commit_tells_each_mutation_its_own_caller,
    what_is_written_by_others_has_no_session,
    reads_have_the_session_where_the_source_says_so,
    no_caller_sees_the_session_of_another,
    a_live_query_is_not_shared_by_two_sessions,
    row_level_security_decides_by_role_and_claims,
}

async fn every_trigger_of_a_mutation_sees_the_caller() {
    let served = audited(|_| {}).await;
    let engine = &served.engine;
    let answer = ask(engine, &user(7), &insert(1)).await;
    let by = answer["data"]["insert_thing_one"]["by"].as_str().expect("the default reads it").to_owned();
    assert_eq!(serde_json::from_str::<Value>(&by).unwrap(), session(7));
    assert_eq!(noted(&served), "1|early|7|user\n1|late|7|user\n1|last|7|user\n");
    // Several statements go over a connection of their own.
    let both = "mutation { update_thing_by_pk(pk_columns: {id: 1}, _set: {name: \"a\"}) { id }
        insert_thing_one(object: {id: 2, parts: {data: {id: 3}}}) { id parts { id } } }";
    ask(engine, &user(8), both).await;
    served.database.run("DELETE FROM audit WHERE session->>'x-hasura-user-id' = '7'");
    assert_eq!(noted(&served).lines().filter(|it| it.ends_with("|8|user")).count(), 7);
    assert_eq!(noted(&served).lines().count(), 7);
    let renamed = ask(engine, &user(9), "mutation { rename_thing(args: {given: 1}) { name } }").await;
    assert_eq!(renamed, json!({"data": {"rename_thing": [{"name": "9"}]}}));
    ask(engine, &Identity::admin(), &insert(4)).await;
    let admins = served.database.run("SELECT DISTINCT session::text FROM audit WHERE id = 4");
    assert_eq!(admins, "{\"x-hasura-role\":\"admin\"}\n");
}

async fn a_shared_commit_tells_each_mutation_its_own_caller() {
    let served = audited(|settings| {
        settings.batch_mutations = true;
        settings.limits.wait_max = Duration::from_secs(50);
        settings.limits.group_lock_timeout = Duration::from_secs(50);
        settings.limits.group_statement_timeout = Duration::from_secs(50);
    })
    .await;
    let users: Vec<Identity> = (0..40).map(user).collect();
    let queries: Vec<String> = (0..40).map(insert).collect();
    let all = join_all(users.iter().zip(&queries).map(|(user, query)| ask(&served.engine, user, query)));
    tokio::task::unconstrained(all).await;
    let mixed = "SELECT count(*), count(*) FILTER (WHERE id::text = session->>'x-hasura-user-id') FROM audit";
    assert_eq!(served.database.run(mixed), "120|120\n");
    assert_eq!(served.database.run("SELECT count(DISTINCT xmin::text) FROM thing"), "1\n");
    // One that fails takes no settings along.
    let engine = &served.engine;
    let all = join_all(
        users[..3]
            .iter()
            .zip([insert(50), insert(1), insert(51)])
            .map(|(user, query)| async move { ask(engine, user, &query).await }),
    );
    tokio::task::unconstrained(all).await;
    let kept =
        "SELECT id, session->>'x-hasura-user-id' FROM audit WHERE id >= 50 AND at = 'last' ORDER BY id";
    assert_eq!(served.database.run(kept), "50|0\n51|2\n");
}

async fn what_is_written_by_others_has_no_session() {
    let served = audited(|settings| settings.limits.sessions_max = 1).await;
    ask(&served.engine, &user(7), &insert(1)).await;
    served.database.run("INSERT INTO thing VALUES (2)");
    let noted = noted(&served);
    assert!(noted.ends_with("2|early||\n2|late||\n2|last||\n"), "{noted}");
    // The connection that a mutation used knows nothing any more.
    let read = ask(&served.engine, &user(7), "{ who(limit: 1, order_by: {id: asc}) { session } }").await;
    assert_eq!(read, json!({"data": {"who": [{"session": null}]}}));
}

async fn reads_have_the_session_where_the_source_says_so() {
    let served = audited(|settings| settings.caller.in_reads = true).await;
    let expected = |id: usize, rows: usize| {
        let row = json!({"session": session(id)});
        json!(vec![row; rows])
    };
    let sessions = |answer: &Value, field: &str| -> Value {
        let rows = answer["data"][field].as_array().unwrap_or_else(|| panic!("{answer}"));
        let row = |it: &Value| json!({"session": serde_json::from_str::<Value>(it["session"].as_str().unwrap()).unwrap()});
        rows.iter().map(row).collect()
    };
    for (id, query, rows) in [
        (7, "{ who(limit: 1) { session } }", 1),
        (8, "{ who { session } }", 3),
        (7, "{ who { session } }", 3),
    ] {
        let answer = ask(&served.engine, &user(id), query).await;
        assert_eq!(sessions(&answer, "who"), expected(id, rows), "{query}");
    }
    // Long lists come through portals, which have the session of their transaction.
    ask(&served.engine, &user(7), &insert(1)).await;
    let answer = ask(&served.engine, &user(8), "{ who { session } thing { id parts { id } } }").await;
    assert_eq!(sessions(&answer, "who"), expected(8, 3));
    assert_eq!(answer["data"]["thing"], json!([{"id": 1, "parts": []}]));
}

/// Asks as many users at once, each in turn with reads and writes: all that a user gets is his own.
async fn interleave(engine: &Engine) {
    const USERS: usize = 12;
    let one = |id: usize| async move {
        let identity = user(id);
        for turn in 0..8 {
            let query = match (id + turn) % 3 {
                0 => "{ who { session } }".to_owned(),
                1 => "{ a: who(limit: 1) { session } b: who(where: {id: {_eq: 2}}) { session } }".to_owned(),
                _ => format!("mutation {{ insert_thing_one(object: {{id: {}}}) {{ by }} }}", id * 100 + turn),
            };
            let answer = ask(engine, &identity, &query).await;
            let text = answer.to_string();
            assert!(answer.get("errors").is_none(), "{text}");
            let own = format!("x-hasura-user-id\\\":\\\"{id}\\\"");
            assert_eq!(
                text.matches("x-hasura-user-id").count(),
                text.matches(own.as_str()).count(),
                "{text}"
            );
            assert!(text.contains(&own), "{text}");
        }
    };
    join_all((0..USERS).map(one)).await;
}

/// Mutations of many users, between which reads that set nothing find nothing on the connections that all share.
async fn leave_nothing(engine: &Engine) {
    let one = |id: usize| async move {
        for turn in 0..4 {
            let query =
                format!("mutation {{ insert_thing_one(object: {{id: {}}}) {{ id }} }}", id * 100 + turn);
            let written = ask(engine, &user(id), &query).await;
            assert!(written.get("errors").is_none(), "{written}");
            let read = ask(engine, &user(id), "{ who { session } }").await;
            assert_eq!(read["data"]["who"][0], json!({"session": null}), "{read}");
        }
    };
    join_all((20..28).map(one)).await;
}

async fn no_caller_sees_the_session_of_another() {
    let served = audited(|settings| {
        settings.caller.in_reads = true;
        settings.limits.sessions_max = 3;
        settings.limits.wait_max = Duration::from_secs(50);
    })
    .await;
    interleave(&served.engine).await;
    let others =
        "SELECT count(*) FROM audit WHERE (id / 100)::text IS DISTINCT FROM session->>'x-hasura-user-id'";
    assert_eq!(served.database.run(others), "0\n");
}

#[tokio::test]
async fn behind_a_pooler_of_transactions_no_caller_sees_the_session_of_another() {
    let cluster = shared();
    cluster.sql("CREATE DATABASE sessions");
    cluster.sql_in("sessions", AUDITED);
    behind_a_pooler_of(cluster, TRANSACTIONS, async |port| {
        let mut settings = cluster.settings("postgres", &format!("port={port}"));
        settings.database = "sessions".into();
        settings.caller.in_reads = true;
        settings.limits.wait_max = Duration::from_secs(50);
        let plain = Settings {
            caller: CallerSettings { in_reads: false, ..settings.caller.clone() },
            ..settings.clone()
        };
        let source = open_permitted(settings).await;
        let graph = Graph::compose(vec![source as Arc<dyn Source>], &[]).unwrap();
        interleave(&Engine::new(graph, engine_settings(256 << 10))).await;
        let source = open_permitted(plain).await;
        let graph = Graph::compose(vec![source as Arc<dyn Source>], &[]).unwrap();
        leave_nothing(&Engine::new(graph, engine_settings(256 << 10))).await;
    })
    .await;
    let others =
        "SELECT count(*) FROM audit WHERE (id / 100)::text IS DISTINCT FROM session->>'x-hasura-user-id'";
    assert_eq!(cluster.sql_in("sessions", others).trim(), "0");
}

/// Live queries of two sessions, and of one session twice: the operations that are read for them, and the first result of each.
async fn subscribe_to_who(engine: &Engine) -> (usize, Vec<String>) {
    let live = LiveQueries::of(engine, LiveSettings::STANDARD);
    let mut results = Vec::new();
    let mut running = Vec::new();
    for id in [1, 2, 2] {
        let caller = engine.caller(&user(id));
        let request = Request::new("subscription { who(limit: 1) { session } }", soon());
        let bound = engine.bind(request, &caller).await.unwrap_or_else(|it| panic!("{:?}", it.body));
        let mut subscription = live.subscribe(bound).expect("it begins");
        let result = subscription.next().await.expect("it is read");
        results.push(String::from_utf8(result.body.to_vec()).expect("it is text"));
        running.push(subscription);
    }
    (live.state().operations, results)
}

async fn a_live_query_is_not_shared_by_two_sessions() {
    let served = audited(|settings| settings.caller.in_reads = true).await;
    let (operations, results) = subscribe_to_who(&served.engine).await;
    assert_eq!(operations, 2);
    for (result, id) in results.iter().zip([1, 2, 2]) {
        let own = format!("x-hasura-user-id\\\":\\\"{id}\\\"");
        assert!(result.contains(&own), "{result}");
    }
    // Without a session in reads they are one.
    let served = audited(|_| {}).await;
    let (operations, results) = subscribe_to_who(&served.engine).await;
    assert_eq!(operations, 1, "{results:?}");
}

/// Notes that their owners see, by the claim `sub`; what a stranger may read is `shown`.
const SECURED: &str = r#"
DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'clerk of "notes"') THEN
        CREATE ROLE "clerk of ""notes""" NOLOGIN; CREATE ROLE stranger NOLOGIN; CREATE ROLE idle NOLOGIN;
    END IF;
END $$;
CREATE TABLE note (id int4 PRIMARY KEY, owner text NOT NULL DEFAULT current_setting('request.jwt.claims', true)::json ->> 'sub',
    text text, secret text DEFAULT 's', shown bool NOT NULL DEFAULT false);
CREATE TABLE hidden (id int4 PRIMARY KEY);
INSERT INTO note VALUES (1, 'ada', 'one', 's', false), (2, 'bob', 'two', 's', true), (3, 'ada', 'three', 's', false);
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON note TO "clerk of ""notes""" USING (owner = (SELECT current_setting('request.jwt.claims', true)::json ->> 'sub'));
CREATE POLICY shown ON note FOR SELECT TO stranger
    USING (shown AND current_setting('request.headers', true)::json ->> 'x-door' = 'open');
GRANT SELECT, INSERT (id, text), UPDATE (text), DELETE ON note TO "clerk of ""notes""";
GRANT SELECT (id, text) ON note TO stranger;
"#;

fn bearer(claims: &[(&str, &str)]) -> Identity {
    let token = Token::of(claims.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
    let variables = [("x-hasura-role".to_owned(), "user".to_owned())];
    Identity {
        role: "user".into(),
        is_backend: false,
        is_anonymous: false,
        claims: Claims::new(variables, token).into(),
    }
}

async fn row_level_security_decides_by_role_and_claims() {
    let served = serve_with(database(SECURED), &["public"], |settings| {
        settings.caller = CallerSettings {
            row_security: Some(RowSecurity {
                role_claim: "role".into(),
                anonymous_role: Some("stranger".into()),
                headers: ["x-door".into()].into(),
            }),
            ..CallerSettings::default()
        };
    })
    .await;
    let engine = &served.engine;
    let clerk = r#""clerk of \"notes\"""#;
    let [ada, bob] = ["\"ada\"", "\"bob\""].map(|sub| bearer(&[("role", clerk), ("sub", sub)]));
    let all = "{ note(order_by: {id: asc}) { id secret } }";
    let shown = |rows: Value| json!({"data": {"note": rows}});
    let rows = ask(engine, &ada, all).await;
    assert_eq!(rows, shown(json!([{"id": 1, "secret": "s"}, {"id": 3, "secret": "s"}])));
    assert_eq!(ask(engine, &bob, all).await, shown(json!([{"id": 2, "secret": "s"}])));
    // Rows of others cannot be changed, new ones are the caller's own.
    let change = r#"mutation { update_note(where: {}, _set: {text: "new"}) { affected_rows } insert_note_one(object: {id: 9, text: "nine"}) { owner } }"#;
    let changed = ask(engine, &bob, change).await;
    assert_eq!(
        changed,
        json!({"data": {"update_note": {"affected_rows": 1}, "insert_note_one": {"owner": "bob"}}})
    );
    // Tables and columns that are not granted do not exist.
    for (identity, query, name) in [
        (&ada, "{ hidden { id } }", "hidden"),
        (&ada, "mutation { update_note(where: {}, _set: {secret: \"x\"}) { affected_rows } }", "secret"),
        (&bearer(&[("sub", "\"ada\"")]), "{ note { secret } }", "secret"),
        (&bearer(&[("sub", "\"ada\"")]), "mutation { delete_note(where: {}) { affected_rows } }", "mutation"),
        (&bearer(&[("role", "\"idle\"")]), "{ note { id } }", "note"),
        (&bearer(&[("role", "\"postgres\"")]), "{ note { id } }", "note"),
        (&bearer(&[("role", "\"nobody; DROP TABLE note\"")]), "{ note { id } }", "note"),
    ] {
        let answer = ask(engine, identity, query).await.to_string();
        assert!(answer.contains("errors") && answer.contains(name), "{query}: {answer}");
    }
    // A caller without a credential, and a token without the claim, have the anonymous role.
    let stranger = Identity { is_anonymous: true, ..user(1) };
    assert_eq!(ask(engine, &stranger, "{ note { id } }").await, shown(json!([])));
    assert_eq!(
        ask(engine, &Identity::admin(), "{ note_aggregate { aggregate { count } } }").await["data"]["note_aggregate"]
            ["aggregate"]["count"],
        4
    );
    assert_eq!(
        served.database.run("SELECT string_agg(DISTINCT text, ',' ORDER BY text) FROM note"),
        "new,nine,one,three\n"
    );
    read_at_once(engine, ada, bob, stranger).await;
}

/// Callers at once, on connections that are used again by the admin and by others.
async fn read_at_once(engine: &Engine, ada: Identity, bob: Identity, stranger: Identity) {
    let read = |identity: Identity, expected: usize| async move {
        for _ in 0..6 {
            let rows = ask(engine, &identity, "{ note { id } }").await;
            assert_eq!(rows["data"]["note"].as_array().map(Vec::len), Some(expected), "{rows}");
        }
    };
    join_all([read(ada, 2), read(bob, 2), read(Identity::admin(), 4), read(stranger, 0)]).await;
}

/// A setting that somebody reads and nobody sets is told when the source is opened.
#[tokio::test]
async fn readers_of_settings_that_are_not_set_are_told() {
    let sql = "CREATE TABLE t (id int4 PRIMARY KEY);
        CREATE FUNCTION mine(t) RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting('hasura.user')::json ->> 'x-hasura-user-id' $$;
        CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE v json := current_setting('hasura.user', 't'); BEGIN RETURN NEW; END $$;
        CREATE POLICY own ON t USING (current_setting('request.jwt.claims', true)::json ->> 'sub' = 'a');";
    let database = database(sql);
    let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    let options =
        PostgresOptions { model: ModelOptions::default(), schemas: &["public".into()], stringify: false };
    let (_, warnings) = open_postgres("main", settings, options, Duration::from_secs(60)).await.unwrap();
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "`public.mine`: the function reads the setting `hasura.user`, which mutations alone set: set `postgres.session_in_reads: true`",
            "`public.t.own`: the policy reads the setting `request.jwt.claims`, which is not set: configure `postgres.row_level_security`",
            "`public.audit`: the trigger function takes `current_setting('hasura.user', …)` for JSON without `nullif(…, '')`: where another \
             program writes over a connection that had a session, the setting is an empty text, which is none",
        ]
    );
}
