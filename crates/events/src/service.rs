//! The service of a server: its sources, each with its capture and its delivery, on one thread of their own.
//!
//! `source` is what one source is given and how it stands; `held_source` keeps it, `made_triggers` makes its triggers; `cleanup` removes
//! old rows; `requests` are what operators ask; `unmade_triggers` is what all threads may know.
//!
//! **Invariant:** a source whose events wait for an operator is read alone.

mod cleanup;
mod held_source;
mod made_triggers;
mod requests;
mod source;
mod unmade_triggers;

pub use requests::{Request, RequestError};
pub use source::{EventDatabase, EventSource, ServiceSettings, SourceReport, TriggerSetup};
pub use unmade_triggers::UnmadeTriggers;

use crate::dispatch::DispatchTools;
use crate::moment::{Clock, SystemClock};
use crate::own_loop::run_apart;
use held_source::HeldSource;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval, timeout_at};

/// Time between two looks at sources that have changed or wait.
const TICK: Duration = Duration::from_secs(1);
/// Longest wait of a reload for the triggers of its sources; what takes longer goes on.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// A message to the thread.
enum Message {
    Apply(Vec<EventSource>, ServiceSettings, SyncSender<Vec<SourceReport>>),
    Ask(String, Request, oneshot::Sender<Result<String, RequestError>>),
    Stop(Duration, oneshot::Sender<()>),
}

/// The running service.
#[derive(Debug)]
pub struct EventService {
    sender: mpsc::UnboundedSender<Message>,
    thread: Option<JoinHandle<()>>,
    has_sources: Arc<AtomicBool>,
}

impl EventService {
    /// Starts the thread, which tells `unmade` what it cannot make. It does nothing before the first [`Self::apply`].
    /// # Errors
    /// No thread can be started.
    pub fn start(tools: DispatchTools, unmade: UnmadeTriggers) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name("weir-events".into());
        let thread = thread.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => LocalSet::new().block_on(&runtime, serve(receiver, tools, unmade)),
                Err(error) => tracing::error!(%error, "events are not delivered: there is no event loop"),
            }
        })?;
        Ok(Self { sender, thread: Some(thread), has_sources: Arc::default() })
    }

    /// Captures and delivers the events of `sources` from now on, and of no others. Waits until the triggers of their databases are
    /// made, and blocks the thread meanwhile.
    pub fn apply(&self, sources: Vec<EventSource>, settings: ServiceSettings) -> Vec<SourceReport> {
        let is_idle = sources.is_empty() && !self.has_sources.load(Ordering::Relaxed);
        if is_idle {
            return Vec::new();
        }
        self.has_sources.store(true, Ordering::Relaxed);
        // A reload may come from a task, which is as long at opening sources: a channel of tokio's would panic there.
        let (sender, receiver) = sync_channel(1);
        let sent = self.sender.send(Message::Apply(sources, settings, sender));
        if sent.is_err() { Vec::new() } else { receiver.recv().unwrap_or_default() }
    }

    /// A handle for requests.
    pub fn asker(&self) -> EventAsker {
        EventAsker(self.sender.clone())
    }

    /// Takes no more events, waits at most `longest` for those in work, and frees the others.
    pub fn stop(mut self, longest: Duration) {
        let (sender, receiver) = oneshot::channel();
        if self.sender.send(Message::Stop(longest, sender)).is_ok() {
            // The thread being gone already is no failure.
            let _ = receiver.blocking_recv();
        }
        if let Some(thread) = self.thread.take() {
            // A panic was logged by the hook.
            let _ = thread.join();
        }
    }
}

/// Asks the service.
#[derive(Clone, Debug)]
pub struct EventAsker(mpsc::UnboundedSender<Message>);

impl EventAsker {
    /// Asks about the source `name`; must not be called by a task of an event loop.
    /// # Errors
    /// See [`RequestError`].
    pub fn ask(&self, name: &str, request: Request) -> Result<String, RequestError> {
        let (sender, receiver) = oneshot::channel();
        let gone = || RequestError::Unavailable("events are not served".into());
        self.0.send(Message::Ask(name.to_owned(), request, sender)).map_err(|_| gone())?;
        receiver.blocking_recv().unwrap_or_else(|_| Err(gone()))
    }
}

