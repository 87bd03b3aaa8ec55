//! Simulated participants of one security: a market maker that quotes several levels around a drifting fair price, and
//! takers. They propose actions; the venue carries them out.

use domain::{Decimal, OrderId, SeededRng};

use crate::book::{ANONYMOUS, BookOrder, BookSide, LimitOrderBook};
use crate::config::ParticipantActivity;

/// Quotes on each side.
pub(crate) const LEVELS: u32 = 10;

/// Most orders that takers add to one auction.
const AUCTION_ORDERS_MAX: usize = 50;

/// Keys of participants have the top bit, those of clients do not.
const PARTICIPANT_KEY: u64 = 1 << 63;

/// Prices of participants are thousandths of a tick, so that small drifts add up.
const MILLI: i64 = 1_000;

const SECONDS_PER_YEAR: u64 = 31_536_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Of a hundred actions this many move the price, this many change a quote's size, the others take.
const PRICE_MOVES_PERCENT: u64 = 60;
const RESIZES_PERCENT: u64 = 25;

/// Each move returns by this part of the way to the opening mid, so that a demo market stays in range.
const MEAN_REVERSION: i64 = 100_000;

/// Average number of moves in a regime.
const REGIME_MOVES: u32 = 200;

/// An action of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParticipantAction {
    Cancel(u64),
    /// Matches, and rests.
    Quote(BookOrder),
    /// Matches at once or expires.
    Take(BookOrder),
    /// Joins an auction.
    JoinAuction(BookOrder),
}

/// Volatility regime, in percent of the usual volatility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Regime {
    Quiet,
    Usual,
    Wild,
}

impl Regime {
    fn percent(self) -> i64 {
        match self {
            Self::Quiet => 50,
            Self::Usual => 100,
            Self::Wild => 250,
        }
    }
}

/// Initial parameters of the participants of a security, in whole numbers.
#[derive(Debug, Clone, Copy)]
pub struct ParticipantProfile {
    pub mid: i64,
    pub spread: u32,
    /// Zero for an index, which has no quotes.
    pub size: u64,
    pub volatility: Decimal,
    pub activity: ParticipantActivity,
}

/// Price range that clients' orders leave to the first quotes: neither side may reach its bounds.
#[derive(Debug, Clone, Copy)]
pub struct QuoteBounds {
    pub bid_above: i64,
    pub bid_below: i64,
    pub ask_above: i64,
    pub ask_below: i64,
}

#[derive(Debug, Clone, Copy)]
struct StandingQuote {
    key: u64,
    side: BookSide,
    price: i64,
}

#[derive(Debug)]
pub struct Participants {
    profile: ParticipantProfile,
    rng: SeededRng,
    /// In thousandths of a tick, as is `sigma`, the standard deviation of one move.
    fair: i64,
    sigma: i64,
    regime: Regime,
    quotes: Vec<StandingQuote>,
    at_auction: Vec<u64>,
    next_key: u64,
}

/// The client order of a book order; none if it is a participant's.
pub(crate) fn client_order(key: u64) -> Option<OrderId> {
    (key & PARTICIPANT_KEY == 0).then_some(OrderId(key))
}

impl Participants {
    #[must_use]
    pub fn new(profile: ParticipantProfile, rng: SeededRng) -> Self {
        Self {
            fair: profile.mid * MILLI,
            sigma: sigma(&profile),
            regime: Regime::Usual,
            quotes: Vec::new(),
            at_auction: Vec::new(),
            next_key: PARTICIPANT_KEY,
            profile,
            rng,
        }
    }

    /// The fair price in ticks.
    #[must_use]
    pub fn fair(&self) -> i64 {
        self.fair.div_euclid(MILLI)
    }

    /// The opening quotes, the same for every seed, with the mid as near to the usual one as the range allows.
    pub fn open(&mut self, room: QuoteBounds, book: &LimitOrderBook) -> Vec<ParticipantAction> {
        let spread = i64::from(self.profile.spread);
        // The best bid is half a spread below the mid, the best ask a spread above the bid.
        let lowest = room.bid_above.max(room.ask_above.saturating_sub(spread)).saturating_add(1 + spread / 2);
        let highest = room.bid_below.min(room.ask_below.saturating_sub(spread)).saturating_sub(1 - spread / 2);
        let mid = self.profile.mid;
        let nearest = if lowest <= highest { mid.clamp(lowest, highest) } else { mid };
        self.fair = nearest.clamp(1, PRICE_MAX) * MILLI;
        self.quote(book)
    }

    /// Nanoseconds to the next action; none if no participant acts.
    pub fn next_delay_nanos(&mut self) -> Option<i64> {
        let mean = NANOS_PER_SECOND / per_second(self.profile.activity)?;
        i64::try_from(mean / 2 + self.rng.below(mean)).ok()
    }

    /// One action in continuous trading.
    pub fn next_actions(&mut self, book: &LimitOrderBook) -> Vec<ParticipantAction> {
        match self.rng.below(100) {
            _ if self.profile.size == 0 => self.drift(),
            deed if deed < PRICE_MOVES_PERCENT => {
                self.drift();
                return self.quote(book);
            }
            deed if deed < PRICE_MOVES_PERCENT + RESIZES_PERCENT => return self.resize(),
            _ => return vec![ParticipantAction::Take(self.taker_order())],
        }
        Vec::new()
    }

