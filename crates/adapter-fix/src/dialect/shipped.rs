//! Dialects that are part of the program.

use super::model::Dialect;

/// Name and file of each.
pub const SHIPPED_DIALECTS: &[(&str, &str)] = &[
    ("generic-44", include_str!("../../dialects/generic-44.toml")),
    ("generic-50sp2", include_str!("../../dialects/generic-50sp2.toml")),
    ("generic-42", include_str!("../../dialects/generic-42.toml")),
    ("rialto", include_str!("../../dialects/rialto.toml")),
    ("binance-spot", include_str!("../../dialects/binance-spot.toml")),
    ("deribit", include_str!("../../dialects/deribit.toml")),
    ("coinbase-exchange", include_str!("../../dialects/coinbase-exchange.toml")),
    ("quickfix-executor", include_str!("../../dialects/quickfix-executor.toml")),
    ("quickfix-executor-42", include_str!("../../dialects/quickfix-executor-42.toml")),
    ("quickfix-ordermatch", include_str!("../../dialects/quickfix-ordermatch.toml")),
];

/// JSON schema of a dialect file.
pub const DIALECT_SCHEMA: &str = include_str!("../../dialects/dialect.schema.json");

pub fn shipped_dialect(name: &str) -> Option<&'static str> {
    SHIPPED_DIALECTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

impl Dialect {
    /// The shipped dialect of that name.
    pub fn shipped(name: &str) -> Option<Self> {
        let text = shipped_dialect(name)?;
        Some(Self::parse(text).expect("a test reads every shipped dialect"))
    }
}
