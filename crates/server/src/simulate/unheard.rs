//! Missing data: prices that a strategy subscribes to and the files do not have. Such a run succeeds and proves nothing
//! about the strategy.

use domain::{BarSize, ReferenceData, SecurityId, Text};
use storage::history::{FileOf, Kind};
use strategy::{Prices, Selection};

/// The kinds of data of each security.
#[derive(Debug, Default)]
pub(super) struct Recorded(Vec<(SecurityId, Kind)>);

impl Recorded {
    pub(super) fn of(files: &[FileOf]) -> Self {
        Self(files.iter().map(|file| (file.security, file.kind)).collect())
    }

    /// A sentence for each subscription of a strategy that the data cannot serve.
    pub(super) fn unheard(&self, strategy: &Text, wanted: &Selection, reference: &ReferenceData) -> Vec<String> {
        let kinds = || [Prices::Ticks, Prices::Trades, Prices::Books].into_iter().chain(BarSize::ALL.map(Prices::Bars));
        let mut sentences = Vec::new();
        for security in wanted.securities() {
            let has: Vec<Kind> = self.0.iter().filter(|(of, _)| *of == security).map(|(_, kind)| *kind).collect();
            for prices in kinds().filter(|prices| wanted.wants(security, *prices) && !is_told(*prices, &has)) {
                let symbol = symbol(reference, security);
                sentences.push(format!("{strategy} waits for {} of {symbol}: {}", name(prices), told(&has)));
            }
        }
        sentences
    }
}

/// Bars are built from shorter ones, from ticks and from trades.
fn is_told(prices: Prices, has: &[Kind]) -> bool {
    has.iter().any(|kind| match (prices, kind) {
        (Prices::Ticks, Kind::Tick) | (Prices::Trades, Kind::Trade) | (Prices::Books, Kind::Book) => true,
        (Prices::Bars(_), Kind::Tick | Kind::Trade) => true,
        (Prices::Bars(wanted), Kind::Bar(recorded)) => *recorded <= wanted,
        _ => false,
    })
}

fn told(has: &[Kind]) -> String {
    let names: Vec<String> = has.iter().map(|kind| name(prices(*kind))).collect();
    if names.is_empty() {
        "the data has nothing of it".into()
    } else {
        format!("the data has only {} of it", names.join(" and "))
    }
}

fn prices(kind: Kind) -> Prices {
    match kind {
        Kind::Tick => Prices::Ticks,
        Kind::Trade => Prices::Trades,
        Kind::Book => Prices::Books,
        Kind::Bar(size) => Prices::Bars(size),
    }
}

fn name(prices: Prices) -> String {
    match prices {
        Prices::Ticks => "ticks".into(),
        Prices::Trades => "trades".into(),
        Prices::Books => "order books".into(),
        Prices::Bars(size) => format!("bars of {}", size.name()),
    }
}

fn symbol(reference: &ReferenceData, security: SecurityId) -> String {
    reference.securities.get(&security).map_or_else(|| security.to_string(), |known| known.symbol.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AAPL has no trades here, MSFT nothing but minutes.
    fn recorded() -> Recorded {
        let (apple, microsoft) = (SecurityId(1), SecurityId(2));
        Recorded(vec![(apple, Kind::Tick), (apple, Kind::Book), (microsoft, Kind::Bar(BarSize::Min1))])
    }

    fn unheard(wanted: &[(u64, Prices)]) -> Vec<String> {
        let mut selection = Selection::default();
        for (security, prices) in wanted {
            selection.add(SecurityId(*security), *prices);
        }
        recorded().unheard(&"TREND".into(), &selection, &ReferenceData::default())
    }

    #[test]
    fn what_is_recorded_or_can_be_made_of_it_is_heard() {
        let wanted = [
            (1, Prices::Ticks),
            (1, Prices::Books),
            (1, Prices::Bars(BarSize::Sec1)),
            (2, Prices::Bars(BarSize::Min1)),
            (2, Prices::Bars(BarSize::Day1)),
        ];
        assert!(unheard(&wanted).is_empty());
    }

    #[test]
    fn everything_else_is_named_with_what_there_is_instead() {
        let wanted = [(1, Prices::Trades), (2, Prices::Bars(BarSize::Sec1)), (3, Prices::Ticks)];
        assert_eq!(
            unheard(&wanted),
            [
                "TREND waits for trades of 1: the data has only ticks and order books of it",
                "TREND waits for bars of SEC_1 of 2: the data has only bars of MIN_1 of it",
                "TREND waits for ticks of 3: the data has nothing of it",
            ]
        );
    }
}
