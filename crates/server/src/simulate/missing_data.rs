//! Missing data: prices that a strategy subscribes to and the files do not have. Such a run succeeds and proves nothing
//! about the strategy.

use domain::{BarSize, ReferenceData, SecurityId, Text};
use storage::price_files::{PriceFileKind, PriceFileSpec};
use strategy::{PriceKind, Selection};

/// The kinds of data of each security.
#[derive(Debug, Default)]
pub(super) struct RecordedData(Vec<(SecurityId, PriceFileKind)>);

impl RecordedData {
    pub(super) fn of(files: &[PriceFileSpec]) -> Self {
        Self(files.iter().map(|file| (file.security, file.kind)).collect())
    }

    /// A sentence for each subscription of a strategy that the data cannot serve.
    pub(super) fn missing_prices(&self, strategy: &Text, wanted: &Selection, reference: &ReferenceData) -> Vec<String> {
        let kinds = || {
            [PriceKind::Ticks, PriceKind::Trades, PriceKind::Books].into_iter().chain(BarSize::ALL.map(PriceKind::Bars))
        };
        let mut sentences = Vec::new();
        for security in wanted.securities() {
            let has: Vec<PriceFileKind> =
                self.0.iter().filter(|(of, _)| *of == security).map(|(_, kind)| *kind).collect();
            for prices in kinds().filter(|prices| wanted.wants(security, *prices) && !is_available(*prices, &has)) {
                let symbol = symbol(reference, security);
                sentences.push(format!("{strategy} waits for {} of {symbol}: {}", name(prices), available_text(&has)));
            }
        }
        sentences
    }
}

/// Bars are built from shorter ones, from ticks and from trades.
fn is_available(prices: PriceKind, has: &[PriceFileKind]) -> bool {
    has.iter().any(|kind| match (prices, kind) {
        (PriceKind::Ticks, PriceFileKind::Tick)
        | (PriceKind::Trades, PriceFileKind::Trade)
        | (PriceKind::Books, PriceFileKind::Book) => true,
        (PriceKind::Bars(_), PriceFileKind::Tick | PriceFileKind::Trade) => true,
        (PriceKind::Bars(wanted), PriceFileKind::Bar(recorded)) => *recorded <= wanted,
        _ => false,
    })
}

fn available_text(has: &[PriceFileKind]) -> String {
    let names: Vec<String> = has.iter().map(|kind| name(prices(*kind))).collect();
    if names.is_empty() {
        "the data has nothing of it".into()
    } else {
        format!("the data has only {} of it", names.join(" and "))
    }
}

fn prices(kind: PriceFileKind) -> PriceKind {
    match kind {
        PriceFileKind::Tick => PriceKind::Ticks,
        PriceFileKind::Trade => PriceKind::Trades,
        PriceFileKind::Book => PriceKind::Books,
        PriceFileKind::Bar(size) => PriceKind::Bars(size),
    }
}

fn name(prices: PriceKind) -> String {
    match prices {
        PriceKind::Ticks => "ticks".into(),
        PriceKind::Trades => "trades".into(),
        PriceKind::Books => "order books".into(),
        PriceKind::Bars(size) => format!("bars of {}", size.name()),
    }
}

fn symbol(reference: &ReferenceData, security: SecurityId) -> String {
    reference.securities.get(&security).map_or_else(|| security.to_string(), |known| known.symbol.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AAPL has no trades here, MSFT nothing but minutes.
    fn recorded() -> RecordedData {
        let (apple, microsoft) = (SecurityId(1), SecurityId(2));
        RecordedData(vec![
            (apple, PriceFileKind::Tick),
            (apple, PriceFileKind::Book),
            (microsoft, PriceFileKind::Bar(BarSize::Min1)),
        ])
    }

    fn unheard(wanted: &[(u64, PriceKind)]) -> Vec<String> {
        let mut selection = Selection::default();
        for (security, prices) in wanted {
            selection.add(SecurityId(*security), *prices);
        }
        recorded().missing_prices(&"TREND".into(), &selection, &ReferenceData::default())
    }

    #[test]
    fn what_is_recorded_or_can_be_made_of_it_is_heard() {
        let wanted = [
            (1, PriceKind::Ticks),
            (1, PriceKind::Books),
            (1, PriceKind::Bars(BarSize::Sec1)),
            (2, PriceKind::Bars(BarSize::Min1)),
            (2, PriceKind::Bars(BarSize::Day1)),
        ];
        assert!(unheard(&wanted).is_empty());
    }

    #[test]
    fn everything_else_is_named_with_what_there_is_instead() {
        let wanted = [(1, PriceKind::Trades), (2, PriceKind::Bars(BarSize::Sec1)), (3, PriceKind::Ticks)];
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
