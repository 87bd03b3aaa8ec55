//! Placing and matching: a checked order is entered, trades with the book, and rests, waits for its stop or ends.

use venue_sim::ParticipantAction;
use venue_sim::book::{ANONYMOUS, BookEvent, BookOrder, BookTrade, MatchOutcome, MatchPolicy, SelfTradeRule};

use super::event::{ExecutionType, VenueEvent};
use super::order::{
    AccountTrade, NewSpotOrder, PreventionMode, PublicTrade, SpotOrder, SpotSide, SpotStatus, SpotTimeInForce,
};
use super::reject::SpotReject;
use super::settlement::Execution;
use super::units::Units;
use super::{Applied, Placed, SpotExchange};

/// Book keys of simulated participants have the top bit.
pub(super) const PARTICIPANT_KEY: u64 = 1 << 63;

impl SpotExchange {
    pub(super) fn place(&mut self, new: &NewSpotOrder, at: i64) -> Result<Placed, SpotReject> {
        let plan = self.check_new(new, at)?;
        let market = plan.market;
        let id = self.enter(new, plan.quantity, market, at);
        self.lock(market, id, plan.lock);
        self.report(market, id, ExecutionType::New, None, None, at);
        let fills = if new.kind.is_triggered() { Vec::new() } else { self.execute(market, id, at) };
        self.run_stops(market, at);
        let order = self.markets[market].orders[&id].clone();
        Ok(Placed { order, fills })
    }

    /// Adds the order to the market's list, not yet to its book.
    fn enter(&mut self, new: &NewSpotOrder, quantity: Units, index: usize, at: i64) -> u64 {
        let id = self.next_order_id(index, new.account);
        let client_id = new.client_id.clone().unwrap_or_else(|| self.generated_id(index, id));
        let market = &mut self.markets[index];
        let is_stop = new.kind.is_triggered();
        let order = SpotOrder {
            id,
            account: new.account,
            symbol: new.symbol.clone(),
            client_id: client_id.clone(),
            side: new.side,
            kind: new.kind,
            time_in_force: new.time_in_force,
            price: new.price.unwrap_or_default(),
            quantity,
            quote_quantity: new.quote_quantity.unwrap_or_default(),
            stop_price: new.stop_price,
            prevention: new.prevention,
            strategy_id: new.strategy_id,
            strategy_type: new.strategy_type,
            executed: Units::ZERO,
            cumulative_quote: Units::ZERO,
            status: SpotStatus::New,
            locked: Units::ZERO,
            prevented: Units::ZERO,
            prevented_match: None,
            time_micros: at,
            update_micros: at,
            working_micros: (!is_stop).then_some(at),
            amendments: Vec::new(),
        };
        market.set_stop(&order, is_stop);
        market.client_ids.insert((new.account, client_id), id);
        market.open.insert((new.account, id));
        market.orders.insert(id, order);
        id
    }

    /// Triggers every stop that the last price reaches; their trades may reach further ones.
    pub(super) fn run_stops(&mut self, market: usize, at: i64) {
        while let Some(id) = self.markets[market].next_triggered() {
            let order = self.markets[market].orders[&id].clone();
            self.markets[market].set_stop(&order, false);
            if let Some(order) = self.markets[market].orders.get_mut(&id) {
                order.working_micros = Some(at);
                order.update_micros = at;
            }
            if self.lock_triggered(market, &order) {
                self.report(market, id, ExecutionType::New, None, None, at);
                self.execute(market, id, at);
            } else {
                self.end_order(market, id, SpotStatus::Expired, None, at);
            }
        }
    }

    /// Reserves the cost of a stop that becomes a market buy; false where the account cannot pay it.
    fn lock_triggered(&mut self, market: usize, order: &SpotOrder) -> bool {
        if order.side == SpotSide::Sell || order.kind.has_limit() {
            return true;
        }
        let state = &self.markets[market];
        let cost = state.rules.lots(order.quantity).and_then(|lots| state.cost_of(order.side, lots));
        match cost {
            Some((_, cost)) if self.accounts[order.account as usize].free(&state.rules.quote) >= cost => {
                self.lock(market, order.id, cost);
                true
            }
            _ => false,
        }
    }

