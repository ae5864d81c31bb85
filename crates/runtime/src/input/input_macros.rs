//! [`input!`](crate::input!) and [`input_one_of!`](crate::input_one_of!): Rust types as arguments and input objects.

use super::{BoundInput, Input, InputBinder};
use weir_language::schema::TypeRef;

/// Binds by the type that `get` borrows.
#[doc(hidden)]
pub fn bind_input_by<T, I: Input>(
    _get: impl Fn(&T) -> &I,
    binder: &mut InputBinder<'_>,
    ty: TypeRef,
) -> Result<BoundInput, String> {
    Ok(BoundInput { shape: I::shape(binder, ty)?, is_optional: I::IS_OPTIONAL })
}

/// Binds by the content of a variant.
#[doc(hidden)]
pub fn bind_input_variant<T, I: Input>(
    _variant: impl Fn(I) -> T,
    binder: &mut InputBinder<'_>,
    ty: TypeRef,
) -> Result<BoundInput, String> {
    Ok(BoundInput { shape: I::shape(binder, ty)?, is_optional: true })
}

/// Makes a struct the arguments of a field, or an input object: names the fields that are read.
///
/// ```
/// use weir_runtime::input;
/// struct PostsArguments { first: Option<i32>, min_stars: i32 }
/// input!(PostsArguments { first, min_stars as "minStars" });
/// ```
#[macro_export]
macro_rules! input {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@value $rust:ty) => {
        impl $crate::Input for $rust {
            fn shape(
                binder: &mut $crate::InputBinder<'_>, ty: $crate::TypeRef,
            ) -> Result<$crate::Shape, String> {
                binder.object::<Self>(ty)
            }
            fn read(value: $crate::InputValue<'_>) -> Result<Self, $crate::InputError> {
                value.object()
            }
        }
    };
    ($rust:ident { $($field:ident $(as $name:literal)?),* $(,)? }) => {
        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum InputFieldNumber { $($field),* }
            impl $crate::InputObject for $rust {
                const NAME: &'static str = stringify!($rust);
                const FIELDS: &'static [&'static str] = &[$($crate::input!(@name $field $($name)?)),*];
                fn bind_field(
                    index: usize, binder: &mut $crate::InputBinder<'_>, ty: $crate::TypeRef,
                ) -> Result<$crate::BoundInput, String> {
                    $(if index == InputFieldNumber::$field as usize {
                        return $crate::bind_input_by(|it: &$rust| &it.$field, binder, ty);
                    })*
                    Err(format!("there is no field {index}"))
                }
                fn read_fields(fields: &$crate::InputFields<'_>) -> Result<Self, $crate::InputError> {
                    Ok(Self { $($field: fields.get(InputFieldNumber::$field as usize)?),* })
                }
            }
            $crate::input!(@value $rust);
        };
    };
}

/// Makes an enum a `@oneOf` input object: each variant is one of its fields.
///
/// ```
/// use weir_runtime::input_one_of;
/// enum UserBy { Id(String), Email(String) }
/// input_one_of!(UserBy { Id => "id", Email => "email" });
/// ```
#[macro_export]
macro_rules! input_one_of {
    ($rust:ident { $($variant:ident => $name:literal),* $(,)? }) => {
        const _: () = {
            enum InputVariantNumber { $($variant),* }
            impl $crate::InputObject for $rust {
                const NAME: &'static str = stringify!($rust);
                const FIELDS: &'static [&'static str] = &[$($name),*];
                fn bind_field(
                    index: usize, binder: &mut $crate::InputBinder<'_>, ty: $crate::TypeRef,
                ) -> Result<$crate::BoundInput, String> {
                    $(if index == InputVariantNumber::$variant as usize {
                        return $crate::bind_input_variant($rust::$variant, binder, ty);
                    })*
                    Err(format!("there is no field {index}"))
                }
                fn read_fields(fields: &$crate::InputFields<'_>) -> Result<Self, $crate::InputError> {
                    $(if fields.is_given(InputVariantNumber::$variant as usize) {
                        return fields.get(InputVariantNumber::$variant as usize).map($rust::$variant);
                    })*
                    Err($crate::InputError::new("exactly one field must be given"))
                }
            }
            impl $crate::Input for $rust {
                fn shape(
                    binder: &mut $crate::InputBinder<'_>, ty: $crate::TypeRef,
                ) -> Result<$crate::Shape, String> {
                    binder.object::<Self>(ty)
                }
                fn read(value: $crate::InputValue<'_>) -> Result<Self, $crate::InputError> {
                    value.object()
                }
            }
        };
    };
}
