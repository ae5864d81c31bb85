//! Ids of a schema's members: places in its tables.
//!
//! **Invariant:** an id is only used with the schema that made it.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The id as an index into its table.
            #[inline]
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
ids! {
    /// The place of a type in [`Schema::types`](crate::schema::Schema::types).
    TypeId,
    /// The place of a field in [`Schema::fields`](crate::schema::Schema::fields).
    FieldId,
    /// The place of an argument or input field in [`Schema::inputs`](crate::schema::Schema::inputs).
    InputId,
    /// The place of a value in [`Schema::enum_values`](crate::schema::Schema::enum_values).
    EnumValueId,
    /// The place of a directive in [`Schema::directives`](crate::schema::Schema::directives).
    DirectiveId,
}
