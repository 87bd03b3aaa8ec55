//! Marks: the prices that trading sees, a journalled input, so a replay sees the same. Settlement prices, and securities that
//! have expired without one.

use std::collections::{BTreeMap, BTreeSet};

use domain::amount::{DIVISION_DECIMALS, divide};
use domain::risk::EngineSettings;
use domain::{Amount, Currency, Date, Decimal, LookupMap, Mark, Price, ReferenceData, SecurityId, SecurityKind};
use minicbor::{Decode, Encode};

use crate::shared::shared_map::SharedMap;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Marks {
    #[n(0)]
    marks: SharedMap<SecurityId, Mark>,
    /// Forex pairs by base and transaction currency. Follows from reference data, so it is not encoded.
    #[cbor(skip)]
    pairs: LookupMap<(Currency, Currency), Vec<SecurityId>>,
    #[cbor(skip)]
    pair_ids: BTreeSet<SecurityId>,
    /// Currencies that are worth as much as another where no pair tells. Follows from the settings.
    #[cbor(skip)]
    pegs: BTreeMap<Currency, Currency>,
    /// Whether a pair that nobody quotes has the rate of its last trade. Follows from the settings.
    #[cbor(skip)]
    rates_by_trades: bool,
}

impl Marks {
    /// What is written to disk, without what follows from reference data and settings.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self { marks: self.marks.clone(), ..Self::default() }
    }

    /// Finds the forex pairs; needed after every decode and after every change of reference data.
    pub(crate) fn index_pairs(&mut self, reference: &ReferenceData) {
        self.pairs = LookupMap::default();
        self.pair_ids.clear();
        for security in reference.securities.values() {
            if let SecurityKind::Forex { base, transaction } = security.kind {
                self.add_pair((base, transaction), security.id);
            }
        }
    }

    /// What the settings say of rates.
    pub(crate) fn set_rules(&mut self, settings: &EngineSettings) {
        self.pegs.clone_from(&settings.pegs);
        self.rates_by_trades = settings.rates_by_trades;
    }

    fn add_pair(&mut self, pair: (Currency, Currency), security: SecurityId) {
        self.pair_ids.insert(security);
        match self.pairs.get_mut(&pair) {
            Some(listed) => listed.push(security),
            None => drop(self.pairs.insert(pair, vec![security])),
        }
    }

    pub(crate) fn update(&mut self, marks: &[Mark]) {
        self.marks.extend(marks.iter().map(|mark| (mark.security, *mark)));
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Mark> {
        self.marks.values()
    }

    pub(crate) fn get(&self, security: SecurityId) -> Option<&Mark> {
        self.marks.get(&security)
    }

    /// Whether rates depend on a security.
    pub(crate) fn is_pair(&self, security: SecurityId) -> bool {
        self.pair_ids.contains(&security)
    }

    /// How much of `to` one `from` is worth: by the market, else by what the currencies are pegged to.
    pub(crate) fn rate(&self, from: Currency, to: Currency) -> Option<Decimal> {
        let pegged = |currency: Currency| self.pegs.get(&currency).copied().unwrap_or(currency);
        let by_peg = || {
            let (from_peg, to_peg) = (pegged(from), pegged(to));
            ((from_peg, to_peg) != (from, to)).then(|| self.market_rate(from_peg, to_peg))?
        };
        self.market_rate(from, to).or_else(by_peg)
    }

    /// By the pair, else by its inverse, else over USD.
    fn market_rate(&self, from: Currency, to: Currency) -> Option<Decimal> {
        if from == to {
            return Some(Decimal::ONE);
        }
        let over_usd = || self.quoted(from, Currency::USD)?.checked_mul(self.quoted(Currency::USD, to)?);
        self.quoted(from, to).or_else(over_usd)
    }

    /// An amount in another currency, rounded half to even; absent where there is no rate or the result does not fit.
    pub(crate) fn convert(&self, amount: Amount, from: Currency, to: Currency) -> Option<Amount> {
        if from == to || amount.is_zero() {
            return Some(amount);
        }
        let converted = amount.times(self.rate(from, to)?).ok()?;
        Some(Amount(converted.0.round_dp(DIVISION_DECIMALS)))
    }

    fn quoted(&self, from: Currency, to: Currency) -> Option<Decimal> {
        self.listed_rate(from, to).or_else(|| divide(Decimal::ONE, self.listed_rate(to, from)?).ok())
    }

    /// Where a pair is listed more than once, the first listing with a mid counts, else the first that only trades: quotes of
    /// now come before a trade that may be old.
    fn listed_rate(&self, base: Currency, transaction: Currency) -> Option<Decimal> {
        let marks = || self.pairs.get(&(base, transaction)).into_iter().flatten().filter_map(|id| self.get(*id));
        let traded = || self.rates_by_trades.then(|| marks().find_map(unquoted_last))?;
        let rate = marks().find_map(Mark::mid).or_else(traded)?;
        rate.is_positive().then_some(rate.0)
    }
}

