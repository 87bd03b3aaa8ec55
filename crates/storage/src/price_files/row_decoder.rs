//! Row decoder of each kind of price file.

use domain::{Bar, BarSize, BookLevel, OrderBook, Price, Quantity, SecurityId, Side, Text, Tick, Trade};

use super::csv_file::{Column, CsvFile};
use super::error::InvalidPriceData;
use super::price_record::{PriceFileKind, PriceFileSpec, PriceRecord};

/// Levels of a book that a file can hold on each side.
const LEVELS_MAX: usize = 50;

pub(super) struct RowDecoder {
    security: SecurityId,
    feed: Text,
    may_be_negative: bool,
    at: Column,
    columns: RowColumns,
}

enum RowColumns {
    Tick(TickColumns),
    Trade {
        price: Column,
        quantity: Column,
        aggressor: Option<Column>,
        ext_id: Option<Column>,
    },
    Book {
        bids: Vec<(Column, Column)>,
        asks: Vec<(Column, Column)>,
    },
    Bar {
        size: BarSize,
        open: Column,
        high: Column,
        low: Column,
        close: Column,
        vol: Option<Column>,
        vwap: Option<Column>,
    },
}

struct TickColumns {
    last: Option<Column>,
    last_at: Option<Column>,
    vol_last: Option<Column>,
    bid: Option<Column>,
    ask: Option<Column>,
    vol_bid: Option<Column>,
    vol_ask: Option<Column>,
    vol: Option<Column>,
}

impl RowDecoder {
    /// Finds the columns that this kind of file has.
    pub(super) fn new(file: &PriceFileSpec, sheet: &CsvFile) -> Result<Self, InvalidPriceData> {
        Ok(Self {
            security: file.security,
            feed: file.feed.clone(),
            may_be_negative: file.may_be_negative,
            at: sheet.required_column("dateTime")?,
            columns: RowColumns::find(file.kind, sheet)?,
        })
    }

    pub(super) fn decode(&self, sheet: &CsvFile) -> Result<PriceRecord, InvalidPriceData> {
        match &self.columns {
            RowColumns::Tick(columns) => self.tick(sheet, columns).map(PriceRecord::Tick),
            RowColumns::Trade { price, quantity, aggressor, ext_id } => {
                self.trade(sheet, *price, *quantity, *aggressor, *ext_id).map(PriceRecord::Trade)
            }
            RowColumns::Book { bids, asks } => self.book(sheet, bids, asks).map(PriceRecord::Book),
            RowColumns::Bar { .. } => self.bar(sheet).map(PriceRecord::Bar),
        }
    }

    fn tick(&self, sheet: &CsvFile, columns: &TickColumns) -> Result<Tick, InvalidPriceData> {
        let price = |column| sheet.optional(column, |sheet, column| self.price(sheet, column));
        let quantity = |column| sheet.optional(column, CsvFile::quantity);
        let tick = Tick {
            security: self.security,
            feed: self.feed.clone(),
            at: sheet.time(self.at)?,
            last: price(columns.last)?,
            last_at: sheet.optional(columns.last_at, CsvFile::time)?,
            vol_last: quantity(columns.vol_last)?,
            bid: price(columns.bid)?,
            ask: price(columns.ask)?,
            vol_bid: quantity(columns.vol_bid)?,
            vol_ask: quantity(columns.vol_ask)?,
            vol: quantity(columns.vol)?,
            stale: None,
        };
        if tick.last.or(tick.bid).or(tick.ask).is_none() {
            return Err(sheet.bad("last", "is blank, and so are bid and ask"));
        }
        check_uncrossed(sheet, "bid", tick.bid, tick.ask)?;
        Ok(tick)
    }

    fn trade(
        &self,
        sheet: &CsvFile,
        price: Column,
        quantity: Column,
        aggressor: Option<Column>,
        ext_id: Option<Column>,
    ) -> Result<Trade, InvalidPriceData> {
        let traded = sheet.quantity(quantity)?;
        if traded.is_zero() {
            return Err(sheet.bad_cell(quantity, "a quantity above 0"));
        }
        Ok(Trade {
            security: self.security,
            feed: self.feed.clone(),
            at: sheet.time(self.at)?,
            price: self.price(sheet, price)?,
            quantity: traded,
            aggressor: sheet.optional(aggressor, side)?,
            ext_id: sheet.optional(ext_id, |sheet, column| sheet.text(column).map(Text::from))?,
        })
    }

    fn book(
        &self,
        sheet: &CsvFile,
        bids: &[(Column, Column)],
        asks: &[(Column, Column)],
    ) -> Result<OrderBook, InvalidPriceData> {
        let book = OrderBook {
            security: self.security,
            feed: self.feed.clone(),
            at: sheet.time(self.at)?,
            bids: self.levels(sheet, bids)?,
            asks: self.levels(sheet, asks)?,
        };
        if !book.bids.is_sorted_by(|better, worse| better.price > worse.price) {
            return Err(sheet.bad("bid1", "the bids do not fall from level to level"));
        }
        if !book.asks.is_sorted_by(|better, worse| better.price < worse.price) {
            return Err(sheet.bad("ask1", "the asks do not rise from level to level"));
        }
        let best = |levels: &[BookLevel]| levels.first().map(|level| level.price);
        check_uncrossed(sheet, "bid1", best(&book.bids), best(&book.asks))?;
        Ok(book)
    }

