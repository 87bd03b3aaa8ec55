//! Matching of one security against recorded prices, waiting orders in order of arrival.

use domain::order::Terms;
use domain::report::{Said, VenueFill};
use domain::{
    Amount, Bar, Decimal, Level, OrderBook, OrderId, Price, Quantity, Security, Side, Text, Tick, TimeInForce,
    Timestamp, Trade,
};

use super::quotes::{Quotes, goes_beyond, reaches};
use super::rule::FillRule;
use super::working::Working;
use super::{Minted, ReplayConfig, Words, rejected, unsuited};

#[derive(Debug)]
pub(super) struct Market {
    rule: FillRule,
    slippage: Price,
    contract_size: Decimal,
    fee_rate: Option<Decimal>,
    zone: Text,
    quotes: Quotes,
    working: Vec<Working>,
    /// Number of days with prices.
    day: u64,
    day_ends: Timestamp,
}

impl Market {
    pub(super) fn new(config: &ReplayConfig, security: &Security, zone: Text) -> Self {
        Self {
            rule: config.rule,
            slippage: Price(security.price_incr * Decimal::from(config.slippage_ticks)),
            contract_size: security.contract_size,
            fee_rate: config.fee_rate,
            zone,
            quotes: Quotes::default(),
            working: Vec::new(),
            day: 0,
            day_ends: Timestamp(i64::MIN),
        }
    }

    pub(super) fn working(&self) -> usize {
        self.working.len()
    }

    /// The first expiry of a GTD order.
    pub(super) fn next_expiry(&self) -> Option<Timestamp> {
        let instants = self.working.iter().filter_map(|order| match order.terms.tif {
            TimeInForce::Gtd { until } => Some(until),
            _ => None,
        });
        instants.min()
    }

    /// A new order: confirmed, then traded as far as possible, then left working or ended.
    pub(super) fn receive(&mut self, at: Timestamp, mut order: Working, words: &mut Words, minted: &mut Minted) {
        if let Some(reason) = unsuited(order.terms.tif, at) {
            return words.push(rejected(order.id, reason));
        }
        let waits = self.rule == FillRule::NextBarOpen;
        if order.is_market() && !waits && order.waits_for().is_none() && self.quotes.opposite(order.side).is_none() {
            return words.push(rejected(order.id, self.nobody_there(order.side)));
        }
        words.push(Said::Accepted { order: order.id, ext_id: Some(minted.order()) });
        self.go_to_market(at, &mut order, words, minted);
        self.settle(order, words);
    }

