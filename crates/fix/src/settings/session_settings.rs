//! Settings of sessions, as they are read from a file.

use crate::dictionary::CheckRules;
use crate::schedule::Schedule;
use crate::tag::Tag;
use std::fmt;

/// All sessions of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FixSettings {
    pub sessions: Vec<SessionSettings>,
    /// Names of QuickFIX that have no effect here.
    pub warnings: Vec<String>,
}

/// Identity of a session: our CompID and the peer's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    pub begin_string: String,
    pub sender: String,
    pub target: String,
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}->{}", self.begin_string, self.sender, self.target)
    }
}

/// Settings of one session, for the session layer and the driver.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSettings {
    pub id: SessionId,
    pub role: ConnectionType,
    pub schedule: Schedule,
    /// For an acceptor only where the peer's Logon has none.
    pub heartbeat_seconds: u32,
    pub dictionary: DictionaryChoice,
    /// Whether incoming messages are checked against the dictionary (`ValidateIncomingMessage`).
    pub validate_incoming: bool,
    pub check: CheckRules,
    pub reset_on_logon: bool,
    pub reset_on_logout: bool,
    pub reset_on_disconnect: bool,
    pub refresh_on_logon: bool,
    /// How far the peer's clock may be off; none with `CheckLatency=N`.
    pub max_latency_seconds: Option<u64>,
    pub check_comp_ids: bool,
    pub logon_timeout_seconds: u32,
    pub logout_timeout_seconds: u32,
    /// Chunk size of resend requests; `None` requests a whole gap.
    pub resend_request_chunk: Option<u64>,
    /// With `PersistMessages=N` a resend is answered by a gap fill alone.
    pub persist_messages: bool,
    /// Our Logon has NextExpectedMsgSeqNum (789), whether or not the peer's has it.
    pub send_next_expected: bool,
    /// Where the Logon that answers ours has a number that is too low, the peer has begun its numbers anew, and we count from there. The
    /// application is told; it must find out what it missed.
    pub follows_reset: bool,
    /// We count from 1 then, so that what the peer sent before its Logon is requested; otherwise from the number of the Logon.
    pub requests_after_reset: bool,
    /// Every message has LastMsgSeqNumProcessed (369).
    pub send_last_processed: bool,
    /// The digits of a second in our timestamps.
    pub fraction_digits: u8,
    /// The TestReqID of our own Test Requests.
    pub test_request_id: String,
    pub use_tls: bool,
    pub message_log: Option<String>,
    pub gateway: GatewaySettings,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionType {
    Acceptor {
        /// `None` where the driver's own settings define the port.
        port: Option<u16>,
        /// Empty: any address may connect.
        allowed_addresses: Vec<std::net::IpAddr>,
        /// The credentials that the peer's Logon must have, where they are required.
        credentials: Option<FixCredentials>,
    },
    Initiator {
        host: String,
        port: u16,
        reconnect_seconds: u32,
        credentials: Option<FixCredentials>,
    },
}

/// Username (553) and Password (554); never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct FixCredentials {
    pub username: String,
    pub password: String,
}

impl fmt::Debug for FixCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}, ***)", self.username)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DictionaryChoice {
    /// `UseDataDictionary=N`: groups cannot be distinguished from other fields.
    None,
    /// FIX 4.4 with the platform's own tags.
    BuiltIn,
    /// The path that `DataDictionary` gives.
    File(String),
}

/// Settings that only the order gateway uses; they are in the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Accepted values of OrdType (40).
    pub valid_order_types: Vec<char>,
    pub standard_exec_types: bool,
    pub extended_messages: bool,
    pub cancel_on_disconnect: CancelOnDisconnect,
    pub cancel_on_disconnect_grace_seconds: u32,
    /// New orders and replaces; none: no throttle.
    pub max_orders_per_second: Option<u32>,
    /// `ValidateUserDefinedFields=N`: user-defined tags (5000 and above) are ignored. Otherwise an order with one is
    /// rejected, because it could change its terms.
    pub ignore_user_defined_fields: bool,
    /// Cancels of single orders; none: no throttle. A mass cancel is never delayed.
    pub max_cancels_per_second: Option<u32>,
    /// Tags of orders that go on to a FIX venue as they are (`PassThroughTags`), ascending.
    pub pass_through: Vec<Tag>,
    /// With `DropCopy=Y` the session trades nothing and receives copies of the reports on these orders.
    pub drop_copy: Option<DropCopyRule>,
    /// With `MarketData=Y` the session trades nothing and is offered prices and securities.
    pub market_data: Option<MarketDataLimits>,
}

/// How much a market data session may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarketDataLimits {
    /// Securities of all its requests that are not answered or go on; one that is asked for twice counts twice.
    pub max_subscriptions: u32,
}

/// Which orders a drop copy session is told of: those that are in every list. An empty list has all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DropCopyRule {
    /// Ids or names.
    pub accounts: Vec<String>,
    /// CompIDs of the clients that sent them.
    pub sessions: Vec<String>,
    /// Of [`DropCopyRule::SOURCES`].
    pub sources: Vec<String>,
    /// Ids or names.
    pub strategies: Vec<String>,
}

impl DropCopyRule {
    /// The interfaces that an order can come through.
    pub const SOURCES: [&str; 6] = ["FIX", "REST", "UI", "STRATEGY", "PLATFORM", "EXTERNAL"];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOnDisconnect {
    Off,
    DayOrders,
    All,
}