    /// One action in the call of an auction: the quotes do not move, some takers join.
    pub(crate) fn next_call_actions(&mut self) -> Vec<ParticipantAction> {
        let joins = self.profile.size > 0 && self.at_auction.len() < AUCTION_ORDERS_MAX && self.rng.one_in(4);
        if !joins {
            return Vec::new();
        }
        let order = self.taker_order();
        self.at_auction.push(order.key);
        vec![ParticipantAction::JoinAuction(order)]
    }

    /// Takers leave after the auction, whether they traded or not.
    pub(crate) fn leave_auction(&mut self) -> Vec<ParticipantAction> {
        self.at_auction.drain(..).map(ParticipantAction::Cancel).collect()
    }

    fn drift(&mut self) {
        if self.rng.one_in(REGIME_MOVES) {
            self.regime = match self.rng.below(3) {
                0 => Regime::Quiet,
                1 => Regime::Usual,
                _ => Regime::Wild,
            };
        }
        let shock = self.sigma * self.rng.normal_thousandths() / 1_000 * self.regime.percent() / 100;
        let pull = (self.profile.mid * MILLI - self.fair) / MEAN_REVERSION;
        self.fair = (self.fair + shock + pull).clamp(MILLI, PRICE_MAX * MILLI);
    }

    /// Quotes at the right price keep their queue position; the others are moved, and traded ones are renewed.
    fn quote(&mut self, book: &LimitOrderBook) -> Vec<ParticipantAction> {
        let wanted = self.levels();
        let is_right = |quote: &StandingQuote| {
            let is_wanted = wanted.iter().any(|(side, price, _)| (*side, *price) == (quote.side, quote.price));
            is_wanted && book.get(quote.key).is_some()
        };
        let (right, wrong): (Vec<_>, Vec<_>) = self.quotes.drain(..).partition(is_right);
        let mut wishes: Vec<_> = wrong.into_iter().map(|quote| ParticipantAction::Cancel(quote.key)).collect();
        for (side, price, lots) in wanted {
            if !right.iter().any(|quote| (quote.side, quote.price) == (side, price)) {
                wishes.push(ParticipantAction::Quote(self.add_quote(side, price, lots)));
            }
        }
        self.quotes.extend(right);
        wishes
    }

    /// Side, price and lots of every quote around the fair price, best first. No price is below one tick.
    fn levels(&self) -> Vec<(BookSide, i64, u64)> {
        if self.profile.size == 0 {
            return Vec::new();
        }
        let spread = i64::from(self.profile.spread);
        let (bid, step) = (self.fair() - spread / 2, (spread / 4).max(1));
        (0..LEVELS)
            .flat_map(|level| {
                let (away, lots) = (i64::from(level) * step, self.profile.size * u64::from(level + 1));
                [(BookSide::Buy, bid - away, lots), (BookSide::Sell, bid + spread + away, lots)]
            })
            .filter(|(_, price, _)| *price >= 1)
            .collect()
    }

    fn add_quote(&mut self, side: BookSide, price: i64, lots: u64) -> BookOrder {
        let order = self.new_order(side, price, lots);
        self.quotes.push(StandingQuote { key: order.key, side, price });
        order
    }

    /// Replaces a quote by one of half to one and a half times the usual size.
    fn resize(&mut self) -> Vec<ParticipantAction> {
        if self.quotes.is_empty() {
            return Vec::new();
        }
        let chosen = usize::try_from(self.rng.below(self.quotes.len() as u64)).unwrap_or(0);
        let old = self.quotes.swap_remove(chosen);
        let lots = self.profile.size.div_ceil(2) + self.rng.below(self.profile.size + 1);
        vec![ParticipantAction::Cancel(old.key), ParticipantAction::Quote(self.add_quote(old.side, old.price, lots))]
    }

    /// At most the usual size, and not far through the fair price.
    fn taker_order(&mut self) -> BookOrder {
        let lots = 1 + self.rng.below(self.profile.size);
        let reach = i64::from(self.profile.spread) + 2;
        match self.rng.one_in(2) {
            true => self.new_order(BookSide::Buy, self.fair() + reach, lots),
            false => self.new_order(BookSide::Sell, (self.fair() - reach).max(1), lots),
        }
    }

    pub(crate) fn new_order(&mut self, side: BookSide, price: i64, lots: u64) -> BookOrder {
        self.next_key += 1;
        BookOrder { key: self.next_key, side, limit: Some(price), lots, owner: ANONYMOUS, iceberg: None }
    }
}

/// Above this no product of a price overflows.
const PRICE_MAX: i64 = 1_000_000_000_000_000;

fn per_second(activity: ParticipantActivity) -> Option<u64> {
    match activity {
        ParticipantActivity::Off | ParticipantActivity::Followed => None,
        ParticipantActivity::Calm => Some(3),
        ParticipantActivity::Busy => Some(50),
    }
}

/// The standard deviation of one move: that of a year, over the root of the moves in a year.
fn sigma(character: &ParticipantProfile) -> i64 {
    let moves = SECONDS_PER_YEAR * per_second(character.activity).unwrap_or(1) * PRICE_MOVES_PERCENT / 100;
    let year = Decimal::from(character.mid * MILLI) * character.volatility;
    let root = i64::try_from(moves.isqrt()).expect("the root of a 64-bit number fits 32 bits");
    i64::try_from((year / Decimal::from(root)).trunc()).expect("below ten times the middle")
}
