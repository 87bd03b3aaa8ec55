//! A value of a row that is copied into a table.

use std::error::Error;

use bytes::BytesMut;
use domain::Decimal;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::numeric;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Long(i64),
    Int(i32),
    Small(i16),
    Text(String),
    Bytes(Vec<u8>),
    Number(Decimal),
    Flag(bool),
}

impl Cell {
    /// A number of ours. None of those that are stored is larger than 2^63 - 1.
    pub(crate) fn id(number: u64) -> Self {
        Self::Long(bound(number))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(storable(text))
    }

    pub(crate) fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, cell)
    }
}

/// A number of ours as PostgreSQL has it.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// PostgreSQL has no text with a zero character. Only readable columns are texts: the payload has what was sent.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Long(number) => number.to_sql(kind, out),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Small(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
            Self::Flag(flag) => flag.to_sql(kind, out),
            Self::Number(number) => {
                numeric::encode(*number, out);
                Ok(IsNull::No)
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
