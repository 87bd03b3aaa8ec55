//! Reference data: exchanges, securities, families, accounts, strategies. Changed by commands, read as a shared
//! immutable copy.

pub mod calendar;
pub mod security_changes;
pub(crate) mod venue_facts;
pub(crate) mod venue_symbols;

use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::currency::Currency;
use crate::amount::{Amount, Price, Quantity};
use crate::ids::{AccountId, AdapterName, ExchangeId, FamilyId, SecurityId, StrategyId, Text};
use crate::time::{Date, TimeOfDay};
use security_changes::SecurityChanges;
use venue_symbols::VenueSymbols;

/// An exchange.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Exchange {
    /// The number of the exchange, chosen in the reference data and never changed.
    #[n(0)]
    pub id: ExchangeId,
    /// The full name, for people.
    #[n(1)]
    pub name: Text,
    /// A short code, unique; absent where there is none.
    #[n(2)]
    pub code: Option<Text>,
    /// The market identifier code (ISO 10383), which FIX uses; absent where there is none.
    #[n(3)]
    pub mic: Option<Text>,
    /// Bloomberg's two letters; absent where there are none.
    #[n(4)]
    pub bloomberg_code: Option<Text>,
    /// IANA name, such as `America/New_York`.
    #[n(5)]
    pub time_zone: Text,
    /// The sessions of a usual week, in the zone of the exchange.
    #[n(6)]
    pub trading_hours: Vec<TradingHours>,
    /// The days that differ from the usual week.
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
    /// First minute of continuous trading.
    #[n(0)]
    pub open: TimeOfDay,
    /// End of trading; the closing call is inside it.
    #[n(1)]
    pub close: TimeOfDay,
    /// Monday = 1 to Sunday = 7, ascending.
    #[n(2)]
    pub days: Vec<u8>,
}

/// A day that differs: closed, or with other hours.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Holiday {
    /// A day of the exchange.
    #[n(0)]
    pub date: Date,
    /// First minute of continuous trading on that day; absent: closed all day.
    #[n(1)]
    pub open: Option<TimeOfDay>,
    /// End of trading on that day; absent: closed all day.
    #[n(2)]
    pub close: Option<TimeOfDay>,
}

/// Common properties of the securities of one product.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SecurityFamily {
    /// The number of the family, never changed.
    #[n(0)]
    pub id: FamilyId,
    /// The full name, unique.
    #[n(1)]
    pub name: Text,
    /// How the symbols of its members begin, where they share a beginning.
    #[n(2)]
    pub symbol_root: Option<Text>,
    /// How the ISINs of its members begin, where they share a beginning.
    #[n(3)]
    pub isin_root: Option<Text>,
    /// How the RICs of its members begin, where they share a beginning.
    #[n(4)]
    pub ric_root: Option<Text>,
    /// The currency of price, commissions and cash.
    #[n(5)]
    pub currency: Currency,
    /// Units of the underlying behind a quantity of one.
    #[cbor(n(6), with = "crate::amount::decimal")]
    pub contract_size: Decimal,
    /// The usual tick size of its members; each has its own.
    #[cbor(n(7), with = "crate::amount::decimal")]
    pub price_incr: Decimal,
    /// The security that its members derive from, where they derive from one.
    #[n(8)]
    pub underlying: Option<SecurityId>,
    /// Where its members are listed.
    #[n(9)]
    pub exchange: Option<ExchangeId>,
    /// Per unit of quantity, in the family's currency.
    #[n(10)]
    pub execution_commission: Amount,
    /// Charged by the clearer per unit of quantity, in the family's currency.
    #[n(11)]
    pub clearing_commission: Amount,
    /// Charged by the exchange per unit of quantity, in the family's currency.
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
    /// Both, in the order of the enum.
    pub const ALL: [Self; 2] = [Self::Cash, Self::Physical];

    /// As clients and reference data files write it.
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
    /// The number of the security, never changed.
    #[n(0)]
    pub id: SecurityId,
    /// What it is, with the fields of that kind.
    #[n(1)]
    pub kind: SecurityKind,
    /// The short name, unique on its exchange.
    #[n(2)]
    pub symbol: Text,
    /// The name for display; absent where there is none.
    #[n(3)]
    pub description: Option<Text>,
    /// Its ISIN with a correct check digit; absent where it has none.
    #[n(4)]
    pub isin: Option<Text>,
    /// Bloomberg's id; absent where it has none.
    #[n(5)]
    pub bbgid: Option<Text>,
    /// The code of Refinitiv; absent where it has none.
    #[n(6)]
    pub ric: Option<Text>,
    /// The contract id of Interactive Brokers; absent where it has none.
    #[n(7)]
    pub conid: Option<Text>,
    /// The name by which venues know it; absent: the symbol. See [`Security::symbol_at`].
    #[n(8)]
    pub adapter_ticker: Option<Text>,
    /// The security it derives from; absent: that of its family.
    #[n(9)]
    pub underlying: Option<SecurityId>,
    /// The family that has its commissions and settlement.
    #[n(10)]
    pub family: Option<FamilyId>,
    /// Where it is listed.
    #[n(11)]
    pub exchange: ExchangeId,
    /// The currency of its price.
    #[n(12)]
    pub currency: Currency,
    /// Cash is quantity × price × this.
    #[cbor(n(13), with = "crate::amount::decimal")]
    pub contract_size: Decimal,
    /// The smallest quantity of one order; absent: no bound.
    #[n(14)]
    pub min_qty: Option<Quantity>,
    /// The largest quantity of one order; absent: no bound.
    #[n(15)]
    pub max_qty: Option<Quantity>,
    /// Lot size; zero means no restriction.
    #[cbor(n(16), with = "crate::amount::decimal")]
    pub qty_incr: Decimal,
    /// The lowest limit or stop price; absent: no bound.
    #[n(17)]
    pub min_price: Option<Price>,
    /// The highest limit or stop price; absent: no bound.
    #[n(18)]
    pub max_price: Option<Price>,
    /// Tick size; zero means no restriction.
    #[cbor(n(19), with = "crate::amount::decimal")]
    pub price_incr: Decimal,
    /// The smallest quantity × price × contract size of one order; absent: no bound.
    #[n(20)]
    pub min_notional: Option<Amount>,
    /// Whether orders are accepted; prices flow in either case.
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
    /// A share.
    #[n(0)]
    Stock,
    /// A pair of currencies: one unit of the first costs *price* units of the second.
    #[n(1)]
    Forex {
        /// The currency that is bought.
        #[n(0)]
        base: Currency,
        /// The currency that is paid: also that of the price.
        #[n(1)]
        transaction: Currency,
    },
    /// A contract whose profit and loss is settled, and which expires.
    #[n(2)]
    Future {
        /// The last day of trading.
        #[n(0)]
        expiration: Date,
        /// `YYYYMM`.
        #[n(1)]
        month_year: Text,
        /// The first day on which delivery can be announced; absent where it is not known.
        #[n(2)]
        first_notice: Option<Date>,
    },
    /// A right to buy or sell the underlying at the strike.
    #[n(3)]
    Option {
        /// The last day of trading.
        #[n(0)]
        expiration: Date,
        /// The price per unit of the underlying at which it is exercised.
        #[n(1)]
        strike: Price,
        /// Whether it buys or sells the underlying.
        #[n(2)]
        right: OptionRight,
    },
    /// A number to watch; it cannot be traded.
    #[n(4)]
    Index,
    /// A debt that is quoted in percent of its nominal.
    #[n(5)]
    Bond {
        /// The day of repayment.
        #[n(0)]
        maturity: Date,
        /// The yearly coupon in percent.
        #[cbor(n(1), with = "crate::amount::decimal")]
        coupon: Decimal,
        /// Payments a year.
        #[n(2)]
        coupon_frequency: u8,
    },
    /// A good such as gold.
    #[n(6)]
    Commodity,
    /// A share of a fund.
    #[n(7)]
    Fund,
    /// A contract like a future that never expires.
    #[n(8)]
    PerpetualSwap,
}

