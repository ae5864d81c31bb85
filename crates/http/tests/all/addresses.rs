//! A name with several addresses: which of them are called, for how long, and what is told of a call.

use crate::http2_kit::{Http2Service, Play, whole};
use crate::wire_kit::{Reply, Service, answer, get, post};
use futures_util::future::BoxFuture;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weir_engine::source::AddressState;
use weir_http::call::{
    Ask, CallError, CallPolicy, Found, Lookup, Protocol, TlsFiles, Upstream, UpstreamSettings,
};

/// Answers each lookup by the next list, and by the last one for ever.
struct Listed(Mutex<Vec<Vec<SocketAddr>>>, Duration);

impl Lookup for Listed {
    fn lookup<'l>(&'l self, _: &'l str, _: u16) -> BoxFuture<'l, io::Result<Found>> {
        let mut lists = self.0.lock().unwrap();
        let addresses = if lists.len() > 1 { lists.remove(0) } else { lists[0].clone() };
        Box::pin(std::future::ready(Ok(Found { addresses, fresh_for: self.1 })))
    }
}

/// Calls what `lists` say, without retries.
fn upstream(
    lists: Vec<Vec<SocketAddr>>,
    protocol: Protocol,
    change: impl FnOnce(&mut CallPolicy),
) -> Upstream {
    let mut policy = CallPolicy { retries: 0, ..CallPolicy::USUAL };
    change(&mut policy);
    let fresh_for = if lists.len() > 1 { Duration::ZERO } else { Duration::from_secs(3600) };
    let settings = UpstreamSettings {
        base: "http://shop.test".parse().unwrap(),
        tls: TlsFiles::default(),
        protocol,
        policy,
    };
    Upstream::with_lookup(&settings, Arc::new(Listed(Mutex::new(lists), fresh_for))).unwrap()
}

fn well() -> Service {
    Service::start(|_| answer("200 OK", "", "well"))
}

fn http2() -> Http2Service {
    Http2Service::start(|_, stream| Play::Send(whole(stream, b"well")))
}

/// An address where nobody listens.
fn gone() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], crate::port_kit::free_port()))
}

/// Number of failures in `calls` calls.
async fn failures(upstream: &Upstream, ask: &Ask, calls: usize) -> usize {
    let mut failures = 0;
    for _ in 0..calls {
        match upstream.call(ask).await {
            Ok(answer) => assert_eq!(&*answer.body, b"well"),
            Err(_) => failures += 1,
        }
    }
    failures
}

#[tokio::test]
async fn all_addresses_are_called_over_connections_that_are_kept() {
    let services = [well(), well(), well()];
    let addresses = services.iter().map(|it| it.address).collect();
    let upstream = upstream(vec![addresses], Protocol::Negotiated, |_| ());
    assert_eq!(failures(&upstream, &get("/"), 60).await, 0);
    assert_eq!(services.iter().map(Service::calls).sum::<usize>(), 60);
    for service in &services {
        assert!(service.calls() > 0 && service.connections() == 1, "{} calls", service.calls());
    }
    assert!(services[0].head(0).contains("host: shop.test\r\n"), "{}", services[0].head(0));
}

#[tokio::test]
async fn calls_of_http2_go_to_all_addresses_too() {
    let services = [http2(), http2(), http2()];
    let addresses = services.iter().map(|it| it.address).collect();
    let upstream = upstream(vec![addresses], Protocol::Http2, |_| ());
    assert_eq!(failures(&upstream, &post("/", "{}"), 60).await, 0);
    let seen: Vec<_> = services.iter().map(Http2Service::counts).collect();
    assert_eq!(seen.iter().map(|it| it.0).sum::<usize>(), 60);
    assert!(seen.iter().all(|it| it.0 > 0 && it.1 == 1), "{seen:?}");
}

#[tokio::test]
async fn an_address_that_takes_no_connections_costs_no_call() {
    let one = well();
    let other = well();
    let upstream = upstream(vec![vec![one.address, gone(), other.address]], Protocol::Negotiated, |_| ());
    assert_eq!(failures(&upstream, &post("/", "{}"), 40).await, 0);
    assert_eq!(one.calls() + other.calls(), 40);
    assert!(one.calls() > 0 && other.calls() > 0, "{} and {}", one.calls(), other.calls());
}

