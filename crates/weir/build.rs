//! Compresses the sample database's seed for the binary, and has the console embedded anew when it was built anew.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let seed = Path::new("../../examples/chinook/chinook.sql");
    println!("cargo::rerun-if-changed={}", seed.display());
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&std::fs::read(seed)?)?;
    std::fs::write(Path::new(&out).join("chinook.sql.gz"), packed.finish()?)?;

    // The page is optional. Its directory has to exist, or cargo would run this script with every build.
    let page = Path::new("../../console/dist");
    if page.exists() || std::fs::create_dir_all(page).is_ok() {
        println!("cargo::rerun-if-changed={}", page.display());
    }
    Ok(())
}
