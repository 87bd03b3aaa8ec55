//! The slow book: one list of orders in the order of their arrival, searched from end to end.

use std::cmp::Reverse;

use venue_sim::book::{
    AuctionIndication, BookEvent, BookOrder, BookReject, BookRules, BookSide, BookTrade, DepthLevel, Iceberg,
    MatchOutcome, MatchPolicy, SelfTradeRule,
};

pub(crate) struct Model {
    rules: BookRules,
    orders: Vec<BookOrder>,
}

impl Model {
    pub(crate) fn new(rules: BookRules) -> Self {
        let orders = Vec::new();
        Model { rules, orders }
    }

    pub(crate) fn place(
        &mut self,
        order: &BookOrder,
        how: MatchPolicy,
        out: &mut Vec<BookEvent>,
    ) -> Result<MatchOutcome, BookReject> {
        self.check(order)?;
        if matches!(how, MatchPolicy::Rest | MatchPolicy::PostOnly) {
            order.limit.ok_or(BookReject::NoLimit)?;
        }
        let makers = self.ranked(order.side.opposite());
        if how == MatchPolicy::PostOnly && makers.iter().any(|maker| maker.limit.is_some_and(|at| accepts(order, at))) {
            return Err(BookReject::WouldTake);
        }
        if matches!(how, MatchPolicy::Rest | MatchPolicy::PostOnly) {
            self.check_room(order)?;
        }
        let least = match how {
            MatchPolicy::FillOrKill => order.lots,
            MatchPolicy::ImmediateAtLeast(lots) => lots,
            _ => 0,
        };
        if self.trial(order) < least {
            return Ok(MatchOutcome::Expired { lots: order.lots });
        }
        Ok(self.take(*order, how, out))
    }

    pub(crate) fn queue(&mut self, order: &BookOrder) -> Result<(), BookReject> {
        self.check(order)?;
        self.check_room(order)?;
        self.orders.push(resting(*order));
        Ok(())
    }

    pub(crate) fn cancel(&mut self, key: u64) -> Result<BookOrder, BookReject> {
        let at = self.at(key).ok_or(BookReject::UnknownKey)?;
        Ok(self.orders.remove(at))
    }

    pub(crate) fn replace(
        &mut self,
        key: u64,
        limit: i64,
        lots: u64,
        out: &mut Vec<BookEvent>,
    ) -> Result<MatchOutcome, BookReject> {
        let at = self.check_change(key, lots)?;
        if self.trim(at, Some(limit), lots) {
            return Ok(MatchOutcome::Resting { lots });
        }
        let old = self.orders.remove(at);
        let order = refreshed(BookOrder { limit: Some(limit), lots, ..old });
        Ok(self.take(order, MatchPolicy::Rest, out))
    }

    pub(crate) fn requeue(&mut self, key: u64, limit: Option<i64>, lots: u64) -> Result<(), BookReject> {
        let at = self.check_change(key, lots)?;
        if !self.trim(at, limit, lots) {
            let old = self.orders.remove(at);
            self.orders.push(refreshed(BookOrder { limit, lots, ..old }));
        }
        Ok(())
    }

    /// Tries every price at which anything could change, and the reference.
    pub(crate) fn auction_price(&self, reference: i64) -> Option<AuctionIndication> {
        let limits = self.orders.iter().filter_map(|order| order.limit);
        let around = limits.flat_map(|at| [at.checked_sub(1), Some(at), at.checked_add(1)]);
        around.flatten().chain([reference]).map(|price| self.indicate(price)).filter(|found| found.lots > 0).max_by_key(
            |found| {
                let imbalance = found.buy_surplus.max(found.sell_surplus);
                let distance = found.price.abs_diff(reference);
                (found.lots, Reverse(imbalance), Reverse(distance))
            },
        )
    }

    pub(crate) fn uncross(&mut self, price: i64, out: &mut Vec<BookEvent>) -> u64 {
        let mut traded = 0;
        loop {
            let front = |side| self.ranked(side).into_iter().find(|o| accepts(o, price));
            let (Some(buyer), Some(seller)) = (front(BookSide::Buy), front(BookSide::Sell)) else {
                return traded;
            };
            let lots = shown(&buyer).min(shown(&seller));
            self.deduct(buyer.key, lots);
            self.deduct(seller.key, lots);
            traded += lots;
            out.push(BookEvent::Traded(BookTrade {
                maker: seller.key,
                taker: buyer.key,
                price,
                lots,
                maker_left: seller.lots - lots,
                taker_left: buyer.lots - lots,
            }));
        }
    }

    pub(crate) fn orders(&self) -> &[BookOrder] {
        &self.orders
    }

    /// In priority: no price, best price, age (the sort is stable).
    pub(crate) fn ranked(&self, side: BookSide) -> Vec<BookOrder> {
        let of_side = self.orders.iter().filter(|order| order.side == side);
        let mut ranked: Vec<BookOrder> = of_side.copied().collect();
        ranked.sort_by_key(|order| match side {
            BookSide::Buy => order.limit.map(|price| -i128::from(price)),
            BookSide::Sell => order.limit.map(i128::from),
        });
        ranked
    }

    pub(crate) fn depth(&self, side: BookSide) -> Vec<DepthLevel> {
        let mut levels: Vec<DepthLevel> = Vec::new();
        for order in self.ranked(side) {
            let Some(price) = order.limit else { continue };
            match levels.last_mut() {
                Some(level) if level.price == price => {
                    level.lots += shown(&order);
                    level.orders += 1;
                }
                _ => levels.push(DepthLevel { price, lots: shown(&order), orders: 1 }),
            }
        }
        levels
    }

