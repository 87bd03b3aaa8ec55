//! Reference data: exchanges, securities, families, accounts, strategies. Changed by commands, read as a shared
//! immutable copy.

use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::{Amount, Price, Quantity};
use crate::currency::Currency;
use crate::ids::{AccountId, AdapterName, ExchangeId, FamilyId, SecurityId, StrategyId, Text};
use crate::time::{Date, TimeOfDay};
use crate::venue_symbols::VenueSymbols;

/// An exchange.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Exchange {
    #[n(0)]
    pub id: ExchangeId,
    #[n(1)]
    pub name: Text,
    #[n(2)]
    pub code: Option<Text>,
    #[n(3)]
    pub mic: Option<Text>,
    #[n(4)]
    pub bloomberg_code: Option<Text>,
    /// IANA name, such as `America/New_York`.
    #[n(5)]
    pub time_zone: Text,
    #[n(6)]
    pub trading_hours: Vec<TradingHours>,
    #[n(7)]
    pub holidays: Vec<Holiday>,
    /// Duration of the call before the open; 0 = no opening auction.
    #[n(8)]
    pub opening_auction_minutes: u16,
    /// Duration of the call before the close; 0 = no closing auction.
    #[n(9)]
    pub closing_auction_minutes: u16,
}

/// A daily session on some days of the week. A close that is not after the open is on the next day.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct TradingHours {
    #[n(0)]
    pub open: TimeOfDay,
    #[n(1)]
    pub close: TimeOfDay,
    /// Monday = 1 to Sunday = 7, ascending.
    #[n(2)]
    pub days: Vec<u8>,
}

/// A day that differs: closed, or with other hours.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Holiday {
    #[n(0)]
    pub date: Date,
    #[n(1)]
    pub open: Option<TimeOfDay>,
    #[n(2)]
    pub close: Option<TimeOfDay>,
}

/// Common properties of the securities of one product.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SecurityFamily {
    #[n(0)]
    pub id: FamilyId,
    #[n(1)]
    pub name: Text,
    #[n(2)]
    pub symbol_root: Option<Text>,
    #[n(3)]
    pub isin_root: Option<Text>,
    #[n(4)]
    pub ric_root: Option<Text>,
    #[n(5)]
    pub currency: Currency,
    #[cbor(n(6), with = "crate::amount::decimal")]
    pub contract_size: Decimal,
    #[cbor(n(7), with = "crate::amount::decimal")]
    pub price_incr: Decimal,
    #[n(8)]
    pub underlying: Option<SecurityId>,
    #[n(9)]
    pub exchange: Option<ExchangeId>,
    /// Per unit of quantity, in the family's currency.
    #[n(10)]
    pub execution_commission: Amount,
    #[n(11)]
    pub clearing_commission: Amount,
    #[n(12)]
    pub fee: Amount,
    /// How its securities are settled when they expire; absent = as is usual for their kind.
    #[n(13)]
    pub settlement: Option<Settlement>,
}

/// Settlement of a future or an option that expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Settlement {
    /// Its value is paid.
    #[n(0)]
    Cash,
    /// The underlying is delivered.
    #[n(1)]
    Physical,
}

impl Settlement {
    pub const ALL: [Self; 2] = [Self::Cash, Self::Physical];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cash => "CASH",
            Self::Physical => "PHYSICAL",
        }
    }
}

/// A security: anything with a price.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Security {
    #[n(0)]
    pub id: SecurityId,
    #[n(1)]
    pub kind: SecurityKind,
    #[n(2)]
    pub symbol: Text,
    #[n(3)]
    pub description: Option<Text>,
    #[n(4)]
    pub isin: Option<Text>,
    #[n(5)]
    pub bbgid: Option<Text>,
    #[n(6)]
    pub ric: Option<Text>,
    #[n(7)]
    pub conid: Option<Text>,
    #[n(8)]
    pub adapter_ticker: Option<Text>,
    #[n(9)]
    pub underlying: Option<SecurityId>,
    #[n(10)]
    pub family: Option<FamilyId>,
    #[n(11)]
    pub exchange: ExchangeId,
    #[n(12)]
    pub currency: Currency,
    #[cbor(n(13), with = "crate::amount::decimal")]
    pub contract_size: Decimal,
    #[n(14)]
    pub min_qty: Option<Quantity>,
    #[n(15)]
    pub max_qty: Option<Quantity>,
    /// Lot size; zero means no restriction.
    #[cbor(n(16), with = "crate::amount::decimal")]
    pub qty_incr: Decimal,
    #[n(17)]
    pub min_price: Option<Price>,
    #[n(18)]
    pub max_price: Option<Price>,
    /// Tick size; zero means no restriction.
    #[cbor(n(19), with = "crate::amount::decimal")]
    pub price_incr: Decimal,
    #[n(20)]
    pub min_notional: Option<Amount>,
    #[n(21)]
    pub tradeable: bool,
    /// Its symbols at venues that have one of their own.
    #[n(22)]
    pub venue_symbols: VenueSymbols,
}

