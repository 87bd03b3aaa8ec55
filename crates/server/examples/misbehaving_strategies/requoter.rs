//! A strategy with many requests under way: what becomes of them where its server dies?

use std::collections::{BTreeMap, BTreeSet};

use strategy::domain::{
    Command, IntId, OrdStatus, OrderStatus, Price, Quantity, SecurityId, Side, TimeInForce, Transaction,
};
use strategy::parameter::StrategySettings;
use strategy::{CommandRejection, Context, OrderModification, Strategy, StrategyDefinition, Timer, order};

use crate::SECURITY;

/// Orders that it works with at the same time.
const SLOTS: usize = 16;
/// It asks for something so often; the server allows more.
const EVERY_MILLIS: i64 = 20;

/// Places, changes and cancels orders from its first booking to its second. Then it says aloud what it knows of them.
pub(crate) struct Requoter {
    security: SecurityId,
    slots: Vec<Option<IntId>>,
    turn: usize,
    bookings: usize,
    placed: Vec<IntId>,
    refused: BTreeSet<IntId>,
    /// Codes of refusals, each once.
    codes: BTreeSet<String>,
    /// How often the end of an order was told.
    ends: BTreeMap<IntId, usize>,
}

impl Requoter {
    pub(crate) const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "requoter",
        about: "places, changes and cancels orders, and tells what it knows of them",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self::new(settings.security("security")))),
    };

    fn new(security: SecurityId) -> Self {
        Self {
            security,
            slots: vec![None; SLOTS],
            turn: 0,
            bookings: 0,
            placed: vec![],
            refused: BTreeSet::new(),
            codes: BTreeSet::new(),
            ends: BTreeMap::new(),
        }
    }

    fn requote(&mut self, context: &mut Context<'_>) {
        self.turn += 1;
        let slot = self.turn % SLOTS;
        let standing = self.slots[slot].as_ref().and_then(|int_id| context.order(int_id)).cloned();
        match standing {
            None => {
                let mut resting = order::limit(self.security, Side::Buy, Quantity::from(1), Price::from(200));
                resting.tif = TimeInForce::Gtc;
                let int_id = context.place(resting);
                self.placed.push(int_id.clone());
                self.slots[slot] = Some(int_id);
            }
            Some(standing) if !standing.is_modifiable() => {}
            Some(standing) if standing.quantity == Quantity::from(1) => {
                let quantity = Some(Quantity::from(2));
                context.modify(&standing.int_id, OrderModification { quantity, ..OrderModification::default() });
            }
            Some(standing) => context.cancel(&standing.int_id),
        }
    }

    /// Nothing that it asked for is open any more.
    fn is_quiet(context: &Context<'_>) -> bool {
        context.orders().all(|order| !order.is_request_pending && order.status == Some(OrdStatus::Submitted))
    }

    fn tell(&self, context: &mut Context<'_>) {
        let open: Vec<_> = context.orders().map(|order| format!("{}={}", order.int_id, order.quantity)).collect();
        let refused: Vec<_> = self.refused.iter().map(IntId::to_string).collect();
        let twice = self.ends.values().filter(|times| **times > 1).count();
        let codes: Vec<_> = self.codes.iter().map(String::as_str).collect();
        let body = format!(
            "placed {}; refused {}; codes {}; ended {}; ended twice {twice}; open {}",
            self.placed.len(),
            refused.join(" "),
            codes.join(" "),
            self.ends.len(),
            open.join(" "),
        );
        context.publish("told", body);
    }
}

impl Strategy for Requoter {
    fn on_transaction(&mut self, _: &Transaction, context: &mut Context<'_>) {
        self.bookings += 1;
        context.set_timer("act", context.now().plus_millis(EVERY_MILLIS));
    }

    fn on_timer(&mut self, _: &Timer, context: &mut Context<'_>) {
        if self.bookings > 1 && Self::is_quiet(context) {
            return self.tell(context);
        }
        if self.bookings == 1 {
            self.requote(context);
        }
        context.set_timer("act", context.now().plus_millis(EVERY_MILLIS));
    }

    fn on_order_status(&mut self, status: &OrderStatus, _: &mut Context<'_>) {
        if !status.status.is_open() {
            *self.ends.entry(status.int_id.clone()).or_default() += 1;
        }
    }

    fn on_refusal(&mut self, refused: &CommandRejection, _: &mut Context<'_>) {
        self.codes.insert(refused.code.to_string());
        if let Command::Place(ask) = &refused.command {
            self.refused.extend(ask.int_id.clone());
        }
    }
}
