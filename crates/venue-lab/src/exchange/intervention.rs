//! What happens to an account without a request of its client: a fill, a transfer, other filters, and orders that the venue treats
//! oddly. The faults use them, so that the ledger is true under faults too.

use venue_sim::book::BookTrade;

use super::event::VenueEvent;
use super::matching::PARTICIPANT_KEY;
use super::order::{AccountIndex, NewSpotOrder, PreventionMode, SpotOrder, SpotOrderType, SpotSide, SpotTimeInForce};
use super::reject::{SpotReject, UNKNOWN_ORDER};
use super::units::Units;
use super::{Applied, OrderReference, Placed, SpotExchange};

/// Other filters allow a tenth of the prices and quantities from before.
const COARSER: i64 = 10;

impl SpotExchange {
    /// Places an order that gets the id of an ended one, or whose commission is charged in a third asset.
    pub(super) fn place_oddly(
        &mut self,
        order: &NewSpotOrder,
        reissues_id: bool,
        has_foreign_fee: bool,
        at: i64,
    ) -> Result<Placed, SpotReject> {
        self.has_foreign_fee = has_foreign_fee;
        self.reissues_id = reissues_id;
        let placed = self.place(order, at);
        self.has_foreign_fee = false;
        self.reissues_id = false;
        placed
    }

    /// The id for a new order: the next one, or that of the account's newest ended order, which goes to the archive.
    pub(super) fn next_order_id(&mut self, index: usize, account: AccountIndex) -> u64 {
        let is_wanted = self.reissues_id;
        let market = &mut self.markets[index];
        let ended = |(_, order): &(&u64, &SpotOrder)| order.account == account && !order.status.is_open();
        let reissued = if is_wanted { market.orders.iter().rev().find(ended).map(|(id, _)| *id) } else { None };
        if let Some(order) = reissued.and_then(|id| market.orders.remove(&id)) {
            let id = order.id;
            market.archive.push(order);
            return id;
        }
        let id = market.next_order;
        market.next_order += 1;
        id
    }

    /// A participant takes all of a resting order, at its price.
    pub(super) fn hit(&mut self, reference: &OrderReference, at: i64) -> Result<Applied, SpotReject> {
        let order = self.find_open(reference)?.ok_or_else(|| SpotReject::cancel(UNKNOWN_ORDER))?;
        let (id, side) = (order.id, order.side);
        let index = self.index(&reference.symbol)?;
        let market = &mut self.markets[index];
        let resting = market.book.cancel(id).map_err(|_| SpotReject::cancel(UNKNOWN_ORDER))?;
        market.touch(&resting);
        let price = resting.limit.unwrap_or_default();
        let trade =
            BookTrade { maker: id, taker: PARTICIPANT_KEY, price, lots: resting.lots, maker_left: 0, taker_left: 0 };
        let taker = if side == SpotSide::Buy { SpotSide::Sell } else { SpotSide::Buy };
        self.on_trade(index, &trade, taker, at);
        self.run_stops(index, at);
        Ok(Applied::Acted)
    }

    /// An amount comes from outside, or leaves.
    pub(super) fn transfer(&mut self, account: AccountIndex, asset: &str, amount: Units, at: i64) -> Applied {
        self.accounts[account as usize].credit(asset, amount);
        self.changed.insert((account, asset.to_owned()));
        self.events.push(VenueEvent::Transfer { account, asset: asset.to_owned(), amount, time_micros: at });
        Applied::Acted
    }

    /// Coarser steps of price and quantity for new orders; those that rest keep theirs.
    pub(super) fn change_filters(&mut self, symbol: &str) -> Result<Applied, SpotReject> {
        let index = self.index(symbol)?;
        let rules = &mut self.markets[index].rules;
        rules.order_tick = Units(rules.order_tick.0.saturating_mul(COARSER));
        rules.order_step = Units(rules.order_step.0.saturating_mul(COARSER));
        rules.quantity_min = Units(rules.quantity_min.0.max(rules.order_step.0));
        Ok(Applied::Acted)
    }

    /// The commission in an asset that is neither base nor quote, where the account has one with a price.
    pub(super) fn commission_in_third(
        &self,
        market: usize,
        quote: Units,
        rate: Units,
        account: AccountIndex,
    ) -> Option<(Units, String)> {
        let rules = &self.markets[market].rules;
        let balances = &self.accounts[account as usize].balances;
        balances.iter().find_map(|(asset, balance)| {
            if *asset == rules.base || *asset == rules.quote {
                return None;
            }
            let price = self.market(&format!("{asset}{}", rules.quote)).ok()?.last;
            let fee = quote.times(rate)?.over(price)?;
            (balance.free >= fee).then(|| (fee, asset.clone()))
        })
    }
}

/// A market order and one that rests, as from the venue's own screen.
pub(crate) fn strange_orders(
    exchange: &SpotExchange,
    symbol: &str,
    account: AccountIndex,
) -> Result<[NewSpotOrder; 2], SpotReject> {
    let market = exchange.market(symbol)?;
    let rules = &market.rules;
    let low = Units(market.last.0 / 2 / rules.order_tick.0 * rules.order_tick.0);
    // Twice the least notional at half the price, in steps.
    let least = Units(rules.notional_min.0.saturating_mul(4)).over(market.last).unwrap_or(rules.quantity_min);
    let steps = least.0.max(rules.quantity_min.0) / rules.order_step.0 + 1;
    let order = NewSpotOrder {
        account,
        symbol: symbol.to_owned(),
        side: SpotSide::Buy,
        kind: SpotOrderType::Market,
        time_in_force: SpotTimeInForce::Gtc,
        quantity: Some(Units(steps * rules.order_step.0)),
        quote_quantity: None,
        price: None,
        stop_price: None,
        client_id: Some(format!("web_{}", market.next_order)),
        prevention: PreventionMode::None,
        strategy_id: None,
        strategy_type: None,
        has_unique_id: false,
    };
    let client_id = Some(format!("web_{}", market.next_order + 1));
    let resting = NewSpotOrder { kind: SpotOrderType::Limit, price: Some(low), client_id, ..order.clone() };
    Ok([order, resting])
}
