//! `weir serve`: starts the server and turns signals and file changes into reload and drain.

pub(super) mod agent_options;
pub(super) mod event_commands;
pub(super) mod json_option;
pub(super) mod sample_database;
#[cfg(feature = "mcp")]
pub(super) mod stdio;
#[cfg(not(feature = "mcp"))]
#[path = "serve/stdio/absent.rs"]
pub(super) mod stdio;

use super::ServeOptions;
use super::watch::Watch;
use crate::config::source::address;
use crate::config::source::address::Target;
use crate::config::{Config, Environment, Secret, Service};
use crate::generation::{Live, Origin, Overrides};
use crate::metadata;
use crate::operations::persisted;
use crate::server::Server;
use crate::sources::services::ConfigurationListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use weir_native::store::Error;
use weir_postgres::add_jitter;

/// Shortest and longest pause before a source that is down is retried; the pause doubles.
const REVIVE_MIN: Duration = Duration::from_millis(500);
const REVIVE_MAX: Duration = Duration::from_secs(15);

/// Minimum pause between checks of a watched schema, and the pause as a multiple of a check's duration: at most a fiftieth of the server's
/// time is spent on checks.
const WATCH_PAUSE: Duration = Duration::from_secs(2);
const WATCH_PAUSE_TIMES: u32 = 50;
/// Timeout of one schema check.
const WATCH_MAX: Duration = Duration::from_secs(30);

/// Serves `target` until a signal ends it.
pub(super) fn serve(
    target: &str,
    metadata: Option<PathBuf>,
    store: Option<String>,
    options: ServeOptions,
) -> Result<ExitCode, String> {
    let overrides = Overrides { metadata, ..overrides(options)? };
    let mut origin = origin(address::target(target)?, overrides)?;
    if store.is_some() {
        let native = match &mut origin {
            Origin::Fixed(config) => config.sources.iter_mut().find(|it| it.native.is_some()),
            Origin::File(..) => None,
        };
        let source =
            native.ok_or("`--store` is for a .graphql file of types; in weir.yaml it is the key `store`")?;
        source.store = store;
    }
    run(origin)
}

/// Settings of the command line.
/// # Errors
/// An environment variable has an invalid value.
pub(super) fn overrides(options: ServeOptions) -> Result<Overrides, String> {
    let ServeOptions { listen, admin_listen, admin_secret, dev, cors, persisted, persisted_only, _port: _ } =
        options;
    let admin_secret = admin_secret.map(Secret::new);
    let environment = environment()?;
    Ok(Overrides {
        listen,
        admin_listen,
        admin_secret,
        dev,
        cors,
        persisted,
        persisted_only,
        metadata: None,
        environment,
    })
}

/// Settings of the environment.
/// # Errors
/// A variable has an invalid value.
pub(super) fn environment() -> Result<Environment, String> {
    let (environment, errors) = Environment::read(&|name| std::env::var(name).ok());
    errors.into_iter().next().map_or(Ok(environment), Err)
}

/// Source of the configuration for `target`.
pub(super) fn origin(target: Target, overrides: Overrides) -> Result<Origin, String> {
    let fixed = |mut config: Config, overrides: &Overrides| {
        overrides.apply(&mut config);
        Ok(Origin::Fixed(Box::new(config)))
    };
    match target {
        Target::Config(path)
            if !path.exists()
                && (overrides.metadata.is_some() || overrides.environment.has_metadata())
                && path == Path::new("weir.yaml") =>
        {
            fixed(Config::default(), &overrides)
        }
        Target::Metadata(path) => fixed(Config { metadata: Some(path), ..Config::default() }, &overrides),
        Target::Config(path) if !path.exists() => Err(format!(
            "{} does not exist; write one by `weir init`, or serve a file: `weir serve sqlite:chinook.db`",
            path.display()
        )),
        Target::Config(path) => Ok(Origin::File(path, Box::new(overrides))),
        Target::Source(address) => fixed(Config::of(&address), &overrides),
    }
}

