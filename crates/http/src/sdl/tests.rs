//! What is read, and what is refused with its place.

use super::{Connector, Mapping, Place, read};

const CRICKET: &str = include_str!("../../tests/schemas/cricket.graphql");

#[track_caller]
fn mapping(text: &str) -> Mapping {
    read(text, "services.graphql").unwrap_or_else(|mistakes| {
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        panic!("{}", mistakes.join("\n"))
    })
}

fn connector<'m>(mapping: &'m Mapping, ty: &str, field: &str) -> &'m Connector {
    let ty = mapping.schema.type_by_name(ty).expect("the type");
    let id = match field {
        "" => mapping.of_type(ty),
        field => mapping.of_field(mapping.schema.field_by_name(ty, field).expect("the field")),
    };
    mapping.connector(id.expect("a connector"))
}

#[test]
fn the_match_centre_is_read_whole() {
    let mapping = mapping(CRICKET);
    let names: Vec<&str> = mapping.services.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["matches", "contests", "users"]);
    let matches = &mapping.services[0];
    assert_eq!(matches.base.origin(), "http://match-svc");
    assert_eq!(matches.policy.hedge_percentile, Some(95));
    let cache = matches.cache.as_ref().expect("a rule");
    assert_eq!((cache.default_s, cache.stale_s, cache.stale_if_error_s, cache.negative_s), (2, 10, 60, 1));
    assert_eq!(&*cache.freshness[1], "cache-control");
    let team = connector(&mapping, "Team", "");
    assert_eq!(team.request.explain(), "GET /teams?{id: $batch.id}");
    assert_eq!((team.batch_max, &*team.keys[0].name), (Some(50), "id"));
    let my_teams = connector(&mapping, "Match", "myTeams");
    assert!(matches!(my_teams.place, Place::Field(_)));
    assert_eq!(my_teams.reads_headers, ["x-user-id".into(), "authorization".into()]);
    let root = connector(&mapping, "Query", "match");
    let node = mapping.node(root.node.expect("an object"));
    let given: Vec<&str> = node.given.iter().map(|it| mapping.schema.field_name(it.field)).collect();
    assert_eq!(given, ["id", "name", "status", "teams", "squad"]);
    assert_eq!(mapping.hints.len(), 2);
    assert!(
        !weir_language::schema::print::print(&mapping.schema, weir_language::schema::print::Order::Defined)
            .contains('@')
    );
}