#[tokio::test]
async fn an_address_that_breaks_its_connections_is_left_out() {
    let broken = Service::start(|_| Reply::Close(Vec::new()));
    let sound = well();
    let upstream = upstream(vec![vec![broken.address, sound.address]], Protocol::Negotiated, |_| ());
    let failures = failures(&upstream, &post("/", "{}"), 40).await;
    assert_eq!((broken.calls(), sound.calls()), (failures, 40 - failures));
    // Once, and once more after a second, two and four.
    assert!((1..=4).contains(&failures), "{failures} of 40");
}

#[tokio::test]
async fn a_name_that_moved_is_followed_while_calls_go_on() {
    let before = well();
    let after = well();
    let lists = vec![vec![before.address], vec![after.address]];
    let upstream = upstream(lists, Protocol::Negotiated, |_| ());
    let mut calls = 0;
    while after.calls() == 0 && calls < 10_000 {
        assert_eq!(failures(&upstream, &get("/"), 1).await, 0);
        calls += 1;
    }
    let stays = before.calls();
    assert_eq!(failures(&upstream, &get("/"), 10).await, 0);
    assert_eq!((before.calls(), after.calls()), (stays, 11), "after {calls} calls");
}

#[tokio::test]
async fn a_connection_that_is_too_old_takes_no_more_calls() {
    let service = well();
    let second = http2();
    let upstream =
        |address, protocol| upstream(vec![vec![address]], protocol, |it| it.connection_age = Duration::ZERO);
    assert_eq!(failures(&upstream(service.address, Protocol::Negotiated), &get("/"), 5).await, 0);
    assert_eq!(failures(&upstream(second.address, Protocol::Http2), &get("/"), 5).await, 0);
    assert_eq!((service.connections(), second.counts()), (5, (5, 5)));
}

#[tokio::test]
async fn what_came_of_a_call_names_its_address_and_its_attempts() {
    let service = Service::start(|_| answer("500 Oops", "", "no"));
    let called = upstream(vec![vec![service.address]], Protocol::Negotiated, |it| it.retries = 2);
    let went = called.call(&get("/")).await.unwrap().went;
    assert_eq!((went.address, went.attempts), (Some(service.address), 3));
    assert!(went.took > Duration::ZERO);
    let hangs = Service::start(|_| Reply::Hang);
    let called = upstream(vec![vec![hangs.address]], Protocol::Negotiated, |_| ());
    let timeout = Some(Duration::from_millis(50));
    let failed = called.call(&Ask { timeout, ..get("/") }).await.unwrap_err();
    assert_eq!(failed.error, CallError::Timeout);
    assert_eq!((failed.went.address, failed.went.attempts), (Some(hangs.address), 1));
    let nowhere = upstream(vec![Vec::new()], Protocol::Negotiated, |it| it.retries = 1);
    let failed = nowhere.call(&get("/")).await.unwrap_err();
    assert_eq!((failed.went.address, failed.went.attempts), (None, 2));
}

#[tokio::test]
async fn an_address_with_a_call_in_flight_is_spared() {
    let hangs = Service::start(|_| Reply::Hang);
    let sound = well();
    let upstream = upstream(vec![vec![hangs.address, sound.address]], Protocol::Negotiated, |_| ());
    let timeout = Some(Duration::from_secs(20));
    let patient = Ask { timeout, ..get("/") };
    // Of the calls that begin while one hangs, all but that one are answered.
    let begun: Vec<_> = (0..8).map(|_| Box::pin(upstream.call(&patient))).collect();
    let mut answered = 0;
    let mut left = begun;
    while answered < 4 {
        let (outcome, _, others) = futures_util::future::select_all(left).await;
        assert!(outcome.is_ok());
        answered += 1;
        left = others;
    }
    assert_eq!(failures(&upstream, &patient, 20).await, 0, "as calls are in flight at the other address");
    assert!(hangs.calls() <= 4, "{}", hangs.calls());
}

#[tokio::test]
async fn a_check_says_which_addresses_take_connections() {
    let sound = well();
    let gone = gone();
    let upstream = upstream(vec![vec![sound.address, gone]], Protocol::Negotiated, |_| ());
    let checks = upstream.check_addresses().await.unwrap();
    let seen: Vec<_> = checks.iter().map(|it| (it.address, it.error.is_none(), it.state)).collect();
    assert_eq!(seen, [(sound.address, true, AddressState::Used), (gone, false, AddressState::LeftOut)]);
    assert_eq!(failures(&upstream, &post("/", "{}"), 5).await, 0);
    assert_eq!(sound.calls(), 5, "a check is no call");
    let nowhere = self::upstream(vec![Vec::new()], Protocol::Negotiated, |_| ());
    assert!(nowhere.check_addresses().await.is_err());
}