    /// Matches an order that works, and returns its trades as taker.
    pub(super) fn execute(&mut self, market: usize, id: u64, at: i64) -> Vec<AccountTrade> {
        let order = self.markets[market].orders[&id].clone();
        let incoming = self.book_order(market, &order);
        let policy = match order.time_in_force {
            SpotTimeInForce::Fok => MatchPolicy::FillOrKill,
            SpotTimeInForce::Gtc | SpotTimeInForce::Ioc => MatchPolicy::Immediate,
        };
        let mut happened = Vec::new();
        let state = &mut self.markets[market];
        state.book.set_self_trade(match order.prevention {
            PreventionMode::ExpireMaker => SelfTradeRule::CancelOldest,
            _ => SelfTradeRule::CancelNewest,
        });
        let taker = if order.prevention == PreventionMode::None {
            BookOrder { owner: ANONYMOUS, ..incoming }
        } else {
            incoming
        };
        let outcome = state.book.place(&taker, policy, &mut |event| happened.push(event));
        let mut fills = Vec::new();
        for event in happened {
            match event {
                BookEvent::Traded(trade) => fills.extend(self.on_trade(market, &trade, order.side, at)),
                BookEvent::Prevented { key, .. } => self.on_prevented(market, id, key, order.prevention, true, at),
            }
        }
        match outcome {
            Ok(MatchOutcome::Filled) => {}
            Ok(MatchOutcome::Prevented { .. }) => fills.extend(self.on_taker_prevented(market, &order, at)),
            Ok(MatchOutcome::Expired { lots } | MatchOutcome::Resting { lots })
                if order.kind.has_limit() && order.time_in_force == SpotTimeInForce::Gtc =>
            {
                self.rest(market, BookOrder { lots, ..incoming }, at);
            }
            Ok(_) | Err(_) => self.end_order(market, id, SpotStatus::Expired, None, at),
        }
        fills
    }

    fn book_order(&self, market: usize, order: &SpotOrder) -> BookOrder {
        let rules = &self.markets[market].rules;
        BookOrder {
            key: order.id,
            side: order.side.book(),
            limit: if order.kind.has_limit() { rules.ticks(order.price) } else { None },
            lots: rules.lots(order.open_quantity()).unwrap_or(0),
            owner: order.account + 1,
            iceberg: None,
        }
    }

    fn rest(&mut self, market: usize, order: BookOrder, at: i64) {
        let state = &mut self.markets[market];
        state.touch(&order);
        if state.book.queue(&order).is_err() {
            self.end_order(market, order.key, SpotStatus::Expired, None, at);
        }
    }

    /// Prints a trade and settles both sides; returns the taker's, where a client's order took.
    pub(super) fn on_trade(
        &mut self,
        market: usize,
        trade: &BookTrade,
        taker: SpotSide,
        at: i64,
    ) -> Option<AccountTrade> {
        let state = &mut self.markets[market];
        state.touched.insert((taker.book().opposite(), trade.price));
        let (price, quantity) = (state.rules.price(trade.price), state.rules.quantity(trade.lots));
        let quote = price.times(quantity).unwrap_or_default();
        let trade_id = state.next_trade;
        state.next_trade += 1;
        let public = PublicTrade {
            id: trade_id,
            aggregate_id: 0,
            price,
            quantity,
            quote,
            buyer_is_maker: taker == SpotSide::Sell,
            time_micros: at,
        };
        state.add_trade(public);
        self.events.push(VenueEvent::Trade { market, trade: public });
        let execution = Execution { market, trade_id, price, quantity, quote, at };
        let is_client = |key: u64| key & PARTICIPANT_KEY == 0;
        if is_client(trade.maker) {
            self.settle(&execution, trade.maker, true);
        }
        is_client(trade.taker).then(|| self.settle(&execution, trade.taker, false))
    }

    /// One action of the simulated participants of a symbol.
    pub(super) fn act(&mut self, symbol: u32, at: i64) -> Result<Applied, SpotReject> {
        let index = symbol as usize;
        let market = self.markets.get_mut(index).ok_or_else(SpotReject::bad_symbol)?;
        let actions = market.participants.next_actions(&market.book);
        for action in actions {
            self.apply_action(index, action, at);
        }
        self.run_stops(index, at);
        self.markets[index].schedule(at);
        Ok(Applied::Acted)
    }

    /// An action that the book refuses, because its order has ended, is dropped.
    fn apply_action(&mut self, index: usize, action: ParticipantAction, at: i64) {
        let market = &mut self.markets[index];
        let (order, policy) = match action {
            ParticipantAction::Cancel(key) => {
                if let Ok(order) = market.book.cancel(key) {
                    market.touch(&order);
                }
                return;
            }
            ParticipantAction::Quote(order) => (order, MatchPolicy::Rest),
            ParticipantAction::Take(order) => (order, MatchPolicy::Immediate),
            ParticipantAction::JoinAuction(_) => return,
        };
        let mut trades = Vec::new();
        let mut collect = |event| {
            if let BookEvent::Traded(trade) = event {
                trades.push(trade);
            }
        };
        let outcome = market.book.place(&order, policy, &mut collect);
        if matches!(outcome, Ok(MatchOutcome::Resting { .. })) {
            market.touch(&order);
        }
        let side = if order.side == SpotSide::Buy.book() { SpotSide::Buy } else { SpotSide::Sell };
        for trade in trades {
            self.on_trade(index, &trade, side, at);
        }
    }
}