    /// Why there is no counterparty for a taker of this side.
    fn nobody_there(&self, side: Side) -> &'static str {
        match side {
            _ if !self.quotes.has_quotes() => "market: no price is recorded yet",
            Side::Buy => "market: no offer is shown",
            Side::Sell => "market: no bid is shown",
        }
    }

    /// Trades what can trade on arrival.
    fn go_to_market(&mut self, at: Timestamp, order: &mut Working, words: &mut Words, minted: &mut Minted) {
        self.trigger_by_quote(order);
        if order.waits_for().is_none() && self.rule != FillRule::NextBarOpen {
            self.take(at, order, words, minted);
        }
        if order.limit().is_some() && order.waits_for().is_none() {
            order.ahead = order.limit().and_then(|limit| self.quotes.shown_at(order.side, limit));
        }
    }

    /// Leaves an order working, or reports how it ended.
    fn settle(&mut self, order: Working, words: &mut Words) {
        if order.is_done() {
            return;
        }
        let next_bar = self.rule == FillRule::NextBarOpen;
        if order.must_trade_at_once() && !next_bar {
            let reason = Some(format!("{}: the rest could not trade at once", order.terms.tif.name()).into());
            return words.push(Said::Expired { order: order.id, reason });
        }
        if order.is_market() && order.waits_for().is_none() && !next_bar {
            let reason = Some("market: the book shows no more".into());
            return words.push(Said::Canceled { order: order.id, reason });
        }
        self.working.push(order);
    }

    pub(super) fn replace(&mut self, at: Timestamp, id: OrderId, terms: Terms, words: &mut Words, minted: &mut Minted) {
        let Some(place) = self.place_of(id) else {
            return words.push(Said::ReplaceRejected { order: id, reason: "unknown-order".into() });
        };
        if !self.working[place].terms.kind.same_kind(&terms.kind) {
            return words.push(Said::ReplaceRejected { order: id, reason: "type: a replace cannot change it".into() });
        }
        if let Some(reason) = unsuited(terms.tif, at) {
            return words.push(Said::ReplaceRejected { order: id, reason: reason.into() });
        }
        let mut order = self.working.remove(place);
        let keeps_place = order.terms.kind == terms.kind && terms.quantity <= order.terms.quantity;
        order.terms = Terms { quantity: terms.quantity.max(order.filled), ..terms };
        words.push(Said::Replaced { order: id, terms: order.terms, ext_id: None });
        if keeps_place && !order.is_done() {
            self.working.insert(place, order);
            return;
        }
        self.go_to_market(at, &mut order, words, minted);
        self.settle(order, words);
    }

    pub(super) fn cancel(&mut self, id: OrderId, words: &mut Words) {
        match self.place_of(id) {
            Some(place) => {
                self.working.remove(place);
                words.push(Said::Canceled { order: id, reason: None });
            }
            None => words.push(Said::CancelRejected { order: id, reason: "unknown-order".into() }),
        }
    }

    fn place_of(&self, id: OrderId) -> Option<usize> {
        self.working.iter().position(|order| order.id == id)
    }

    /// GTD orders that have expired.
    pub(super) fn expire(&mut self, to: Timestamp, words: &mut Words) {
        let is_over = |order: &Working| matches!(order.terms.tif, TimeInForce::Gtd { until } if until <= to);
        self.end(is_over, "GTD: its time is over", words);
    }

    #[inline]
    pub(super) fn tick(&mut self, at: Timestamp, tick: &Tick, words: &mut Words, minted: &mut Minted) {
        self.quotes.take_tick(tick);
        if self.is_awaited(at, words) {
            self.meet(at, words, minted, Self::by_quote);
        }
    }

    pub(super) fn book(&mut self, at: Timestamp, book: &OrderBook, words: &mut Words, minted: &mut Minted) {
        self.quotes.take_book(book);
        if self.is_awaited(at, words) {
            self.meet(at, words, minted, Self::by_quote);
        }
    }

    pub(super) fn trade(&mut self, at: Timestamp, trade: &Trade, words: &mut Words, minted: &mut Minted) {
        self.quotes.take_last(trade.price);
        if self.is_awaited(at, words) {
            let mut left = trade.quantity;
            self.meet(at, words, minted, |market, order| market.by_trade(order, trade.price, &mut left));
        }
    }

    pub(super) fn bar_opens(&mut self, at: Timestamp, bar: &Bar, words: &mut Words, minted: &mut Minted) {
        self.quotes.take_last(bar.open);
        if self.is_awaited(at, words) {
            self.meet(at, words, minted, |market, order| market.by_open(order, bar.open));
        }
    }

    /// A bar belongs to the day on which it begins: the last of a day closes when the day is over, and a daily one
    /// spans a midnight in every zone but UTC.
    pub(super) fn bar_closes(&mut self, at: Timestamp, bar: &Bar, words: &mut Words, minted: &mut Minted) {
        if self.is_awaited(bar.at, words) {
            self.meet(at, words, minted, |market, order| market.by_range(order, bar));
        }
        self.quotes.take_last(bar.close);
    }

    /// Whether any order waits for the new price; orders of past days are ended first.
    #[inline]
    fn is_awaited(&mut self, at: Timestamp, words: &mut Words) -> bool {
        !self.working.is_empty() && self.is_still_awaited(at, words)
    }

    fn is_still_awaited(&mut self, at: Timestamp, words: &mut Words) -> bool {
        if at >= self.day_ends {
            self.day += 1;
            self.day_ends = domain::calendar::next_midnight(&self.zone, at).unwrap_or(Timestamp(i64::MAX));
        }
        let day = self.day;
        let is_over = |order: &Working| order.ends_with_the_day() && order.day.is_some_and(|own| own < day);
        self.end(is_over, "DAY: the day is over", words);
        self.working.iter_mut().for_each(|order| order.day = order.day.or(Some(day)));
        !self.working.is_empty()
    }

    fn end(&mut self, is_over: impl Fn(&Working) -> bool, reason: &'static str, words: &mut Words) {
        self.working.retain(|order| {
            let is_over = is_over(order);
            if is_over {
                words.push(Said::Expired { order: order.id, reason: Some(reason.into()) });
            }
            !is_over
        });
    }

    /// Matches every waiting order against the new price.
    fn meet(
        &mut self,
        at: Timestamp,
        words: &mut Words,
        minted: &mut Minted,
        mut deal: impl FnMut(&mut Self, &mut Working) -> Vec<Level>,
    ) {
        let mut waiting = std::mem::take(&mut self.working);
        for order in &mut waiting {
            for Level { price, quantity } in deal(self, order) {
                self.fill(at, order, quantity, price, words, minted);
            }
        }
        waiting.retain(|order| !order.is_done());
        // New orders could be here only if they came in meanwhile, and none can.
        self.working = waiting;
        self.end(
            |order| order.is_triggered && order.is_market() && !order.remaining().is_zero(),
            "market: the book shows no more",
            words,
        );
    }

    /// A new quote: stops may be triggered, resting orders may be reached.
    fn by_quote(&mut self, order: &mut Working) -> Vec<Level> {
        if self.rule == FillRule::NextBarOpen {
            return Vec::new();
        }
        if order.waits_for().is_some() {
            self.trigger_by_quote(order);
            return if order.waits_for().is_none() { self.taken(order) } else { Vec::new() };
        }
        let Some(limit) = order.limit() else { return Vec::new() };
        let Some(price) = self.quotes.quoted(order.side) else { return self.by_last(order, limit) };
        match self.rule {
            FillRule::Touch if reaches(order.side, price, limit) => in_full(order, limit),
            FillRule::Cross if goes_beyond(order.side, price, limit) => in_full(order, limit),
            FillRule::Depth => self.at_limit(order, limit),
            FillRule::QueuePosition => self.in_queue(order, limit, price),
            _ => Vec::new(),
        }
    }

    /// Without quotes, the last trade is all that ticks have, without its quantity.
    fn by_last(&self, order: &Working, limit: Price) -> Vec<Level> {
        let last = self.quotes.opposite(order.side);
        let is_filled = last.is_some_and(|last| self.fills_by_price(order.side, last, limit));
        if is_filled { in_full(order, limit) } else { Vec::new() }
    }

    fn in_queue(&mut self, order: &mut Working, limit: Price, opposite: Price) -> Vec<Level> {
        if reaches(order.side, opposite, limit) {
            return in_full(order, limit);
        }
        if let Some(shown) = self.quotes.shown_at(order.side, limit) {
            // Cancelled quantity was behind us, as long as more is shown than was ahead of us.
            order.ahead = Some(order.ahead.map_or(shown, |ahead| ahead.min(shown)));
        }
        Vec::new()
    }

    /// A market trade. `left` is what our orders have not used of it.
    fn by_trade(&mut self, order: &mut Working, price: Price, left: &mut Quantity) -> Vec<Level> {
        if self.rule == FillRule::NextBarOpen {
            return Vec::new();
        }
        if let Some(stop) = order.waits_for() {
            order.is_triggered = reaches(order.side.opposite(), price, stop);
            return if order.is_triggered { self.taken(order) } else { Vec::new() };
        }
        let Some(limit) = order.limit().filter(|limit| reaches(order.side, price, *limit)) else { return Vec::new() };
        let is_beyond = goes_beyond(order.side, price, limit);
        match self.rule {
            FillRule::Touch => in_full(order, limit),
            FillRule::Cross | FillRule::QueuePosition if is_beyond => in_full(order, limit),
            FillRule::Depth => used(order, limit, left),
            FillRule::QueuePosition => {
                pass_ahead(order, left);
                used(order, limit, left)
            }
            FillRule::Cross | FillRule::NextBarOpen => Vec::new(),
        }
    }

    /// The first price of a bar: waiting orders trade there, and so does a limit that it reaches.
    fn by_open(&mut self, order: &mut Working, open: Price) -> Vec<Level> {
        if let Some(stop) = order.waits_for() {
            order.is_triggered = reaches(order.side.opposite(), open, stop);
            if !order.is_triggered {
                return Vec::new();
            }
        }
        match order.limit() {
            None => in_full(order, self.worse(order.side, open)),
            Some(limit) if reaches(order.side, open, limit) => in_full(order, open),
            Some(_) => Vec::new(),
        }
    }

    /// The range of a bar: stops within it trade at their price, limits by the rule.
    fn by_range(&mut self, order: &mut Working, bar: &Bar) -> Vec<Level> {
        let (best, worst) = match order.side {
            Side::Buy => (bar.low, bar.high),
            Side::Sell => (bar.high, bar.low),
        };
        if let Some(stop) = order.waits_for() {
            order.is_triggered = reaches(order.side.opposite(), worst, stop);
            return match order.is_triggered && order.is_market() {
                true => in_full(order, self.worse(order.side, stop)),
                false => Vec::new(),
            };
        }
        let Some(limit) = order.limit() else { return Vec::new() };
        if self.fills_by_price(order.side, best, limit) { in_full(order, limit) } else { Vec::new() }
    }

    /// Whether a price fills an order resting at a limit, where the quantity is unknown.
    fn fills_by_price(&self, side: Side, price: Price, limit: Price) -> bool {
        match self.rule {
            FillRule::Touch => reaches(side, price, limit),
            _ => goes_beyond(side, price, limit),
        }
    }

    fn trigger_by_quote(&self, order: &mut Working) {
        if let Some(stop) = order.waits_for() {
            let price = self.quotes.last().or_else(|| self.quotes.quoted(order.side));
            order.is_triggered = price.is_some_and(|price| reaches(order.side.opposite(), price, stop));
        }
    }

    fn take(&mut self, at: Timestamp, order: &mut Working, words: &mut Words, minted: &mut Minted) {
        if self.minds_size(order.side) {
            for Level { price, quantity } in self.taken(order) {
                self.fill(at, order, quantity, price, words, minted);
            }
        } else if let Some(Level { price, quantity }) = self.taken_at_once(order) {
            self.fill(at, order, quantity, price, words, minted);
        }
    }

    /// The fill of a taker now.
    fn taken(&mut self, order: &Working) -> Vec<Level> {
        if !self.minds_size(order.side) {
            return self.taken_at_once(order).into_iter().collect();
        }
        let levels = self.shown(order, order.remaining());
        levels.into_iter().filter_map(|level| self.granted(order, level)).collect()
    }

    /// Whether the shown quantity matters.
    fn minds_size(&self, side: Side) -> bool {
        self.rule.minds_size() && self.quotes.quoted(side).is_some()
    }

    /// The full quantity, whatever the other side shows.
    fn taken_at_once(&self, order: &Working) -> Option<Level> {
        let price = self.quotes.opposite(order.side)?;
        self.granted(order, Level { price, quantity: order.remaining() })
    }

    /// The fill of an order at a level within its limit.
    fn granted(&self, order: &Working, level: Level) -> Option<Level> {
        let is_within = order.limit().is_none_or(|limit| reaches(order.side, level.price, limit));
        is_within.then(|| Level { price: self.slipped(order, level.price), ..level })
    }

    /// Level by level; all or nothing for a FOK.
    fn shown(&mut self, order: &Working, wanted: Quantity) -> Vec<Level> {
        let before = self.quotes.clone();
        let levels = self.quotes.take(order.side, wanted, order.limit());
        let got = levels.iter().fold(Quantity::ZERO, |sum, level| sum.plus(level.quantity).unwrap_or(sum));
        if order.terms.tif == TimeInForce::Fok && got < wanted {
            self.quotes = before;
            return Vec::new();
        }
        levels
    }

    /// Fills our limit with what the other side shows at it or better.
    fn at_limit(&mut self, order: &Working, limit: Price) -> Vec<Level> {
        let met = self.quotes.take(order.side, order.remaining(), Some(limit));
        met.into_iter().map(|level| Level { price: limit, ..level }).collect()
    }

    fn slipped(&self, order: &Working, price: Price) -> Price {
        if order.is_market() { self.worse(order.side, price) } else { price }
    }

    fn worse(&self, side: Side, price: Price) -> Price {
        let slipped = match side {
            Side::Buy => price.plus(self.slippage),
            Side::Sell => price.minus(self.slippage),
        };
        slipped.unwrap_or(price)
    }

    fn fill(
        &self,
        at: Timestamp,
        order: &mut Working,
        quantity: Quantity,
        price: Price,
        words: &mut Words,
        minted: &mut Minted,
    ) {
        order.filled = order.filled.plus(quantity).unwrap_or(order.terms.quantity);
        let (exec_id, fee) = (minted.execution(), self.fee(quantity, price));
        let (order, at, charges) = (order.id, Some(at), vec![]);
        words.push(Said::Filled(VenueFill { order, exec_id, quantity, price, at, fee, charges }));
    }

    /// Where the sum does not fit, the engine refuses the fill for the same reason.
    fn fee(&self, quantity: Quantity, price: Price) -> Option<Amount> {
        let value = quantity.value_at(price, self.contract_size).ok()?;
        value.abs().scaled(self.fee_rate?).ok()
    }
}

fn in_full(order: &Working, price: Price) -> Vec<Level> {
    vec![Level { price, quantity: order.remaining() }]
}

/// The part of a trade that fills our order.
fn used(order: &Working, limit: Price, left: &mut Quantity) -> Vec<Level> {
    let quantity = order.remaining().min(*left);
    if quantity.is_zero() {
        return Vec::new();
    }
    *left = left.minus(quantity).unwrap_or_default();
    vec![Level { price: limit, quantity }]
}

/// A trade first fills the quantity ahead of us.
fn pass_ahead(order: &mut Working, left: &mut Quantity) {
    let ahead = order.ahead.unwrap_or_default();
    let passed = ahead.min(*left);
    order.ahead = Some(ahead.minus(passed).unwrap_or_default());
    *left = left.minus(passed).unwrap_or_default();
}
