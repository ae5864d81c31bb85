//! The text of a JSON document while it is written: every member ends with `,`, and the closer overwrites the last one.

use weir_language::string_value::write_json;

/// The text of a JSON document while it is written.
#[derive(Debug, Default)]
pub(crate) struct JsonText(String);

impl JsonText {
    /// `{` or `[`.
    pub(crate) fn open(&mut self, bracket: char) {
        self.0.push(bracket);
    }

    /// `}` or `]`, in the place of the last comma if there is one.
    pub(crate) fn close(&mut self, bracket: char) {
        if self.0.ends_with(',') {
            self.0.pop();
        }
        self.0.push(bracket);
    }

    /// `,` after a member.
    pub(crate) fn comma(&mut self) {
        self.0.push(',');
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.0.push_str(json);
    }

    /// `"title":`.
    pub(crate) fn key(&mut self, key: &str) {
        self.string(key);
        self.0.push(':');
    }

    /// A JSON string with its quotes. Source: RFC 8259, section 7.
    pub(crate) fn string(&mut self, text: &str) {
        write_json(text, &mut self.0);
    }

    /// The document.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_and_closers_take_the_last_comma() {
        let mut out = JsonText::default();
        out.open('{');
        out.key("a\"\\/é");
        out.string("\u{0}\u{8}\t\n\u{c}\r\u{1f} \u{7f}");
        out.comma();
        out.close('}');
        assert_eq!(out.finish(), "{\"a\\\"\\\\/é\":\"\\u0000\\b\\t\\n\\f\\r\\u001f \u{7f}\"}");
    }
}