/// Changes that [`EventService::apply`] would make of `source`. None is made.
pub fn preview(source: &EventSource, settings: &ServiceSettings) -> SourceReport {
    let found = run_apart(async || made_triggers::preview(source, settings).await);
    found.unwrap_or_else(|words| {
        let error = Some(words);
        SourceReport { source: source.name.clone(), error, ..SourceReport::default() }
    })
}

/// Takes the events of `source` over from another server, or from the file that it is a copy of; returns a line about it.
/// # Errors
/// The database cannot be asked or changed.
pub fn take_over(source: &EventSource) -> Result<String, String> {
    run_apart(async || made_triggers::take_over(source).await)?
}

/// Sources by their names.
type Held = BTreeMap<String, Rc<HeldSource>>;

async fn serve(mut receiver: mpsc::UnboundedReceiver<Message>, tools: DispatchTools, unmade: UnmadeTriggers) {
    let mut held = Held::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = receiver.recv() => match message {
                Some(Message::Apply(sources, settings, answer)) => {
                    // Nobody waiting is no failure: the reload was given up.
                    let _ = answer.send(apply(&mut held, sources, settings, (&tools, &unmade)).await);
                }
                Some(Message::Ask(name, request, answer)) => {
                    let source = held.get(&name).cloned();
                    tokio::task::spawn_local(async move {
                        let answered = match source {
                            Some(source) => requests::answer(&source, request).await,
                            None => Err(RequestError::NoSource),
                        };
                        let _ = answer.send(answered);
                    });
                }
                Some(Message::Stop(longest, answer)) => {
                    stop(held, Instant::now() + longest).await;
                    let _ = answer.send(());
                    return;
                }
                None => return,
            },
            _ = ticks.tick() => {
                let now = SystemClock.now();
                for source in held.values() {
                    Rc::clone(source).maintain(now);
                }
            }
        }
    }
}

/// Replaces the sources; those with the same address keep their logs and what is in work.
async fn apply(
    held: &mut Held,
    sources: Vec<EventSource>,
    settings: ServiceSettings,
    (tools, unmade): (&DispatchTools, &UnmadeTriggers),
) -> Vec<SourceReport> {
    unmade.retain(|name| sources.iter().any(|it| it.name == name));
    let slots = held_source::shared_slots(settings.slots);
    let mut next = Held::new();
    let mut works = Vec::new();
    let deadline = Instant::now() + WAIT_MAX;
    for source in sources {
        let deadline = if source.is_down { Instant::now() } else { deadline };
        let known = held.remove(&source.name).filter(|it| it.fits(&source, &settings));
        let keeps = known.is_some();
        let kept = known.unwrap_or_else(|| {
            HeldSource::new(&source, &settings, slots.clone(), (tools.clone(), unmade.clone()))
        });
        next.insert(source.name.clone(), Rc::clone(&kept));
        kept.use_setup(source, settings);
        let reconciled = Rc::clone(&kept);
        let work = tokio::task::spawn_local(async move {
            let report = reconciled.reconcile().await;
            if !keeps {
                reconciled.start();
            }
            report
        });
        works.push(wait_for_report(work, kept, deadline));
    }
    let gone = std::mem::replace(held, next);
    tokio::task::spawn_local(stop(gone, Instant::now() + settings.stop_max));
    let mut reports = Vec::new();
    for work in works {
        reports.extend(work.await);
    }
    reports
}

/// Waits for the triggers of `source`; a database that hangs or is down holds up no reload, and its triggers are made later.
async fn wait_for_report(
    work: tokio::task::JoinHandle<SourceReport>,
    source: Rc<HeldSource>,
    deadline: Instant,
) -> Option<SourceReport> {
    match timeout_at(deadline.into(), work).await {
        // A panic was logged by the hook.
        Ok(ended) => ended.ok(),
        Err(_) => Some(source.report_silence()),
    }
}

async fn stop(held: Held, deadline: Instant) {
    for source in held.values() {
        source.runner().stop();
    }
    for source in held.values() {
        source.runner().drain(deadline).await;
    }
}