    pub(crate) fn lots_ahead(&self, key: u64) -> Option<u64> {
        let at = self.at(key)?;
        let me = self.orders[at];
        let ahead = self.orders[..at].iter();
        let same = ahead.filter(|order| order.side == me.side && order.limit == me.limit);
        Some(same.map(shown).sum())
    }

    pub(crate) fn lots(&self, side: BookSide) -> u64 {
        self.ranked(side).iter().map(|order| order.lots).sum()
    }

    fn check(&self, order: &BookOrder) -> Result<(), BookReject> {
        if order.lots == 0 {
            return Err(BookReject::NoLots);
        }
        match self.at(order.key) {
            Some(_) => Err(BookReject::DuplicateKey),
            None => Ok(()),
        }
    }

    fn check_room(&self, order: &BookOrder) -> Result<(), BookReject> {
        if self.orders.len() >= self.rules.max_orders as usize {
            return Err(BookReject::BookFull);
        }
        let total = self.lots(order.side).checked_add(order.lots);
        total.map(|_| ()).ok_or(BookReject::TooManyLots)
    }

    fn check_change(&self, key: u64, lots: u64) -> Result<usize, BookReject> {
        let at = self.at(key).ok_or(BookReject::UnknownKey)?;
        if lots == 0 {
            return Err(BookReject::NoLots);
        }
        let old = self.orders[at];
        let total = (self.lots(old.side) - old.lots).checked_add(lots);
        total.map(|_| at).ok_or(BookReject::TooManyLots)
    }

    fn trim(&mut self, at: usize, limit: Option<i64>, lots: u64) -> bool {
        let order = &mut self.orders[at];
        let keeps = order.limit == limit && lots <= order.lots;
        if keeps {
            *order = resting(BookOrder { lots, ..*order });
        }
        keeps
    }

    /// Plays the order in a copy of the book: the lots that trade.
    fn trial(&self, order: &BookOrder) -> u64 {
        let mut copy = Model { rules: self.rules, orders: self.orders.clone() };
        match copy.take(*order, MatchPolicy::Immediate, &mut Vec::new()) {
            MatchOutcome::Filled => order.lots,
            MatchOutcome::Resting { lots } | MatchOutcome::Expired { lots } | MatchOutcome::Prevented { lots } => {
                order.lots - lots
            }
        }
    }

    fn take(&mut self, mut order: BookOrder, how: MatchPolicy, out: &mut Vec<BookEvent>) -> MatchOutcome {
        while order.lots > 0 {
            let makers = self.ranked(order.side.opposite());
            let maker = makers.into_iter().find(|maker| {
                let price = maker.limit;
                price.is_some_and(|price| accepts(&order, price))
            });
            let Some(maker) = maker else { break };
            if order.owner != 0 && order.owner == maker.owner {
                if self.rules.self_trade == SelfTradeRule::CancelNewest {
                    return MatchOutcome::Prevented { lots: order.lots };
                }
                self.deduct(maker.key, maker.lots);
                out.push(BookEvent::Prevented { key: maker.key, lots: maker.lots });
                continue;
            }
            out.push(self.trade(&mut order, &maker));
        }
        match (order.lots, how) {
            (0, _) => MatchOutcome::Filled,
            (lots, MatchPolicy::Rest | MatchPolicy::PostOnly) => {
                self.orders.push(resting(order));
                MatchOutcome::Resting { lots }
            }
            (lots, _) => MatchOutcome::Expired { lots },
        }
    }

    fn trade(&mut self, order: &mut BookOrder, maker: &BookOrder) -> BookEvent {
        let lots = order.lots.min(shown(maker));
        order.lots -= lots;
        self.deduct(maker.key, lots);
        BookEvent::Traded(BookTrade {
            maker: maker.key,
            taker: order.key,
            price: maker.limit.expect("makers have a price"),
            lots,
            maker_left: maker.lots - lots,
            taker_left: order.lots,
        })
    }

    fn deduct(&mut self, key: u64, lots: u64) {
        let at = self.at(key).expect("a resting order");
        let mut order = self.orders.remove(at);
        let shown = shown(&order).saturating_sub(lots);
        order.lots -= lots;
        order.iceberg = order.iceberg.map(|iceberg| Iceberg { shown, ..iceberg });
        match (order.lots, order.iceberg) {
            (0, _) => {}
            (_, Some(Iceberg { shown: 0, .. })) => self.orders.push(refreshed(order)),
            _ => self.orders.insert(at, order),
        }
    }

    fn indicate(&self, price: i64) -> AuctionIndication {
        let willing = |side| -> u64 {
            let ranked = self.ranked(side).into_iter();
            ranked.filter(|o| accepts(o, price)).map(|o| o.lots).sum()
        };
        let (buy, sell) = (willing(BookSide::Buy), willing(BookSide::Sell));
        let lots = buy.min(sell);
        AuctionIndication { price, lots, buy_surplus: buy - lots, sell_surplus: sell - lots }
    }

    fn at(&self, key: u64) -> Option<usize> {
        self.orders.iter().position(|order| order.key == key)
    }
}

fn shown(order: &BookOrder) -> u64 {
    order.iceberg.map_or(order.lots, |iceberg| iceberg.shown.min(order.lots))
}

/// No more is shown than is there.
fn resting(order: BookOrder) -> BookOrder {
    let shown = shown(&order);
    BookOrder { iceberg: order.iceberg.map(|iceberg| Iceberg { shown, ..iceberg }), ..order }
}

fn refreshed(order: BookOrder) -> BookOrder {
    resting(BookOrder { iceberg: order.iceberg.map(|iceberg| Iceberg { shown: iceberg.peak, ..iceberg }), ..order })
}

fn accepts(order: &BookOrder, price: i64) -> bool {
    order.limit.is_none_or(|limit| match order.side {
        BookSide::Buy => price <= limit,
        BookSide::Sell => price >= limit,
    })
}
