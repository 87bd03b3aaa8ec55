//! Market data sessions (`MarketData=Y`): prices, the list of securities and their trading status. They take no orders.

mod application;
mod list_sender;
mod price_mailbox;
mod price_router;
mod price_subscriptions;
mod security_watch;
#[cfg(test)]
mod tests;

pub(crate) use application::MarketDataApplication;
pub(crate) use price_router::PriceRouter;
