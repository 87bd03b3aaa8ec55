//! Simulated exchange: order books with price-time priority, auctions and participants; and replay venues over recorded
//! prices. No clock, no file, no socket.

pub mod venue;
pub mod config;
pub mod faults;
pub mod record;
mod task_queue;
mod market;
mod accounts;
mod client_orders;
mod reject;
mod venue_calendar;
pub mod replay;
pub mod book;

pub use accounts::account::Deposit;
pub use book::SelfTradeRule;
pub use config::{ConfigError, ListedSecurity, OpeningQuotes, ParticipantActivity, UnitCosts, VenueConfig, VenueFees};
pub use faults::{Faults, LinesDown, ReplaceHalf};
pub use market::followed::FOLLOWED_LEVELS_MAX;
pub use market::participants::{ParticipantAction, ParticipantProfile, Participants, QuoteBounds};
pub use record::{ClientOrder, VenueRecord};
pub use venue::{FILLS_PER_PAGE, OPEN_ORDERS_PER_PAGE, TradeRevision, VenueOutput, VenueSimulator};
