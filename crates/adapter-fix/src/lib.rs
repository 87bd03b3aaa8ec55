//! Orders to any broker or exchange that speaks FIX. How a venue speaks it is written in a dialect file; the translation reads
//! that file and is pure: it knows no socket and no clock. The adapter runs it over one order session.

mod dialect;
mod request_refusal;
mod wire_ids;
mod requests;
mod message_check;
mod execution;
mod order_chains;
mod reports;

mod number_store;
mod request_rate;
mod session;
mod adapter;
mod venue_type;

pub use adapter::FixAdapter;
pub use dialect::*;
pub use execution::{ExecutionFields, OrderCondition, contradiction};
pub use message_check::MessageCheck;
pub use order_chains::{CHAIN_FILLS_MAX, ENDED_CHAINS_MAX, OrderChains, SENT_REQUESTS_MAX, SentRequest};
pub use reports::{FixTranslator, InboundMeaning};
pub use request_refusal::RequestRefusal;
pub use requests::{OrderContext, RequestKind, cancel, mass_status, new_order, order_status, replace};
pub use session::INBOUND_MESSAGES_MAX;
pub use venue_type::{FixVenueType, open_adapter};
pub use wire_ids::ClientIds;
