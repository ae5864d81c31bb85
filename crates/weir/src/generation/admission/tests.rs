//! Admission by a simulated clock: rates of weir.yaml together, limits of the metadata, reloads.

use super::*;
use crate::config::document::load;
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_engine::memory::Memory;
use weir_engine::source::Caller;
use weir_language::schema::Schema;
use weir_metadata::read;

/// Limits, with an engine for callers.
struct AdmissionGate {
    admission: Admission,
    operations: SavedOperations,
    engine: Engine,
    clock: Clock,
}

/// The limits of these settings and this metadata.
fn gate(yaml: &str, metadata: &str) -> AdmissionGate {
    let mut config = load::text(yaml, Path::new("weir.yaml"), HashMap::new(), |_| {}).expect("it is valid");
    let loaded = read::text(metadata, Path::new("metadata.yaml")).expect("it is valid");
    config.described = Some(Arc::new(crate::config::Described { loaded, ..Default::default() }));
    let schema = Schema::from_sdl("type Query { a: Int }").unwrap_or_else(|errors| panic!("{errors:?}"));
    let graph = Graph::compose(vec![Arc::new(Memory::new("main", Arc::new(schema)))], &[]);
    let engine = Engine::new(graph.expect("one source composes"), Settings::STANDARD);
    let (operations, _) = SavedOperations::new(&config, None).expect("they are valid");
    let clock = Clock::new_simulated();
    let (admission, misfits) = Admission::new(&config, &operations, clock.clone()).expect("they are valid");
    assert!(misfits.is_empty(), "{misfits:?}");
    AdmissionGate { admission, operations, engine, clock }
}

const METADATA: &str = "version: 3\nsources: []\n";

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("one starts");
    runtime.block_on(future)
}

/// Who asks what.
#[derive(Clone, Copy)]
struct Ask<'a> {
    role: &'a str,
    user: Option<&'a str>,
    address: &'a str,
    text: &'a str,
    is_proven: bool,
}

const ASK: Ask<'_> =
    Ask { role: "user", user: Some("1"), address: "10.0.0.1", text: "{ a }", is_proven: true };

impl AdmissionGate {
    fn caller(&self, ask: Ask<'_>) -> Caller {
        let variables = ask.user.map(|it| ("x-hasura-user-id".to_owned(), it.to_owned()));
        let claims = Claims::new(variables, Token::Absent).into();
        let identity = Identity { role: ask.role.into(), is_backend: false, is_anonymous: false, claims };
        self.engine.caller(&identity)
    }

    /// Name and seconds of the refusal, and for each rate what is left.
    fn count(&self, ask: Ask<'_>) -> (Option<(String, u64)>, Vec<u32>) {
        let caller = self.caller(ask);
        let address: IpAddr = ask.address.parse().expect("it is an address");
        let Ask { text, is_proven, .. } = ask;
        let asker = Asker { caller: &caller, address, is_proven, text, operation_name: None };
        let mut states = Vec::new();
        let counted = run(self.admission.count(&asker, &self.operations.known, &mut states));
        let refusal = counted.err().map(|it| (it.name.to_string(), it.wait_s));
        (refusal, states.iter().map(|it| it.remaining).collect())
    }