/// Serves the configuration of `origin`.
pub(super) fn run(origin: Origin) -> Result<ExitCode, String> {
    // The watch on a file starts before it is read, so that no change falls between.
    let mut watch = Watch::default();
    if let Origin::File(path, _) = &origin {
        watch.add([path.clone()]);
    }
    let settings = origin.settings()?;
    watch.add(files(&settings, None));
    let server = Server::start(Arc::new(Live::start_with(origin, settings)?))?;
    if let Some(tls) = &server.live().current().config.tls {
        watch.add([tls.certificate.clone(), tls.key.clone()]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("no event loop: {cause}"))?;
    runtime.block_on(run_until_signal(&server, watch)).map_err(|cause| format!("signals: {cause}"))?;
    tracing::info!("draining");
    // A second signal exits immediately.
    std::thread::spawn(move || runtime.block_on(exit_on_signal()));
    server.stop()?;
    Ok(ExitCode::SUCCESS)
}

/// Files that affect the configuration, by its `settings`. `config` is the configuration in service.
fn files(settings: &Config, config: Option<&Config>) -> Vec<PathBuf> {
    let files = settings.sources.iter().flat_map(|it| it.native.iter().chain(&it.file).chain(&it.ca));
    let certificates = settings.sources.iter().flat_map(|it| it.services.values().flat_map(Service::files));
    let mut files: Vec<PathBuf> = files.chain(certificates).cloned().collect();
    files.extend(persisted::find_files(&settings.operations.persisted));
    if let Some(path) = &settings.metadata {
        files.extend(metadata::files(path, config));
    }
    files
}

/// Files that affect the configuration in service, or that its origin names by now.
fn files_by_now(live: &Live) -> Vec<PathBuf> {
    // An origin that cannot be read keeps the generation in service, and the reload says why.
    live.origin().settings().map_or_else(|_| Vec::new(), |it| files(&it, Some(&live.current().config)))
}

/// Prints and logs the addresses in service.
fn announce_addresses(server: &Server) {
    let generation = server.live().current();
    let scheme = if generation.config.tls.is_some() { "https" } else { "http" };
    for (source, product) in generation.products() {
        tracing::info!(source, server = product, "connected to a database server");
    }
    let names: Vec<&str> = generation.config.sources.iter().map(|it| it.name.as_str()).collect();
    let mut text = format!("weir serves {} at {scheme}://{}/graphql\n", names.join(", "), server.listen());
    if generation.config.is_dev() {
        text.push_str(&format!("console: {scheme}://{}/console\n", server.listen()));
    }
    if let Some(admin) = server.admin_listen() {
        text.push_str(&format!("metrics and probes: {scheme}://{admin}\n"));
    }
    // A closed standard output is ignored.
    let _ = super::print(&text);
}

/// Retries sources that are down, with growing pauses; never returns.
async fn retry_down_sources(live: &Arc<Live>) {
    let mut pause = REVIVE_MIN;
    loop {
        tokio::time::sleep(add_jitter(pause)).await;
        if !live.current().misses_sources() {
            pause = REVIVE_MIN;
            continue;
        }
        let again = Arc::clone(live);
        // A panic was logged by its own task; the next round retries.
        let _ = tokio::task::spawn_blocking(move || again.reload_down_sources()).await;
        pause = (pause * 2).min(REVIVE_MAX);
    }
}

/// Reloads when a file changed; never returns.
async fn reload_on_file_change(server: &Server, mut watch: Watch) {
    loop {
        watch.await_change().await;
        // Watch new files from their state before they are read.
        let live = server.live();
        watch.add(files_by_now(live));
        server.reload();
        // Watch files that the metadata includes since the reload.
        watch.add(files_by_now(live));
    }
}

/// Reloads when another process behind the same `cache.redis` changed the metadata; never returns.
async fn reload_on_remote_change(server: &Server) {
    let mut serving = server.live().subscribe_generation();
    while server.live().current().config.cache.redis.is_none() {
        if serving.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
    let listener = ConfigurationListener::start();
    loop {
        listener.await_change().await;
        server.reload();
    }
}

/// Reloads when the server of a remote schema tells another schema, if the configuration wants that; never returns.
async fn reload_on_remote_schema_change(server: &Server) {
    let mut serving = server.live().subscribe_generation();
    loop {
        let Some(pause) = server.live().current().config.remote_schema_poll_s else {
            if serving.changed().await.is_err() {
                return std::future::pending().await;
            }
            continue;
        };
        tokio::time::sleep(add_jitter(Duration::from_secs(pause.max(1).into()))).await;
        let live = Arc::clone(server.live());
        // A panic was logged by its own task; the next round asks again.
        if tokio::task::spawn_blocking(move || live.has_changed_remotes()).await.unwrap_or_default() {
            server.reload();
        }
    }
}

/// Reloads when the schema of a watched database changes, and retries if that fails; never returns.
async fn reload_on_schema_change(server: &Server) {
    let mut pause = WATCH_PAUSE;
    loop {
        tokio::time::sleep(add_jitter(pause)).await;
        let generation = server.live().current();
        let begun = Instant::now();
        let mut changed = false;
        let mut failed = false;
        for watch in &generation.watches {
            match watch.is_changed(begun + WATCH_MAX).await {
                Ok(it) => changed |= it,
                Err(error) => {
                    tracing::warn!(%error, "changes of a schema are not seen");
                    failed = true;
                }
            }
        }
        let took = begun.elapsed();
        if changed {
            server.reload();
            failed |= server.live().current().number == generation.number;
        }
        pause = if failed { (pause * 2).min(REVIVE_MAX) } else { WATCH_PAUSE.max(took * WATCH_PAUSE_TIMES) };
    }
}

/// Stops index builders between two steps.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Builds pending indexes of native stores, then serves the filters that need them; never returns.
async fn build(server: &Server, ends: &Arc<AtomicBool>) {
    let mut pause = REVIVE_MIN;
    loop {
        let generation = server.live().current();
        if !generation.building.is_empty() {
            let natives = generation.building.clone();
            let ends = Arc::clone(ends);
            let goes_on = move || !ends.load(Ordering::Relaxed);
            let built =
                move || natives.iter().try_fold(true, |all, it| Ok::<_, Error>(all & it.build(&goes_on)?));
            match tokio::task::spawn_blocking(built).await {
                Ok(Ok(true)) => {
                    tracing::info!("no index is left to be built");
                    server.reload();
                    pause = REVIVE_MIN;
                }
                Ok(Ok(false)) | Err(_) => {}
                Ok(Err(error @ Error::Unfit(_))) => {
                    tracing::error!(%error, "it is not tried again before `weir migrate`; rows are looked at one by one");
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "an index is not built; it is tried again");
                    pause = (pause * 2).min(REVIVE_MAX);
                }
            }
        }
        tokio::time::sleep(add_jitter(pause)).await;
    }
}

/// Announces the server, reloads on request, and returns on a signal to stop.
async fn run_until_signal(server: &Server, watch: Watch) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    announce_addresses(server);
    let live = Arc::clone(server.live());
    let mut reviving = std::pin::pin!(retry_down_sources(&live));
    let mut following = std::pin::pin!(reload_on_schema_change(server));
    let mut hearing = std::pin::pin!(reload_on_remote_change(server));
    let mut asking = std::pin::pin!(reload_on_remote_schema_change(server));
    let mut rereading = std::pin::pin!(reload_on_file_change(server, watch));
    let ends = Arc::new(AtomicBool::new(false));
    let _ending = Ending(Arc::clone(&ends));
    let mut building = std::pin::pin!(build(server, &ends));
    loop {
        tokio::select! {
            () = &mut reviving => {}
            () = &mut following => {}
            () = &mut hearing => {}
            () = &mut asking => {}
            () = &mut rereading => {}
            () = &mut building => {}
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            _ = hangup.recv() => server.reload(),
        }
    }
}

async fn exit_on_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    std::process::exit(130);
}
