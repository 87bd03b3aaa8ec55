//! Market making: a bid and an offer around the fair price of the order book without own orders. The fair price leans
//! to the side with less quantity, and the quotes lean against the strategy's position, so that it shrinks.

use domain::{Decimal, IntId, OrderBook, Price, Quantity, Security, SecurityId, Side, TimeInForce};

use crate::parameter::{Parameter, StrategySettings};
use crate::{Context, OrderModification, PriceKind, Strategy, StrategyDefinition, order, rounding};

/// The strategy `market-making`.
#[derive(Debug)]
pub struct MarketMaking {
    security: SecurityId,
    quantity: Quantity,
    max_position: Quantity,
    /// Distance of a quote from the fair price, in steps of the price grid.
    distance: f64,
    /// Shift of the quotes at a full position, in steps.
    lean: f64,
    /// A quote is moved when it is off by this many steps.
    patience: f64,
    bid: Option<IntId>,
    offer: Option<IntId>,
}

impl MarketMaking {
    /// Name and parameters.
    pub const DEFINITION: StrategyDefinition = StrategyDefinition {
        name: "market-making",
        about: "keeps a bid and an offer around the fair price of the order book",
        parameters: &[
            Parameter::security("security", "what to quote"),
            Parameter::decimal("quantity", "1", "0.00000001", "1000000000", "quantity of each quote"),
            Parameter::decimal("maxPosition", "5", "0.00000001", "1000000000", "long or short, at most"),
            Parameter::decimal("distance", "2", "0.5", "100000", "of a quote from the fair price, in price steps"),
            Parameter::decimal("lean", "1", "0", "100000", "shift of both quotes at a full position, in price steps"),
            Parameter::decimal("patience", "1", "1", "100000", "steps that a quote may be off before it is moved"),
        ],
        build: |settings| Ok(Box::new(Self::new(settings))),
    };

    fn new(settings: &StrategySettings) -> Self {
        let float = |name| rounding::to_f64(settings.decimal(name));
        Self {
            security: settings.security("security"),
            quantity: settings.quantity("quantity"),
            max_position: settings.quantity("maxPosition"),
            distance: float("distance"),
            lean: float("lean"),
            patience: float("patience"),
            bid: None,
            offer: None,
        }
    }

    fn quote(&mut self, book: &OrderBook, context: &mut Context<'_>) {
        let fair = fair_price(&context.without_own(book));
        let Some((security, fair)) = context.security(self.security).cloned().zip(fair) else { return };
        let step = step_of(&security);
        let held = rounding::to_f64(context.position(self.security).0) / rounding::to_f64(self.max_position.0);
        let centre = fair - held * self.lean * step;
        let bid = rounding::floor_price(&security, centre - self.distance * step);
        let offer = rounding::ceil_price(&security, centre + self.distance * step);
        self.bid = self.maintain_quote(self.bid.as_ref(), Side::Buy, bid, step, context);
        self.offer = self.maintain_quote(self.offer.as_ref(), Side::Sell, offer, step, context);
    }

    /// Places, moves or cancels the quote of one side; returns its order.
    fn maintain_quote(
        &self,
        quote: Option<&IntId>,
        side: Side,
        wanted: Option<Price>,
        step: f64,
        context: &mut Context<'_>,
    ) -> Option<IntId> {
        let wanted = wanted.filter(|price| price.is_positive() && self.has_room(side, context));
        let standing = quote.and_then(|int_id| context.order(int_id)).cloned();
        match (standing, wanted) {
            (None, None) => None,
            (None, Some(price)) => {
                let mut quote = order::limit(self.security, side, self.quantity, price);
                quote.tif = TimeInForce::Gtc;
                Some(context.place(quote))
            }
            // The last request on it is still pending.
            (Some(standing), _) if !standing.is_modifiable() => Some(standing.int_id),
            (Some(standing), None) => {
                context.cancel(&standing.int_id);
                Some(standing.int_id)
            }
            (Some(standing), Some(price)) => {
                let off =
                    standing.kind.limit().map_or(0.0, |limit| rounding::to_f64(limit.0) - rounding::to_f64(price.0));
                if off.abs() >= self.patience * step * 0.999 {
                    context.modify(&standing.int_id, OrderModification::limit(price));
                }
                Some(standing.int_id)
            }
        }
    }

    fn has_room(&self, side: Side, context: &Context<'_>) -> bool {
        let after = context.position(self.security).plus(side.signed(self.quantity));
        after.is_ok_and(|position| position.abs() <= self.max_position || reduces_position(position, side))
    }
}

fn reduces_position(position: Quantity, side: Side) -> bool {
    match side {
        Side::Buy => position.is_negative(),
        Side::Sell => position.is_positive(),
    }
}

/// The mid, weighted by the quantity of the other side: many buyers raise it.
fn fair_price(book: &OrderBook) -> Option<f64> {
    let (bid, ask) = (book.bids.first()?, book.asks.first()?);
    let [bid_price, ask_price] = [bid, ask].map(|level| rounding::to_f64(level.price.0));
    let [bids, asks] = [bid, ask].map(|level| rounding::to_f64(level.quantity.0));
    (bids + asks > 0.0).then(|| (bid_price * asks + ask_price * bids) / (bids + asks))
}

fn step_of(security: &Security) -> f64 {
    let step = security.price_incr;
    rounding::to_f64(if step.is_zero() { Decimal::new(1, 2) } else { step })
}

impl Strategy for MarketMaking {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(self.security, PriceKind::Books);
    }

    /// Cancels quotes of an earlier run.
    fn start(&mut self, context: &mut Context<'_>) {
        context.cancel_all();
    }

    fn on_order_book(&mut self, book: &OrderBook, context: &mut Context<'_>) {
        self.quote(book, context);
    }

    fn exit(&mut self, context: &mut Context<'_>) {
        context.cancel_all();
    }
}
