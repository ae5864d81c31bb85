//! The state's tables for asynchronous actions, leases and lists.

use crate::postgres_kit::release::on_each_release;
use crate::schedule_kit::{Place, at};
use std::time::Duration;
use weir_events::identifier::random_id;
use weir_events::state::{
    ActionLog, ActionOutcome, EventStatus, EventsQuery, LEASE_TIME, Lease, NewAction, NewOneOffEvent,
    OneOffEvents, Ownership, ScheduledKind,
};

on_each_release!(async actions_are_logged_on_postgres, events_are_listed_on_postgres,);

async fn actions_are_logged_on_postgres() {
    actions_are_logged(Place::postgres()).await;
}

#[tokio::test]
async fn actions_are_logged_on_sqlite() {
    actions_are_logged(Place::sqlite()).await;
}

async fn actions_are_logged(place: Place) {
    let database = place.open();
    assert_eq!(database.look().await, Ok(Ownership::Absent));
    assert_eq!(database.prepare(false).await, Ok(Ownership::Own));
    assert_eq!(database.prepare(false).await, Ok(Ownership::Own));
    let is_shared = database.is_shared();
    let log = ActionLog::new(database);
    let now = at("2026-01-01T00:00:00Z");
    let action = |name: &str| NewAction {
        id: random_id(),
        action: name.to_owned(),
        input: r#"{"sku": "it's \"a\""}"#.into(),
        request_headers: r#"{"authorization": "t"}"#.into(),
        session_variables: r#"{"x-hasura-role": "user"}"#.into(),
    };
    let [first, second, other] = ["place", "place", "other"].map(action);
    for (at_s, action) in [(0, &first), (1, &second), (2, &other)] {
        log.insert(action.clone(), now.after(Duration::from_secs(at_s))).await.expect("it is stored");
    }
    let hour = now.after(Duration::from_secs(3600));
    let take = async |name: &str, count| {
        let wanted = [("it's".to_owned(), 7), (name.to_owned(), count)];
        log.take(&wanted, hour).await.expect("it is asked")
    };
    assert_eq!(take("place", 1).await, std::slice::from_ref(&first), "the oldest one, as it was stored");
    assert_eq!(take("place", 10).await, std::slice::from_ref(&second));
    assert_eq!(take("place", 10).await, []);
    log.finish(&first.id, ActionOutcome::Completed(r#"{"id": 1.50}"#.into()), now).await.expect("it ends");
    log.finish(&second.id, ActionOutcome::Failed(r#"{"error": "no"}"#.into()), now).await.expect("it ends");
    let row = log.read(&first.id, "place").await.expect("it is read").expect("it is there");
    assert_eq!((row.response.as_deref(), row.errors, row.is_over), (Some(r#"{"id": 1.50}"#), None, true));
    assert_eq!((row.created_at, row.session_variables), (now, first.session_variables));
    let row = log.read(&second.id, "place").await.expect("it is read").expect("it is there");
    assert_eq!((row.response, row.errors.as_deref()), (None, Some(r#"{"error": "no"}"#)));
    assert_eq!(log.read(&first.id, "other").await, Ok(None), "an id of another action");
    assert_eq!(take("other", 10).await.len(), 1);
    log.release(&[other.id.clone(), first.id.clone()]).await.expect("it is given back");
    assert_eq!(take("other", 10).await.len(), 1);
    // The time counts at which it was taken: it may have waited long.
    let minute = Duration::from_secs(60);
    assert_eq!(log.reclaim("other", minute, hour.after(minute)).await, Ok(0));
    assert_eq!(take("other", 10).await, []);
    assert_eq!(log.reclaim("other", Duration::ZERO, hour.after(minute)).await, Ok(1));
    assert_eq!(take("other", 10).await.len(), 1);
    let torn = log.finish(&other.id, ActionOutcome::Completed("\"\\u0000\"".into()), now).await;
    assert_eq!(torn.map_err(|it| it.is_about_values), if is_shared { Err(true) } else { Ok(()) });
    log.clear("place").await.expect("it is cleared");
    assert_eq!(log.read(&first.id, "place").await, Ok(None));
}

#[tokio::test]
async fn a_lease_ends_when_it_is_not_renewed() {
    let place = Place::sqlite();
    let database = place.open();
    database.prepare(false).await.expect("the tables are made");
    let now = at("2026-01-01T00:00:00Z");
    assert_eq!(database.take_lease("a", now).await, Ok(Lease::Taken));
    assert_eq!(database.take_lease("b", now).await, Ok(Lease::Other));
    assert_eq!(database.take_lease("a", now.after(LEASE_TIME / 2)).await, Ok(Lease::Renewed));
    assert_eq!(database.take_lease("b", now.after(LEASE_TIME)).await, Ok(Lease::Other));
    assert_eq!(database.take_lease("b", now.after(LEASE_TIME * 2)).await, Ok(Lease::Taken));
    assert_eq!(database.take_lease("a", now.after(LEASE_TIME * 2)).await, Ok(Lease::Other));
    database.release_lease("b").await.expect("it is given back");
    assert_eq!(database.take_lease("a", now).await, Ok(Lease::Taken));
}

async fn events_are_listed_on_postgres() {
    events_are_listed(Place::postgres()).await;
}

#[tokio::test]
async fn events_are_listed_on_sqlite() {
    events_are_listed(Place::sqlite()).await;
}

async fn events_are_listed(place: Place) {
    let database = place.open();
    database.prepare(false).await.expect("the tables are made");
    let events = OneOffEvents::new(std::sync::Arc::clone(&database));
    for hour in 0..3 {
        let event = NewOneOffEvent {
            webhook: "\"http://shop\"".into(),
            scheduled_time: at(&format!("2026-01-01T0{hour}:00:00+00:00")),
            retry_conf: "{}".into(),
            payload: None,
            headers: "[]".into(),
            comment: Some("it's \"one\"".into()),
        };
        events.insert(event, at("2025-12-31T00:00:00.5Z")).await.expect("it is stored");
    }
    let query = EventsQuery {
        kind: ScheduledKind::OneOff,
        status: vec![EventStatus::Scheduled],
        limit: 1,
        offset: 1,
        with_count: true,
    };
    let shown = database.show_events(&query).await.expect("they are shown");
    let (before, after) =
        (shown.find("\"id\":\"").expect("it has an id"), shown.find("\",\"webhook_conf\"").expect("it has"));
    let shown = format!("{}{}", &shown[..before + 6], &shown[after..]);
    let expected = concat!(
        r#"{"events":[{"id":"","webhook_conf":"http://shop","scheduled_time":"2026-01-01T01:00:00.000000Z","retry_conf":{},"payload":null,"#,
        r#""header_conf":[],"status":"scheduled","tries":0,"created_at":"2025-12-31T00:00:00.500000Z","next_retry_at":null,"comment":"it's \"one\""}],"count":3}"#
    );
    assert_eq!(shown, expected);
    let none = EventsQuery { status: vec![EventStatus::Dead], ..query };
    assert_eq!(database.show_events(&none).await.as_deref(), Ok(r#"{"events":[],"count":0}"#));
}
