//! `/admin/live`: open subscriptions by operation and role, their last pushes, and what each source tells of changes.
//!
//! **Invariant:** no value of a variable, claim or key is told.

use crate::observer::observer;
use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json as value};
use std::time::Duration;
use weir_engine::live::{Cause, Changed, LiveGroup, LiveOverview, LivePush, LiveSource};
use weir_engine::source::{Coverage, OthersChanges};

/// Answers a GET.
pub(crate) fn answer(context: &RequestContext) -> Answer {
    let generation = &context.generation;
    // Relay's API has an engine of its own.
    let engines = [Some(&generation.live), generation.relay.live()];
    let overviews: Vec<LiveOverview> = engines.into_iter().flatten().map(|it| it.overview()).collect();
    let body = ResponseBody::whole(overview_json(&overviews).to_string().into_bytes());
    let mut response = json(StatusCode::OK, Media::Json, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

fn overview_json(overviews: &[LiveOverview]) -> Value {
    let groups =
        overviews.iter().flat_map(|it| it.groups.iter().map(move |group| group_json(group, &it.sources)));
    let mut pushes: Vec<&LivePush> = overviews.iter().flat_map(|it| &it.pushes).collect();
    pushes.sort_by_key(|it| it.age);
    let settings = overviews.first().map(|it| it.settings);
    let milliseconds = |it: Option<Duration>| it.map(|it| it.as_millis() as u64);
    let sources = overviews.first().map_or(&[][..], |it| &it.sources);
    let members = |at: usize| overviews.iter().filter_map(|it| it.sources.get(at)).map(|it| it.members).sum();
    value!({
        "groups": groups.collect::<Vec<_>>(),
        "groups_left_out": overviews.iter().map(|it| it.groups_left_out).sum::<usize>(),
        "pushes": pushes.into_iter().map(push_json).collect::<Vec<_>>(),
        "sources": sources.iter().enumerate().map(|(at, it)| source_json(it, members(at))).collect::<Vec<_>>(),
        "event_streams": overviews.iter().map(|it| it.event_streams).sum::<usize>(),
        "poll_ms": milliseconds(settings.map(|it| it.poll)),
        "floor_ms": milliseconds(settings.map(|it| it.floor)),
        "subscriptions_max": settings.map(|it| it.subscriptions_max),
    })
}

/// Name and hash of the operation with this number; nulls if another one has its place by now.
fn operation_json(number: Option<u64>) -> Value {
    let name = number.and_then(|it| observer().operations.name(it));
    match name {
        Some(it) => value!({ "name": Some(&*it.name).filter(|it| !it.is_empty()), "hash": &*it.hash }),
        None => value!({ "name": null, "hash": null }),
    }
}

fn group_json(group: &LiveGroup, sources: &[LiveSource]) -> Value {
    let LiveGroup { number, role, tables, .. } = group;
    let asked = group.sources.iter().filter_map(|it| sources.get(usize::from(*it)));
    value!({
        "operation": operation_json(*number),
        "role": &**role,
        "subscriptions": group.subscriptions,
        "members": group.members,
        "cohorts": group.cohorts,
        "streams": group.streams,
        "reads": group.reads,
        "results": group.results,
        "polled": group.polled,
        "expiring": group.expiring,
        "tables": tables.iter().map(|it| &**it).collect::<Vec<_>>(),
        "sources": asked.map(|it| &*it.name).collect::<Vec<_>>(),
    })
}

fn push_json(push: &LivePush) -> Value {
    let LivePush { number, role, subscriptions, cause, took, age, bytes, has_errors } = push;
    let (cause, changed) = match cause {
        Cause::First => ("first", Value::Null),
        Cause::Change(changed) => ("change", changed_json(changed)),
        Cause::Poll => ("poll", Value::Null),
        Cause::Expiry => ("expiry", Value::Null),
        Cause::Batch => ("batch", Value::Null),
        Cause::Event => ("event", Value::Null),
    };
    let us = |it: &Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
    value!({
        "operation": operation_json(*number),
        "role": &**role,
        "subscriptions": subscriptions,
        "cause": cause,
        "changed": changed,
        "took_us": us(took),
        "age_ms": age.as_millis() as u64,
        "bytes": bytes,
        "has_errors": has_errors,
    })
}

/// Data that was changed; keys of rows are values.
fn changed_json(changed: &Changed) -> Value {
    match changed {
        Changed::Tag(tag) => value!({ "tag": &**tag }),
        Changed::Row { tag, .. } => value!({ "tag": &**tag, "row": true }),
        Changed::Source(source) => value!({ "source": &**source }),
        Changed::Unknown => Value::Null,
    }
}

fn source_json(source: &LiveSource, members: usize) -> Value {
    let (tells, words) = match &source.others_changes {
        OthersChanges::Reported(words) => ("reported", &**words),
        OthersChanges::Polled(words) => ("polled", &**words),
        OthersChanges::Lifetimes => ("lifetimes", ""),
        OthersChanges::PassedThrough => ("passed_through", ""),
        OthersChanges::Constant => ("constant", ""),
    };
    let (covers, except) = match &source.coverage {
        Coverage::Nothing => ("nothing", Vec::new()),
        Coverage::Everything => ("everything", Vec::new()),
        Coverage::Except(untold) => ("except", untold.iter().map(|it| &**it).collect()),
    };
    value!({ "name": &*source.name, "members": members, "tells": tells, "words": words, "covers": covers, "except": except })
}
