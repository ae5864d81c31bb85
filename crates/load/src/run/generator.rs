//! One generator: a thread with its own runtime that sends the requests of a schedule or of a closed loop and counts.
//!
//! **Invariant:** every arrival of the schedule is counted, sent or not. Its latency begins at its scheduled instant, even if it
//! waits for a connection.
//!
//! **Cost:** a request of a closed loop is one write, one read, two entries of histograms and no allocation if it is constant.

use super::pace::{Arrival, Mix, Schedule, pace};
use super::process::own_cpu_s;
use super::record::{Micros, Recorder, Tick};
use super::slot::{Slot, dialer};
use super::state::{GeneratorState, Times};
use crate::plan::{Load, Plan, Protocol, Share};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Connections of an open loop that names no number: as many as are needed, up to this.
const CONNECTIONS_MAX: u32 = 1000;
/// Connections that such a loop begins with.
const CONNECTIONS_FIRST: u32 = 16;
/// Pause of a user of a closed loop after a request without an answer.
const BACKOFF: Duration = Duration::from_millis(100);
/// Time for pushes that are still on their way at the end.
const PUSH_GRACE: Duration = Duration::from_secs(1);

/// A part of a run that one generator has.
pub(crate) struct Job {
    pub plan: Arc<Plan>,
    pub load: Load,
    /// The weights of the plan's flows.
    pub weights: Vec<f64>,
    pub share: Share,
    /// The start of the measured period.
    pub start: Instant,
    pub warmup: Duration,
}

/// News of a generator.
pub(crate) enum Event {
    Tick(Tick),
    Done(Box<Recorder>),
    Failed(String),
}

/// Runs a job to its end and reports its news.
pub(crate) fn generate(job: Job, news: &Sender<Event>) {
    let result = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("the runtime: {cause}"))
        .and_then(|runtime| tokio::task::LocalSet::new().block_on(&runtime, drive(job, news)));
    // The receiver is gone if the run was ended early.
    drop(news.send(match result {
        Ok(recorder) => Event::Done(Box::new(recorder)),
        Err(message) => Event::Failed(message),
    }));
}

async fn drive(job: Job, news: &Sender<Event>) -> Result<Recorder, String> {
    let Job { plan, load, weights, share, start, warmup } = job;
    let dialer = dialer(&plan).await?;
    let mix = Mix::new(weights.into_iter(), plan.seed);
    let connections = connections(&plan, &load, share);
    let http2 = match plan.protocol {
        Protocol::Http1 => Vec::new(),
        Protocol::Http2 => (0..connections.first.max(1)).map(|_| Rc::default()).collect(),
    };
    let shared = Rc::new(GeneratorState {
        recorder: RefCell::new(Recorder::new(plan.operations.len())),
        end: start + load.duration(),
        plan,
        load,
        share,
        mix,
        dialer,
        http2,
        live: RefCell::default(),
        marks: RefCell::default(),
        queue: RefCell::default(),
        arrived: Notify::new(),
        idle: Cell::new(0),
        is_ended: Cell::new(false),
        begun: Cell::new(0),
        start,
    });
    let subscribers = super::push::subscribe(&shared).await;
    let ticker = tokio::task::spawn_local(tick(Rc::clone(&shared), news.clone()));
    let cpu = tokio::task::spawn_local(async move {
        tokio::time::sleep_until(start.into()).await;
        own_cpu_s()
    });
    let slots = match shared.load {
        Load::Closed { .. } => run_closed_load(&shared, warmup).await,
        Load::Open { .. } | Load::Replay { .. } => open(&shared, connections, warmup).await,
    };
    ticker.abort();
    if !subscribers.is_empty() {
        await_pushes(&shared).await;
    }
    drop(subscribers);
    let mut recorder = shared.recorder.take();
    recorder.connections = slots;
    recorder.cpu_s = own_cpu_s() - cpu.await.unwrap_or(0.0);
    Ok(recorder)
}

/// Numbers of connections.
#[derive(Clone, Copy)]
struct Connections {
    first: u32,
    most: u32,
}

/// Connections to begin with, and their maximum.
fn connections(plan: &Plan, load: &Load, share: Share) -> Connections {
    match (load, plan.connections) {
        (Load::Closed { users, .. }, None) => {
            let count = share.part(*users);
            let first = if plan.protocol == Protocol::Http2 { count.div_ceil(plan.streams) } else { count };
            Connections { first, most: count }
        }
        (_, Some(count)) => Connections { first: share.part(count), most: share.part(count) },
        (_, None) => {
            let first = share.part(CONNECTIONS_FIRST);
            let is_shared = plan.protocol == Protocol::Http2;
            Connections { first, most: if is_shared { first } else { share.part(CONNECTIONS_MAX) } }
        }
    }
}

/// Reports each second.
async fn tick(shared: Rc<GeneratorState>, news: Sender<Event>) {
    for second in 0.. {
        tokio::time::sleep_until((shared.start + Duration::from_secs(second + 1)).into()).await;
        let mut told = shared.live.take();
        told.second = second;
        if news.send(Event::Tick(told)).is_err() {
            return;
        }
    }
}

