//! Folders as the CLI writes them.

use std::fs;
use std::path::{Path, PathBuf};
use weir_metadata::export::Export;
use weir_metadata::{Aside, Loaded, read};

/// A folder of the test's own, which goes with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("weir-metadata-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let made = Self(folder);
        files.iter().for_each(|it| made.write(Path::new(it.0), it.1));
        made
    }

    pub(crate) fn write(&self, name: &Path, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn load(&self) -> Result<Loaded, String> {
        let root = format!("{}/", self.0.display());
        read::path(&self.0).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(|it| it.to_string().replace(&root, "")).collect();
            lines.join("\n")
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const DATABASES: &str = "- name: default\n  kind: postgres\n  configuration:\n    connection_info:\n      database_url:\n        from_env: URL\n\
    \x20 tables: \"!include default/tables/tables.yaml\"\n  functions: !include default/functions/functions.yaml\n";

const FILES: [(&str, &str); 7] = [
    ("version.yaml", "version: 3\n"),
    ("databases/databases.yaml", DATABASES),
    (
        "databases/default/tables/tables.yaml",
        "- \"!include public_boat.yaml\"\n- \"!include public_crew.yaml\"\n",
    ),
    ("databases/default/tables/public_boat.yaml", "table:\n  name: boat\n  schema: public\nis_enum: false\n"),
    ("databases/default/tables/public_crew.yaml", "table: crew\n"),
    ("databases/default/functions/functions.yaml", "[]\n"),
    ("allow_list.yaml", "- collection: known\n"),
];

/// The reasons for which a folder lacks entries.
fn lacks(name: &str, changed: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::new(name, &FILES);
    changed.iter().for_each(|it| folder.write(Path::new(it.0), it.1));
    let loaded = folder.load().expect("the rest is read");
    assert_eq!(loaded.is_partial, !loaded.left_out.is_empty(), "{name}");
    let root = format!("{}/", folder.0.display());
    loaded.left_out.iter().map(|it| format!("{}: {}", it.name, it.reason.replace(&root, ""))).collect()
}

fn check(name: &str, changed: &[(&str, &str)], expected: Result<usize, &str>) {
    let folder = Folder::new(name, &FILES);
    changed.iter().for_each(|it| folder.write(Path::new(it.0), it.1));
    match (folder.load(), expected) {
        (Ok(loaded), Ok(tables)) => assert_eq!(loaded.document.sources[0].tables.len(), tables, "{name}"),
        (Err(words), Err(part)) => assert!(words.contains(part), "{name}: {words}"),
        (found, expected) => panic!("{name}: {found:?} instead of {expected:?}"),
    }
}

#[test]
fn a_folder_is_one_document() {
    check("whole", &[], Ok(2));
    check(
        "empty",
        &[("rest_endpoints.yaml", ""), ("actions.yaml", "actions: []\ncustom_types: {enums: []}\n")],
        Ok(2),
    );
    let folder = Folder::new("sections", &FILES);
    folder.write(Path::new("inherited_rules.yaml"), "[]\n");
    let loaded = folder.load().unwrap();
    assert_eq!(loaded.document.allowlist[0].collection, "known");
    assert!(
        loaded.unknown[0].message.ends_with("did you mean `inherited_roles.yaml`?"),
        "{:?}",
        loaded.unknown
    );
    assert!(loaded.watched.iter().any(|it| it.ends_with("public_boat.yaml")));
}

#[test]
fn a_place_is_that_of_the_file_it_stands_in() {
    let boat = "databases/default/tables/public_boat.yaml";
    let place = |name: &str, text: &str| {
        let folder = Folder::new(name, &FILES);
        folder.write(Path::new(boat), text);
        let loaded = folder.load().unwrap();
        let [only] = &loaded.left_out[..] else { panic!("{:?}", loaded.left_out) };
        only.place.replace(&format!("{}/databases/default/tables/", folder.0.display()), "")
    };
    assert_eq!(
        place(
            "place",
            "table: boat\nselect_permissions:\n- role: a\n  permission: {columns: 1, filter: {}}\n"
        ),
        "public_boat.yaml:4:25: select_permissions[0].permission.columns"
    );
    assert_eq!(place("twice", "table: {schema: public, name: crew}\n"), "public_crew.yaml:1:1");
}

#[test]
fn includes_end_and_stay_in_the_folder() {
    let tables = "databases/default/tables/tables.yaml";
    let check = |name: &str, changed: &[(&str, &str)], part: &str| {
        let lacks = lacks(name, changed);
        assert!(matches!(&lacks[..], [only] if only.contains(part)), "{name}: {lacks:?}");
    };
    check("missing", &[(tables, "- \"!include none.yaml\"\n")], "none.yaml cannot be read");
    check("itself", &[(tables, "- \"!include tables.yaml\"\n")], "tables.yaml includes itself");
    check(
        "circle",
        &[
            (tables, "- \"!include a.yaml\"\n"),
            ("databases/default/tables/a.yaml", "\"!include tables.yaml\"\n"),
        ],
        "tables.yaml includes itself",
    );
    check("outside", &[(tables, "- \"!include /etc/hostname\"\n")], "lies outside of");
}

#[test]
fn a_file_that_is_no_yaml_takes_the_smallest_entry_around_it() {
    let boat = "databases/default/tables/public_boat.yaml";
    let crew = "databases/default/tables/public_crew.yaml";
    let [only] = &lacks("broken-table", &[(boat, "table: [\n")])[..] else { panic!("one table is broken") };
    assert!(only.starts_with("table [0] in source default: Inconsistent object: "), "{only}");
    assert!(only.contains("databases/default/tables/public_boat.yaml:"), "{only}");
    assert_eq!(lacks("broken-tables", &[(boat, "table: [\n"), (crew, "}")]).len(), 2);
    check("broken-rest", &[(boat, "table: [\n")], Ok(1));
    // A file within a condition narrows it: the permission goes, not the part of the condition.
    let with = |filter: &str| {
        format!(
            "table: boat\nselect_permissions:\n- role: a\n  permission: {{columns: [id], filter: {{_and: [{filter}]}}}}\n"
        )
    };
    let [only] = &lacks("broken-filter", &[(boat, &with("\"!include none.yaml\""))])[..] else {
        panic!("one permission is broken")
    };
    assert!(only.starts_with("select_permission a in table boat"), "{only}");
    // Two within one entry are told once.
    assert_eq!(lacks("broken-twice", &[(boat, &with("\"!include a.yaml\", \"!include b.yaml\""))]).len(), 1);
}

#[test]
fn a_broken_file_of_a_section_takes_the_section_unless_it_takes_rights_away() {
    for section in [
        "remote_schemas",
        "cron_triggers",
        "query_collections",
        "allow_list",
        "rest_endpoints",
        "inherited_roles",
        "actions",
    ] {
        let file = format!("{section}.yaml");
        let lacks = lacks(section, &[(&file, "- [\n")]);
        assert!(matches!(&lacks[..], [only] if only.contains(&format!("{file}:"))), "{section}: {lacks:?}");
        let folder = Folder::new(&format!("{section}-place"), &FILES);
        folder.write(Path::new(&file), "- [\n");
        let loaded = folder.load().expect("the rest is read");
        assert_eq!(loaded.left_out[0].place, folder.0.join(&file).display().to_string(), "{section}");
    }
    for section in ["databases/databases", "graphql_schema_introspection", "api_limits"] {
        let file = format!("{section}.yaml");
        check(&section.replace('/', "-"), &[(&file, "a: [\n")], Err(&file));
    }
}

#[test]
fn an_empty_file_of_databases_is_a_project_without_sources() {
    for text in ["", "# nothing yet\n", "[]\n"] {
        let folder = Folder::new("no-sources", &FILES);
        folder.write(Path::new("databases/databases.yaml"), text);
        let loaded = folder.load().expect("it is read");
        assert_eq!((loaded.document.sources.len(), loaded.left_out.len()), (0, 0), "{text}");
    }
    let folder = Folder::new("no-databases", &[("version.yaml", "version: 3\n")]);
    let words = folder.load().expect_err("it is missing");
    assert!(words.ends_with("databases/databases.yaml is missing"), "{words}");
}

#[test]
fn a_file_that_was_missing_is_watched() {
    let folder = Folder::new("watched", &FILES);
    fs::remove_file(folder.0.join("databases/default/tables/public_crew.yaml")).unwrap();
    let loaded = folder.load().unwrap();
    assert_eq!(loaded.left_out.len(), 1);
    assert!(loaded.watched.iter().any(|it| it.ends_with("public_crew.yaml")));
}

#[test]
fn older_folders_have_their_tables_at_the_top() {
    let folder = Folder::new("old", &[("version.yaml", "version: 2\n"), ("tables.yaml", "- table: boat\n")]);
    let loaded = folder.load().unwrap();
    assert_eq!(loaded.document.sources[0].name, "default");
    assert_eq!(loaded.document.sources[0].tables.len(), 1);
}

#[test]
fn a_folder_without_its_version_says_where_one_is() {
    let folder = Folder::new("above", &[("metadata/version.yaml", "version: 3\n")]);
    let words = folder.load().unwrap_err();
    assert!(words.contains("holds no version.yaml; did you mean"), "{words}");
}

#[test]
fn a_folder_that_was_written_is_read_as_the_same_document() {
    let folder = Folder::new("written", &FILES);
    let first = folder.load().unwrap().document;
    let other = Folder::new("again", &[]);
    Export::of(&first, &Aside::default()).unwrap().folder().iter().for_each(|it| other.write(&it.0, &it.1));
    assert_eq!(other.load().unwrap().document, first);
}
