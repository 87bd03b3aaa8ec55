//! The strategy itself: at each draw it places, changes or cancels an order, and it writes down everything that it is told.

use std::sync::Arc;

use domain::command::PlaceOrder;
use domain::{Command, Event, Fill, IntId, Order, OrderStatus, Quantity, SeededRng, Side, Timestamp, Transaction};
use strategy::{CommandRejection, Context, OrderModification, Strategy, Timer, order};

use super::strategy_log::StrategyLog;
use crate::error_codes::OUTCOME_UNKNOWN;
use crate::market::{Stock, cents};

const LOOK: &str = "look";
const LOOK_EVERY_NANOS: i64 = 500_000_000;

pub(super) struct SeededStrategy {
    log: StrategyLog,
    run: u64,
}

impl SeededStrategy {
    pub(super) fn new(log: StrategyLog, run: u64) -> Self {
        log.lock().runs.entry(run).or_default();
        Self { log, run }
    }

    fn told(&self, event: Event) {
        self.log.lock().runs.entry(self.run).or_default().push(event);
    }

    fn look_later(context: &mut Context<'_>) {
        let due = Timestamp(context.now().0 + LOOK_EVERY_NANOS);
        context.set_timer(LOOK, due);
    }

    fn act(&self, draw: u64, context: &mut Context<'_>) {
        let mut rng = SeededRng::new(draw, 10);
        let working: Vec<IntId> = context.orders().map(|order| order.int_id.clone()).collect();
        match (rng.below(8), rng.pick(&working).cloned()) {
            (0 | 1, Some(order)) => context.cancel(&order),
            (2, Some(order)) => {
                let quantity = Some(Quantity::from(rng.between(1, 150)));
                context.modify(&order, OrderModification { quantity, ..OrderModification::default() });
            }
            _ => self.place(&mut rng, context),
        }
    }

    fn place(&self, rng: &mut SeededRng, context: &mut Context<'_>) {
        let market = self.log.market();
        let Stock { security, opening } = market.draw_stock(rng);
        let side = if rng.one_in(2) { Side::Buy } else { Side::Sell };
        let away = rng.between(-3, 12) * opening / 1_000;
        let limit = cents(if side == Side::Buy { opening - away } else { opening + away });
        // One in twelve is larger than the platform allows.
        let quantity = Quantity::from(if rng.one_in(12) { 5_000 } else { rng.between(1, 120) });
        let mut ask = order::limit(security.id, side, quantity, limit);
        ask.account = Some(market.accounts[0]);
        let placed = context.place(ask.clone());
        self.log.lock().placed.insert(placed, ask);
    }
}

impl Strategy for SeededStrategy {
    fn run(&mut self, context: &mut Context<'_>) {
        Self::look_later(context);
    }

    fn on_timer(&mut self, _: &Timer, context: &mut Context<'_>) {
        let (draws, is_over) = {
            let mut state = self.log.lock();
            (std::mem::take(&mut state.draws), state.is_over)
        };
        if is_over {
            context.cancel_all();
        } else {
            draws.into_iter().for_each(|draw| self.act(draw, context));
        }
        Self::look_later(context);
    }

    fn on_order(&mut self, order: &Order, _: &mut Context<'_>) {
        self.told(Event::Order(Arc::new(order.clone())));
    }

    fn on_order_status(&mut self, status: &OrderStatus, _: &mut Context<'_>) {
        self.told(Event::OrderStatus(Arc::new(status.clone())));
    }

    fn on_fill(&mut self, fill: &Fill, _: &mut Context<'_>) {
        self.told(Event::Fill(Arc::new(fill.clone())));
    }

    fn on_transaction(&mut self, transaction: &Transaction, _: &mut Context<'_>) {
        self.told(Event::Transaction(Arc::new(transaction.clone())));
    }

    fn on_refusal(&mut self, refused: &CommandRejection, _: &mut Context<'_>) {
        let mut log = self.log.lock();
        *log.refusals.entry(refused.code.to_string()).or_default() += 1;
        if &*refused.code == OUTCOME_UNKNOWN {
            log.unanswered = Some(format!("{:?}", refused.command));
            return;
        }
        if let Command::Place(PlaceOrder { int_id: Some(id), .. }) = &refused.command {
            log.refused.insert(id.clone());
        }
    }
}
