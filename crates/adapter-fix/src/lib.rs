//! Orders to any broker or exchange that speaks FIX. How a venue speaks it is written in a dialect file; the translation reads
//! that file and is pure: it knows no socket and no clock. The adapter runs it over an order session, and over one for market
//! data where the venue has one.

mod dialect;
mod requests;
mod message_check;
mod execution;
mod order_chains;
mod reports;
mod answers;
mod refusals;
mod fill_group;
mod busts;
mod account;

mod sessions;
mod market_data;
mod securities;
mod adapter;
mod adapter_prices;
mod adapter_drop_copy;
mod adapter_securities;
mod adapter_account;
mod dialect_trial;
mod venue_type;

pub use account::open_captures::{CaptureScope, trade_capture};
pub use account::position_request::{OpenPositions, PositionStep, position_request};
pub use adapter::FixAdapter;
pub use dialect::*;
pub use dialect_trial::read_dialect;
pub use market_data::{FeedStep, MarketDataFeed, RESTARTS_MAX};
pub use message_check::{MessageCheck, check_logons};
pub use order_chains::{OrderChains, SentRequest};
pub use reports::{FixTranslator, InboundMeaning};
pub use requests::{
    ClientIds, OrderContext, QuestionId, RequestKind, RequestRefusal, cancel, mass_status, new_order, order_status,
    replace,
};
pub use securities::security_list::SecurityList;
pub use securities::security_status::SecurityStatuses;
pub use sessions::number_store::number_disk::{NumberDisk, NumberFile};
pub use sessions::session_runtime::SteppedNetwork;
pub use venue_type::{FixVenueType, open_adapter, open_stepped_adapter};
