//! Market of one security: book, stops, participants, last trade.

pub(crate) mod participants;
pub(crate) mod followed;
pub(crate) mod grid;
mod stops;
mod tape;
mod market_data;

use std::sync::Arc;

use domain::{Security, SecurityId, SeededRng, Side, Timestamp};

use self::followed::FollowedQuotes;
use self::grid::Grid;
use self::participants::{ParticipantAction, ParticipantProfile, Participants, QuoteBounds};
use self::stops::StopOrders;
use self::tape::Tape;
use crate::book::{self, BookEvent, BookRules, LimitOrderBook, MatchPolicy};
use crate::config::{BOOK_ORDERS_MAX, ConfigError, ListedSecurity, ParticipantActivity, UnitCosts, VenueConfig};

#[derive(Debug)]
pub(crate) struct SecurityMarket {
    pub(crate) security: Arc<Security>,
    pub(crate) grid: Grid,
    pub(crate) costs: UnitCosts,
    pub(crate) book: LimitOrderBook,
    pub(crate) stops: StopOrders,
    pub(crate) participants: Participants,
    /// What another venue shows, where its prices are followed.
    pub(crate) followed: FollowedQuotes,
    /// Since when its prices are not known.
    pub(crate) unpriced_since: Option<Timestamp>,
    pub(crate) tape: Tape,
    /// When the participants act next, if they do.
    pub(crate) next_action_at: Option<Timestamp>,
    pub(crate) halted: bool,
    /// The end of its last session, where it expires.
    pub(crate) ends: Option<Timestamp>,
    pub(crate) last: Option<LastTrade>,
    /// Lots traded today; none when 64 bits cannot count them.
    pub(crate) volume: Option<u64>,
    rules: BookRules,
    is_index: bool,
    /// Trades of clients are none of the market's.
    is_followed: bool,
}

/// The last trade.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastTrade {
    pub(crate) price: i64,
    pub(crate) lots: Option<u64>,
    pub(crate) at: Timestamp,
}

impl SecurityMarket {
    pub(crate) fn new(config: &VenueConfig, listing: &ListedSecurity, at: Timestamp) -> Result<Self, ConfigError> {
        let grid = listing.grid()?;
        let is_followed = config.activity == ParticipantActivity::Followed;
        let (mid, size) = if is_followed { (1, 0) } else { listing.opening(&grid)? };
        let is_index = listing.is_index();
        let character = ParticipantProfile {
            mid,
            spread: listing.opening.spread_ticks,
            size: if is_index { 0 } else { size },
            volatility: listing.opening.volatility,
            activity: config.activity,
        };
        let rules = BookRules { self_trade: config.self_trade, max_orders: BOOK_ORDERS_MAX };
        Ok(Self {
            security: Arc::clone(&listing.security),
            grid,
            costs: listing.costs,
            book: LimitOrderBook::new(rules),
            stops: StopOrders::default(),
            participants: Participants::new(character, SeededRng::new(config.seed, listing.security.id.0)),
            followed: FollowedQuotes::default(),
            unpriced_since: is_followed.then_some(at),
            tape: Tape::default(),
            next_action_at: None,
            halted: false,
            ends: None,
            last: is_index.then_some(LastTrade { price: mid, lots: None, at }),
            volume: Some(0),
            rules,
            is_index,
            is_followed,
        })
    }

    pub(crate) fn id(&self) -> SecurityId {
        self.security.id
    }

    pub(crate) fn is_tradeable(&self) -> bool {
        self.security.tradeable && !self.is_index
    }

    /// Neither halted nor past its last day.
    pub(crate) fn is_trading(&self, at: Timestamp) -> bool {
        !self.halted && self.ends.is_none_or(|end| at < end)
    }

    /// An empty book, as before the opening quotes.
    pub(crate) fn clear(&mut self) {
        self.book = LimitOrderBook::new(self.rules);
        self.stops = StopOrders::default();
        self.followed = FollowedQuotes::default();
    }

