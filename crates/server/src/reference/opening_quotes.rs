//! `opening.csv`: opening quotes of simulated markets.

use std::collections::BTreeMap;

use domain::{Decimal, Price, Quantity, Security, SecurityId, SecurityKind, Text};

use super::cell::{NotNegative, Positive};
use super::check::unique;
use super::sheet::{self, SheetRow, SheetRows, cell_location};
use super::source::ReferenceFiles;
use crate::input_problem::Problems;

/// The start of the simulated market of a security.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpeningQuote {
    pub security: SecurityId,
    pub mid: Price,
    /// From best bid to best ask, even; 0 for an index, which has no book.
    pub spread_ticks: u32,
    /// The typical quantity of a quote.
    pub size: Quantity,
    /// Standard deviation of a year's returns, as a fraction.
    pub volatility: Decimal,
}

const COLUMNS: [&str; 5] = ["symbol", "mid", "spreadTicks", "size", "volatility"];

/// A line of the file, with the symbol in place of the security.
struct RawOpeningQuote {
    symbol: Text,
    mid: Price,
    spread_ticks: u32,
    size: Quantity,
    volatility: Decimal,
}

pub(super) fn read(
    files: &ReferenceFiles,
    securities: &SheetRows<Security>,
    problems: &mut Problems,
) -> Vec<OpeningQuote> {
    let file = "opening.csv";
    let Some(text) = files.optional(file) else { return Vec::new() };
    let quoted = sheet::read(file, text, &COLUMNS, problems, quoted);
    unique(&quoted, "symbol", |quoted| quoted.symbol.clone(), problems);
    let mut by_symbol: BTreeMap<&Text, Vec<&Security>> = BTreeMap::new();
    for (_, security) in &securities.rows {
        by_symbol.entry(&security.symbol).or_default().push(security);
    }
    let mut openings = Vec::new();
    for (line, quoted) in &quoted.rows {
        let mut complain = |column: &str, reason: &str| problems.add(cell_location(file, *line, column), reason);
        match by_symbol.get(&quoted.symbol).map(Vec::as_slice) {
            Some([security]) => openings.push(opening(quoted, security, complain)),
            Some(_) => complain("symbol", "several securities have this symbol"),
            None if securities.complete => complain("symbol", "no security has this symbol"),
            None => {}
        }
    }
    openings
}

fn quoted(row: &mut SheetRow<'_>) -> Option<RawOpeningQuote> {
    let (symbol, mid) = (row.required("symbol"), row.required::<Positive>("mid"));
    let (spread_ticks, size) = (row.required("spreadTicks"), row.required::<NotNegative>("size"));
    let volatility = row.required::<NotNegative>("volatility");
    Some(RawOpeningQuote {
        symbol: symbol?,
        mid: Price(mid?.0),
        spread_ticks: spread_ticks?,
        size: Quantity(size?.0),
        volatility: volatility?.0,
    })
}

fn opening(quoted: &RawOpeningQuote, security: &Security, mut complain: impl FnMut(&str, &str)) -> OpeningQuote {
    for (column, reason) in faults(quoted, security) {
        complain(column, reason);
    }
    let RawOpeningQuote { mid, spread_ticks, size, volatility, .. } = *quoted;
    OpeningQuote { security: security.id, mid, spread_ticks, size, volatility }
}

fn faults(quoted: &RawOpeningQuote, security: &Security) -> Vec<(&'static str, &'static str)> {
    let mut faults = Vec::new();
    let mut rule = |holds: bool, column, reason| {
        if !holds {
            faults.push((column, reason));
        }
    };
    rule(quoted.mid.is_multiple_of(security.price_incr), "mid", "is not a multiple of the tick size");
    if security.kind == SecurityKind::Index {
        rule(quoted.spread_ticks == 0, "spreadTicks", "must be 0: an index has no book");
        rule(quoted.size.is_zero(), "size", "must be 0: an index has no book");
        return faults;
    }
    let both_on_a_tick = quoted.spread_ticks >= 2 && quoted.spread_ticks.is_multiple_of(2);
    rule(both_on_a_tick, "spreadTicks", "must be an even number from 2, so that bid and ask fall on a tick");
    let lots = quoted.size.is_positive() && quoted.size.is_multiple_of(security.qty_incr);
    rule(lots, "size", "is not a multiple of the lot size above 0");
    faults
}
