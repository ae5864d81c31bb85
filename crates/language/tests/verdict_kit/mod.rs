//! Documents whose verdict is known or compared: shared with the oracle of `bench/language`.

pub(crate) mod corpus;
pub(crate) mod typed;
