//! Names that an expression of a scenario may hold.

use crate::notation::yaml::unknown_name;

/// A name that has a value while an answer is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Name {
    Id,
    /// The place in the list that many levels up, from 0.
    At(usize),
    Path(usize),
    Query(String),
    Header(String),
    Body(Vec<String>),
    Version,
    VersionLeft,
}

/// The meaning of a name outside of lists.
pub(crate) fn resolve(name: &str, parameters: &[String], lists: &[String]) -> Result<Name, String> {
    if let Some(up) = lists.iter().rev().position(|it| it == name) {
        return Ok(Name::At(up));
    }
    if let Some((kind, rest)) = name.split_once('.') {
        return match kind {
            "query" => Ok(Name::Query(rest.to_string())),
            "header" => Ok(Name::Header(rest.to_ascii_lowercase())),
            "body" => Ok(Name::Body(rest.split('.').map(str::to_string).collect())),
            _ => Err(unknown_name("name", kind, &["query", "header", "body"])),
        };
    }
    match name {
        "id" => Ok(Name::Id),
        "version" => Ok(Name::Version),
        "version_left_s" => Ok(Name::VersionLeft),
        _ => match parameters.iter().position(|it| it == name) {
            Some(at) => Ok(Name::Path(at)),
            None => {
                let mut known: Vec<&str> =
                    vec!["id", "version", "version_left_s", "words", "between", "pick", "chance"];
                known.extend(parameters.iter().chain(lists).map(String::as_str));
                Err(unknown_name("name", name, &known))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::expression::{Expression, Known, Value};

    struct Seven;

    impl Known<Name> for Seven {
        fn value(&self, name: &Name) -> Value<'_> {
            match name {
                Name::Id => Value::Int(7),
                Name::Query(it) => Value::Text(it.clone().into()),
                Name::At(_)
                | Name::Path(_)
                | Name::Header(_)
                | Name::Body(_)
                | Name::Version
                | Name::VersionLeft => Value::Null,
            }
        }
        fn seed(&self) -> u64 {
            1
        }
    }

    fn check(text: &str, expected: Result<Value<'_>, &str>) {
        let read = Expression::read(text, &|name| resolve(name, &[], &[]), &mut 0);
        match (read, expected) {
            (Ok(it), Ok(expected)) => assert_eq!(it.value(&Seven), expected, "{text}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn sums_bind_as_usual() {
        check("1 + id * 3 % 4", Ok(Value::Int(2)));
        check("(id - 1) / 4", Ok(Value::Int(1)));
        check("id % 4 + 0.5", Ok(Value::Decimal(3.5)));
        check("id == 7", Ok(Value::Bool(true)));
        check("id-1 < 6", Ok(Value::Bool(false)));
        check("id / 0", Ok(Value::Null));
        check("query.x-y", Ok(Value::Text("x-y".into())));
        check("query.a + 1", Ok(Value::Null));
    }

    #[test]
    fn what_is_made_up_is_the_same_each_time() {
        check("words 2", Ok(Value::Text("maple silver".into())));
        check("between 1 90", Ok(Value::Int(16)));
        check("pick BAT BOWL 'ALL ROUND'", Ok(Value::Text("BAT".into())));
        check("chance 1.0", Ok(Value::Bool(true)));
    }

    #[test]
    fn mistakes_say_what_was_meant() {
        check("wrods 2", Err("did you mean `words`?"));
        check("between 1", Err("`between` takes 2"));
        check("1 +", Err("a value is missing"));
        check("(1", Err("a `)` is missing"));
        check("1 2", Err("an operator is missing"));
        check("form.x", Err("unknown name `form`"));
        check(&format!("{}1{}", "(".repeat(40), ")".repeat(40)), Err("nest deeper"));
    }
}
