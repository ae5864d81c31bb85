//! Calls of functions in place of tables.
//!
//! Arguments are named, so that those left out take their defaults.

use super::{Renderer, Scope};
use crate::relational::{Call, Query};

/// What a function is told of the session: there is one role.
const SESSION: &str = "'{\"x-hasura-role\":\"admin\"}'";

impl Renderer<'_> {
    /// What a query reads, under a new alias.
    pub(crate) fn scope(&mut self, query: &Query) -> Scope {
        let scope = self.alias(query.table);
        if let Some(call) = &query.call {
            self.calls.push((scope.alias, call.clone()));
        }
        scope
    }

    /// `"public"."fn"("a" => $1)`. What gives no row where it is no set gives one of nulls: that is left out.
    pub(super) fn call(&mut self, call: &Call) {
        let (tracked, function) = self.model.function(call.function);
        self.sql.push_str(if function.is_set { "" } else { "(SELECT f.* FROM " });
        self.dialect.table(&mut self.sql, &function.schema, &function.name);
        self.sql.push('(');
        let mut word = "";
        for (place, value) in &call.arguments {
            let argument = &function.arguments[*place as usize];
            let value = match value {
                None => "NULL".to_owned(),
                Some(value) => {
                    let bound = self.bind(value, self.dialect.given_type(argument.oid));
                    self.dialect.given(bound, argument.oid)
                }
            };
            self.argument(word, &argument.name, &value);
            word = ", ";
        }
        if let Some(place) = tracked.session {
            self.argument(word, &function.arguments[place as usize].name, SESSION);
        }
        self.sql.push_str(if function.is_set { ")" } else { ") AS f WHERE NOT (f IS NULL))" });
    }

    fn argument(&mut self, word: &str, name: &str, value: &str) {
        self.sql.push_str(word);
        self.dialect.identifier(&mut self.sql, name);
        self.sql.push_str(" => ");
        self.sql.push_str(value);
    }
}
