//! Market of one symbol: its rules, its book, its orders, its trades and its simulated participants.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::{Decimal, SeededRng};
use venue_sim::book::{BookOrder, BookRules, BookSide, LimitOrderBook, MatchPolicy};
use venue_sim::{ParticipantAction, ParticipantActivity, ParticipantProfile, Participants, QuoteBounds};

use super::order::{AccountIndex, AccountTrade, PreventedMatch, PublicTrade, SpotOrder, SpotOrderType, SpotSide};
use super::units::Units;

/// Public trades of a symbol that are kept for queries, bars and averages; older ones are dropped.
pub(crate) const PUBLIC_TRADES_MAX: usize = 200_000;

/// Window of the average price in filters and in `avgPrice`.
pub(crate) const AVERAGE_MINUTES: i64 = 5;
const MICROS_PER_MINUTE: i64 = 60_000_000;

/// The trading rules of a symbol; they become its filters on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SymbolRules {
    pub(crate) name: String,
    pub(crate) base: String,
    pub(crate) quote: String,
    pub(crate) tick: Units,
    pub(crate) price_min: Units,
    pub(crate) price_max: Units,
    pub(crate) step: Units,
    /// The steps that new orders must keep to: those of the book, or coarser ones.
    pub(crate) order_tick: Units,
    pub(crate) order_step: Units,
    pub(crate) quantity_min: Units,
    pub(crate) quantity_max: Units,
    pub(crate) notional_min: Units,
    pub(crate) notional_max: Units,
    /// A buy may be this many times the average price above and below it; a sell likewise.
    pub(crate) percent_up: Units,
    pub(crate) percent_down: Units,
    pub(crate) orders_max: usize,
    pub(crate) stops_max: usize,
    pub(crate) amends_max: usize,
    pub(crate) opening: OpeningMarket,
}

/// How the simulated participants begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpeningMarket {
    pub(crate) mid: Units,
    pub(crate) spread_ticks: u32,
    pub(crate) size: Units,
    pub(crate) volatility: Decimal,
}

/// Sums over trades.
#[derive(Debug, Clone, Copy, Default)]
struct TradeSums {
    quote: i128,
    quantity: i128,
}

impl SymbolRules {
    pub(crate) fn ticks(&self, price: Units) -> Option<i64> {
        price.steps(self.tick)
    }

    pub(crate) fn lots(&self, quantity: Units) -> Option<u64> {
        u64::try_from(quantity.steps(self.step)?).ok()
    }

    pub(crate) fn price(&self, ticks: i64) -> Units {
        Units::from_steps(ticks, self.tick).unwrap_or_default()
    }

