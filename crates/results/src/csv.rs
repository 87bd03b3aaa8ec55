//! Tables for spreadsheets: a header row, commas, instants as epoch milliseconds, exact decimals where the engine has them.

use std::io::{self, Write};
use std::sync::Arc;

use domain::{Event, ReferenceData, Side};

use crate::outcome::Outcome;
use crate::record::{deal, strategy_name, symbol};

/// Every fill, written as it happens: a run of any length needs no more memory.
pub struct DealSheet<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
}

impl<W: Write> DealSheet<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(file, "dateTime,strategy,security,intId,side,quantity,price,rule,extId")?;
        Ok(Self { file, reference })
    }

    pub fn see(&mut self, events: &[Event]) -> io::Result<()> {
        for event in events {
            if let Event::Fill(fill) = event {
                let deal = deal(fill);
                writeln!(
                    self.file,
                    "{},{},{},{},{},{},{},{},{}",
                    deal.at.millis(),
                    cell(&strategy_name(&self.reference, deal.strategy)),
                    cell(&symbol(&self.reference, deal.security)),
                    cell(&deal.order),
                    side(deal.side),
                    deal.quantity,
                    deal.price,
                    cell(&deal.rule),
                    cell(&deal.execution),
                )?;
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Equity, drawdown and exposure at the same instants.
pub struct CurveSheet;

impl CurveSheet {
    pub fn write(outcome: &Outcome, mut file: impl Write) -> io::Result<()> {
        writeln!(file, "dateTime,equity,drawdown,exposure")?;
        let curves = outcome.equity.iter().zip(&outcome.drawdown).zip(&outcome.exposure);
        for ((equity, drawdown), exposure) in curves {
            let (equity_at, value) = (equity.at.millis(), equity.value);
            writeln!(file, "{equity_at},{value:.4},{:.6},{:.6}", drawdown.value, exposure.value)?;
        }
        file.flush()
    }
}

/// Round trips, as many as a report shows.
pub fn write_trips(outcome: &Outcome, reference: &ReferenceData, mut file: impl Write) -> io::Result<()> {
    writeln!(file, "opened,closed,strategy,security,side,quantity,entryPrice,exitPrice,gross,costs,net")?;
    for trip in &outcome.trips {
        writeln!(
            file,
            "{},{},{},{},{},{},{:.6},{:.6},{:.4},{:.4},{:.4}",
            trip.opened_at.millis(),
            trip.closed_at.millis(),
            cell(&strategy_name(reference, trip.strategy)),
            cell(&symbol(reference, trip.security)),
            side(trip.side),
            trip.quantity,
            trip.entry_price,
            trip.exit_price,
            trip.gross,
            trip.costs,
            trip.net,
        )?;
    }
    file.flush()
}

pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

/// Quoted where it must be.
fn cell(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_a_comma_or_a_quote_is_quoted() {
        let cells = ["AAPL", "a, b", "say \"no\""].map(|text| cell(text).into_owned());
        assert_eq!(cells, ["AAPL", "\"a, b\"", "\"say \"\"no\"\"\""]);
    }
}
