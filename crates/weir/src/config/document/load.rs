//! Reads `weir.yaml` into a checked [`Config`]; errors have file, line, column and a suggested fix.
//!
//! `${NAME}` and `${NAME:-default}` in values are filled from the environment (`variables`). Messages show no
//! value of the environment. Relative file names are relative to the directory of the file.

use super::places::{FilePlace, Node, Places, path_text};
use super::variables::fill;
use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::{Config, Service};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use weir_metadata::read::{self, SettingFault};
use weir_metadata::{Step, check};
use weir_relational::catalog::ConfigStep;

/// Maximum file size, in bytes.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// An error in a configuration file.
#[derive(Debug)]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// Where it is, if it is anywhere.
    pub place: Option<FilePlace>,
    /// The cause and how to fix it.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(FilePlace { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for LoadError {}

/// Reads the file at `path` with the process's environment, applies `overrule`, and checks the result.
/// # Errors
/// The file cannot be read, is not YAML, has unknown keys, or contradicts itself.
pub fn file(path: &Path, overrule: impl FnOnce(&mut Config)) -> Result<Config, LoadError> {
    let fail = |message: String| LoadError { file: path.to_path_buf(), place: None, message };
    let bytes = std::fs::metadata(path).map_err(|cause| fail(format!("cannot be read: {cause}")))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(fail(format!("is {bytes} bytes long; {FILE_BYTES_MAX} are allowed")));
    }
    let text = std::fs::read_to_string(path).map_err(|cause| fail(format!("cannot be read: {cause}")))?;
    // Variables of other programs need not be text.
    let variables =
        std::env::vars_os().filter_map(|it| Some((it.0.into_string().ok()?, it.1.into_string().ok()?)));
    self::text(&text, path, variables.collect(), overrule)
}

/// Like [`file()`], from `text`. `path` is used in messages and as the base of relative file names.
/// # Errors
/// See [`file()`].
pub fn text(
    text: &str,
    path: &Path,
    environment: HashMap<String, String>,
    overrule: impl FnOnce(&mut Config),
) -> Result<Config, LoadError> {
    let read = read::settings::<Config>(text, &|value| fill(value, &environment));
    let (mut config, tree) = read.map_err(|fault| to_load_error(fault, text, path))?;
    config.places = Places { file: path.to_path_buf(), root: Node::from(&tree) };
    entries(&mut config)?;
    from_directory(&mut config, path.parent().unwrap_or(Path::new("")));
    overrule(&mut config);
    config.check().map_err(|message| LoadError { file: path.to_path_buf(), place: None, message })?;
    Ok(config)
}

/// Checks entries of tables beyond what their types guarantee.
fn entries(config: &mut Config) -> Result<(), LoadError> {
    for (at, source) in config.sources.iter_mut().enumerate() {
        source.of_file = Some(at);
        let fail = |path: Vec<ConfigStep>, message: String| {
            let place = config.places.find(&path);
            let message = format!("`{}`: {message}", path_text(&path));
            LoadError { file: config.places.file.clone(), place, message }
        };
        let own = |below: &[Step]| -> Vec<ConfigStep> {
            ["sources".into(), at.into()].into_iter().chain(below.iter().map(step)).collect()
        };
        if let Some((path, message)) = check::member_faults(&source.tables).into_iter().next() {
            return Err(fail(own(&path), message));
        }
    }
    Ok(())
}

/// Resolves relative file names against `base`.
fn from_directory(config: &mut Config, base: &Path) {
    if let Some(tls) = &mut config.tls {
        tls.certificate = base.join(&tls.certificate);
        tls.key = base.join(&tls.key);
    }
    if let Some(metadata) = &mut config.metadata {
        *metadata = base.join(&*metadata);
    }
    if let Some(Ok(Address::Sqlite(file))) = config.state.as_deref().map(address::parse) {
        config.state = Some(format!("sqlite:{}", base.join(file).display()));
    }
    for file in &mut config.operations.persisted.files {
        file.path = base.join(&file.path);
    }
    for source in &mut config.sources {
        for file in source.native.iter_mut().chain(&mut source.file).chain(&mut source.ca) {
            *file = base.join(&*file);
        }
        for file in source.services.values_mut().flat_map(Service::files_mut) {
            *file = base.join(&*file);
        }
        if let Some(store) = source.store.as_mut().filter(|it| !it.contains("://")) {
            *store = base.join(store.strip_prefix("sqlite:").unwrap_or(store)).display().to_string();
        }
        // A malformed address is reported when the source is opened.
        if let Ok(Address::Sqlite(file)) = address::parse(&source.url) {
            source.url = format!("sqlite:{}", base.join(file).display());
        }
    }
}

