//! Spot exchange: accounts, markets and the one function that changes them.
//!
//! It has no clock, no file and no socket. The same commands at the same times give the same ids, trades and balances,
//! so the ledger keeps the commands and a restart applies them again.

pub(crate) mod requests;
mod account;
mod event;
mod intervention;
mod market;
mod matching;
mod order;
mod reject;
mod self_trade;
mod settlement;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use minicbor::{Decode, Encode};
use venue_sim::ParticipantActivity;

pub(crate) use account::{AccountRules, SpotAccount};
pub(crate) use event::{ExecutionType, SpotExecution, VenueEvent};
pub(crate) use intervention::strange_orders;
pub(crate) use market::{AVERAGE_MINUTES, OpeningMarket, SpotMarket, SymbolRules};
pub(crate) use order::{
    AccountIndex, AccountTrade, Amendment, CancelRestriction, NewSpotOrder, PreventedMatch, PreventionMode,
    PublicTrade, SpotOrder, SpotOrderType, SpotSide, SpotStatus, SpotTimeInForce, WireName,
};
pub(crate) use reject::{DUPLICATE_ORDER, INSUFFICIENT_BALANCE, SpotReject};
pub(crate) use settlement::BNB_DISCOUNT;
pub(crate) use units::{Units, UnitsError};

/// What the exchange begins with.
#[derive(Debug, Clone)]
pub(crate) struct ExchangeSetup {
    pub(crate) seed: u64,
    pub(crate) activity: ParticipantActivity,
    pub(crate) symbols: Vec<SymbolRules>,
    pub(crate) accounts: Vec<AccountRules>,
}

/// The order that a cancel or an amendment names.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct OrderReference {
    #[n(0)]
    pub(crate) account: AccountIndex,
    #[n(1)]
    pub(crate) symbol: String,
    #[n(2)]
    pub(crate) order_id: Option<u64>,
    #[n(3)]
    pub(crate) client_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct CancelRequest {
    #[n(0)]
    pub(crate) order: OrderReference,
    /// The id of the cancel itself.
    #[n(1)]
    pub(crate) cancel_id: Option<String>,
    #[n(2)]
    pub(crate) restriction: Option<CancelRestriction>,
}

/// New terms for an open order, which keeps its id and what it has executed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ReplaceRequest {
    #[n(0)]
    pub(crate) order: OrderReference,
    /// The whole quantity, with what is executed.
    #[n(1)]
    pub(crate) quantity: Units,
    #[n(2)]
    pub(crate) price: Option<Units>,
    #[n(3)]
    pub(crate) stop_price: Option<Units>,
    #[n(4)]
    pub(crate) new_client_id: String,
}

