//! Matching of one security against recorded prices, waiting orders in order of arrival.

use domain::order::OrderTerms;
use domain::report::{ReportKind, VenueFill};
use domain::{
    Amount, Bar, BookLevel, Decimal, OrderBook, OrderId, Price, Quantity, Security, Side, Text, Tick, TimeInForce,
    Timestamp, Trade,
};

use super::config::{FillRule, ReplayConfig, unsupported_tif};
use super::quotes::{ReplayQuotes, is_beyond, reaches};
use super::reports::{ReplayIds, Reports, rejected};
use super::working_order::{WorkingOrder, consume_queue_ahead, consume_trade, in_full};

const WOULD_TAKE: &str = "would-take: a post-only order would trade at once";

#[derive(Debug)]
pub(super) struct ReplayMarket {
    rule: FillRule,
    slippage: Price,
    contract_size: Decimal,
    fee_rate: Option<Decimal>,
    zone: Text,
    quotes: ReplayQuotes,
    working: Vec<WorkingOrder>,
    /// Number of days with prices.
    day: u64,
    day_ends: Timestamp,
}

impl ReplayMarket {
    pub(super) fn new(config: &ReplayConfig, security: &Security, zone: Text) -> Self {
        Self {
            rule: config.rule,
            slippage: Price(security.price_incr * Decimal::from(config.slippage_ticks)),
            contract_size: security.contract_size,
            fee_rate: config.fee_rate,
            zone,
            quotes: ReplayQuotes::default(),
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
    pub(super) fn receive(
        &mut self,
        at: Timestamp,
        mut order: WorkingOrder,
        words: &mut Reports,
        minted: &mut ReplayIds,
    ) {
        if let Some(reason) = unsupported_tif(order.terms.tif, at) {
            return words.push(rejected(order.id, reason));
        }
        if self.would_take(&order, order.limit()) {
            return words.push(rejected(order.id, WOULD_TAKE));
        }
        let waits = self.rule == FillRule::NextBarOpen;
        if order.is_market()
            && !waits
            && order.untriggered_stop().is_none()
            && self.quotes.opposite(order.side).is_none()
        {
            return words.push(rejected(order.id, self.no_counterparty_reason(order.side)));
        }
        words.push(ReportKind::Accepted { order: order.id, ext_id: Some(minted.order()) });
        self.match_on_arrival(at, &mut order, words, minted);
        self.rest_or_end(order, words);
    }

    /// Whether a post-only order would trade at once at this limit.
    fn would_take(&self, order: &WorkingOrder, limit: Option<Price>) -> bool {
        let opposite = self.quotes.opposite(order.side).filter(|_| order.properties.post_only);
        opposite.zip(limit).is_some_and(|(price, limit)| reaches(order.side, price, limit))
    }

    /// Why there is no counterparty for a taker of this side.
    fn no_counterparty_reason(&self, side: Side) -> &'static str {
        match side {
            _ if !self.quotes.has_quotes() => "market: no price is recorded yet",
            Side::Buy => "market: no offer is shown",
            Side::Sell => "market: no bid is shown",
        }
    }

    /// Trades what can trade on arrival.
    fn match_on_arrival(
        &mut self,
        at: Timestamp,
        order: &mut WorkingOrder,
        words: &mut Reports,
        minted: &mut ReplayIds,
    ) {
        self.trigger_by_quote(order);
        if order.untriggered_stop().is_none() && self.rule != FillRule::NextBarOpen {
            self.take_liquidity(at, order, words, minted);
        }
        if order.limit().is_some() && order.untriggered_stop().is_none() {
            order.ahead = order.limit().and_then(|limit| self.quotes.shown_at(order.side, limit));
        }
    }

    /// Leaves an order working, or reports how it ended.
    fn rest_or_end(&mut self, order: WorkingOrder, words: &mut Reports) {
        if order.is_done() {
            return;
        }
        let next_bar = self.rule == FillRule::NextBarOpen;
        if order.is_immediate() && !next_bar {
            let reason = Some(format!("{}: the rest could not trade at once", order.terms.tif.name()).into());
            return words.push(ReportKind::Expired { order: order.id, reason });
        }
        if order.is_market() && order.untriggered_stop().is_none() && !next_bar {
            let reason = Some("market: the book shows no more".into());
            return words.push(ReportKind::Canceled { order: order.id, reason });
        }
        self.working.push(order);
    }

    pub(super) fn replace(
        &mut self,
        at: Timestamp,
        id: OrderId,
        terms: OrderTerms,
        words: &mut Reports,
        minted: &mut ReplayIds,
    ) {
        let Some(place) = self.index_of(id) else {
            return words.push(ReportKind::ReplaceRejected { order: id, reason: "unknown-order".into() });
        };
        if self.working[place].terms.kind.order_type() != terms.kind.order_type() {
            return words
                .push(ReportKind::ReplaceRejected { order: id, reason: "type: a replace cannot change it".into() });
        }
        if let Some(reason) = unsupported_tif(terms.tif, at) {
            return words.push(ReportKind::ReplaceRejected { order: id, reason: reason.into() });
        }
        if self.would_take(&self.working[place], terms.kind.limit()) {
            return words.push(ReportKind::ReplaceRejected { order: id, reason: WOULD_TAKE.into() });
        }
        let mut order = self.working.remove(place);
        let keeps_place = order.terms.kind == terms.kind && terms.quantity <= order.terms.quantity;
        order.terms = OrderTerms { quantity: terms.quantity.max(order.filled), ..terms };
        words.push(ReportKind::Replaced { order: id, terms: order.terms, ext_id: None });
        if keeps_place && !order.is_done() {
            self.working.insert(place, order);
            return;
        }
        self.match_on_arrival(at, &mut order, words, minted);
        self.rest_or_end(order, words);
    }

    pub(super) fn cancel(&mut self, id: OrderId, words: &mut Reports) {
        match self.index_of(id) {
            Some(place) => {
                self.working.remove(place);
                words.push(ReportKind::Canceled { order: id, reason: None });
            }
            None => words.push(ReportKind::CancelRejected { order: id, reason: "unknown-order".into() }),
        }
    }

    fn index_of(&self, id: OrderId) -> Option<usize> {
        self.working.iter().position(|order| order.id == id)
    }

    /// GTD orders that have expired.
    pub(super) fn expire(&mut self, to: Timestamp, words: &mut Reports) {
        let is_over = |order: &WorkingOrder| matches!(order.terms.tif, TimeInForce::Gtd { until } if until <= to);
        self.expire_where(is_over, "GTD: its time is over", words);
    }

    #[inline]
    pub(super) fn on_tick(&mut self, at: Timestamp, tick: &Tick, words: &mut Reports, minted: &mut ReplayIds) {
        self.quotes.on_tick(tick);
        if self.has_waiting_orders(at, words) {
            self.match_orders(at, words, minted, Self::match_quote);
        }
    }

    pub(super) fn on_book(&mut self, at: Timestamp, book: &OrderBook, words: &mut Reports, minted: &mut ReplayIds) {
        self.quotes.on_book(book);
        if self.has_waiting_orders(at, words) {
            self.match_orders(at, words, minted, Self::match_quote);
        }
    }

    pub(super) fn on_trade(&mut self, at: Timestamp, trade: &Trade, words: &mut Reports, minted: &mut ReplayIds) {
        self.quotes.on_last(trade.price);
        if self.has_waiting_orders(at, words) {
            let mut left = trade.quantity;
            self.match_orders(at, words, minted, |market, order| market.match_trade(order, trade.price, &mut left));
        }
    }

    pub(super) fn on_bar_open(&mut self, at: Timestamp, bar: &Bar, words: &mut Reports, minted: &mut ReplayIds) {
        self.quotes.on_last(bar.open);
        if self.has_waiting_orders(at, words) {
            self.match_orders(at, words, minted, |market, order| market.match_open(order, bar.open));
        }
    }

    /// A bar belongs to the day on which it begins: the last of a day closes when the day is over, and a daily one
    /// spans a midnight in every zone but UTC.
    pub(super) fn on_bar_close(&mut self, at: Timestamp, bar: &Bar, words: &mut Reports, minted: &mut ReplayIds) {
        if self.has_waiting_orders(bar.at, words) {
            self.match_orders(at, words, minted, |market, order| market.match_range(order, bar));
        }
        self.quotes.on_last(bar.close);
    }

    /// Whether any order waits for the new price; orders of past days are ended first.
    #[inline]
    fn has_waiting_orders(&mut self, at: Timestamp, words: &mut Reports) -> bool {
        !self.working.is_empty() && self.has_waiting_orders_today(at, words)
    }

    fn has_waiting_orders_today(&mut self, at: Timestamp, words: &mut Reports) -> bool {
        if at >= self.day_ends {
            self.day += 1;
            self.day_ends = domain::calendar::next_midnight(&self.zone, at).unwrap_or(Timestamp(i64::MAX));
        }
        let day = self.day;
        let is_over = |order: &WorkingOrder| order.is_day_order() && order.day.is_some_and(|own| own < day);
        self.expire_where(is_over, "DAY: the day is over", words);
        self.working.iter_mut().for_each(|order| order.day = order.day.or(Some(day)));
        !self.working.is_empty()
    }

    fn expire_where(&mut self, is_over: impl Fn(&WorkingOrder) -> bool, reason: &'static str, words: &mut Reports) {
        self.working.retain(|order| {
            let is_over = is_over(order);
            if is_over {
                words.push(ReportKind::Expired { order: order.id, reason: Some(reason.into()) });
            }
            !is_over
        });
    }

    /// Matches every waiting order against the new price.
    fn match_orders(
        &mut self,
        at: Timestamp,
        words: &mut Reports,
        minted: &mut ReplayIds,
        mut trade: impl FnMut(&mut Self, &mut WorkingOrder) -> Vec<BookLevel>,
    ) {
        let mut waiting = std::mem::take(&mut self.working);
        for order in &mut waiting {
            for BookLevel { price, quantity } in trade(self, order) {
                self.fill(at, order, quantity, price, words, minted);
            }
        }
        waiting.retain(|order| !order.is_done());
        // New orders could be here only if they came in meanwhile, and none can.
        self.working = waiting;
        self.expire_where(
            |order| order.is_triggered && order.is_market() && !order.remaining().is_zero(),
            "market: the book shows no more",
            words,
        );
    }

    /// A new quote: stops may be triggered, resting orders may be reached.
    fn match_quote(&mut self, order: &mut WorkingOrder) -> Vec<BookLevel> {
        if self.rule == FillRule::NextBarOpen {
            return Vec::new();
        }
        if order.untriggered_stop().is_some() {
            self.trigger_by_quote(order);
            return if order.untriggered_stop().is_none() { self.available_liquidity(order) } else { Vec::new() };
        }
        let Some(limit) = order.limit() else { return Vec::new() };
        let Some(price) = self.quotes.quoted(order.side) else { return self.match_last(order, limit) };
        match self.rule {
            FillRule::Touch if reaches(order.side, price, limit) => in_full(order, limit),
            FillRule::Cross if is_beyond(order.side, price, limit) => in_full(order, limit),
            FillRule::Depth => self.at_limit(order, limit),
            FillRule::QueuePosition => self.match_queue_position(order, limit, price),
            _ => Vec::new(),
        }
    }

    /// Without quotes, the last trade is all that ticks have, without its quantity.
    fn match_last(&self, order: &WorkingOrder, limit: Price) -> Vec<BookLevel> {
        let last = self.quotes.opposite(order.side);
        let is_filled = last.is_some_and(|last| self.fills_by_price(order.side, last, limit));
        if is_filled { in_full(order, limit) } else { Vec::new() }
    }

    fn match_queue_position(&mut self, order: &mut WorkingOrder, limit: Price, opposite: Price) -> Vec<BookLevel> {
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
    fn match_trade(&mut self, order: &mut WorkingOrder, price: Price, left: &mut Quantity) -> Vec<BookLevel> {
        if self.rule == FillRule::NextBarOpen {
            return Vec::new();
        }
        if order.untriggered_stop().is_some() {
            order.is_triggered = order.is_reached(price);
            return if order.is_triggered { self.available_liquidity(order) } else { Vec::new() };
        }
        let Some(limit) = order.limit().filter(|limit| reaches(order.side, price, *limit)) else { return Vec::new() };
        let is_beyond = is_beyond(order.side, price, limit);
        match self.rule {
            FillRule::Touch => in_full(order, limit),
            FillRule::Cross | FillRule::QueuePosition if is_beyond => in_full(order, limit),
            FillRule::Depth => consume_trade(order.remaining(), limit, left),
            FillRule::QueuePosition => {
                consume_queue_ahead(order, left);
                self.trade_shown(order, limit, left)
            }
            FillRule::Cross | FillRule::NextBarOpen => Vec::new(),
        }
    }

    /// The part of a trade that fills what our order shows. The next part of an iceberg waits behind its level.
    fn trade_shown(&self, order: &mut WorkingOrder, limit: Price, left: &mut Quantity) -> Vec<BookLevel> {
        let filled = consume_trade(order.shown(), limit, left);
        if filled.first().is_some_and(|part| order.deduct_shown(part.quantity)) {
            order.ahead = self.quotes.shown_at(order.side, limit);
        }
        filled
    }

    /// The first price of a bar: waiting orders trade there, and so does a limit that it reaches.
    fn match_open(&mut self, order: &mut WorkingOrder, open: Price) -> Vec<BookLevel> {
        if order.untriggered_stop().is_some() {
            order.is_triggered = order.is_reached(open);
            if !order.is_triggered {
                return Vec::new();
            }
        }
        match order.limit() {
            None => in_full(order, self.worsen(order.side, open)),
            Some(limit) if reaches(order.side, open, limit) => in_full(order, open),
            Some(_) => Vec::new(),
        }
    }

    /// The range of a bar: stops within it trade at their price, limits by the rule.
    fn match_range(&mut self, order: &mut WorkingOrder, bar: &Bar) -> Vec<BookLevel> {
        let (best, worst) = match order.side {
            Side::Buy => (bar.low, bar.high),
            Side::Sell => (bar.high, bar.low),
        };
        if let Some(stop) = order.untriggered_stop() {
            order.is_triggered = order.is_reached(worst);
            return match order.is_triggered && order.is_market() {
                true => in_full(order, self.worsen(order.side, stop)),
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
            _ => is_beyond(side, price, limit),
        }
    }

    fn trigger_by_quote(&self, order: &mut WorkingOrder) {
        if order.untriggered_stop().is_some() {
            let price = self.quotes.last().or_else(|| self.quotes.quoted(order.side));
            order.is_triggered = price.is_some_and(|price| order.is_reached(price));
        }
    }

    fn take_liquidity(&mut self, at: Timestamp, order: &mut WorkingOrder, words: &mut Reports, minted: &mut ReplayIds) {
        if self.respects_size(order.side) {
            for BookLevel { price, quantity } in self.available_liquidity(order) {
                self.fill(at, order, quantity, price, words, minted);
            }
        } else if let Some(BookLevel { price, quantity }) = self.full_fill(order) {
            self.fill(at, order, quantity, price, words, minted);
        }
    }

    /// The fill of a taker now.
    fn available_liquidity(&mut self, order: &WorkingOrder) -> Vec<BookLevel> {
        if !self.respects_size(order.side) {
            return self.full_fill(order).into_iter().collect();
        }
        let levels = self.fill_by_depth(order, order.remaining());
        levels.into_iter().filter_map(|level| self.fill_at_level(order, level)).collect()
    }

    /// Whether the shown quantity matters.
    fn respects_size(&self, side: Side) -> bool {
        self.rule.respects_size() && self.quotes.quoted(side).is_some()
    }

    /// The full quantity, whatever the other side shows.
    fn full_fill(&self, order: &WorkingOrder) -> Option<BookLevel> {
        let price = self.quotes.opposite(order.side)?;
        self.fill_at_level(order, BookLevel { price, quantity: order.remaining() })
    }

    /// The fill of an order at a level within its limit.
    fn fill_at_level(&self, order: &WorkingOrder, level: BookLevel) -> Option<BookLevel> {
        let is_within = order.limit().is_none_or(|limit| reaches(order.side, level.price, limit));
        is_within.then(|| BookLevel { price: self.with_slippage(order, level.price), ..level })
    }

    /// Level by level; nothing where that is less than must trade at once.
    fn fill_by_depth(&mut self, order: &WorkingOrder, wanted: Quantity) -> Vec<BookLevel> {
        let before = self.quotes.clone();
        let levels = self.quotes.take_liquidity(order.side, wanted, order.limit());
        let got = levels.iter().fold(Quantity::ZERO, |sum, level| sum.plus(level.quantity).unwrap_or(sum));
        if got < order.least() {
            self.quotes = before;
            return Vec::new();
        }
        levels
    }

    /// Fills our limit with what the other side shows at it or better.
    fn at_limit(&mut self, order: &WorkingOrder, limit: Price) -> Vec<BookLevel> {
        let met = self.quotes.take_liquidity(order.side, order.remaining(), Some(limit));
        met.into_iter().map(|level| BookLevel { price: limit, ..level }).collect()
    }

    fn with_slippage(&self, order: &WorkingOrder, price: Price) -> Price {
        if order.is_market() { self.worsen(order.side, price) } else { price }
    }

    fn worsen(&self, side: Side, price: Price) -> Price {
        let slipped = match side {
            Side::Buy => price.plus(self.slippage),
            Side::Sell => price.minus(self.slippage),
        };
        slipped.unwrap_or(price)
    }

    fn fill(
        &self,
        at: Timestamp,
        order: &mut WorkingOrder,
        quantity: Quantity,
        price: Price,
        words: &mut Reports,
        minted: &mut ReplayIds,
    ) {
        order.filled = order.filled.plus(quantity).unwrap_or(order.terms.quantity);
        let (exec_id, fee) = (minted.execution(), self.fee(quantity, price));
        // Which of both it was is not recorded.
        let (order, at, charges, ext_order, liquidity) = (order.id, Some(at), vec![], None, None);
        words.push(ReportKind::Filled(VenueFill {
            order,
            exec_id,
            quantity,
            price,
            at,
            fee,
            charges,
            ext_order,
            liquidity,
        }));
    }

    /// Where the sum does not fit, the engine refuses the fill for the same reason.
    fn fee(&self, quantity: Quantity, price: Price) -> Option<Amount> {
        let value = quantity.value_at(price, self.contract_size).ok()?;
        value.abs().scaled(self.fee_rate?).ok()
    }
}
