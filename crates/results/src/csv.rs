//! CSV tables of a run: a header row, commas, instants as epoch milliseconds, exact decimals where the engine has them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use domain::order::ExecType;
use domain::{Event, Fill, Order, OrderId, Price, ReferenceData, Side, Text, Transaction};

use crate::figures::growth;
use crate::round_trips::RoundTrip;
use crate::run_recorder::deal;
use crate::run_results::{OrderOutcomes, RunResults, strategy_name, symbol};
use crate::series::DayValue;

/// Every fill, written as it happens, so memory does not grow with the run.
pub struct FillsCsv<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
}

impl<W: Write> FillsCsv<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(
            file,
            "dateTime,strategy,security,intId,side,quantity,price,rule,extId,extDateTime,executionCommission,\
             clearingCommission,fee,currency"
        )?;
        Ok(Self { file, reference })
    }

    /// The engine publishes a fill, and then the transaction that books it.
    pub fn on_events(&mut self, events: &[Event]) -> io::Result<()> {
        for pair in events.windows(2) {
            if let [Event::Fill(fill), Event::Transaction(transaction)] = pair {
                self.write(fill, transaction)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, fill: &Fill, transaction: &Transaction) -> io::Result<()> {
        let deal = deal(fill);
        writeln!(
            self.file,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            deal.at.millis(),
            cell(&strategy_name(&self.reference, deal.strategy)),
            cell(&symbol(&self.reference, deal.security)),
            cell(&deal.order),
            side(deal.side),
            deal.quantity,
            deal.price,
            cell(&deal.rule),
            cell(&deal.execution),
            fill.ext_at.map_or(String::new(), |at| at.millis().to_string()),
            transaction.execution_commission,
            transaction.clearing_commission,
            transaction.fee,
            transaction.currency,
        )
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

const ORDER_COLUMNS: &str =
    "dateTime,ended,strategy,security,intId,side,orderType,limit,stop,tif,quantity,filled,averagePrice,status,reason";

/// Every order that ended, with outcome and reason, written when it ends.
pub struct OrdersCsv<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
    placed: u64,
    ended: OrderOutcomes,
    /// Reasons of pending cancels: venues do not report them.
    cancel_reasons: BTreeMap<OrderId, &'static str>,
    stopped: BTreeSet<Text>,
    is_data_ended: bool,
}

impl<W: Write> OrdersCsv<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(file, "{ORDER_COLUMNS}")?;
        Ok(Self {
            file,
            reference,
            placed: 0,
            ended: OrderOutcomes::default(),
            cancel_reasons: BTreeMap::new(),
            stopped: BTreeSet::new(),
            is_data_ended: false,
        })
    }

    /// From now on orders of this strategy are cancelled because it failed.
    pub fn on_strategy_stopped(&mut self, strategy: &Text) {
        self.stopped.insert(strategy.clone());
    }

    /// From now on orders are cancelled because the data has ended.
    pub fn on_data_end(&mut self) {
        self.is_data_ended = true;
    }

    /// The engine publishes an order after its change, and then the change.
    pub fn on_events(&mut self, events: &[Event]) -> io::Result<()> {
        for pair in events.windows(2) {
            let [Event::Order(order), Event::OrderStatus(status)] = pair else { continue };
            self.placed += u64::from(status.exec_type == ExecType::PendingNew);
            if status.exec_type == ExecType::PendingCancel {
                self.cancel_reasons.insert(order.id, self.cancel_reason(order));
            }
            if let Some((fate, count)) = self.ended.classify(status.exec_type, order) {
                *count += 1;
                let asked = self.cancel_reasons.remove(&order.id).filter(|_| status.exec_type == ExecType::Canceled);
                self.write(order, fate, asked.unwrap_or_default())?;
            }
        }
        Ok(())
    }

    fn cancel_reason(&self, order: &Order) -> &'static str {
        if self.stopped.contains(&strategy_name(&self.reference, order.strategy)) {
            "the strategy was stopped"
        } else if self.is_data_ended {
            "the data ended"
        } else {
            "by the strategy"
        }
    }

    fn write(&mut self, order: &Order, fate: &str, asked: &str) -> io::Result<()> {
        writeln!(
            self.file,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{fate},{}",
            order.at.millis(),
            order.changed_at.millis(),
            cell(&strategy_name(&self.reference, order.strategy)),
            cell(&symbol(&self.reference, order.security)),
            cell(order.int_id.as_str()),
            side(order.side),
            order.terms.kind.name(),
            price(order.terms.kind.limit()),
            price(order.terms.kind.stop()),
            order.terms.tif.name(),
            order.terms.quantity,
            order.filled,
            price(order.avg_price()),
            cell(order.reason.as_deref().unwrap_or(asked)),
        )
    }

    /// Returns how all orders ended.
    pub fn finish(mut self) -> io::Result<OrderOutcomes> {
        self.file.flush()?;
        Ok(OrderOutcomes { open: self.placed.saturating_sub(self.ended.all()), ..self.ended })
    }
}

