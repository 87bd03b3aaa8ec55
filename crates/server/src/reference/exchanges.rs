//! exchanges.csv, trading-hours.csv and holidays.csv.

use std::collections::BTreeMap;

use domain::reference::{Holiday, TradingHours};
use domain::{Exchange, ExchangeId};

use super::cell::{Days, Id, Mic, Minutes, ZoneName};
use super::check::{RowIndex, unique};
use super::sheet::{self, SheetRow, SheetRows, cell_location};
use super::source::ReferenceFiles;
use crate::input_problem::Problems;

const COLUMNS: [&str; 8] =
    ["id", "name", "code", "mic", "bloombergCode", "timeZone", "openingAuction", "closingAuction"];
const HOURS_COLUMNS: [&str; 4] = ["exchangeId", "open", "close", "days"];
const HOLIDAY_COLUMNS: [&str; 4] = ["exchangeId", "date", "open", "close"];

/// The exchanges with their hours and holidays.
pub(super) fn read(files: &ReferenceFiles, problems: &mut Problems) -> SheetRows<Exchange> {
    let mut exchanges = sheet::read("exchanges.csv", files.text("exchanges.csv"), &COLUMNS, problems, exchange);
    let hours = sheet::read("trading-hours.csv", files.text("trading-hours.csv"), &HOURS_COLUMNS, problems, hours);
    let holidays = sheet::read("holidays.csv", files.text("holidays.csv"), &HOLIDAY_COLUMNS, problems, holiday);
    unique(&exchanges, "id", |exchange| exchange.id, problems);
    unique(&exchanges, "code", |exchange| exchange.code.clone(), problems);
    let known = RowIndex::by(&exchanges, |exchange| exchange.id);
    check_exchange_ids(&hours, &known, problems);
    check_exchange_ids(&holidays, &known, problems);
    unique(&holidays, "date", |(exchange, holiday)| (*exchange, holiday.date), problems);
    let (mut hours, mut holidays) = (by_exchange(hours), by_exchange(holidays));
    for (_, exchange) in &mut exchanges.rows {
        exchange.trading_hours = hours.remove(&exchange.id).unwrap_or_default();
        exchange.holidays = holidays.remove(&exchange.id).unwrap_or_default();
    }
    exchanges
}

fn exchange(row: &mut SheetRow<'_>) -> Option<Exchange> {
    let (id, name, code) = (row.required::<Id>("id"), row.required("name"), row.required("code"));
    let (mic, zone) = (row.required::<Mic>("mic"), row.required::<ZoneName>("timeZone"));
    let bloomberg_code = row.optional("bloombergCode");
    let (opening, closing) = (row.required::<Minutes>("openingAuction"), row.required::<Minutes>("closingAuction"));
    Some(Exchange {
        id: ExchangeId(id?.0),
        name: name?,
        code: Some(code?),
        mic: Some(mic?.0),
        bloomberg_code,
        time_zone: zone?.0,
        trading_hours: Vec::new(),
        holidays: Vec::new(),
        opening_auction_minutes: opening?.0,
        closing_auction_minutes: closing?.0,
    })
}

fn hours(row: &mut SheetRow<'_>) -> Option<(ExchangeId, TradingHours)> {
    let exchange = row.required::<Id>("exchangeId");
    let (open, close, days) = (row.required("open"), row.required("close"), row.required::<Days>("days"));
    Some((ExchangeId(exchange?.0), TradingHours { open: open?, close: close?, days: days?.0 }))
}

fn holiday(row: &mut SheetRow<'_>) -> Option<(ExchangeId, Holiday)> {
    let (exchange, date) = (row.required::<Id>("exchangeId"), row.required("date"));
    let (open, close) = (row.optional("open"), row.optional("close"));
    if row.text("open").is_empty() != row.text("close").is_empty() {
        row.add_problem("open", "open and close are either both given or both blank");
    }
    Some((ExchangeId(exchange?.0), Holiday { date: date?, open, close }))
}

fn check_exchange_ids<T>(
    rows: &SheetRows<(ExchangeId, T)>,
    exchanges: &RowIndex<'_, ExchangeId, Exchange>,
    problems: &mut Problems,
) {
    for (line, (exchange, _)) in &rows.rows {
        exchanges.find(*exchange, &cell_location(rows.file, *line, "exchangeId"), problems);
    }
}

fn by_exchange<T>(rows: SheetRows<(ExchangeId, T)>) -> BTreeMap<ExchangeId, Vec<T>> {
    let mut grouped: BTreeMap<ExchangeId, Vec<T>> = BTreeMap::new();
    for (_, (exchange, item)) in rows.rows {
        grouped.entry(exchange).or_default().push(item);
    }
    grouped
}