    /// True for each that is admitted.
    fn admits<const N: usize>(&self, asks: [Ask<'_>; N]) -> [bool; N] {
        asks.map(|it| self.count(it).0.is_none())
    }
}

fn rates(rates: &str) -> AdmissionGate {
    gate(&format!("limits: {{rates: [{rates}]}}"), METADATA)
}

#[test]
fn without_limits_nothing_is_counted() {
    let gate = gate("{}", METADATA);
    assert!(gate.admission.is_idle());
    assert!(!rates("{name: a, requests: 1, window_s: 60}").admission.is_idle());
}

#[test]
fn a_rate_counts_callers_apart_by_what_was_proven() {
    let gate = rates("{name: a, requests: 1, window_s: 60, by: [\"claim:X-Hasura-User-Id\"]}");
    let other_user = Ask { user: Some("2"), ..ASK };
    let other_role = Ask { role: "staff", ..ASK };
    let other_address = Ask { address: "10.0.0.2", ..ASK };
    let admin = Ask { role: "admin", ..ASK };
    // A user has one bucket, whatever the role and from wherever.
    assert_eq!(
        gate.admits([ASK, other_user, other_role, other_address, admin, admin]),
        [true, true, false, false, true, true]
    );
    // Without the claim the address stands for it.
    let nobody = Ask { user: None, ..ASK };
    assert_eq!(gate.admits([nobody, nobody, Ask { address: "10.0.0.3", ..nobody }]), [true, false, true]);
    // So it does for claims that nobody checked.
    let claiming = Ask { is_proven: false, address: "10.0.0.4", ..ASK };
    assert_eq!(gate.admits([claiming, Ask { user: Some("9"), ..claiming }]), [true, false]);
    gate.clock.advance_ms(59_999);
    assert_eq!(gate.count(ASK), (Some(("a".to_owned(), 1)), vec![0]));
    gate.clock.advance_ms(1);
    assert_eq!(gate.count(ASK), (None, vec![0]));
}

#[test]
fn networks_of_one_customer_are_one_address() {
    let gate = rates("{name: a, requests: 1, window_s: 60, by: [address]}");
    let from = |address| Ask { address, ..ASK };
    assert_eq!(
        gate.admits([
            from("2001:db8::1"),
            from("2001:db8::2"),
            from("2001:db8:0:1::1"),
            from("::ffff:10.0.0.1"),
            ASK
        ]),
        [true, false, true, true, false]
    );
}

#[test]
fn a_request_is_counted_by_all_rates_or_by_none() {
    let gate = rates(
        "{name: wide, requests: 3, window_s: 60}, {name: narrow, requests: 1, window_s: 60, by: [address]}",
    );
    assert_eq!(gate.count(ASK), (None, vec![2, 0]));
    for _ in 0..5 {
        assert_eq!(gate.count(ASK), (Some(("narrow".to_owned(), 60)), vec![2, 0]));
    }
    let from = |address| Ask { address, ..ASK };
    assert_eq!(gate.admits([from("10.0.0.2"), from("10.0.0.3"), from("10.0.0.4")]), [true, true, false]);
    assert_eq!(gate.count(from("10.0.0.5")).0, Some(("wide".to_owned(), 20)));
}

#[test]
fn a_rate_of_roles_holds_for_them_alone() {
    let gate = rates("{name: a, requests: 1, window_s: 60, roles: [user, admin]}");
    let role = |role| Ask { role, ..ASK };
    assert_eq!(gate.count(role("staff")), (None, vec![]));
    // They share the bucket, as it is not counted by role.
    assert_eq!(gate.admits([ASK, role("admin")]), [true, false]);
    let gate = rates("{name: a, requests: 1, window_s: 60, by: [role]}");
    assert_eq!(gate.admits([ASK, role("staff"), ASK, role("staff")]), [true, true, false, false]);
}

/// Settings with two known documents and `rates`.
fn by_documents(rates: &str) -> AdmissionGate {
    let collections = "operations: {collections: [{name: c, definition: {queries: [\
        {name: One, query: \"query One { a }\"}, {name: Two, query: \"query Two { a }\"}]}}]}";
    gate(&format!("{collections}\nlimits: {{rates: [{rates}]}}"), METADATA)
}

#[test]
fn only_known_documents_are_counted_apart() {
    let asking = |text| Ask { text, ..ASK };
    let gate = by_documents("{name: a, requests: 1, window_s: 60, by: [operation]}");
    let one = asking("query One { a }");
    let two = asking("query Two { a }");
    let one_again = asking("query One { a, } # once more");
    assert_eq!(gate.admits([one, two, one_again, two]), [true, true, false, false]);
    // Names and aliases of one's own choice make no new bucket.
    let made_up = ["query One { b: a }", "query Three { a }", "{ c: a }", "{"];
    assert_eq!(gate.admits(made_up.map(asking)), [true, false, false, false]);
    let gate = by_documents("{name: a, requests: 1, window_s: 60, operations: [One]}");
    assert_eq!(gate.admits([one, one_again, two, two]), [true, false, true, true]);
    let hash = weir_transport::document_id::text_hash("query Two { a }");
    let gate =
        by_documents(&format!("{{name: a, requests: 1, window_s: 60, operations: [\"sha256:{hash}\"]}}"));
    assert_eq!(gate.admits([two, two, one, one]), [true, false, true, true]);
}

#[test]
fn a_reload_frees_nobody() {
    let yaml = "{name: a, requests: 2, window_s: 60}";
    let before = rates(yaml);
    assert_eq!(before.admits([ASK, ASK, ASK]), [true, true, false]);
    let mut after = rates(yaml);
    after.admission.keep_counts_of(&before.admission);
    assert_eq!(after.admits([ASK]), [false]);
    before.clock.advance_ms(30_000);
    assert_eq!(after.admits([ASK, ASK]), [true, false]);
    assert_eq!(after.admission.counts(), AdmissionCounts { keys: 1, crowded: 0, local: 0 });
}

#[test]
fn a_raised_rate_holds_for_callers_that_the_lower_one_refuses() {
    let before = rates("{name: a, requests: 1, window_s: 86400}, {name: b, requests: 9, window_s: 1}");
    assert_eq!(before.admits([ASK, ASK]), [true, false]);
    let after_of = |before: &AdmissionGate| {
        let mut after = rates("{name: a, requests: 60, window_s: 60}");
        after.admission.keep_counts_of(&before.admission);
        after
    };
    // A draft that is never in force lets nobody in.
    drop(after_of(&before));
    before.clock.advance_ms(2000);
    assert_eq!(before.admits([ASK]), [false]);
    let after = after_of(&before);
    after.admission.adjust_counts();
    assert_eq!(after.count(ASK), (Some(("a".to_owned(), 1)), vec![0]));
    before.clock.advance_ms(1000);
    assert_eq!(after.admits([ASK, ASK]), [true, false]);
}

/// Lets 2,000 users of the role `flood` ask.
fn flood(gate: &AdmissionGate) {
    for number in 0..2000 {
        let user = number.to_string();
        gate.count(Ask { role: "flood", user: Some(&user), ..ASK });
    }
    assert!(gate.admission.counts().crowded > 1000);
}

#[test]
fn a_flood_under_one_rate_closes_no_other() {
    let gate = gate(
        "limits: {rate_keys_max: 32, rates: [\
            {name: long, requests: 1, window_s: 86400, roles: [flood], by: [\"claim:x-hasura-user-id\"]}, \
            {name: short, requests: 2, window_s: 1, roles: [user], by: [\"claim:x-hasura-user-id\"]}]}",
        METADATA,
    );
    flood(&gate);
    assert_eq!(gate.admits([ASK, ASK, ASK]), [true, true, false]);
    assert_eq!(gate.count(Ask { user: Some("2"), ..ASK }), (None, vec![1]));
}

#[test]
fn a_flood_of_one_role_closes_no_other_of_hasura() {
    let gate = gate(
        "limits: {rate_keys_max: 64}",
        &format!(
            "{METADATA}api_limits: {{rate_limit: {{global: {{max_reqs_per_min: 1}}, per_role: {{\
                flood: {{max_reqs_per_min: 1000, unique_params: [x-hasura-user-id]}}, staff: {{max_reqs_per_min: 2}}}}}}}}\n"
        ),
    );
    flood(&gate);
    let staff = Ask { role: "staff", ..ASK };
    assert_eq!(gate.admits([ASK, ASK, staff, staff, staff]), [true, false, true, true, false]);
}

/// The limits of `api_limits`.
fn api(limits: &str) -> AdmissionGate {
    gate("{}", &format!("{METADATA}api_limits: {{{limits}}}\n"))
}

#[test]
fn a_minute_of_hasura_slides_by_role_and_parameters() {
    let gate = api(
        "rate_limit: {global: {max_reqs_per_min: 1}, per_role: {staff: {max_reqs_per_min: 2, unique_params: [X-Hasura-User-Id]}, \
        guest: {max_reqs_per_min: 1, unique_params: ip}}}",
    );
    let other_user = Ask { user: Some("2"), ..ASK };
    assert_eq!(gate.admits([ASK, other_user, Ask { role: "other", ..ASK }]), [true, false, true]);
    let staff = Ask { role: "staff", ..ASK };
    assert_eq!(
        gate.admits([staff, staff, staff, Ask { role: "staff", ..other_user }]),
        [true, true, false, true]
    );
    let guest = Ask { role: "guest", ..ASK };
    assert_eq!(
        gate.admits([guest, Ask { user: Some("3"), ..guest }, Ask { address: "10.0.0.2", ..guest }]),
        [true, false, true]
    );
    let admin = Ask { role: "admin", ..ASK };
    assert_eq!(gate.admits([admin, admin, admin]), [true; 3]);
    gate.clock.advance_ms(60_999);
    assert_eq!(gate.count(ASK), (Some(("api_limits".to_owned(), 1)), vec![0]));
    gate.clock.advance_ms(1);
    assert_eq!(gate.admits([ASK, ASK]), [true, false]);
}

#[test]
fn limits_of_a_role_stand_in_place_of_the_global_one() {
    let gate = api(
        "depth_limit: {global: 1, per_role: {staff: 2}}, node_limit: {global: 9, per_role: {staff: 2}}, \
        batch_limit: {global: 3}, time_limit: {global: 4, per_role: {staff: 60}}",
    );
    let check = |role: &str, text: &str| {
        let caller = gate.caller(Ask { role, ..ASK });
        let address = IpAddr::from([10, 0, 0, 1]);
        let asker = Asker { caller: &caller, address, is_proven: true, text, operation_name: None };
        gate.admission.check_shape(&asker)
    };
    let deep = "{ a { b { c } } }";
    assert_eq!(check("user", deep), Err(ShapeRefusal::Depth(2, 1)));
    assert_eq!(check("user", "{ a { c } b { c } }"), Ok(()));
    assert_eq!(check("staff", deep), Ok(()));
    assert_eq!(check("staff", "{ a { c } b { c } d { c } }"), Err(ShapeRefusal::Nodes(3, 2)));
    assert_eq!(check("admin", deep), Ok(()));
    let of = |role: &str| {
        (gate.admission.batch_max(role), gate.admission.duration_max(role).map(|it| it.as_secs()))
    };
    assert_eq!(
        [of("user"), of("staff"), of("admin")],
        [(Some(3), Some(4)), (Some(3), Some(60)), (None, None)]
    );
}

#[test]
fn disabled_limits_do_not_hold() {
    for limits in
        ["disabled: true, depth_limit: {global: 1}, rate_limit: {global: {max_reqs_per_min: 0}}", ""]
    {
        assert!(api(limits).admission.is_idle(), "{limits}");
    }
    assert_eq!(api("rate_limit: {global: {max_reqs_per_min: 0}}").admits([ASK]), [false]);
}