/// The last trade where there is no quote. One side alone tells of a market that moved on since the trade.
fn unquoted_last(mark: &Mark) -> Option<Price> {
    match (mark.bid, mark.ask) {
        (None, None) => mark.last,
        _ => None,
    }
}

/// A settlement price is kept for this many days after its day.
const SETTLEMENT_PRICE_RETENTION_DAYS: i64 = 31;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Expirations {
    /// Settlement prices that were set, each for one day.
    #[n(0)]
    pub(crate) prices: BTreeMap<(SecurityId, Date), Price>,
    /// Expired without a known price. A later quote is not the settlement value, so only a settlement price counts.
    #[n(1)]
    pub(crate) unsettled: BTreeSet<SecurityId>,
}

impl Expirations {
    pub(crate) fn prune(&mut self, today: Date) {
        let is_kept = |day: &Date| {
            day.0.until(today.0).is_ok_and(|age| i64::from(age.get_days()) <= SETTLEMENT_PRICE_RETENTION_DAYS)
        };
        self.prices.retain(|(_, day), _| is_kept(day));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::{Price, Timestamp};

    use super::*;
    use crate::samples;

    fn currency(code: &str) -> Currency {
        code.parse().unwrap()
    }

    fn mark(security: u64, bid: &str, ask: &str) -> Mark {
        let price = |text: &str| text.parse::<Price>().ok();
        Mark {
            security: SecurityId(security),
            bid: price(bid),
            ask: price(ask),
            last: None,
            at: Timestamp(0),
            stale: None,
        }
    }

    fn desk() -> Marks {
        let pairs = [(1, "EUR", "USD"), (2, "USD", "JPY"), (3, "EUR", "GBP"), (4, "EUR", "USD")];
        let mut reference = ReferenceData::default();
        for (id, base, transaction) in pairs {
            let kind = SecurityKind::Forex { base: currency(base), transaction: currency(transaction) };
            reference.securities.insert(SecurityId(id), Arc::new(samples::security(id, kind, transaction, "1")));
        }
        let mut marks = Marks::default();
        marks.index_pairs(&reference);
        marks.set_rules(&EngineSettings { pegs: BTreeMap::new(), ..EngineSettings::default() });
        marks
    }

    fn rate(marks: &Marks, from: &str, to: &str) -> String {
        marks.rate(currency(from), currency(to)).map_or("none".into(), |rate| rate.normalize().to_string())
    }

    #[test]
    fn a_rate_is_the_mid_of_the_pair_else_of_its_inverse_else_goes_over_usd() {
        let mut marks = desk();
        marks.update(&[mark(1, "1.09", "1.11"), mark(2, "159", "161")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "1.1");
        assert_eq!(rate(&marks, "USD", "EUR"), "0.909090909091");
        assert_eq!(rate(&marks, "EUR", "JPY"), "176");
        assert_eq!(rate(&marks, "JPY", "EUR"), "0.00568181818181875");
        assert_eq!(rate(&marks, "CHF", "CHF"), "1");
    }

    #[test]
    fn a_pair_without_both_sides_has_no_rate() {
        let mut marks = desk();
        assert_eq!(rate(&marks, "EUR", "USD"), "none");
        marks.update(&[mark(1, "1.09", ""), mark(2, "0", "0")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "none");
        assert_eq!(rate(&marks, "USD", "JPY"), "none");
        assert_eq!(rate(&marks, "USD", "CHF"), "none");
    }

    fn traded(security: u64, last: &str) -> Mark {
        Mark { last: last.parse().ok(), ..mark(security, "", "") }
    }

    #[test]
    fn a_pair_that_nobody_quotes_has_the_rate_of_its_last_trade() {
        let mut marks = desk();
        marks.update(&[traded(1, "1.1"), traded(2, "0")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "1.1");
        assert_eq!(rate(&marks, "USD", "JPY"), "none");
        marks.update(&[Mark { last: "1.3".parse().ok(), ..mark(1, "1.09", "1.11") }]);
        assert_eq!(rate(&marks, "EUR", "USD"), "1.1");
        marks.update(&[Mark { last: "1.3".parse().ok(), ..mark(1, "1.09", "") }]);
        assert_eq!(rate(&marks, "EUR", "USD"), "none");
    }

    #[test]
    fn quotes_of_a_second_listing_come_before_the_last_trade_of_the_first() {
        let mut marks = desk();
        marks.update(&[traded(1, "1.3"), mark(4, "1.09", "1.11")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "1.1");
    }

    #[test]
    fn a_journal_from_before_the_rule_has_no_rate_for_it() {
        let mut marks = desk();
        marks.set_rules(&EngineSettings { rates_by_trades: false, ..EngineSettings::default() });
        marks.update(&[traded(1, "1.1")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "none");
    }

    #[test]
    fn a_second_listing_serves_where_the_first_has_no_price() {
        let mut marks = desk();
        marks.update(&[mark(4, "1.2", "1.2")]);
        assert_eq!(rate(&marks, "EUR", "USD"), "1.2");
    }

    #[test]
    fn a_pegged_currency_is_worth_its_peg_until_a_pair_tells() {
        let mut marks = desk();
        marks.update(&[mark(1, "1.09", "1.11")]);
        assert_eq!(rate(&marks, "USDT", "USD"), "none");
        let pegs = [(Currency::USDT, Currency::USD), (currency("EURC"), currency("EUR"))].into();
        marks.set_rules(&EngineSettings { pegs, ..EngineSettings::default() });
        assert_eq!(rate(&marks, "USDT", "USD"), "1");
        assert_eq!(rate(&marks, "EURC", "USDT"), "1.1");
        assert_eq!(rate(&marks, "USDT", "EUR"), "0.909090909091");
        assert_eq!(rate(&marks, "USDT", "CHF"), "none");
        marks.add_pair((Currency::USDT, Currency::USD), SecurityId(9));
        marks.update(&[mark(9, "0.98", "0.98")]);
        assert_eq!(rate(&marks, "USDT", "USD"), "0.98");
        assert_eq!(rate(&marks, "EUR", "USDT"), "1.1224489795915");
    }

    #[test]
    fn nothing_is_nothing_in_every_currency() {
        let marks = desk();
        assert_eq!(marks.convert(Amount::ZERO, currency("CHF"), Currency::USD), Some(Amount::ZERO));
        assert_eq!(marks.convert(Amount::from(1), currency("CHF"), Currency::USD), None);
    }

    #[test]
    fn marks_survive_the_disk() {
        let mut marks = desk();
        marks.update(&[mark(1, "1.09", "1.11")]);
        let bytes = minicbor::to_vec(&marks).unwrap();
        let read: Marks = minicbor::decode(&bytes).unwrap();
        assert_eq!(read.get(SecurityId(1)), marks.get(SecurityId(1)));
        assert_eq!(minicbor::to_vec(&read).unwrap(), bytes);
    }
}