    pub(crate) fn quantity(&self, lots: u64) -> Units {
        i64::try_from(lots).ok().and_then(|lots| Units::from_steps(lots, self.step)).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct SpotMarket {
    pub(crate) rules: SymbolRules,
    pub(crate) book: LimitOrderBook,
    pub(crate) participants: Participants,
    /// When the participants act next, if they do.
    pub(crate) next_action_micros: Option<i64>,
    pub(crate) orders: BTreeMap<u64, SpotOrder>,
    pub(crate) open: BTreeSet<(AccountIndex, u64)>,
    /// The newest order of an account with a client's id.
    pub(crate) client_ids: BTreeMap<(AccountIndex, String), u64>,
    /// Stops that a rising price triggers, the lowest first.
    pub(crate) stops_up: BTreeSet<(i64, u64)>,
    /// Stops that a falling price triggers, by the negative price: the highest first.
    pub(crate) stops_down: BTreeSet<(i64, u64)>,
    /// Ended orders whose ids were given to other ones.
    pub(crate) archive: Vec<SpotOrder>,
    pub(crate) trades: VecDeque<PublicTrade>,
    /// What all trades before each of them came to, so that an average need not add them up again for every order.
    sums_before: VecDeque<TradeSums>,
    sums: TradeSums,
    pub(crate) account_trades: BTreeMap<AccountIndex, Vec<AccountTrade>>,
    pub(crate) prevented: Vec<PreventedMatch>,
    pub(crate) last: Units,
    pub(crate) next_order: u64,
    pub(crate) next_trade: u64,
    pub(crate) next_execution: u64,
    /// The newest number of a change of the book.
    pub(crate) update_id: u64,
    pub(crate) touched: BTreeSet<(BookSide, i64)>,
}

impl SpotMarket {
    /// With the opening quotes and one trade at the opening mid, so that there is a last price.
    pub(crate) fn open(rules: SymbolRules, activity: ParticipantActivity, seed: u64, stream: u64, at: i64) -> Self {
        let profile = ParticipantProfile {
            mid: rules.ticks(rules.opening.mid).unwrap_or(1),
            spread: rules.opening.spread_ticks,
            size: rules.lots(rules.opening.size).unwrap_or(1),
            volatility: rules.opening.volatility,
            activity,
        };
        let mut market = Self {
            book: LimitOrderBook::new(BookRules::default()),
            participants: Participants::new(profile, SeededRng::new(seed, stream)),
            next_action_micros: None,
            orders: BTreeMap::new(),
            open: BTreeSet::new(),
            client_ids: BTreeMap::new(),
            stops_up: BTreeSet::new(),
            stops_down: BTreeSet::new(),
            archive: Vec::new(),
            trades: VecDeque::new(),
            sums_before: VecDeque::new(),
            sums: TradeSums::default(),
            account_trades: BTreeMap::new(),
            prevented: Vec::new(),
            last: rules.opening.mid,
            next_order: 1,
            next_trade: 1,
            next_execution: 1,
            update_id: 1,
            touched: BTreeSet::new(),
            rules,
        };
        market.place_opening_quotes();
        market.print_opening_trade(at);
        market.schedule(at);
        market
    }

    fn place_opening_quotes(&mut self) {
        let bounds = QuoteBounds { bid_above: i64::MIN, bid_below: i64::MAX, ask_above: i64::MIN, ask_below: i64::MAX };
        for action in self.participants.open(bounds, &self.book) {
            if let ParticipantAction::Quote(order) = action {
                // The quotes of an empty book never cross and always fit.
                let _ = self.book.place(&order, MatchPolicy::Rest, &mut |_| {});
            }
        }
    }

    fn print_opening_trade(&mut self, at: i64) {
        let quantity = self.rules.step;
        let quote = self.last.times(quantity).unwrap_or_default();
        let id = self.next_trade;
        self.next_trade += 1;
        let opening = PublicTrade {
            id,
            aggregate_id: 1,
            price: self.last,
            quantity,
            quote,
            buyer_is_maker: false,
            time_micros: at,
        };
        self.push_trade(opening);
    }

    pub(crate) fn schedule(&mut self, at: i64) {
        self.next_action_micros = self.participants.next_delay_nanos().map(|nanos| at + nanos / 1_000);
    }

    /// Appends a trade under its aggregate.
    pub(crate) fn add_trade(&mut self, mut trade: PublicTrade) {
        if let Some(before) = self.trades.back() {
            let key = |trade: &PublicTrade| (trade.time_micros, trade.price, trade.buyer_is_maker);
            trade.aggregate_id = before.aggregate_id + u64::from(key(before) != key(&trade));
        }
        self.last = trade.price;
        self.push_trade(trade);
        if self.trades.len() > PUBLIC_TRADES_MAX {
            self.trades.pop_front();
            self.sums_before.pop_front();
        }
    }

    fn push_trade(&mut self, trade: PublicTrade) {
        self.sums_before.push_back(self.sums);
        self.sums.quote += i128::from(trade.quote.0);
        self.sums.quantity += i128::from(trade.quantity.0);
        self.trades.push_back(trade);
    }

    /// Volume-weighted average of the last minutes; the last price where nothing traded in them.
    pub(crate) fn average_price(&self, at: i64) -> Units {
        let from = at - AVERAGE_MINUTES * MICROS_PER_MINUTE;
        // Trades are in the order of their times.
        let first = self.trades.partition_point(|trade| trade.time_micros < from);
        let before = self.sums_before.get(first).copied().unwrap_or(self.sums);
        let (quote, quantity) = (self.sums.quote - before.quote, self.sums.quantity - before.quantity);
        let average = (quote * i128::from(Units::ONE.0)).checked_div(quantity);
        average.and_then(|average| i64::try_from(average).ok()).map_or(self.last, Units)
    }

    pub(crate) fn find_order(
        &self,
        account: AccountIndex,
        order_id: Option<u64>,
        client_id: Option<&str>,
    ) -> Option<&SpotOrder> {
        let id = match (order_id, client_id) {
            (Some(id), _) => id,
            (None, Some(client_id)) => *self.client_ids.get(&(account, client_id.to_owned()))?,
            (None, None) => return None,
        };
        let order = self.orders.get(&id).filter(|order| order.account == account)?;
        let agrees = client_id.is_none_or(|client_id| order.client_id == client_id);
        agrees.then_some(order)
    }

    pub(crate) fn open_orders(&self, account: AccountIndex) -> impl Iterator<Item = &SpotOrder> {
        let range = (account, 0)..=(account, u64::MAX);
        self.open.range(range).filter_map(|(_, id)| self.orders.get(id))
    }

    pub(crate) fn set_stop(&mut self, order: &SpotOrder, is_set: bool) {
        let (Some(stop), Some(upwards)) = (order.stop_price, order.kind.triggers_upwards(order.side)) else {
            return;
        };
        let (stops, rank) = if upwards { (&mut self.stops_up, stop.0) } else { (&mut self.stops_down, -stop.0) };
        if is_set {
            stops.insert((rank, order.id));
        } else {
            stops.remove(&(rank, order.id));
        }
    }

    /// The next stop that the last price triggers.
    pub(crate) fn next_triggered(&self) -> Option<u64> {
        let up = self.stops_up.first().filter(|(stop, _)| *stop <= self.last.0);
        let down = self.stops_down.first().filter(|(stop, _)| -*stop >= self.last.0);
        up.or(down).map(|(_, id)| *id)
    }

    pub(crate) fn would_trigger(&self, kind: SpotOrderType, side: SpotSide, stop: Units) -> bool {
        match kind.triggers_upwards(side) {
            Some(true) => stop <= self.last,
            Some(false) => stop >= self.last,
            None => false,
        }
    }

    /// Lots and cost of a market order for so many lots, as far as the book goes.
    pub(crate) fn cost_of(&self, side: SpotSide, lots: u64) -> Option<(u64, Units)> {
        let (mut left, mut cost) = (lots, Units::ZERO);
        for level in self.book.depth(side.book().opposite()) {
            let taken = left.min(level.lots);
            cost = cost.plus(self.rules.price(level.price).times(self.rules.quantity(taken))?)?;
            left -= taken;
            if left == 0 {
                break;
            }
        }
        Some((lots - left, cost))
    }

    /// Lots that an amount of the quote asset trades, as far as the book goes.
    pub(crate) fn lots_for(&self, side: SpotSide, quote: Units) -> Option<u64> {
        let (mut left, mut lots) = (quote, 0_u64);
        for level in self.book.depth(side.book().opposite()) {
            let per_lot = self.rules.price(level.price).times(self.rules.step)?;
            let affordable = u64::try_from(left.0.checked_div(per_lot.0)?).ok()?;
            let taken = affordable.min(level.lots);
            lots = lots.checked_add(taken)?;
            left = left.minus(self.rules.price(level.price).times(self.rules.quantity(taken))?)?;
            if taken < level.lots {
                break;
            }
        }
        Some(lots)
    }

    /// Lots at a price, for the publication of a changed level.
    pub(crate) fn lots_at(&self, side: BookSide, price: i64) -> u64 {
        self.book.depth(side).find(|level| level.price == price).map_or(0, |level| level.lots)
    }

    pub(crate) fn touch(&mut self, order: &BookOrder) {
        if let Some(price) = order.limit {
            self.touched.insert((order.side, price));
        }
    }
}
