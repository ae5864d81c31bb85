//! The refusal of a handler: the body of an answer with a status from 400 to 499.

use crate::action_error::{ActionCode, ActionError};
use weir_language::json::{JsonKind, JsonRef};

/// The error that `body` is; `status` is the handler's.
pub(crate) fn read_refusal(body: JsonRef<'_>, status: u16) -> ActionError {
    match read(body) {
        Ok(error) => ActionError { status: Some(status), ..error },
        Err(error) => error,
    }
}

fn read(body: JsonRef<'_>) -> Result<ActionError, ActionError> {
    if !body.is_object() {
        return Err(unreadable("$", format!("expected Object, but encountered {}", kind_name(body))));
    }
    let Some(message) = body.get("message") else {
        return Err(unreadable("$", "key \"message\" not found".into()));
    };
    let message = read_text(message, "message")?;
    let code = body.get("code").filter(|it| !it.is_null()).map(|it| read_text(it, "code")).transpose()?;
    let extensions = body.get("extensions").filter(|it| !it.is_null()).map(|it| it.raw().into());
    Ok(ActionError { extensions, ..ActionError::new(ActionCode::Refused(code), message) })
}

fn read_text(value: JsonRef<'_>, key: &str) -> Result<String, ActionError> {
    let wrong = || {
        let found = kind_name(value);
        unreadable(
            &format!("$.{key}"),
            format!("parsing Text failed, expected String, but encountered {found}"),
        )
    };
    value.as_str().map(std::borrow::Cow::into_owned).ok_or_else(wrong)
}

fn unreadable(path: &str, message: String) -> ActionError {
    ActionError { path: path.into(), ..ActionError::new(ActionCode::Unreadable, message) }
}

fn kind_name(value: JsonRef<'_>) -> &'static str {
    match value.kind() {
        JsonKind::Null => "Null",
        JsonKind::True | JsonKind::False => "Boolean",
        JsonKind::Number => "Number",
        JsonKind::String { .. } => "String",
        JsonKind::Object => "Object",
        JsonKind::Array => "Array",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    fn check(body: &str, expected: (&str, ActionCode, &str, Option<&str>)) {
        let json = Json::parse(body.as_bytes(), 100).expect("it is JSON");
        let error = read_refusal(json.root(), 422);
        let found = (error.message.as_str(), error.code, &*error.path, error.extensions.as_deref());
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn refusals_are_read() {
        let refused = |code: Option<&str>| ActionCode::Refused(code.map(Into::into));
        check(r#"{"message":"no"}"#, ("no", refused(None), "$", None));
        check(r#"{"message":"no","code":"sold-out"}"#, ("no", refused(Some("sold-out")), "$", None));
        check(
            r#"{"message":"no","code":"a","extensions":{"code":"b","more":[1]}}"#,
            ("no", refused(Some("a")), "$", Some(r#"{"code":"b","more":[1]}"#)),
        );
        check(r#"{"message":"no","extensions":7}"#, ("no", refused(None), "$", Some("7")));
        check(r#"{"message":"no","code":null,"extensions":null}"#, ("no", refused(None), "$", None));
    }

    #[test]
    fn other_bodies_are_errors_with_their_paths() {
        let unreadable = ActionCode::Unreadable;
        check("{}", ("key \"message\" not found", unreadable.clone(), "$", None));
        check("[]", ("expected Object, but encountered Array", unreadable.clone(), "$", None));
        check(
            r#"{"message":1}"#,
            (
                "parsing Text failed, expected String, but encountered Number",
                unreadable.clone(),
                "$.message",
                None,
            ),
        );
        check(
            r#"{"message":"no","code":true}"#,
            ("parsing Text failed, expected String, but encountered Boolean", unreadable, "$.code", None),
        );
    }
}
