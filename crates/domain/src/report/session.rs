//! The state of a session at a venue.

use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum SessionState {
    #[n(0)]
    Disconnected,
    /// Connected; orders and fills are being reconciled.
    #[n(1)]
    Connected,
    /// Reconciled and open for orders.
    #[n(2)]
    LoggedOn,
    /// Market data flows too.
    #[n(3)]
    Subscribed,
}

impl SessionState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "DISCONNECTED",
            Self::Connected => "CONNECTED",
            Self::LoggedOn => "LOGGED_ON",
            Self::Subscribed => "SUBSCRIBED",
        }
    }
}
