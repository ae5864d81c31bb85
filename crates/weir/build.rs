//! Compresses the sample database's seed for the binary, and lists the files of the console to embed.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::fs;
use std::io::{Result, Write};
use std::path::Path;

fn main() -> Result<()> {
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let out = Path::new(&out);
    let seed = Path::new("../../examples/chinook/chinook.sql");
    println!("cargo::rerun-if-changed={}", seed.display());
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(seed)?)?;
    fs::write(out.join("chinook.sql.gz"), packed.finish()?)?;

    // The page is optional. Its directory has to exist, or cargo would run this script with every build.
    let page = Path::new("../../console/dist");
    let mut files = String::from("&[\n");
    if page.exists() || fs::create_dir_all(page).is_ok() {
        println!("cargo::rerun-if-changed={}", page.display());
        list_files(page, "", &mut files)?;
    }
    fs::write(out.join("console.rs"), files + "]")
}

/// Writes each file below `folder` as a name, which begins with `prefix`, and its bytes.
fn list_files(folder: &Path, prefix: &str, out: &mut String) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path().canonicalize()?;
        if path.is_dir() {
            list_files(&path, &format!("{name}/"), out)?;
        } else {
            writeln!(out, "({name:?}, include_bytes!({path:?})),").map_err(std::io::Error::other)?;
        }
    }
    Ok(())
}