    /// Adds the opening quotes to the book. They stay away from clients' orders and stops, so that the start of a venue
    /// trades and triggers nothing.
    pub(crate) fn open(&mut self) {
        let (buy_stop, sell_stop) = self.stops.nearest();
        let room = QuoteBounds {
            bid_above: sell_stop.unwrap_or(i64::MIN),
            bid_below: self.book.best_ask().unwrap_or(i64::MAX),
            ask_above: self.book.best_bid().unwrap_or(i64::MIN),
            ask_below: buy_stop.unwrap_or(i64::MAX),
        };
        for wish in self.participants.open(room, &self.book) {
            if let ParticipantAction::Quote(order) = wish {
                // A quote is left out where the book is full of clients' orders.
                let _ = self.book.queue(&order);
            }
        }
    }

    /// Carries out an action of a participant and returns its effect. An action that the book refuses, because it is
    /// full or the order has ended, is dropped.
    pub(crate) fn apply_action(&mut self, wish: ParticipantAction) -> (Vec<BookEvent>, Option<Side>) {
        let mut events = Vec::new();
        let aggressor = match wish {
            ParticipantAction::Cancel(key) => {
                let _ = self.book.cancel(key);
                None
            }
            ParticipantAction::JoinAuction(order) => {
                let _ = self.book.queue(&order);
                None
            }
            ParticipantAction::Quote(order) => {
                let _ = self.book.place(&order, MatchPolicy::Rest, &mut |event| events.push(event));
                Some(order.side)
            }
            ParticipantAction::Take(order) => {
                let _ = self.book.place(&order, MatchPolicy::Immediate, &mut |event| events.push(event));
                Some(order.side)
            }
        };
        (events, aggressor.map(from_book))
    }

    /// What makes the book show what the followed venue shows, or nothing of it.
    pub(crate) fn follow_quotes(&mut self, is_shown: bool) -> Vec<ParticipantAction> {
        let participants = &mut self.participants;
        match is_shown {
            true => self.followed.update(|side, price, lots| participants.new_order(side, price, lots)),
            false => self.followed.remove_all(),
        }
    }

    /// A trade of the followed venue: so much of it as clients' orders at its price or better would have been in it. Quotes
    /// of that venue stand aside, since nobody knows who was first there.
    pub(crate) fn take_from_clients(&mut self, taker: book::BookSide, price: i64, lots: u64) -> Vec<BookEvent> {
        let maker = taker.opposite();
        let is_met = |order: &book::BookOrder| {
            let is_within = order.limit.is_some_and(|limit| maker.rank(limit) <= maker.rank(price));
            is_within && participants::client_order(order.key).is_some()
        };
        if lots == 0 || !self.book.orders(maker).any(|order| is_met(&order)) {
            return Vec::new();
        }
        let keys: Vec<u64> = self.followed.keys(maker).collect();
        let aside: Vec<_> = keys.into_iter().filter_map(|key| self.book.cancel(key).ok()).collect();
        let take = ParticipantAction::Take(self.participants.new_order(taker, price, lots));
        let (events, _) = self.apply_action(take);
        for quote in aside {
            // There was room for it before.
            let _ = self.book.queue(&quote);
        }
        events
    }

    /// An index follows its fair price, which counts as its last trade.
    pub(crate) fn update_index(&mut self, at: Timestamp) {
        if self.is_index {
            self.last = Some(LastTrade { price: self.participants.fair(), lots: None, at });
        }
    }

    pub(crate) fn on_trade(&mut self, trade: &book::BookTrade, aggressor: Option<Side>, at: Timestamp) {
        if !self.is_followed {
            self.last = Some(LastTrade { price: trade.price, lots: Some(trade.lots), at });
        }
        self.volume = self.volume.and_then(|volume| volume.checked_add(trade.lots));
        self.tape.print(trade.price, trade.lots, aggressor, at);
    }

    /// The reference price of an auction.
    pub(crate) fn reference(&self) -> i64 {
        self.last.map_or_else(|| self.participants.fair(), |last| last.price)
    }

    /// The prices that trigger stops: for buys and for sells.
    pub(crate) fn stop_prices(&self) -> (Option<i64>, Option<i64>) {
        match self.last {
            Some(last) => (Some(last.price), Some(last.price)),
            None => (self.book.best_ask(), self.book.best_bid()),
        }
    }
}

pub(crate) fn to_book(side: Side) -> book::BookSide {
    match side {
        Side::Buy => book::BookSide::Buy,
        Side::Sell => book::BookSide::Sell,
    }
}

pub(crate) fn from_book(side: book::BookSide) -> Side {
    match side {
        book::BookSide::Buy => Side::Buy,
        book::BookSide::Sell => Side::Sell,
    }
}