    /// Up to the first blank one.
    fn levels(&self, sheet: &CsvFile, columns: &[(Column, Column)]) -> Result<Vec<BookLevel>, InvalidPriceData> {
        let mut levels = Vec::with_capacity(columns.len());
        for (price, quantity) in columns {
            let Some(price) = sheet.optional(Some(*price), |sheet, column| self.price(sheet, column))? else { break };
            let shown = sheet.quantity(*quantity)?;
            if shown.is_zero() {
                return Err(sheet.bad_cell(*quantity, "a quantity above 0"));
            }
            levels.push(BookLevel { price, quantity: shown });
        }
        Ok(levels)
    }

    fn bar(&self, sheet: &CsvFile) -> Result<Bar, InvalidPriceData> {
        let RowColumns::Bar { size, open, high, low, close, vol, vwap } = &self.columns else {
            unreachable!("asked for a bar's columns only")
        };
        let bar = Bar {
            security: self.security,
            feed: self.feed.clone(),
            at: sheet.time(self.at)?,
            size: *size,
            open: self.price(sheet, *open)?,
            high: self.price(sheet, *high)?,
            low: self.price(sheet, *low)?,
            close: self.price(sheet, *close)?,
            vol: sheet.optional(*vol, CsvFile::quantity)?.unwrap_or(Quantity::ZERO),
            vwap: sheet.optional(*vwap, |sheet, column| self.price(sheet, column))?,
        };
        if bar.high < bar.open.max(bar.close) || bar.high < bar.low {
            return Err(sheet.bad("high", format!("{} is not the highest of the bar", bar.high)));
        }
        if bar.low > bar.open.min(bar.close) {
            return Err(sheet.bad("low", format!("{} is not the lowest of the bar", bar.low)));
        }
        Ok(bar)
    }

    fn price(&self, sheet: &CsvFile, column: Column) -> Result<Price, InvalidPriceData> {
        let price = sheet.price(column)?;
        let is_possible = self.may_be_negative || price.is_positive();
        if is_possible { Ok(price) } else { Err(sheet.bad_cell(column, "a price above 0")) }
    }
}

impl RowColumns {
    fn find(kind: PriceFileKind, sheet: &CsvFile) -> Result<Self, InvalidPriceData> {
        match kind {
            PriceFileKind::Tick => TickColumns::find(sheet).map(Self::Tick),
            PriceFileKind::Trade => Ok(Self::Trade {
                price: sheet.required_column("price")?,
                quantity: sheet.required_column("quantity")?,
                aggressor: sheet.column("aggressorSide"),
                ext_id: sheet.column("extId"),
            }),
            PriceFileKind::Book => {
                let (bids, asks) = (level_columns(sheet, "bid", "volBid")?, level_columns(sheet, "ask", "volAsk")?);
                Ok(Self::Book { bids, asks })
            }
            PriceFileKind::Bar(size) => Ok(Self::Bar {
                size,
                open: sheet.required_column("open")?,
                high: sheet.required_column("high")?,
                low: sheet.required_column("low")?,
                close: sheet.required_column("close")?,
                vol: sheet.column("vol"),
                vwap: sheet.column("vwap"),
            }),
        }
    }
}

impl TickColumns {
    fn find(sheet: &CsvFile) -> Result<Self, InvalidPriceData> {
        let columns = Self {
            last: sheet.column("last"),
            last_at: sheet.column("lastDateTime"),
            vol_last: sheet.column("volLast"),
            bid: sheet.column("bid"),
            ask: sheet.column("ask"),
            vol_bid: sheet.column("volBid"),
            vol_ask: sheet.column("volAsk"),
            vol: sheet.column("vol"),
        };
        match columns.last.or(columns.bid).or(columns.ask) {
            Some(_) => Ok(columns),
            None => sheet.required_column("last").map(|_| columns),
        }
    }
}

/// `bid1`, `volBid1`, `bid2` and so on, as many as there are.
fn level_columns(sheet: &CsvFile, price: &str, quantity: &str) -> Result<Vec<(Column, Column)>, InvalidPriceData> {
    let mut columns =
        vec![(sheet.required_column(&format!("{price}1"))?, sheet.required_column(&format!("{quantity}1"))?)];
    for level in 2..=LEVELS_MAX {
        let Some(found) = sheet.column(&format!("{price}{level}")) else { break };
        columns.push((found, sheet.required_column(&format!("{quantity}{level}"))?));
    }
    Ok(columns)
}

/// A bid above the ask would be free money for every strategy.
fn check_uncrossed(
    sheet: &CsvFile,
    column: &str,
    bid: Option<Price>,
    ask: Option<Price>,
) -> Result<(), InvalidPriceData> {
    match bid.zip(ask) {
        Some((bid, ask)) if bid > ask => Err(sheet.bad(column, format!("{bid} is above the ask of {ask}"))),
        _ => Ok(()),
    }
}

fn side(sheet: &CsvFile, column: Column) -> Result<Side, InvalidPriceData> {
    match sheet.text(column)? {
        "BUY" => Ok(Side::Buy),
        "SELL" => Ok(Side::Sell),
        _ => Err(sheet.bad_cell(column, "BUY or SELL")),
    }
}
