//! Federation directives that a file may contain because it is also read by a gateway.
//!
//! Directives that compose graphs have no meaning for one graph and are ignored with a warning. Directives that guard fields
//! are refused: an ignored guard would let every caller in.

/// A directive of federation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Federated {
    /// Name without `@`.
    pub(crate) name: &'static str,
    meaning: Meaning,
}

#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// Relevant only to composition.
    Nothing,
    /// Another graph resolves the field.
    External,
    /// Guards or hides something.
    Guard(&'static str),
}

const ACCESS: &str = "asks a program who may see this, which is not done here: write `@requiresScopes`, or `@allow(roles: [\"name\"])` of `https://weir.example/spec/v1`";
const CONTEXT: &str =
    "hands values down from parents, which is not done here: ask for them with `$this` or an argument";

/// All of them.
pub(crate) static FEDERATED: [Federated; 13] = [
    without_meaning("key"),
    without_meaning("extends"),
    without_meaning("shareable"),
    without_meaning("override"),
    without_meaning("provides"),
    without_meaning("requires"),
    without_meaning("tag"),
    without_meaning("composeDirective"),
    without_meaning("interfaceObject"),
    Federated { name: "external", meaning: Meaning::External },
    guard("policy", ACCESS),
    guard("context", CONTEXT),
    guard("fromContext", CONTEXT),
];

const fn without_meaning(name: &'static str) -> Federated {
    Federated { name, meaning: Meaning::Nothing }
}

const fn guard(name: &'static str, why: &'static str) -> Federated {
    Federated { name, meaning: Meaning::Guard(why) }
}

impl Federated {
    /// True if another graph resolves the field.
    pub(crate) fn is_external(&self) -> bool {
        self.meaning == Meaning::External
    }

    /// Reason why the directive is refused; `None` if it is allowed.
    pub(crate) const fn refusal(&self) -> Option<&'static str> {
        match self.meaning {
            Meaning::Guard(why) => Some(why),
            Meaning::Nothing | Meaning::External => None,
        }
    }
}
