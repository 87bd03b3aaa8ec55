//! Tables for spreadsheets: a header row, commas, instants as epoch milliseconds, exact decimals where the engine has them.

use std::io::{self, Write};
use std::sync::Arc;

use domain::order::Step;
use domain::{Event, Order, ReferenceData, Side};

use crate::outcome::Outcome;
use crate::record::{deal, strategy_name, symbol};
use crate::round_trips::RoundTrip;

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

/// Every order that ended, with how and why, written as it ends.
pub struct OrderSheet<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
    unfilled: u64,
}

impl<W: Write> OrderSheet<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(file, "dateTime,ended,strategy,security,intId,side,orderType,quantity,filled,status,reason")?;
        Ok(Self { file, reference, unfilled: 0 })
    }

    /// The engine tells an order as it has become, and then the step that it took.
    pub fn see(&mut self, events: &[Event]) -> io::Result<()> {
        for pair in events.windows(2) {
            if let [Event::Order(order), Event::OrderStatus(status)] = pair
                && let Some(fate) = fate(status.step)
            {
                self.write(order, fate)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, order: &Order, fate: &str) -> io::Result<()> {
        self.unfilled += u64::from(order.filled.is_zero());
        writeln!(
            self.file,
            "{},{},{},{},{},{},{},{},{},{fate},{}",
            order.at.millis(),
            order.changed_at.millis(),
            cell(&strategy_name(&self.reference, order.strategy)),
            cell(&symbol(&self.reference, order.security)),
            cell(order.int_id.as_str()),
            side(order.side),
            order.terms.kind.name(),
            order.terms.quantity,
            order.filled,
            cell(order.reason.as_deref().unwrap_or_default()),
        )
    }

    /// Tells how many orders ended without any fill.
    pub fn finish(mut self) -> io::Result<u64> {
        self.file.flush()?;
        Ok(self.unfilled)
    }
}

/// How an order ended; nothing where the step is not its last.
fn fate(step: Step) -> Option<&'static str> {
    match step {
        Step::FilledInFull => Some("EXECUTED"),
        Step::Canceled => Some("CANCELED"),
        Step::Expired => Some("EXPIRED"),
        Step::Refused => Some("REJECTED"),
        _ => None,
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

/// Every round trip, written as it ends; amounts in base currency.
pub struct TripSheet<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
}

impl<W: Write> TripSheet<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(file, "opened,closed,strategy,security,side,quantity,entryPrice,exitPrice,gross,costs,net")?;
        Ok(Self { file, reference })
    }

    pub fn write(&mut self, trip: &RoundTrip) -> io::Result<()> {
        writeln!(
            self.file,
            "{},{},{},{},{},{},{:.6},{:.6},{:.4},{:.4},{:.4}",
            trip.opened_at.millis(),
            trip.closed_at.millis(),
            cell(&strategy_name(&self.reference, trip.strategy)),
            cell(&symbol(&self.reference, trip.security)),
            side(trip.side),
            trip.quantity,
            trip.entry_price,
            trip.exit_price,
            trip.gross,
            trip.costs,
            trip.net,
        )
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
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
