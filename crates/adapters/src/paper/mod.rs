//! Paper mode: prices of a real venue, orders at a simulated one. No order leaves, because the real venue is known here by its
//! prices alone.

mod adapter;
mod opening;
mod price_session;

pub use adapter::PaperAdapter;
pub use opening::{PAPER_SETTINGS, PaperVenue, check_books, open};
pub use price_session::PriceSession;
