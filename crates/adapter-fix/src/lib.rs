//! Orders to any broker or exchange that speaks FIX. How a venue speaks it is written in a dialect file; the translation reads
//! that file and is pure: it knows no socket and no clock.

mod dialect;
mod wire_ids;
mod requests;
mod message_check;
mod execution;
mod order_chains;
mod reports;

pub use dialect::*;
pub use execution::{ExecutionFields, OrderCondition, contradiction};
pub use message_check::MessageCheck;
pub use order_chains::{CHAIN_FILLS_MAX, ENDED_CHAINS_MAX, OrderChains, SENT_REQUESTS_MAX, SentRequest};
pub use reports::{FixTranslator, InboundMeaning};
pub use requests::{OrderContext, RequestKind, RequestRefusal, cancel, mass_status, new_order, order_status, replace};
pub use wire_ids::ClientIds;