/// Everything that changes the exchange.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) enum SpotCommand {
    #[n(0)]
    Place(#[n(0)] NewSpotOrder),
    #[n(1)]
    Cancel(#[n(0)] CancelRequest),
    #[n(2)]
    CancelAll {
        #[n(0)]
        account: AccountIndex,
        #[n(1)]
        symbol: String,
    },
    #[n(3)]
    CancelReplace {
        #[n(0)]
        cancel: CancelRequest,
        #[n(1)]
        order: NewSpotOrder,
        /// The new order is placed only where the cancel succeeded.
        #[n(2)]
        stops_on_failure: bool,
        /// The unfilled order count is exhausted: cancel, and reject the new order with this limit.
        #[n(3)]
        over_limit: Option<String>,
    },
    #[n(4)]
    Amend {
        #[n(0)]
        order: OrderReference,
        #[n(1)]
        quantity: Units,
        #[n(2)]
        new_client_id: Option<String>,
    },
    /// The simulated participants of a symbol act once.
    #[n(5)]
    Act {
        #[n(0)]
        symbol: u32,
    },
    /// An order that the venue treats oddly.
    #[n(6)]
    PlaceOddly {
        #[n(0)]
        order: NewSpotOrder,
        /// It gets the id of an ended order.
        #[n(1)]
        reissues_id: bool,
        /// Its commission is charged in a third asset.
        #[n(2)]
        has_foreign_fee: bool,
    },
    /// A participant takes all of a resting order.
    #[n(7)]
    Hit {
        #[n(0)]
        order: OrderReference,
    },
    /// An amount comes from outside, or leaves.
    #[n(8)]
    Transfer {
        #[n(0)]
        account: AccountIndex,
        #[n(1)]
        asset: String,
        #[n(2)]
        amount: Units,
    },
    /// Coarser steps of price and quantity for new orders.
    #[n(9)]
    ChangeFilters {
        #[n(0)]
        symbol: String,
    },
    #[n(10)]
    Replace(#[n(0)] ReplaceRequest),
}

/// A placed order as it stands after matching, and its trades as taker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) order: SpotOrder,
    pub(crate) fills: Vec<AccountTrade>,
}

/// A cancelled order, and the id of the cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Canceled {
    pub(crate) order: SpotOrder,
    pub(crate) cancel_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applied {
    Placed(Box<Placed>),
    Canceled(Vec<Canceled>),
    Replaced {
        cancel: Box<Result<Canceled, SpotReject>>,
        /// None where it was not attempted.
        order: Option<Box<Result<Placed, SpotReject>>>,
    },
    Amended {
        order: Box<SpotOrder>,
        execution_id: u64,
    },
    Acted,
}

impl Applied {
    /// Whether anything changed, so that the ledger must have it.
    pub(crate) fn is_change(&self) -> bool {
        match self {
            Self::Replaced { cancel, order } => cancel.is_ok() || order.as_ref().is_some_and(|placed| placed.is_ok()),
            _ => true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct SpotExchange {
    pub(crate) markets: Vec<SpotMarket>,
    pub(crate) by_symbol: BTreeMap<String, usize>,
    pub(crate) accounts: Vec<SpotAccount>,
    pub(crate) now_micros: i64,
    pub(crate) opened_micros: i64,
    seed: u64,
    events: Vec<VenueEvent>,
    /// Balances that the current command changed.
    changed: BTreeSet<(AccountIndex, String)>,
    /// How the current command places its order.
    has_foreign_fee: bool,
    reissues_id: bool,
}

impl SpotExchange {
    pub(crate) fn open(setup: ExchangeSetup, at: i64) -> Self {
        let by_symbol = setup.symbols.iter().enumerate().map(|(index, rules)| (rules.name.clone(), index)).collect();
        let markets = setup.symbols.into_iter().zip(1..);
        let markets =
            markets.map(|(rules, stream)| SpotMarket::open(rules, setup.activity, setup.seed, stream, at)).collect();
        let accounts = setup.accounts.into_iter().map(|rules| SpotAccount::open(rules, at)).collect();
        Self {
            markets,
            by_symbol,
            accounts,
            now_micros: at,
            opened_micros: at,
            seed: setup.seed,
            events: Vec::new(),
            changed: BTreeSet::new(),
            has_foreign_fee: false,
            reissues_id: false,
        }
    }

    /// Applies a command. A reject changes nothing.
    pub(crate) fn apply(&mut self, command: &SpotCommand, at: i64) -> Result<Applied, SpotReject> {
        self.now_micros = at;
        let applied = match command {
            SpotCommand::Place(order) => self.place(order, at).map(|placed| Applied::Placed(Box::new(placed))),
            SpotCommand::Cancel(cancel) => self.cancel(cancel, at).map(|canceled| Applied::Canceled(vec![canceled])),
            SpotCommand::CancelAll { account, symbol } => self.cancel_all(*account, symbol, at).map(Applied::Canceled),
            SpotCommand::CancelReplace { cancel, order, stops_on_failure, over_limit } => {
                Ok(self.cancel_replace(cancel, order, *stops_on_failure, over_limit.as_deref(), at))
            }
            SpotCommand::Amend { order, quantity, new_client_id } => {
                self.amend(order, *quantity, new_client_id.as_deref(), at)
            }
            SpotCommand::Act { symbol } => self.act(*symbol, at),
            SpotCommand::PlaceOddly { order, reissues_id, has_foreign_fee } => {
                let placed = self.place_oddly(order, *reissues_id, *has_foreign_fee, at);
                placed.map(|placed| Applied::Placed(Box::new(placed)))
            }
            SpotCommand::Hit { order } => self.hit(order, at),
            SpotCommand::Transfer { account, asset, amount } => Ok(self.transfer(*account, asset, *amount, at)),
            SpotCommand::ChangeFilters { symbol } => self.change_filters(symbol),
            SpotCommand::Replace(replace) => self.replace(replace, at),
        };
        self.publish_changes(at);
        applied
    }

    /// What happened since the last call, in order.
    pub(crate) fn take_events(&mut self) -> Vec<VenueEvent> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn market(&self, symbol: &str) -> Result<&SpotMarket, SpotReject> {
        self.index(symbol).map(|index| &self.markets[index])
    }

    pub(crate) fn index(&self, symbol: &str) -> Result<usize, SpotReject> {
        self.by_symbol.get(symbol).copied().ok_or_else(SpotReject::bad_symbol)
    }

    /// When the participants of any symbol act next, and which.
    pub(crate) fn next_action(&self) -> Option<(i64, u32)> {
        let due = self.markets.iter().zip(0..).filter_map(|(market, index)| Some((market.next_action_micros?, index)));
        due.min()
    }

    /// Counts of everything that got a number; the ledger keeps them beside each command, so that a replay that comes
    /// out otherwise is noticed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let sum = |count: fn(&SpotMarket) -> u64| self.markets.iter().map(count).sum();
        (sum(|market| market.next_order), sum(|market| market.next_trade))
    }

    /// An id that the venue makes up for an order or a cancel without one: the same in each replay.
    fn generated_id(&self, market: usize, salt: u64) -> String {
        let mut rng = domain::SeededRng::new(self.seed ^ salt, market as u64);
        let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let letter = |_| char::from(letters[usize::try_from(rng.below(letters.len() as u64)).unwrap_or(0)]);
        (0..22).map(letter).collect()
    }
}

#[cfg(test)]
mod tests;
