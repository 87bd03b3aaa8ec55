//! Simulated exchange: order books with price-time priority, auctions and participants; and replay venues over recorded
//! prices. No clock, no file, no socket.

pub mod venue;
pub mod config;
pub mod faults;
pub mod record;
mod task_queue;
mod participants;
mod followed;
mod grid;
mod market;
mod account;
mod accounts;
mod client_order;
mod client_orders;
mod retired_orders;
mod reject;
mod venue_calendar;
mod stops;
mod tape;
mod market_data;
pub mod replay;
pub mod book;

pub use account::Deposit;
pub use book::SelfTradeRule;
pub use config::{ConfigError, ListedSecurity, OpeningQuotes, ParticipantActivity, UnitCosts, VenueConfig, VenueFees};
pub use faults::{Faults, LinesDown};
pub use followed::FOLLOWED_LEVELS_MAX;
pub use participants::{ParticipantAction, ParticipantProfile, Participants, QuoteBounds};
pub use record::{ClientOrder, VenueRecord};
pub use venue::{FILLS_PER_PAGE, OPEN_ORDERS_PER_PAGE, VenueOutput, VenueSimulator};
