//! Dialect: how one venue speaks FIX, as a file says it. What a dialect does not offer is refused before it is sent.

mod section;
mod added_fields;
mod codes;
mod logon_rules;
mod market_rules;
mod model;
mod parse;
mod platform_tags;
mod recovery_rules;
mod security_rules;
mod shipped;
pub(crate) mod uuid_ids;

pub use added_fields::{ExtraField, FieldValue, TextField};
pub use codes::{ExecKind, OrdState};
pub use logon_rules::{LogonCredentials, LogonRules, SessionField, SessionRole, SignatureRules};
pub use model::{
    BookUpdates, Dialect, DialectProof, ExecIdRule, ExecutionRules, FixVersion, IdFormat, IdRules, MarketDataRules,
    OmittedFields, OrderNaming, OrderQuery, OrderRules, PropertyFields, RecoveryRules, SecurityListRules,
    SecurityStatusRules, SessionRules, SideCodes, Throttle, TifCodes, TypeCodes,
};
pub use section::{DialectError, DialectProblem};
pub use shipped::{DIALECT_SCHEMA, SHIPPED_DIALECTS, shipped_dialect};