impl OrderOutcomes {
    /// The outcome of an order and its counter; none where the change is not its last.
    fn classify(&mut self, step: ExecType, order: &Order) -> Option<(&'static str, &mut u64)> {
        let (fate, unfilled) = match step {
            ExecType::Fill => return Some(("EXECUTED", &mut self.executed)),
            ExecType::Canceled => ("CANCELED", &mut self.canceled),
            ExecType::Expired => ("EXPIRED", &mut self.expired),
            ExecType::Rejected => ("REJECTED", &mut self.rejected),
            _ => return None,
        };
        Some((fate, if order.filled.is_zero() { unfilled } else { &mut self.partially_filled }))
    }
}

/// Equity, drawdown and exposure at the same instants: those at which a value changed.
pub struct EquityCsv;

impl EquityCsv {
    pub fn write(outcome: &RunResults, mut file: impl Write) -> io::Result<()> {
        writeln!(file, "dateTime,equity,drawdown,exposure")?;
        let curves = outcome.equity.iter().zip(&outcome.drawdown).zip(&outcome.exposure);
        for ((equity, drawdown), exposure) in curves {
            let (drawdown, exposure) = (rounded(drawdown.value, 6), rounded(exposure.value, 6));
            writeln!(file, "{},{},{drawdown},{exposure}", equity.at.millis(), rounded(equity.value, 4))?;
        }
        file.flush()
    }
}

/// The value and the return of each day with data, from which yearly figures are computed. The first row is the start.
pub struct DailyValuesCsv;

impl DailyValuesCsv {
    pub fn write(outcome: &RunResults, mut file: impl Write) -> io::Result<()> {
        writeln!(file, "date,equity,return")?;
        let mut before: Option<f64> = None;
        for day in &outcome.days {
            let grown = before.and_then(|value| growth(value, day.value)).map(|part| rounded(part, 10));
            writeln!(file, "{},{},{}", date(day), rounded(day.value, 4), grown.unwrap_or_default())?;
            before = Some(day.value);
        }
        file.flush()
    }
}

fn date(day: &DayValue) -> String {
    day.begins().to_string()[..10].to_owned()
}

/// Positions that were open at the end of the run.
pub struct OpenPositionsCsv;

impl OpenPositionsCsv {
    pub fn write(outcome: &RunResults, mut file: impl Write) -> io::Result<()> {
        writeln!(file, "strategy,security,quantity,averagePrice,price,unrealizedPL")?;
        for open in &outcome.open {
            writeln!(
                file,
                "{},{},{},{},{},{}",
                cell(&open.strategy),
                cell(&open.security),
                open.quantity,
                price(open.average_price),
                price(open.price),
                open.unrealized.map_or(String::new(), |amount| rounded(amount, 4)),
            )?;
        }
        file.flush()
    }
}

/// Every round trip, written when it ends; amounts in base currency.
pub struct RoundTripsCsv<W: Write> {
    file: W,
    reference: Arc<ReferenceData>,
}

impl<W: Write> RoundTripsCsv<W> {
    pub fn new(mut file: W, reference: Arc<ReferenceData>) -> io::Result<Self> {
        writeln!(file, "opened,closed,strategy,security,side,quantity,entryPrice,exitPrice,gross,costs,net")?;
        Ok(Self { file, reference })
    }

    pub fn write(&mut self, trip: &RoundTrip) -> io::Result<()> {
        writeln!(
            self.file,
            "{},{},{},{},{},{},{:.6},{:.6},{},{},{}",
            trip.opened_at.millis(),
            trip.closed_at.millis(),
            cell(&strategy_name(&self.reference, trip.strategy)),
            cell(&symbol(&self.reference, trip.security)),
            side(trip.side),
            trip.quantity,
            trip.entry_price,
            trip.exit_price,
            rounded(trip.gross, 4),
            rounded(trip.costs, 4),
            rounded(trip.net, 4),
        )
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Empty where there is none.
fn price(price: Option<Price>) -> String {
    price.map_or(String::new(), |price| price.to_string())
}

pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

/// Rounded to a number of decimals; a result of zero has no sign.
pub fn rounded(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_nought = text.chars().all(|sign| matches!(sign, '-' | '0' | '.'));
    if is_nought { text.trim_start_matches('-').to_owned() } else { text }
}

/// Quoted where it must be. What a spreadsheet would take for a formula gets an apostrophe, as in the export of the screen: names
/// come from files of others.
fn cell(text: &str) -> std::borrow::Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return format!("\"'{}\"", text.replace('"', "\"\"")).into();
    }
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
    fn a_formula_is_made_a_text() {
        let cells = ["=1+1", "+A1", "-2", "@SUM(A1)", "=\"x\"", "a=b"].map(|text| cell(text).into_owned());
        assert_eq!(cells, ["\"'=1+1\"", "\"'+A1\"", "\"'-2\"", "\"'@SUM(A1)\"", "\"'=\"\"x\"\"\"", "a=b"]);
    }

    #[test]
    fn a_cell_with_a_comma_or_a_quote_is_quoted() {
        let cells = ["AAPL", "a, b", "say \"no\""].map(|text| cell(text).into_owned());
        assert_eq!(cells, ["AAPL", "\"a, b\"", "\"say \"\"no\"\"\""]);
    }

    #[test]
    fn nought_has_no_sign() {
        let shown = [-0.0, 0.0, -0.000_000_4, -0.000_000_6, -1.5].map(|value| rounded(value, 6));
        assert_eq!(shown, ["0.000000", "0.000000", "0.000000", "-0.000001", "-1.500000"]);
    }
}
