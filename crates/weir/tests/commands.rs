//! Runs the commands that Weir's own texts show, in their order: the examples of `weir --help` in an empty folder, and those of
//! README and of the page for one's own database beside the examples.
//!
//! A server counts as started once it has said where it is; it is stopped then.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Folder, command};

/// The commands below `Examples:`, without their explanations.
fn examples(help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").nth(1).unwrap_or_default().lines();
    let lines = lines.take_while(|it| it.starts_with("  "));
    lines.map(|it| it.trim().split("   ").next().unwrap_or_default().trim().to_owned()).collect()
}

/// A shell in `folder` that finds this `weir` first, and listens where nobody else does.
fn shell(line: &str, folder: &Path) -> Command {
    let weir = Path::new(env!("CARGO_BIN_EXE_weir")).parent().expect("it is in a folder");
    let path = format!("{}:{}", weir.display(), std::env::var("PATH").unwrap_or_default());
    let serves = line.contains("weir serve") || line.contains("weir demo");
    let line = if serves { format!("{line} --listen 127.0.0.1:0") } else { line.to_owned() };
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(folder).env("PATH", path).env("HOME", folder);
    shell.env_remove("WEIR_ADMIN_SECRET").env_remove("XDG_CACHE_HOME").stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Runs `line` to its end, or until it serves.
fn check(line: &str, folder: &Path) {
    if !line.contains("weir serve") && !line.contains("weir demo") {
        let done = shell(line, folder).output().expect("bash runs");
        assert!(done.status.success(), "`{line}`: {}", String::from_utf8_lossy(&done.stderr));
        return;
    }
    // `exec`, so that the shell's process is the server's.
    let line = line
        .rsplit_once("weir ")
        .map_or(line.to_owned(), |(before, after)| format!("{before}exec weir {after}"));
    let mut child = shell(&line, folder).spawn().expect("bash runs");
    let mut said = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let read = output.read_line(&mut said);
    child.kill().expect("it can be ended");
    let ended = child.wait_with_output().expect("it ends");
    assert!(
        read.is_ok() && said.starts_with("weir serves "),
        "`{line}`: {said}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

#[test]
fn the_examples_of_help_run_in_an_empty_folder() {
    let help = command().arg("--help").output().expect("it runs");
    let lines = examples(&String::from_utf8_lossy(&help.stdout));
    assert!(lines.len() >= 6, "{lines:?}");
    let folder = Folder::new();
    for line in &lines {
        check(line, &folder.0);
    }
}

/// The lines of the shell blocks of `page` that run `weir` and need nothing but the examples.
fn shown(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    let lines =
        blocks.flat_map(str::lines).map(|it| it.split("  #").next().unwrap_or_default().trim().to_owned());
    lines.filter(|it| it.starts_with("weir ") && !it.contains("postgres://")).collect()
}

#[test]
fn the_commands_of_the_first_pages_run_beside_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, least) in [("README.md", 6), ("docs/your-own.md", 5)] {
        let folder = Folder::new();
        let copied = Command::new("cp").arg("-r").arg(root.join("examples")).arg(&folder.0).status();
        assert!(copied.is_ok_and(|it| it.success()), "the examples can be copied");
        let text = std::fs::read_to_string(root.join(page)).expect("the page is there");
        let lines = shown(&text);
        assert!(lines.len() >= least, "{page}: {lines:?}");
        for line in &lines {
            check(line, &folder.0);
        }
    }
}
