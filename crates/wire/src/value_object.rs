//! The one definition of a value object: its keys as they stand in JSON, where each value comes from, and what its schema
//! says. Struct, mapping and schema follow from it, so that none of them can be forgotten.

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::breaks::BreakId;
use domain::time::TimeOfDay;
use domain::{Amount, Currency, Date, RiskScope, Timestamp, Uuid};

use crate::json::{AsText, ExactDecimal, Millis};
use crate::object_schema::SchemaType;

/// What the schema says of a type, unless a field has an entry of its own.
pub(crate) trait Described {
    const SCHEMA: SchemaType;
}

macro_rules! described {
    ($($schema:ident: $($type:ty),+;)+) => {
        $($(impl Described for $type {
            const SCHEMA: SchemaType = SchemaType::$schema;
        })+)+
    };
}

described! {
    Id: u64;
    Whole: u8, u16, u32, usize;
    Flag: bool;
    Number: ExactDecimal;
    Millis: Millis;
    Text: &str, String, Cow<'_, str>, AsText<BreakId>, AsText<Amount>, AsText<Timestamp>;
    TextsByKey: BTreeMap<&str, &str>;
    Date: AsText<Date>;
    Hour: AsText<TimeOfDay>;
    Currency: AsText<Currency>;
    Uuid: AsText<Uuid>;
    Scope: AsText<RiskScope>;
}

impl<T: Described> Described for Option<T> {
    const SCHEMA: SchemaType = SchemaType::Maybe(&T::SCHEMA);
}

impl<T: Described> Described for Vec<T> {
    const SCHEMA: SchemaType = SchemaType::List(&T::SCHEMA);
}

impl<T: Described> Described for &[T] {
    const SCHEMA: SchemaType = SchemaType::List(&T::SCHEMA);
}

/// The key of a field: a Rust word in it, such as `type`, is written `r#type`.
pub(crate) const fn key(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Comments begin with a space.
pub(crate) const fn text_of(comment: &'static str) -> &'static str {
    comment.split_at(1).1
}

/// ```text
/// value_object! {
///     /// What the schema says of the whole.
///     pub struct NameVO<'a> ("NameInSchemas", golden)     // golden: contract/json has an example
///     from (value: &'a DomainType) let part = …; {        // without `from`, the fields are public
///         key: RustType = expression,
///         key: RustType [SchemaType] = expression,        // where the type alone does not say it
///         ? key: RustType = expression of an Option,      // left out where it is None
///     }
/// }
/// ```
macro_rules! value_object {
    (
        $(#[doc = $says:literal])+
        $vis:vis struct $name:ident $(<$life:lifetime>)? ($schema:literal $(, $golden:ident)?)
        from ($($argument:ident: $type:ty),* $(,)?) $(let $pattern:pat = $value:expr;)* {
            $($field:ident: $kind:ty $([$shown:expr])? = $from:expr,)*
            $(? $rare:ident: $rare_kind:ty $([$rare_shown:expr])? = $rare_from:expr,)*
        }
        $(.$with:ident($given:expr))*
    ) => {
        value_object! {
            @define (,)
            $(#[doc = $says])+
            $vis struct $name $(<$life>)? ($schema $(, $golden)?) {
                $($field: $kind $([$shown])?,)*
                $(? $rare: $rare_kind $([$rare_shown])?,)*
            }
            $(.$with($given))*
        }

        impl $(<$life>)? $name $(<$life>)? {
            $vis fn from_domain($($argument: $type),*) -> Self {
                $(let $pattern = $value;)*
                Self { $($field: $from,)* $($rare: $rare_from,)* }
            }
        }
    };
    (
        $(#[doc = $says:literal])+
        $vis:vis struct $name:ident $(<$life:lifetime>)? ($schema:literal $(, $golden:ident)?) {
            $($fields:tt)*
        }
    ) => {
        value_object! {
            @define (pub,)
            $(#[doc = $says])+
            $vis struct $name $(<$life>)? ($schema $(, $golden)?) { $($fields)* }
        }
    };
    (
        @define ($public:vis,)
        $(#[doc = $says:literal])+
        $vis:vis struct $name:ident $(<$life:lifetime>)? ($schema:literal $(, $golden:ident)?) {
            $($field:ident: $kind:ty $([$shown:expr])?,)*
            $(? $rare:ident: $rare_kind:ty $([$rare_shown:expr])?,)*
        }
        $(.$with:ident($given:expr))*
    ) => {
        $(#[doc = $says])+
        #[derive(Debug, serde::Serialize)]
        #[allow(non_snake_case, reason = "the keys as they stand in JSON")]
        $vis struct $name $(<$life>)? {
            $($public $field: $kind,)*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $public $rare: Option<$rare_kind>,
            )*
        }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) const OBJECT: crate::object_schema::ObjectSchema = crate::object_schema::shape(
                $schema,
                crate::value_object::text_of(concat!($($says),+)),
                &[
                    $(crate::object_schema::required(
                        crate::value_object::key(stringify!($field)),
                        value_object!(@schema $kind $([$shown])?),
                    ),)*
                    $(crate::object_schema::optional(
                        crate::value_object::key(stringify!($rare)),
                        value_object!(@schema $rare_kind $([$rare_shown])?),
                    ),)*
                ],
            )
            $(.with_example(crate::object_schema::$golden!($schema)))?
            $(.$with($given))*;
        }

        impl $(<$life>)? crate::value_object::Described for $name $(<$life>)? {
            const SCHEMA: crate::object_schema::SchemaType = crate::object_schema::SchemaType::Shape($schema);
        }
    };
    (@schema $kind:ty) => {
        <$kind as crate::value_object::Described>::SCHEMA
    };
    (@schema $kind:ty [$shown:expr]) => {{
        #[allow(unused_imports, reason = "not every entry needs a list of names")]
        use crate::object_schema::{SchemaType::*, names::*};
        $shown
    }};
}

pub(crate) use value_object;
