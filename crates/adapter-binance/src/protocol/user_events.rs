//! Events of the user data stream. The stream has no numbers: an event that cannot be read is a gap, never nothing.

use serde::Deserialize;
use serde_json::Value;

use super::answers::account_answers::AssetBalance;
use super::answers::excerpt;
use super::venue_enums::{BinanceExecutionType, BinanceOrderStatus, BinanceOrderType, BinanceSide, BinanceTif};
use super::wire_values::{WireDecimal, WireInteger};

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserEvent {
    Execution(Box<ExecutionEvent>),
    /// Balances that may have changed.
    Balances(BalancesEvent),
    /// A deposit, a withdrawal or a transfer.
    BalanceMoved(BalanceMovedEvent),
    /// Part of a balance was locked or freed outside of spot trading.
    ExternalLock(BalanceMovedEvent),
    /// An order list changed; its orders have events of their own.
    ListStatus,
    /// Nothing more comes on this subscription.
    StreamTerminated,
    /// The venue ends this connection soon.
    ServerShutdown,
    /// An event that was not documented when this was written.
    Other(String),
}

/// An event that is about us and cannot be read: what it said must be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEvent(pub String);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExecutionEvent {
    #[serde(rename = "E")]
    pub event_at: WireInteger,
    #[serde(rename = "s")]
    pub symbol: String,
    #[serde(rename = "c")]
    pub client_id: String,
    /// Of a cancel: the id of the order that it cancelled.
    #[serde(default, rename = "C")]
    pub original_client_id: Option<String>,
    #[serde(rename = "S")]
    pub side: BinanceSide,
    #[serde(rename = "o")]
    pub kind: BinanceOrderType,
    #[serde(rename = "f")]
    pub tif: BinanceTif,
    #[serde(rename = "q")]
    pub quantity: WireDecimal,
    #[serde(rename = "p")]
    pub price: WireDecimal,
    #[serde(default, rename = "P")]
    pub stop_price: WireDecimal,
    #[serde(default, rename = "F")]
    pub iceberg: WireDecimal,
    #[serde(rename = "x")]
    pub execution: BinanceExecutionType,
    #[serde(rename = "X")]
    pub status: BinanceOrderStatus,
    #[serde(default, rename = "r")]
    pub reject_reason: Option<String>,
    #[serde(default, rename = "eR")]
    pub expiry_reason: Option<String>,
    #[serde(rename = "i")]
    pub order_id: WireInteger,
    #[serde(default, rename = "l")]
    pub last_quantity: WireDecimal,
    #[serde(default, rename = "z")]
    pub filled: WireDecimal,
    #[serde(default, rename = "L")]
    pub last_price: WireDecimal,
    #[serde(default, rename = "n")]
    pub commission: Option<WireDecimal>,
    #[serde(default, rename = "N")]
    pub commission_asset: Option<String>,
    #[serde(rename = "T")]
    pub at: WireInteger,
    /// When the order was created.
    #[serde(default, rename = "O")]
    pub created: Option<WireInteger>,
    /// -1 where it is no trade.
    #[serde(default, rename = "t")]
    pub trade_id: Option<WireInteger>,
    #[serde(default, rename = "m")]
    pub is_maker: Option<bool>,
    #[serde(default, rename = "Q")]
    pub quote_quantity: Option<WireDecimal>,
    /// What self-trade prevention has taken from the quantity so far.
    #[serde(default, rename = "A")]
    pub prevented: Option<WireDecimal>,
}

impl ExecutionEvent {
    /// The client id that the order itself has: a cancel brings its own, and names the order's as the original one.
    pub fn order_client_id(&self) -> &str {
        match &self.original_client_id {
            Some(original) if !original.is_empty() && self.execution != BinanceExecutionType::Replaced => original,
            _ => &self.client_id,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BalancesEvent {
    #[serde(default, rename = "u")]
    pub at: Option<WireInteger>,
    #[serde(rename = "B")]
    pub balances: Vec<AssetBalance>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BalanceMovedEvent {
    #[serde(rename = "E")]
    pub event_at: WireInteger,
    #[serde(rename = "a")]
    pub asset: String,
    #[serde(rename = "d")]
    pub delta: WireDecimal,
    #[serde(rename = "T")]
    pub at: WireInteger,
}

/// Reads the inner event of a frame.
pub fn decode_user_event(event: &Value) -> Result<UserEvent, UnreadableEvent> {
    let Some(kind) = event.get("e").and_then(Value::as_str) else {
        return Err(UnreadableEvent(format!("it has no type: {}", excerpt(&event.to_string()))));
    };
    let read = match kind {
        "executionReport" => ExecutionEvent::deserialize(event).map(|read| UserEvent::Execution(Box::new(read))),
        "outboundAccountPosition" => BalancesEvent::deserialize(event).map(UserEvent::Balances),
        "balanceUpdate" => BalanceMovedEvent::deserialize(event).map(UserEvent::BalanceMoved),
        "externalLockUpdate" => BalanceMovedEvent::deserialize(event).map(UserEvent::ExternalLock),
        "listStatus" => Ok(UserEvent::ListStatus),
        "eventStreamTerminated" => Ok(UserEvent::StreamTerminated),
        "serverShutdown" => Ok(UserEvent::ServerShutdown),
        other => Ok(UserEvent::Other(other.to_owned())),
    };
    read.map_err(|reason| UnreadableEvent(format!("{kind}: {reason}")))
}