fn step(step: &Step) -> ConfigStep {
    match step {
        Step::Key(key) => ConfigStep::Key(key.to_string()),
        Step::Item(item) => ConfigStep::Item(*item),
    }
}

/// The error with its location and, for an invalid value, its key: ``weir.yaml:1:10: `threads`: …``.
fn to_load_error(fault: SettingFault, text: &str, path: &Path) -> LoadError {
    let place = FilePlace { line: fault.place.line.into(), column: fault.place.column.into() };
    let fail = |place, message| LoadError { file: path.to_path_buf(), place: Some(place), message };
    if fault.path.is_empty()
        && let Some(torn) = unquoted_variable(text, place)
    {
        return fail(torn, "between `{ }` or `[ ]` a variable stands in quotes: `\"${NAME}\"`".to_owned());
    }
    let key = path_text(&fault.path.iter().map(step).collect::<Vec<_>>());
    let message = if key.is_empty() { fault.message } else { format!("`{key}`: {}", fault.message) };
    fail(place, message)
}

/// Location of an unquoted `${NAME}` between `{ }` or `[ ]`, where YAML parses it as a flow mapping and reports a syntax error at its
/// brace.
fn unquoted_variable(text: &str, brace: FilePlace) -> Option<FilePlace> {
    let FilePlace { line, column } = brace;
    let line_text = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let end = line_text.char_indices().nth(usize::try_from(column).ok()?).map_or(line_text.len(), |it| it.0);
    let at = line_text[..end].rfind("${")?;
    let column = line_text[..at].chars().count() as u64 + 1;
    (!line_text[at..end].contains('}')).then_some(FilePlace { line, column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_metadata::Json;

    fn environment() -> HashMap<String, String> {
        let set = [
            ("PORT", "9000"),
            ("SECRET", "hush"),
            ("NUMBER", "007"),
            ("TWICE", "${SECRET}"),
            ("BIG", "77777777"),
        ];
        set.map(|(name, value)| (name.into(), value.into())).into()
    }

    fn check(yaml: &str, expected: Result<fn(&Config) -> bool, &str>) {
        match (text(yaml, Path::new("conf/weir.yaml"), environment(), |_| {}), expected) {
            (Ok(config), Ok(holds)) => assert!(holds(&config), "{config:?}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn an_empty_file_is_all_defaults() {
        check("", Ok(|it| it.listen == crate::config::Listen::default()));
        check("# Only a comment.\n", Ok(|it| it.sources.is_empty()));
    }

    #[test]
    fn an_unknown_key_names_its_place_and_the_nearest_key() {
        check("lisen: 127.0.0.1:1\n", Err("conf/weir.yaml:1:1: unknown key `lisen`; did you mean `listen`?"));
        check(
            "limits:\n  depth_maxx: 3\n",
            Err("weir.yaml:2:3: unknown key `depth_maxx`; did you mean `depth_max`?"),
        );
        check("zzzzzzzzzz: 1\n", Err("known here: listen"));
        let beside = "sources:\n  - name: ${SECRET}\n    urll: a.db\n";
        check(beside, Err("weir.yaml:3:5: unknown key `urll`; did you mean `url`?"));
    }

    #[test]
    fn the_environment_fills_plain_texts() {
        check("listen: 127.0.0.1:${PORT}\n", Ok(|it| it.listen.0.port() == 9000));
        check("listen: 127.0.0.1:${NONE:-7000}\n", Ok(|it| it.listen.0.port() == 7000));
        check(
            "admin_secret: ${SECRET}\n",
            Ok(|it| it.admin_secret.as_ref().is_some_and(|it| it.expose() == "hush")),
        );
        check(
            "admin_secret: ${NONE}\n",
            Err("the environment has no `NONE`; set it, or give a default: `${NONE:-…}`"),
        );
    }

    #[test]
    fn the_environment_fills_numbers_and_booleans() {
        check("limits:\n  depth_max: ${NONE:-10}\n", Ok(|it| it.limits.depth_max == 10));
        check(
            "dev: ${NONE:-true}\nthreads: ${NONE:-3}\n",
            Ok(|it| it.dev == Some(true) && it.threads == Some(3)),
        );
        check("listen: ${PORT}\n", Ok(|it| it.listen.0.port() == 9000));
        check(
            "compression:\n  enabled: ${NONE:-false}\n  bytes_min: ${PORT}\n",
            Ok(|it| !it.compression.enabled && it.compression.bytes_min == 9000),
        );
        check("cache:\n  bytes_max: ${PORT}\n", Ok(|it| it.cache.bytes_max == 9000));
        let postgres =
            "sources:\n  - name: a\n    postgres:\n      lanes: ${NONE:-2}\n      watch_ddl: ${NONE:-true}\n";
        check(
            postgres,
            Ok(|it| it.sources[0].postgres.as_ref().is_some_and(|it| it.lanes == Some(2) && it.watch_ddl)),
        );
        check("limits:\n  depth_max: ${NONE:-ten}\n", Err("weir.yaml:2:14: `limits.depth_max`: "));
        check("limits: {depth_max: \"${NONE:-10}\"}\n", Ok(|it| it.limits.depth_max == 10));
        let torn = "between `{ }` or `[ ]` a variable stands in quotes: `\"${NAME}\"`";
        check("# é\nlimits: {depth_max: ${NONE:-10}}\n", Err(&format!("weir.yaml:2:21: {torn}")));
        check("cors: {origins: [https://a.example, ${PORT}]}\n", Err(&format!("weir.yaml:1:37: {torn}")));
    }

    #[test]
    fn the_environment_fills_quoted_texts() {
        let secret = |expected: &'static str| {
            move |it: &Config| it.admin_secret.as_ref().is_some_and(|it| it.expose() == expected)
        };
        for (written, expected) in [
            ("\"${SECRET}\"", "hush"),
            ("'${SECRET}'", "hush"),
            ("'a ${SECRET} b ${NONE:-c}'", "a hush b c"),
            ("\"${NUMBER}\"", "007"),
            ("${NUMBER}", "007"),
            ("|-\n  ${SECRET}", "hush"),
            ("\"$${SECRET}\"", "${SECRET}"),
            ("$${SECRET}", "${SECRET}"),
            ("\"pa$$wo$SECRET$\"", "pa$$wo$SECRET$"),
            ("pa$$wo$SECRET$", "pa$$wo$SECRET$"),
            // A value of the environment is not filled again.
            ("\"${TWICE}\"", "${SECRET}"),
        ] {
            let found = text(&format!("admin_secret: {written}\n"), Path::new("w"), environment(), |_| {});
            assert!(found.as_ref().is_ok_and(secret(expected)), "{written}: {found:?}");
        }
        check(
            "sources:\n  - name: \"${SECRET}\"\n    url: \"postgres://a:${SECRET}@h/${NONE:-d}\"\n",
            Ok(|it| it.sources[0].name == "hush" && it.sources[0].url == "postgres://a:hush@h/d"),
        );
        check("cache:\n  redis: \"redis://${NONE:-h}:6379\"\n", Ok(|it| it.cache.redis.is_some()));
        check(
            "sources:\n  - name: a\n    config: {a: \"${PORT}\", \"${b}\": 'c$'}\n",
            Ok(|it| {
                let config = &it.sources[0].config;
                config["a"] == Json::Text("9000".into()) && config["${b}"] == Json::Text("c$".into())
            }),
        );
    }

    #[test]
    fn a_quoted_variable_without_a_value_is_refused_with_its_place() {
        check("admin_secret: \"${NONE}\"\n", Err("weir.yaml:1:15: the environment has no `NONE`; set it"));
        check(
            "log: {level: \"${SECRET}\", format: '${NONE}'}\n",
            Err("weir.yaml:1:35: the environment has no"),
        );
        check("admin_secret: '${NONE:?ask Ada}'\n", Err("the environment has no `NONE`: ask Ada"));
        check("admin_secret: '${a.b}'\n", Err("`${` begins a variable"));
        check("admin_secret: \"${NONE\"\n", Err("`${` begins a variable"));
        check("admin_secret: a${NONE\n", Err("`${` begins a variable"));
        check("threads: \"${NONE:-ten}\"\n", Err("weir.yaml:1:10: `threads`: "));
    }

    #[test]
    fn a_wrong_value_names_its_key() {
        check("listen: nonsense\n", Err("weir.yaml:1:9: `listen`: `nonsense` is no address to listen on"));
        check("admin_listen: nonsense\n", Err("`admin_listen`: `nonsense` is no address"));
        check("listen: 8081\n", Ok(|it| it.listen.0.to_string() == "127.0.0.1:8081"));
        check("listen: localhost:8081\n", Ok(|it| it.listen.0.to_string() == "127.0.0.1:8081"));
        check("limits:\n  depth_max: ten\n", Err("weir.yaml:2:14: `limits.depth_max`: "));
        check("limits: {depth_max: 0}\n", Err("`limits.depth_max` is 0"));
        check("sources:\n  - name: a\n    url: [1]\n", Err("`sources[0].url`: "));
    }

    #[test]
    fn a_secret_of_the_environment_is_not_in_the_message() {
        for yaml in [
            "threads: ${SECRET}\n",
            "threads: \"${SECRET}\"\n",
            "listen: \"${SECRET}\"\n",
            "dev: '${SECRET}'\n",
            "log: {format: \"${SECRET}\"}\n",
            "threads: ${BIG}\n",
            "sources: ${SECRET}\n",
        ] {
            let error = text(yaml, Path::new("w"), environment(), |_| {}).unwrap_err();
            let shown = error.to_string();
            assert!(!shown.contains("hush") && !shown.contains("777"), "{error}");
        }
    }

    #[test]
    fn file_names_are_relative_to_the_directory_of_the_configuration() {
        check(
            "tls: {certificate: a.pem, key: /b.pem}\n",
            Ok(|it| {
                let tls = it.tls.as_ref().expect("the block is there");
                tls.certificate == Path::new("conf/a.pem") && tls.key == Path::new("/b.pem")
            }),
        );
    }

    #[test]
    fn a_value_that_does_not_fit_is_told_with_what_would() {
        check(
            "threads: 70000\n",
            Err("1:10: `threads`: a whole number up to 65535 is expected, and this is `70000`"),
        );
        check(
            "threads: ten\n",
            Err("`threads`: a whole number up to 65535 is expected, and this is the string `ten`"),
        );
        check("threads: 1.5\n", Err("`1.5` is no whole number"));
        check("limits: 7\n", Err("`limits`: an object is expected, and this is `7`"));
        check("admin_secret: true\n", Err("`admin_secret`: a string is expected, and this is `true`"));
        check("sources: {a: 1}\n", Err("`sources`: a list is expected, and this is an object"));
        check("threads: ${PORT}0\n", Err("does not fit: a whole number up to 65535 is expected"));
    }

    #[test]
    fn digits_are_a_text_where_one_is_expected_and_nothing_is_a_default() {
        let secret = |it: &Config| {
            it.admin_secret.as_ref().is_some_and(|it| it.expose() == "1234567890123456789012.50")
        };
        check("admin_secret: 1234567890123456789012.50\nlimits:\n", Ok(secret));
    }

    #[test]
    fn a_wrong_variant_lists_the_right_ones() {
        check("log: {format: xml}\n", Err("`xml` is none of: text, json"));
    }

    #[test]
    fn a_place_is_said_once() {
        let yaml = "sources:\n  - name: a\n    url: a.db\n    tables:\n      - table: T\n        event_triggers: [{name: t}]\n";
        check(yaml, Err("weir.yaml:6:"));
        let error = text(yaml, Path::new("w"), HashMap::new(), |_| {}).unwrap_err().to_string();
        let expected = "w:6:26: `sources[0].tables[0].event_triggers[0]`: key \"definition\" not found";
        assert_eq!(error, expected);
    }

    #[test]
    fn conditions_of_permissions_keep_their_digits() {
        let yaml = "sources:\n  - name: a\n    url: a.db\n    tables:\n      - table: T\n        select_permissions:\n          - role: u\n            \
                    permission: {columns: '*', filter: {a: {_eq: 12345678901234567890.50}, b: {_in: [007, '1']}}}\n";
        let config = text(yaml, Path::new("w"), HashMap::new(), |_| {}).expect("it is read");
        let filter = &config.sources[0].tables[0].select_permissions[0].permission.filter;
        let written = serde_json::to_string(filter).expect("it can be written");
        assert_eq!(written, r#"{"a":{"_eq":12345678901234567890.50},"b":{"_in":["007","1"]}}"#);
        check(&yaml.replace("role: u", "role: admin"), Err("cannot define permission for admin role"));
    }

    #[test]
    fn broken_yaml_and_bombs_are_errors() {
        check("listen: [", Err("weir.yaml"));
        let bomb =
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n";
        check(bomb, Err("unknown key"));
    }
}
