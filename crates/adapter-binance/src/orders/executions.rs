//! What the venue reports about an order: its state, its fills with commissions, and the meaning of each event.

use domain::report::VenueOrderState;
use domain::{
    Amount, Charge, ChargeKind, Currency, Decimal, InvalidCurrency, Liquidity, Price, Quantity, Text, Timestamp,
};

use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::user_events::ExecutionEvent;
use crate::protocol::venue_enums::{BinanceExecutionType, BinanceOrderStatus};

/// Why an order ended that would have traded with another of the account.
pub const SELF_TRADE_PREVENTED: &str = "self-trade prevention";

/// One fill, the same from the stream and from the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinanceFill {
    pub symbol: String,
    /// The venue's order, unique within the symbol.
    pub order_id: i64,
    /// Unique within the symbol; see `exec_id`.
    pub trade_id: i64,
    pub quantity: Quantity,
    pub price: Price,
    pub at: Option<Timestamp>,
    pub commission: Decimal,
    /// Absent where the venue names none, which it does for a commission of zero.
    pub commission_asset: Option<String>,
    pub liquidity: Option<Liquidity>,
}

impl BinanceFill {
    /// `None` for a fill of quantity zero, which venues send at times: nothing was traded.
    pub fn of_trade(trade: &BinanceTrade) -> Option<Self> {
        let fill = Self {
            symbol: trade.symbol.clone(),
            order_id: trade.order_id.0,
            trade_id: trade.id.0,
            quantity: Quantity(trade.quantity.0),
            price: Price(trade.price.0),
            at: trade.time.instant(),
            commission: trade.commission.0,
            commission_asset: Some(trade.commission_asset.clone()).filter(|_| !trade.commission.0.is_zero()),
            liquidity: Some(liquidity(trade.is_maker)),
        };
        fill.quantity.is_positive().then_some(fill)
    }

    /// `None` for an event that is no fill.
    pub fn of_execution(event: &ExecutionEvent) -> Option<Self> {
        if event.execution != BinanceExecutionType::Trade || event.last_quantity.0 <= Decimal::ZERO {
            return None;
        }
        let commission = event.commission.unwrap_or_default().0;
        Some(Self {
            symbol: event.symbol.clone(),
            order_id: event.order_id.0,
            trade_id: event.trade_id.map(|id| id.0).filter(|id| *id >= 0)?,
            quantity: Quantity(event.last_quantity.0),
            price: Price(event.last_price.0),
            at: event.at.instant(),
            commission,
            commission_asset: event.commission_asset.clone().filter(|_| !commission.is_zero()),
            liquidity: event.is_maker.map(liquidity),
        })
    }

    /// Unique at the venue: trade ids repeat across symbols.
    pub fn exec_id(&self) -> Text {
        format!("{}:{}", self.symbol, self.trade_id).into()
    }

    /// The commission as a charge. A commission of zero is one too, in the quote asset: without it the costs of our own
    /// reference data would be booked.
    pub fn charge(&self, quote: Currency) -> Result<Charge, InvalidCurrency> {
        let currency = match &self.commission_asset {
            Some(asset) => asset.parse()?,
            None => quote,
        };
        Ok(Charge { amount: Amount(self.commission), currency, kind: ChargeKind::ExecutionCommission })
    }
}

/// `None` where the status is not known: then nothing may be concluded.
pub fn state_of(status: &BinanceOrderStatus) -> Option<VenueOrderState> {
    match status {
        BinanceOrderStatus::New
        | BinanceOrderStatus::PendingNew
        | BinanceOrderStatus::PartiallyFilled
        | BinanceOrderStatus::Filled
        | BinanceOrderStatus::PendingCancel => Some(VenueOrderState::Live),
        BinanceOrderStatus::Canceled => Some(VenueOrderState::Canceled),
        BinanceOrderStatus::Rejected => Some(VenueOrderState::Rejected),
        BinanceOrderStatus::Expired | BinanceOrderStatus::ExpiredInMatch => Some(VenueOrderState::Expired),
        BinanceOrderStatus::Other(_) => None,
    }
}

fn liquidity(is_maker: bool) -> Liquidity {
    if is_maker { Liquidity::Maker } else { Liquidity::Taker }
}

/// What an event means for its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionMeaning {
    Accepted,
    Filled(BinanceFill),
    Canceled {
        reason: Option<Text>,
    },
    Expired {
        reason: Option<Text>,
    },
    Rejected {
        reason: Text,
    },
    /// The order has other terms now: it was amended, or self-trade prevention has reduced it.
    Amended,
    /// Nothing happened, such as a fill of quantity zero.
    Nothing,
    /// It cannot be told: ask the venue about the order.
    Unclear,
}

/// The execution type says what happened, and the status how the order stands: an end needs both.
pub fn meaning_of_execution(event: &ExecutionEvent) -> ExecutionMeaning {
    let stands = |state: VenueOrderState| state_of(&event.status) == Some(state);
    match &event.execution {
        BinanceExecutionType::New => ExecutionMeaning::Accepted,
        BinanceExecutionType::Trade => match BinanceFill::of_execution(event) {
            Some(fill) => ExecutionMeaning::Filled(fill),
            None if event.last_quantity.0.is_zero() => ExecutionMeaning::Nothing,
            None => ExecutionMeaning::Unclear,
        },
        BinanceExecutionType::Replaced => ExecutionMeaning::Amended,
        BinanceExecutionType::TradePrevention if stands(VenueOrderState::Live) && event.prevented.is_some() => {
            ExecutionMeaning::Amended
        }
        BinanceExecutionType::Canceled if stands(VenueOrderState::Canceled) => {
            ExecutionMeaning::Canceled { reason: None }
        }
        BinanceExecutionType::Rejected if stands(VenueOrderState::Rejected) => {
            ExecutionMeaning::Rejected { reason: reason(event).unwrap_or_else(|| "rejected by the venue".into()) }
        }
        BinanceExecutionType::Expired | BinanceExecutionType::TradePrevention if stands(VenueOrderState::Expired) => {
            ExecutionMeaning::Expired { reason: reason(event) }
        }
        BinanceExecutionType::Canceled
        | BinanceExecutionType::Rejected
        | BinanceExecutionType::Expired
        | BinanceExecutionType::TradePrevention
        | BinanceExecutionType::Other(_) => ExecutionMeaning::Unclear,
    }
}

/// The venue's own words. Self-trade prevention has no reason but its status.
fn reason(event: &ExecutionEvent) -> Option<Text> {
    let told = [&event.reject_reason, &event.expiry_reason].into_iter().flatten().find(|text| *text != "NONE");
    match told {
        Some(text) => Some(text.as_str().into()),
        None if event.execution == BinanceExecutionType::TradePrevention => Some(SELF_TRADE_PREVENTED.into()),
        None => None,
    }
}
