//! Values of arguments that a relationship or a permission sets: JSON with values of keys or of the session.
//!
//! **Cost:** a template is parsed once; a value is a copy of its parts.

use weir_language::json::{Json, JsonRef};
use weir_language::string_value::write_json;

/// Maximum nesting of a template and of a value that it is merged with.
const DEPTH_MAX: u32 = 200;

/// JSON with gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    /// JSON as it stands.
    Text(String),
    /// The value of the key with this number.
    Key(usize),
}

impl Template {
    /// Reads the JSON `text`, in which a text such as `"$name"` stands for the key whose place among the keys `find` tells.
    /// # Errors
    /// The text is no JSON, or names an unknown key.
    pub(crate) fn parse(text: &str, find: &dyn Fn(&str) -> Option<usize>) -> Result<Self, String> {
        let json = Json::parse(text.as_bytes(), DEPTH_MAX).map_err(|error| error.to_string())?;
        let mut template = Self::default();
        template.push(json.root(), find)?;
        Ok(template)
    }

    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(TemplatePart::Text(last)) => last.push_str(text),
            Some(TemplatePart::Key(_)) | None => self.parts.push(TemplatePart::Text(text.to_owned())),
        }
    }

    /// The recursion is as deep as the JSON, which is bounded.
    fn push(&mut self, value: JsonRef<'_>, find: &dyn Fn(&str) -> Option<usize>) -> Result<(), String> {
        if value.is_object() {
            self.text("{");
            for (at, (name, member)) in value.members().enumerate() {
                let mut key = String::from(if at > 0 { "," } else { "" });
                write_json(&name, &mut key);
                key.push(':');
                self.text(&key);
                self.push(member, find)?;
            }
            self.text("}");
        } else if value.is_array() {
            self.text("[");
            for (at, item) in value.items().enumerate() {
                self.text(if at > 0 { "," } else { "" });
                self.push(item, find)?;
            }
            self.text("]");
        } else if let Some(name) = value.as_str().as_deref().and_then(|it| it.strip_prefix('$')) {
            let key = find(name).ok_or_else(|| format!("`${name}` is none of the relationship's fields"))?;
            self.parts.push(TemplatePart::Key(key));
        } else {
            self.text(value.raw());
        }
        Ok(())
    }

    /// Numbers of the keys that it uses.
    pub(crate) fn keys(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(|it| match it {
            TemplatePart::Key(key) => Some(*key),
            TemplatePart::Text(_) => None,
        })
    }

    /// Appends its value; `key` writes the value of a key.
    pub(crate) fn write(&self, key: &dyn Fn(usize, &mut String), out: &mut String) {
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => out.push_str(text),
                TemplatePart::Key(at) => key(*at, out),
            }
        }
    }
}

/// Appends the JSON `client` with what `fixed` sets: members of objects are merged, items of lists follow, other values are those of
/// `fixed`. Text that is no JSON counts as absent.
pub(crate) fn merge(client: &str, fixed: &str, out: &mut String) {
    let parse = |text| Json::parse(str::as_bytes(text), DEPTH_MAX).ok();
    match (parse(client), parse(fixed)) {
        (Some(client), Some(fixed)) => merge_values(client.root(), fixed.root(), out),
        (_, Some(_)) => out.push_str(fixed),
        (_, None) => out.push_str(client),
    }
}

fn merge_values(client: JsonRef<'_>, fixed: JsonRef<'_>, out: &mut String) {
    if client.is_object() && fixed.is_object() {
        out.push('{');
        let mut between = "";
        for (name, member) in client.members() {
            out.push_str(between);
            write_json(&name, out);
            out.push(':');
            match fixed.get(&name) {
                Some(own) => merge_values(member, own, out),
                None => out.push_str(member.raw()),
            }
            between = ",";
        }
        for (name, member) in fixed.members().filter(|it| client.get(&it.0).is_none()) {
            out.push_str(between);
            write_json(&name, out);
            out.push(':');
            out.push_str(member.raw());
            between = ",";
        }
        out.push('}');
    } else if client.is_array() && fixed.is_array() {
        out.push('[');
        for (at, item) in client.items().chain(fixed.items()).enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            out.push_str(item.raw());
        }
        out.push(']');
    } else {
        out.push_str(fixed.raw());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let find = |name: &str| ["id", "code"].iter().position(|it| *it == name);
        let filled = Template::parse(text, &find).map(|template| {
            let mut out = String::new();
            template.write(&|key, out| out.push_str(["7", "\"x\\\"y\""][key]), &mut out);
            out
        });
        assert_eq!(filled.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn texts_that_name_keys_become_their_values() {
        check(r#""$id""#, Ok("7"));
        check(
            r#"{"a": {"b": ["$code", 1.50, null, "no $id", true]}}"#,
            Ok(r#"{"a":{"b":["x\"y",1.50,null,"no $id",true]}}"#),
        );
        check(r#"{"a\n": "é\""}"#, Ok("{\"a\\n\":\"é\\\"\"}"));
        check(r#""$other""#, Err("`$other` is none of the relationship's fields"));
    }

    #[test]
    fn values_are_merged() {
        let check = |client: &str, fixed: &str, expected: &str| {
            let mut out = String::new();
            merge(client, fixed, &mut out);
            assert_eq!(out, expected);
        };
        check(r#"{"a":1,"b":{"c":2}}"#, r#"{"b":{"d":"x","c":3}}"#, r#"{"a":1,"b":{"c":3,"d":"x"}}"#);
        check("[1,\"a\"]", "[2]", "[1,\"a\",2]");
        check("1", "2", "2");
        check("", "{}", "{}");
        check("null", "{\"a\":1}", "{\"a\":1}");
    }
}
