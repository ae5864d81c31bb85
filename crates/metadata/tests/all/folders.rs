//! Folders as the CLI writes them.

use std::fs;
use std::path::{Path, PathBuf};
use weir_metadata::{Loaded, export, read};

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
    check("yaml", &[(boat, "table: [\n")], Err("public_boat.yaml:"));
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
    check("missing", &[(tables, "- \"!include none.yaml\"\n")], Err("tables.yaml:1:3: "));
    check("itself", &[(tables, "- \"!include tables.yaml\"\n")], Err("tables.yaml includes itself"));
    check(
        "circle",
        &[
            (tables, "- \"!include a.yaml\"\n"),
            ("databases/default/tables/a.yaml", "\"!include tables.yaml\"\n"),
        ],
        Err("a.yaml:1:1: "),
    );
    check("outside", &[(tables, "- \"!include /etc/hostname\"\n")], Err("lies outside of"));
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
    export::folder(&first).unwrap().iter().for_each(|it| other.write(&it.0, &it.1));
    assert_eq!(other.load().unwrap().document, first);
}