impl Security {
    /// The symbol by which a venue knows it.
    pub fn symbol_at(&self, venue: &str) -> &Text {
        let own = self.venue_symbols.0.get(venue);
        own.or(self.adapter_ticker.as_ref()).unwrap_or(&self.symbol)
    }
}

/// Kind of a security, with the fields of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum SecurityKind {
    #[n(0)]
    Stock,
    #[n(1)]
    Forex {
        #[n(0)]
        base: Currency,
        #[n(1)]
        transaction: Currency,
    },
    #[n(2)]
    Future {
        #[n(0)]
        expiration: Date,
        /// `YYYYMM`.
        #[n(1)]
        month_year: Text,
        #[n(2)]
        first_notice: Option<Date>,
    },
    #[n(3)]
    Option {
        #[n(0)]
        expiration: Date,
        #[n(1)]
        strike: Price,
        #[n(2)]
        right: OptionRight,
    },
    #[n(4)]
    Index,
    #[n(5)]
    Bond {
        #[n(0)]
        maturity: Date,
        #[cbor(n(1), with = "crate::amount::decimal")]
        coupon: Decimal,
        /// Payments a year.
        #[n(2)]
        coupon_frequency: u8,
    },
    #[n(6)]
    Commodity,
    #[n(7)]
    Fund,
    #[n(8)]
    PerpetualSwap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum OptionRight {
    #[n(0)]
    Call,
    #[n(1)]
    Put,
}

impl Security {
    /// Futures and swaps settle their P/L only; everything else is paid for in full.
    pub fn is_margined(&self) -> bool {
        matches!(self.kind, SecurityKind::Future { .. } | SecurityKind::PerpetualSwap)
    }

    /// The last day on which it trades, where it has one.
    pub fn expiration(&self) -> Option<Date> {
        match self.kind {
            SecurityKind::Future { expiration, .. } | SecurityKind::Option { expiration, .. } => Some(expiration),
            SecurityKind::Bond { maturity, .. } => Some(maturity),
            _ => None,
        }
    }
}

/// An account at a venue, reached through one adapter.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Account {
    #[n(0)]
    pub id: AccountId,
    #[n(1)]
    pub name: Text,
    #[n(2)]
    pub active: bool,
    #[n(3)]
    pub adapter_type: Text,
    #[n(4)]
    pub session_qualifier: Option<Text>,
    #[n(5)]
    pub ext_account: Option<Text>,
    #[n(6)]
    pub ext_account_group: Option<Text>,
    #[n(7)]
    pub ext_allocation_profile: Option<Text>,
    #[n(8)]
    pub ext_clearing_account: Option<Text>,
}

impl Account {
    pub fn adapter(&self) -> AdapterName {
        AdapterName::new(&self.adapter_type, self.session_qualifier.as_deref())
    }
}

/// A strategy: the owner of orders and positions; `SERVER` always exists.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StrategyRecord {
    #[n(0)]
    pub id: StrategyId,
    #[n(1)]
    pub name: Text,
    #[n(2)]
    pub auto_activate: bool,
}

/// All reference data, shared: a change replaces the whole, readers keep the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceData {
    pub exchanges: BTreeMap<ExchangeId, Arc<Exchange>>,
    pub families: BTreeMap<FamilyId, Arc<SecurityFamily>>,
    pub securities: BTreeMap<SecurityId, Arc<Security>>,
    pub accounts: BTreeMap<AccountId, Arc<Account>>,
    pub strategies: BTreeMap<StrategyId, Arc<StrategyRecord>>,
}

impl ReferenceData {
    pub fn account_named(&self, name: &str) -> Option<&Arc<Account>> {
        self.accounts.values().find(|account| &*account.name == name)
    }

    pub fn strategy_named(&self, name: &str) -> Option<&Arc<StrategyRecord>> {
        self.strategies.values().find(|strategy| &*strategy.name == name)
    }

    pub fn family_of(&self, security: &Security) -> Option<&Arc<SecurityFamily>> {
        security.family.and_then(|id| self.families.get(&id))
    }

    /// The security that a future or an option derives from.
    pub fn underlying_of(&self, security: &Security) -> Option<&Arc<Security>> {
        let underlying = security.underlying.or_else(|| self.family_of(security)?.underlying)?;
        self.securities.get(&underlying)
    }

    /// As the family defines; otherwise a future pays its value, and an option delivers unless it is on an index.
    pub fn settlement_of(&self, security: &Security) -> Settlement {
        let stated = self.family_of(security).and_then(|family| family.settlement);
        stated.unwrap_or_else(|| self.usual_settlement(security))
    }

    fn usual_settlement(&self, security: &Security) -> Settlement {
        let is_option = matches!(security.kind, SecurityKind::Option { .. });
        let is_deliverable = |underlying: &Arc<Security>| underlying.kind != SecurityKind::Index;
        match is_option && self.underlying_of(security).is_some_and(is_deliverable) {
            true => Settlement::Physical,
            false => Settlement::Cash,
        }
    }

    /// The pair that quotes `transaction` per `base`.
    pub fn forex(&self, base: Currency, transaction: Currency) -> Option<&Arc<Security>> {
        let wanted = SecurityKind::Forex { base, transaction };
        self.securities.values().find(|security| security.kind == wanted)
    }
}
