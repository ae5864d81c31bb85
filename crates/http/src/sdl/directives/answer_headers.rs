//! `answerHeaders` of `@policy`: headers of answers that reach the client.

use crate::call::AnswerRule;
use crate::sdl::Reader;
use http::HeaderName;
use weir_engine::source::HeaderMerge;
use weir_language::ast::ValueId;

/// Maximum number of headers of one service.
const RULES_MAX: usize = 50;

impl Reader<'_> {
    /// Reads `[{name: "X-Total", merge: "join"}]`.
    pub(crate) fn answer_rules(&mut self, value: ValueId) -> Vec<AnswerRule> {
        let mut rules: Vec<AnswerRule> = Vec::new();
        let items = self.items(value);
        if items.len() > RULES_MAX {
            self.complain_of(value, format!("more than {RULES_MAX} headers are too many"));
            return rules;
        }
        for item in items {
            let Some(mut fields) = self.object(item, "answerHeaders") else { continue };
            let name = self.need(&mut fields, "name").and_then(|it| self.string(it));
            let merge = self.take(&mut fields, "merge");
            self.finish(fields);
            let merge = merge.map_or(Some(HeaderMerge::Append), |it| self.header_merge(it));
            let Some((name, merge)) = name.zip(merge) else { continue };
            let rule = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("`{name}` is no name of a header"))
                .and_then(|it| AnswerRule::new(it, merge));
            match rule {
                Ok(rule) if rules.iter().any(|it| it.name == rule.name) => {
                    self.complain_of(item, format!("header `{name}` is named twice"));
                }
                Ok(rule) => rules.push(rule),
                Err(message) => self.complain_of(item, message),
            }
        }
        rules
    }

    fn header_merge(&mut self, value: ValueId) -> Option<HeaderMerge> {
        let text = self.string(value)?;
        let merge = match &*text {
            "append" => Some(HeaderMerge::Append),
            "first" => Some(HeaderMerge::First),
            "last" => Some(HeaderMerge::Last),
            "join" => Some(HeaderMerge::Join),
            _ => None,
        };
        if merge.is_none() {
            let message = format!("`{text}` is no `merge`: there are `append`, `first`, `last` and `join`");
            self.complain_of(value, message);
        }
        merge
    }
}
