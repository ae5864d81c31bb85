//! Directives of federation: a text for several graphs is read for the one that it is here.
//!
//! Directives that compose graphs have no meaning for one graph and are ignored with a warning. Directives that guard fields
//! are refused: an ignored guard would let every caller in.

/// A directive of federation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Federated {
    /// Without `@`.
    pub(super) name: &'static str,
    meaning: Meaning,
}

#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// Of use to a composition only.
    Nothing,
    /// Another graph gives the field.
    External,
    /// It guards or hides something.
    Guard(&'static str),
}

const ACCESS: &str = "asks a program who may see this, which is not done here: write `@requiresScopes`, or `@allow(roles: [\"name\"])` of `https://weir.example/spec/v1`";
const HIDDEN: &str =
    "hides this from clients, which is not done here: take it out of the text, or leave the directive out";
const CONTEXT: &str =
    "hands values down from parents, which is not done here: ask for them with `$this` or an argument";

/// All of them.
pub(super) static FEDERATED: [Federated; 16] = [
    nothing("key"),
    nothing("extends"),
    nothing("shareable"),
    nothing("override"),
    nothing("provides"),
    nothing("requires"),
    nothing("tag"),
    nothing("composeDirective"),
    nothing("interfaceObject"),
    nothing("cost"),
    nothing("listSize"),
    Federated { name: "external", meaning: Meaning::External },
    guard("inaccessible", HIDDEN),
    guard("policy", ACCESS),
    guard("context", CONTEXT),
    guard("fromContext", CONTEXT),
];

const fn nothing(name: &'static str) -> Federated {
    Federated { name, meaning: Meaning::Nothing }
}

const fn guard(name: &'static str, why: &'static str) -> Federated {
    Federated { name, meaning: Meaning::Guard(why) }
}

impl Federated {
    /// True if another graph gives the field.
    pub(super) fn is_external(&self) -> bool {
        self.meaning == Meaning::External
    }

    /// Why it cannot stand in a text that is served.
    pub(super) const fn refusal(&self) -> Option<&'static str> {
        match self.meaning {
            Meaning::Guard(why) => Some(why),
            Meaning::Nothing | Meaning::External => None,
        }
    }
}
