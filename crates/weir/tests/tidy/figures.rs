//! Keeps the figures of README and of `docs/live/operate.md` equal to those that `make bench` wrote into `docs/performance.md`.
//!
//! The block of a page between two markers is rendered from the tables; `WEIR_BLESS=1` writes it, as `make bench` does
//! at its end. A figure typed by hand, or a table that was measured again without README, fails here.

use crate::root;
use std::fs;

const BEGIN: &str = "<!-- figures: written by `make bench` -->\n";
const END: &str = "<!-- /figures -->";

/// The rows of README's table: the words of the row, then its names in the sections `sqlite` and `postgres`.
const OPERATIONS: &[(&str, &str, Option<&str>)] = &[
    ("`{ __typename }`: HTTP and plan lookup alone", "constant", None),
    ("one album by its key", "by_pk", Some("by_pk, keys differ")),
    ("100 albums", "list 100", Some("list, limits differ")),
    ("30 albums with artist, the artist's albums, tracks (31 KB)", "join", Some("join, pages differ")),
    ("insert, durable", "insert", Some("insert, rows differ")),
    ("update, durable", "update", Some("update, rows differ")),
];

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
}

/// The text between the markers of `section` in `docs/performance.md`.
fn section<'a>(page: &'a str, section: &str) -> &'a str {
    let inside = page.split(&format!("<!-- {section} -->\n")).nth(1);
    let inside = inside.and_then(|it| it.split(&format!("<!-- /{section} -->")).next());
    inside.unwrap_or_else(|| panic!("docs/performance.md has no section `{section}`"))
}

/// The cell in the row that begins with `row`, in the column whose head begins with `column`.
fn cell<'a>(section: &'a str, row: &str, column: &str) -> &'a str {
    let cells = |line: &'a str| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>();
    let mut heads = Vec::new();
    for line in section.lines().filter(|it| it.starts_with('|') && !it.starts_with("|---")) {
        let found = cells(line);
        if found[0] == row
            && let Some(at) = heads.iter().position(|it: &&str| it.starts_with(column))
        {
            return found[at].trim_matches('*');
        }
        if found.iter().any(|it| ["req/s", "measured", "server CPU us", "ms to the last byte"].contains(it)) {
            heads = found;
        }
    }
    panic!("docs/performance.md has no `{column}` of `{row}`");
}

/// The figure before ` {unit}` in the first line of a native section.
fn before<'a>(section: &'a str, unit: &str) -> &'a str {
    let at =
        section.find(unit).unwrap_or_else(|| panic!("docs/performance.md has no figure before `{unit}`"));
    section[..at].trim_end().rsplit([' ', '\n']).next().unwrap_or_default()
}

/// The block as it has to be.
fn render_figures() -> String {
    let page = read("docs/performance.md");
    let sqlite = section(&page, "sqlite");
    let postgres = section(&page, "postgres");
    let mut out = String::from(
        "| operation on Chinook over HTTP | SQLite: requests/s, server CPU | compared with \
         | PostgreSQL: requests/s, server CPU | compared with pgbench |\n|---|---|---|---|---|\n",
    );
    for (words, embedded, server) in OPERATIONS {
        let rate = cell(sqlite, embedded, "req/s");
        let cpu = cell(sqlite, embedded, "server CPU us");
        let ratio = cell(sqlite, embedded, "ratio");
        let beside = server.map_or(String::from(" | "), |row| {
            let cpu = cell(postgres, row, "server CPU us").split(' ').next().unwrap_or_default();
            let ratio = cell(postgres, row, "of pgbench").replace("** (", " (target ");
            format!("{}, {cpu} us | {ratio}", cell(postgres, row, "req/s"))
        });
        out.push_str(&format!("| {words} | {rate}, {cpu} us | {ratio} | {beside} |\n"));
    }
    let graphile = |row| cell(postgres, row, "req/s");
    let native = section(&page, "native");
    let product = section(&page, "product");
    out.push_str(&format!(
        "\nPostGraphile 5 on the same PostgreSQL in the same run: {} by key, {} lists, {} joins, {} inserts and {} updates \
         per second.\n\nA database made from GraphQL types: {} objects are imported in {}, {} a second.\nAll 4,158,700 dishes with \
         name and price ({} MiB) reach the client in {} ms, the first byte after {} ms.\nOne restaurant by its key: {} \
         requests per second.\nThe binary has {}.\n",
        graphile("by_pk, PostGraphile"),
        graphile("list 100, PostGraphile"),
        graphile("join, PostGraphile"),
        graphile("insert, PostGraphile"),
        graphile("update, PostGraphile"),
        before(native, " objects imported"),
        before(native, " s, ").to_owned() + " s",
        before(native, "/s (bars"),
        cell(native, "20", "MiB"),
        cell(native, "20", "ms to the last byte"),
        cell(native, "20", "ms to the first byte"),
        cell(native, "getRestaurant by its key (bar 60,000)", "req/s"),
        cell(product, "binary", "measured"),
    ));
    out
}

/// The block of the page `name` is `expected`, or is made so.
fn check(name: &str, expected: &str) {
    let page = read(name);
    let (head, rest) =
        page.split_once(BEGIN).unwrap_or_else(|| panic!("{name} has no marker of its figures"));
    let (found, tail) = rest.split_once(END).unwrap_or_else(|| panic!("{name} has no end of its figures"));
    if std::env::var_os("WEIR_BLESS").is_some() {
        let page = format!("{head}{BEGIN}{expected}{END}{tail}");
        fs::write(root().join(name), page).unwrap_or_else(|cause| panic!("{name}: {cause}"));
        return;
    }
    assert_eq!(found, expected, "{name} is older than docs/performance.md: `make bench` writes its figures");
}

#[test]
fn readme_has_the_figures_that_were_measured() {
    check("README.md", &render_figures());
}

#[test]
fn the_sizing_of_live_queries_has_the_figures_that_were_measured() {
    let page = read("docs/performance.md");
    let ours = |it: &&str| !it.starts_with("| Mercurius") && !it.starts_with("| graphql-ws");
    let lines: Vec<&str> = section(&page, "live").lines().filter(ours).collect();
    check("docs/live/operate.md", &format!("{}\n", lines.join("\n")));
}

/// The operations of `examples/capacity/match-centre.yaml` and their rows in the table of services.
const CAPACITY: &[&str] = &["match centre, nothing cached", "match centre, public parts cached"];

#[test]
fn the_capacity_example_has_the_cpu_that_was_measured() {
    let name = "examples/capacity/match-centre.yaml";
    let page = read("docs/performance.md");
    let services = section(&page, "services");
    let found = read(name);
    let mut lines: Vec<String> = found.lines().map(str::to_owned).collect();
    for row in CAPACITY {
        let source = lines.iter().position(|it| it.contains(&format!("docs/performance.md, {row}\"")));
        let source = source.unwrap_or_else(|| panic!("{name} names no source `{row}`"));
        let measured = cell(services, row, "Weir").split(", ").next().unwrap_or_default().replace(',', "");
        let cpu = &mut lines[source - 1];
        let indent = cpu.len() - cpu.trim_start().len();
        *cpu = format!("{}cpu: {measured}us", " ".repeat(indent));
    }
    let expected = lines.join("\n") + "\n";
    if std::env::var_os("WEIR_BLESS").is_some() {
        fs::write(root().join(name), expected).expect("the example can be written");
        return;
    }
    assert_eq!(found, expected, "{name} is older than docs/performance.md: `make bench` writes its figures");
}