/// What the holder of an option may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum OptionRight {
    /// Buy the underlying.
    #[n(0)]
    Call,
    /// Sell the underlying.
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
    /// The number of the account, never changed.
    #[n(0)]
    pub id: AccountId,
    /// Unique.
    #[n(1)]
    pub name: Text,
    /// Whether new orders are accepted for it.
    #[n(2)]
    pub active: bool,
    /// The type of the adapter that its orders go to.
    #[n(3)]
    pub adapter_type: Text,
    /// Which adapter of that type; absent where there is only one.
    #[n(4)]
    pub session_qualifier: Option<Text>,
    /// What the venue calls the account; absent where it needs no name.
    #[n(5)]
    pub ext_account: Option<Text>,
    /// The venue's group of accounts; absent where there is none.
    #[n(6)]
    pub ext_account_group: Option<Text>,
    /// The venue's profile for splitting fills; absent where there is none.
    #[n(7)]
    pub ext_allocation_profile: Option<Text>,
    /// The account at the clearer; absent where there is none.
    #[n(8)]
    pub ext_clearing_account: Option<Text>,
}

impl Account {
    /// The name of the adapter that its orders go to.
    pub fn adapter(&self) -> AdapterName {
        AdapterName::new(&self.adapter_type, self.session_qualifier.as_deref())
    }
}

/// A strategy: the owner of orders and positions; `SERVER` always exists.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StrategyRecord {
    /// The number of the strategy; 1 is `SERVER`.
    #[n(0)]
    pub id: StrategyId,
    /// Unique; topics and orders show it.
    #[n(1)]
    pub name: Text,
    /// Whether it starts together with the server.
    #[n(2)]
    pub auto_activate: bool,
}

impl StrategyRecord {
    /// The reserved name of [`StrategyId::EXTERNAL`].
    pub const EXTERNAL: &'static str = "EXTERNAL";
}

/// All reference data, shared: a change replaces the whole, readers keep the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceData {
    /// All exchanges.
    pub exchanges: BTreeMap<ExchangeId, Arc<Exchange>>,
    /// All security families.
    pub families: BTreeMap<FamilyId, Arc<SecurityFamily>>,
    /// All securities, those that cannot be traded included.
    pub securities: BTreeMap<SecurityId, Arc<Security>>,
    /// All accounts, inactive ones included.
    pub accounts: BTreeMap<AccountId, Arc<Account>>,
    /// All strategies.
    pub strategies: BTreeMap<StrategyId, Arc<StrategyRecord>>,
    /// When each security changed last.
    pub security_changes: SecurityChanges,
}

impl ReferenceData {
    /// The account of this name, in exactly this spelling.
    pub fn account_named(&self, name: &str) -> Option<&Arc<Account>> {
        self.accounts.values().find(|account| &*account.name == name)
    }

    /// The strategy of this name, in exactly this spelling.
    pub fn strategy_named(&self, name: &str) -> Option<&Arc<StrategyRecord>> {
        self.strategies.values().find(|strategy| &*strategy.name == name)
    }

    /// The family of a security, where it has one.
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