/// Waits until every mutation was pushed to every subscriber, for a while.
async fn await_pushes(shared: &GeneratorState) {
    let deadline = Instant::now() + PUSH_GRACE;
    while !shared.marks.borrow().all_seen() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Runs a closed loop: each user sends a request, waits for the answer, pauses, and repeats. Returns the number of connections.
async fn run_closed_load(shared: &Rc<GeneratorState>, warmup: Duration) -> u32 {
    let Load::Closed { users, think, .. } = shared.load else { return 0 };
    let users = shared.share.part(users);
    let begin = shared.start.checked_sub(warmup).unwrap_or(shared.start);
    let mut tasks = JoinSet::new();
    for user in 0..users {
        let shared = Rc::clone(shared);
        tasks.spawn_local(async move {
            let mut slot = shared.slot(user);
            slot.open(&shared.dialer).await;
            tokio::time::sleep_until(begin.into()).await;
            loop {
                let due = Instant::now();
                if due >= shared.end {
                    break;
                }
                let number = shared.next_number();
                let arrival = Arrival { due, number, flow: shared.mix.flow(number), entry: None };
                if !run(&mut slot, &shared, arrival).await {
                    tokio::time::sleep(BACKOFF).await;
                }
                if !think.is_zero() {
                    tokio::time::sleep(think).await;
                }
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    if shared.http2.is_empty() { users } else { u32::try_from(shared.http2.len()).unwrap_or(u32::MAX) }
}

/// Hands each arrival of the schedule to a free slot. Returns the number of slots.
async fn open(shared: &Rc<GeneratorState>, connections: Connections, warmup: Duration) -> u32 {
    let streams = if shared.http2.is_empty() { 1 } else { shared.plan.streams };
    let first = connections.first.max(1) * streams;
    let most = connections.most.max(1) * streams;
    let mut tasks = JoinSet::new();
    let mut slots = 0;
    while slots < first {
        tasks.spawn_local(serve(Rc::clone(shared), slots, true));
        slots += 1;
    }
    let (sender, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    let load = shared.load.clone();
    let mix = shared.mix.clone();
    let share = shared.share;
    let seed = shared.plan.seed;
    let start = shared.start;
    let schedule = Schedule { load, mix, share, seed, start, warmup };
    std::thread::spawn(move || pace(schedule.arrivals(), &sender));
    while let Some(batch) = arrivals.recv().await {
        let now = Instant::now();
        for arrival in batch {
            shared.count_arrival(&arrival, now);
            shared.queue.borrow_mut().push_back(arrival);
            shared.arrived.notify_one();
        }
        let waiting = u32::try_from(shared.queue.borrow().len()).unwrap_or(u32::MAX);
        for _ in shared.idle.get()..waiting {
            if slots == most {
                break;
            }
            tasks.spawn_local(serve(Rc::clone(shared), slots, false));
            slots += 1;
        }
    }
    shared.is_ended.set(true);
    shared.arrived.notify_waiters();
    let grace = shared.plan.operations.iter().map(|it| it.timeout).max().unwrap_or_default();
    // The set keeps the tasks running when the wait ends early.
    drop(tokio::time::timeout(grace, async { while tasks.join_next().await.is_some() {} }).await);
    for arrival in shared.queue.take() {
        shared.count_unsent(&arrival);
    }
    // Requests in flight end by their own timeouts.
    while tasks.join_next().await.is_some() {}
    slots / streams
}

/// A slot of an open loop: takes arrivals until there are no more.
async fn serve(shared: Rc<GeneratorState>, number: u32, is_early: bool) {
    let mut slot = shared.slot(number);
    if is_early {
        slot.open(&shared.dialer).await;
    }
    loop {
        let next = shared.queue.borrow_mut().pop_front();
        match next {
            Some(arrival) => {
                run(&mut slot, &shared, arrival).await;
            }
            None if shared.is_ended.get() => break,
            None => {
                shared.idle.set(shared.idle.get() + 1);
                shared.arrived.notified().await;
                shared.idle.set(shared.idle.get() - 1);
            }
        }
    }
}

/// Runs a flow of the schedule. Returns false if a request got no answer.
async fn run(slot: &mut Slot<'_>, shared: &GeneratorState, arrival: Arrival) -> bool {
    let plan = &shared.plan;
    let flow = shared.flow(&arrival);
    slot.draw(plan, flow, shared.share, arrival.number);
    let entry = match (&shared.load, arrival.entry) {
        (Load::Replay { entries, .. }, Some(at)) => Some(&entries[at]),
        _ => None,
    };
    let replayed = entry.map_or("", |it| &it.path);
    let logged = entry.and_then(|it| it.status);
    let mut due = arrival.due;
    for (place, at) in flow.steps.iter().enumerate() {
        if place > 0 && !flow.think.is_zero() {
            tokio::time::sleep(flow.think).await;
            due = Instant::now();
        }
        let operation = &plan.operations[*at];
        if let Some(mark) = operation.sent_mark(&slot.values) {
            shared.marks.borrow_mut().record_sent(mark);
        }
        let sent = Instant::now();
        let result = slot.exchange(&shared.dialer, operation, replayed).await;
        let times = Times { due, sent, done: Instant::now() };
        if let Err(error) = result {
            let failure = (error.label, 0, error.cause.as_bytes());
            shared.count(*at, times, Err(failure), &slot.answer);
            return false;
        }
        let failure = slot.judge(operation, logged);
        let status = slot.answer.status;
        let body = slot.answer.body.as_slice();
        let result = failure.as_deref().map_or(Ok(()), |label| Err((label, status, body)));
        shared.count(*at, times, result, &slot.answer);
        if failure.is_some() {
            return true;
        }
        due = times.done;
    }
    true
}

/// A tick's figures for people: requests, errors, 50th and 99th percentile in microseconds.
pub(crate) fn figures(tick: &Tick) -> (u64, u64, u64, u64) {
    let Tick { completed, errors, latency, .. } = tick;
    (*completed, *errors, Micros::value_at(latency, 50.0), Micros::value_at(latency, 99.0))
}
