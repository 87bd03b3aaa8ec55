//! Paper market: every order is accepted, and filled as soon as its price is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::PlaceOrder;
use domain::order::{BaseState, ExecType, OrderTerms, PendingRequest};
use domain::{
    AccountId, Amount, Command, Currency, Event, Fill, Order, OrderId, OrderKind, OrderStatus, Position, PositionId,
    Price, PublishedEvent, Quantity, SecurityId, Side, StrategyId, Timestamp,
};
use strategy::StrategyRunner;

pub(crate) const STRATEGY: StrategyId = StrategyId(7);

pub(crate) struct Market {
    pub(crate) runner: StrategyRunner,
    pub(crate) now: Timestamp,
    orders: Vec<Order>,
    held: BTreeMap<SecurityId, Quantity>,
    quotes: BTreeMap<SecurityId, (Price, Price)>,
    /// The commands of the strategy, as text, since the last check.
    pub(crate) said: Vec<String>,
}

impl Market {
    pub(crate) fn new(runner: StrategyRunner) -> Self {
        let (orders, held, quotes) = (vec![], BTreeMap::new(), BTreeMap::new());
        Self { runner, now: Timestamp(0), orders, held, quotes, said: vec![] }
    }

    pub(crate) fn quoted(&mut self, security: SecurityId, bid: Price, ask: Price) {
        self.quotes.insert(security, (bid, ask));
    }

    pub(crate) fn publish(&mut self, event: Event) {
        self.runner.on_published(&PublishedEvent { sequence: 1, at: self.now, event });
        self.obey();
    }

    /// Carries out the commands, and those that follow from them.
    pub(crate) fn obey(&mut self) {
        loop {
            let commands: Vec<Command> = self.runner.commands().collect();
            if commands.is_empty() {
                return;
            }
            commands.into_iter().for_each(|command| self.carry_out(command));
        }
    }

    fn carry_out(&mut self, command: Command) {
        self.said.push(words(&command));
        match command {
            Command::Place(ask) => self.place(&ask),
            Command::Modify(change) => self.update(change.int_id.as_str(), |order| {
                let quantity = change.quantity.unwrap_or(order.terms.quantity);
                let kind = change.limit.map_or(order.terms.kind, |limit| OrderKind::Limit { limit });
                order.terms = OrderTerms { quantity, kind, ..order.terms };
            }),
            Command::Cancel(cancel) => self.update(cancel.int_id.as_str(), |order| order.state = BaseState::Canceled),
            _ => {}
        }
    }

    fn place(&mut self, ask: &PlaceOrder) {
        let id = self.orders.len() as u64 + 1;
        let order = Order {
            id: OrderId(id),
            int_id: ask.int_id.clone().expect("the context names every order"),
            security: ask.security,
            strategy: STRATEGY,
            side: ask.side,
            terms: OrderTerms { quantity: ask.quantity, kind: ask.kind, tif: ask.tif },
            state: BaseState::New,
            pending: PendingRequest::Nothing,
            filled: Quantity::ZERO,
            ..samples::order(id)
        };
        self.orders.push(order.clone());
        self.publish(Event::Order(Arc::new(order)));
        self.fill_what_crosses();
    }

    fn update(&mut self, int_id: &str, change: impl FnOnce(&mut Order)) {
        let order = self.orders.iter_mut().find(|order| order.int_id.as_str() == int_id).expect("an order of ours");
        change(order);
        let order = Arc::new(order.clone());
        self.publish(Event::Order(order));
        self.fill_what_crosses();
    }

    pub(crate) fn fill_what_crosses(&mut self) {
        while let Some((place, price)) = self.next_fill() {
            self.fill(place, price);
        }
    }

    fn next_fill(&self) -> Option<(usize, Price)> {
        let crossing = |order: &Order| {
            let (bid, ask) = *self.quotes.get(&order.security)?;
            let touch = if order.side == Side::Buy { ask } else { bid };
            let crosses = order.terms.kind.limit().is_none_or(|limit| match order.side {
                Side::Buy => limit >= touch,
                Side::Sell => limit <= touch,
            });
            (order.state == BaseState::New && crosses).then_some(touch)
        };
        self.orders.iter().enumerate().find_map(|(place, order)| Some((place, crossing(order)?)))
    }

    fn fill(&mut self, place: usize, price: Price) {
        let order = &mut self.orders[place];
        order.state = BaseState::Filled;
        order.filled = order.terms.quantity;
        let order = order.clone();
        let held = self.held.entry(order.security).or_default();
        *held = held.plus(order.side.signed(order.filled)).unwrap();
        let position = Event::Position(Arc::new(position(order.security, *held)));
        // The engine's own order.
        self.publish(Event::Fill(Arc::new(fill(&order, price))));
        self.publish(position);
        self.publish(Event::Order(Arc::new(order.clone())));
        self.publish(Event::OrderStatus(Arc::new(status(&order, price))));
    }
}

fn position(security: SecurityId, quantity: Quantity) -> Position {
    Position {
        id: PositionId(security.0),
        strategy: STRATEGY,
        security,
        account: AccountId(1),
        quantity,
        cost: Amount::ZERO,
        avg_price: None,
        realized_pl: Amount::ZERO,
        unrealized_pl: None,
        market_price: None,
        market_value: None,
        currency: Currency::USD,
        changed_at: Timestamp(0),
        commissions: Amount::ZERO,
        fees: Amount::ZERO,
    }
}

pub(crate) fn fill(order: &Order, price: Price) -> Fill {
    Fill {
        order: order.id,
        int_id: order.int_id.clone(),
        strategy: STRATEGY,
        security: order.security,
        account: AccountId(1),
        ext_id: "paper".into(),
        at: Timestamp(0),
        ext_at: None,
        sequence: 1,
        side: order.side,
        quantity: order.filled,
        price,
        liquidity: None,
    }
}

pub(crate) fn status(order: &Order, price: Price) -> OrderStatus {
    OrderStatus {
        int_id: order.int_id.clone(),
        ext_id: None,
        order: order.id,
        strategy: STRATEGY,
        at: Timestamp(0),
        ext_at: None,
        sequence: 1,
        status: order.status(),
        exec_type: ExecType::Fill,
        filled: order.filled,
        remaining: order.remaining(),
        last_quantity: Some(order.filled),
        last_price: Some(price),
        avg_price: order.avg_price(),
        reason: None,
        request: None,
        client: None,
    }
}

fn words(command: &Command) -> String {
    match command {
        Command::Place(ask) => {
            let side = if ask.side == Side::Buy { "buy" } else { "sell" };
            let price = ask.kind.limit().map(|limit| format!(" @ {limit}")).unwrap_or_default();
            format!("{side} {} of {}{price}", ask.quantity, ask.security)
        }
        Command::Modify(change) => format!("move {} to {}", change.int_id, change.limit.unwrap_or_default()),
        Command::Cancel(cancel) => format!("cancel {}", cancel.int_id),
        Command::Subscribe(request) => format!("subscribe {}", request.security),
        Command::Unsubscribe(request) => format!("unsubscribe {}", request.security),
        Command::Publish(event) => format!("say {} {}", event.name, event.body),
        other => format!("{other:?}"),
    }
}
