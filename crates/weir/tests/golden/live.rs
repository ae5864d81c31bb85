//! Live queries behind a pooler, and many clients at once: each change comes, whoever made it, and no request fails.

use crate::pooler::{self, Pooler};
use crate::postgres_kit::{Database, chinook};
use futures_util::future::join_all;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir::Weir;
use weir_engine::caller::Identity;
use weir_engine::engine::Request;
use weir_engine::live::{LiveQueries, LiveSettings, Subscription};
use weir_engine::source::Protocol;

/// As cases are named.
pub(crate) const NAMES: [&str; 2] = ["golden::pooler::live@postgres", "golden::pooler::many@postgres"];

const CLIENTS: u32 = 30;
/// Longest wait for a result that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Chinook behind a pooler.
struct Behind {
    weir: Weir,
    /// Another Weir before a copy of the database, which nobody else can change.
    other: Option<Weir>,
    runtime: Runtime,
    _pooler: Option<Pooler>,
    database: Database,
}

/// Runs the test of this name.
pub(crate) fn check(name: &str, folder: &Path) -> Result<(), String> {
    let behind = Behind::new(folder);
    if name == NAMES[0] { behind.watch() } else { behind.ask_at_once() }
}

fn retitle(id: u32, title: &str) -> String {
    format!(
        r#"mutation {{ update_Album_by_pk(pk_columns: {{AlbumId: {id}}}, _set: {{Title: "{title}"}}) {{ AlbumId }} }}"#
    )
}

fn titled(title: &str) -> String {
    format!(r#"{{"data":{{"Album_by_pk":{{"Title":"{title}"}}}}}}"#)
}

impl Behind {
    fn new(folder: &Path) -> Self {
        let database = chinook();
        let (url, pooler) = pooler::address(&database);
        let file = folder.join("pooler.yaml");
        // A slow machine may need long for 30 clients on few connections.
        let config = format!(
            "sources:\n  - name: chinook\n    kind: postgres\n    url: {url}\n    postgres: {{wait_ms_max: 50000}}\n"
        );
        std::fs::write(&file, config).expect("a configuration can be written");
        let open = || Weir::open(&file.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        let other = (!url.ends_with(&database.name)).then(open);
        Self { weir: open(), other, runtime, _pooler: pooler, database }
    }

    async fn ask(weir: &Weir, query: &str) -> Result<String, String> {
        let deadline = Instant::now() + PATIENCE;
        let answer = weir.execute_as(query, "{}", None, Protocol::GraphqlOverHttp, deadline).await;
        let answer = String::from_utf8(answer.map_err(|it| it.to_string())?).expect("JSON is UTF-8");
        if answer.contains("\"errors\"") { Err(format!("{query}: {answer}")) } else { Ok(answer) }
    }

    async fn subscribe(&self, live: &LiveQueries, query: &str) -> Result<Subscription, String> {
        let engine = self.weir.engine();
        let request = Request::new(query, Instant::now() + PATIENCE);
        let bound = engine.bind(request, &engine.caller(&Identity::admin())).await;
        live.subscribe(bound.map_err(|it| format!("{:?}", it.body))?).map_err(|it| format!("{it:?}"))
    }

    /// Gives an album a title, by this Weir or beside it.
    async fn retitle(&self, is_ours: bool, id: u32, title: &str) -> Result<(), String> {
        let weir = if is_ours { Some(&self.weir) } else { self.other.as_ref() };
        match weir {
            Some(weir) => Self::ask(weir, &retitle(id, title)).await.map(drop),
            None => {
                let sql = format!(r#"UPDATE "Album" SET "Title" = '{title}' WHERE "AlbumId" = {id}"#);
                self.database.run(&sql);
                Ok(())
            }
        }
    }

    /// Each client watches an album, which this process changes and another does.
    fn watch(&self) -> Result<(), String> {
        let live = LiveQueries::of(self.weir.engine(), LiveSettings::STANDARD);
        let watch = async |id: u32| {
            let query = format!("subscription {{ Album_by_pk(AlbumId: {id}) {{ Title }} }}");
            let mut subscription = self.subscribe(&live, &query).await?;
            next(&mut subscription).await?;
            for title in ["Ours", "Theirs"] {
                self.retitle(title == "Ours", id, title).await?;
                let found = next(&mut subscription).await?;
                if found != titled(title) {
                    return Err(format!("{query}: {found}"));
                }
            }
            Ok(())
        };
        self.runtime.block_on(join_all((1..=CLIENTS).map(watch))).into_iter().collect()
    }

    /// Each client reads, writes and reads again, by short and by long statements.
    fn ask_at_once(&self) -> Result<(), String> {
        let client = async |id: u32| {
            let read = format!("{{ Album_by_pk(AlbumId: {id}) {{ Title }} }}");
            for round in 0..3 {
                let title = format!("{id} in round {round}");
                Self::ask(&self.weir, &retitle(id, &title)).await?;
                let found = Self::ask(&self.weir, &read).await?;
                if found != titled(&title) {
                    return Err(format!("{read}: {found}"));
                }
                let all = "{ Track(order_by: {TrackId: asc}) { TrackId Name Track_Album { Title } } }";
                let listed = Self::ask(&self.weir, all).await?;
                if !listed.contains(r#""TrackId":3503,"#) {
                    return Err(format!("{all}: {listed:.200}"));
                }
            }
            Ok(())
        };
        self.runtime.block_on(join_all((1..=CLIENTS).map(client))).into_iter().collect()
    }
}

async fn next(subscription: &mut Subscription) -> Result<String, String> {
    let result = tokio::time::timeout(PATIENCE, subscription.next()).await;
    let result = result.map_err(|_| "no result comes")?.ok_or("the engine is gone")?;
    Ok(String::from_utf8(result.body.to_vec()).expect("JSON is UTF-8"))
}
