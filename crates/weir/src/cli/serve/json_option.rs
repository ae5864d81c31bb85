//! Options of commands that are JSON, or a file with it.

use std::path::Path;

/// A JSON option: an object, `FILE` or `@FILE`.
pub(in crate::cli) fn json_of(option: &str, argument: &str) -> Result<String, String> {
    if argument.trim_start().starts_with('{') {
        return Ok(argument.to_owned());
    }
    let file = argument.strip_prefix('@').unwrap_or(argument);
    read(Path::new(file)).map_err(|cause| format!("{option}: no JSON object and no file: {cause}"))
}

/// The text of `file`.
pub(in crate::cli) fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|cause| format!("{}: {cause}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_an_object_or_stand_in_a_file() {
        let file = std::env::temp_dir().join(format!("weir-variables-{}.json", std::process::id()));
        let name = file.display().to_string();
        std::fs::write(&file, "{\"id\": 1}").expect("it is written");
        for given in [name.clone(), format!("@{name}"), "{\"id\": 1}".to_owned()] {
            assert_eq!(json_of("--variables", &given).as_deref(), Ok("{\"id\": 1}"));
        }
        std::fs::remove_file(&file).expect("it was there");
        let words = json_of("--variables", &name).expect_err("no such file");
        assert!(words.starts_with("--variables: no JSON object and no file: "), "{words}");
    }
}
