//! Row decoder of each kind of price file.

use domain::{Bar, BarSize, Level, OrderBook, Price, Quantity, SecurityId, Side, Text, Tick, Trade};

use super::error::BadData;
use super::sheet::{Column, Sheet};
use super::{FileOf, Kind, Recorded};

/// Levels of a book that a file can hold on each side.
const LEVELS_MAX: usize = 50;

pub(super) struct Rows {
    security: SecurityId,
    feed: Text,
    may_be_negative: bool,
    at: Column,
    columns: Columns,
}

enum Columns {
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

impl Rows {
    /// Finds the columns that this kind of file has.
    pub(super) fn new(file: &FileOf, sheet: &Sheet) -> Result<Self, BadData> {
        Ok(Self {
            security: file.security,
            feed: file.feed.clone(),
            may_be_negative: file.may_be_negative,
            at: sheet.needed("dateTime")?,
            columns: Columns::find(file.kind, sheet)?,
        })
    }

    pub(super) fn read(&self, sheet: &Sheet) -> Result<Recorded, BadData> {
        match &self.columns {
            Columns::Tick(columns) => self.tick(sheet, columns).map(Recorded::Tick),
            Columns::Trade { price, quantity, aggressor, ext_id } => {
                self.trade(sheet, *price, *quantity, *aggressor, *ext_id).map(Recorded::Trade)
            }
            Columns::Book { bids, asks } => self.book(sheet, bids, asks).map(Recorded::Book),
            Columns::Bar { .. } => self.bar(sheet).map(Recorded::Bar),
        }
    }

    fn tick(&self, sheet: &Sheet, columns: &TickColumns) -> Result<Tick, BadData> {
        let price = |column| sheet.maybe(column, |sheet, column| self.price(sheet, column));
        let quantity = |column| sheet.maybe(column, Sheet::quantity);
        let tick = Tick {
            security: self.security,
            feed: self.feed.clone(),
            at: sheet.time(self.at)?,
            last: price(columns.last)?,
            last_at: sheet.maybe(columns.last_at, Sheet::time)?,
            vol_last: quantity(columns.vol_last)?,
            bid: price(columns.bid)?,
            ask: price(columns.ask)?,
            vol_bid: quantity(columns.vol_bid)?,
            vol_ask: quantity(columns.vol_ask)?,
            vol: quantity(columns.vol)?,
        };
        if tick.last.or(tick.bid).or(tick.ask).is_none() {
            return Err(sheet.bad("last", "is blank, and so are bid and ask"));
        }
        check_uncrossed(sheet, "bid", tick.bid, tick.ask)?;
        Ok(tick)
    }

    fn trade(
        &self,
        sheet: &Sheet,
        price: Column,
        quantity: Column,
        aggressor: Option<Column>,
        ext_id: Option<Column>,
    ) -> Result<Trade, BadData> {
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
            aggressor: sheet.maybe(aggressor, side)?,
            ext_id: sheet.maybe(ext_id, |sheet, column| sheet.text(column).map(Text::from))?,
        })
    }

    fn book(&self, sheet: &Sheet, bids: &[(Column, Column)], asks: &[(Column, Column)]) -> Result<OrderBook, BadData> {
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
        let best = |levels: &[Level]| levels.first().map(|level| level.price);
        check_uncrossed(sheet, "bid1", best(&book.bids), best(&book.asks))?;
        Ok(book)
    }

    /// Up to the first blank one.
    fn levels(&self, sheet: &Sheet, columns: &[(Column, Column)]) -> Result<Vec<Level>, BadData> {
        let mut levels = Vec::with_capacity(columns.len());
        for (price, quantity) in columns {
            let Some(price) = sheet.maybe(Some(*price), |sheet, column| self.price(sheet, column))? else { break };
            let shown = sheet.quantity(*quantity)?;
            if shown.is_zero() {
                return Err(sheet.bad_cell(*quantity, "a quantity above 0"));
            }
            levels.push(Level { price, quantity: shown });
        }
        Ok(levels)
    }

    fn bar(&self, sheet: &Sheet) -> Result<Bar, BadData> {
        let Columns::Bar { size, open, high, low, close, vol, vwap } = &self.columns else {
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
            vol: sheet.maybe(*vol, Sheet::quantity)?.unwrap_or(Quantity::ZERO),
            vwap: sheet.maybe(*vwap, |sheet, column| self.price(sheet, column))?,
        };
        if bar.high < bar.open.max(bar.close) || bar.high < bar.low {
            return Err(sheet.bad("high", format!("{} is not the highest of the bar", bar.high)));
        }
        if bar.low > bar.open.min(bar.close) {
            return Err(sheet.bad("low", format!("{} is not the lowest of the bar", bar.low)));
        }
        Ok(bar)
    }

    fn price(&self, sheet: &Sheet, column: Column) -> Result<Price, BadData> {
        let price = sheet.price(column)?;
        let is_possible = self.may_be_negative || price.is_positive();
        if is_possible { Ok(price) } else { Err(sheet.bad_cell(column, "a price above 0")) }
    }
}

impl Columns {
    fn find(kind: Kind, sheet: &Sheet) -> Result<Self, BadData> {
        match kind {
            Kind::Tick => TickColumns::find(sheet).map(Self::Tick),
            Kind::Trade => Ok(Self::Trade {
                price: sheet.needed("price")?,
                quantity: sheet.needed("quantity")?,
                aggressor: sheet.column("aggressorSide"),
                ext_id: sheet.column("extId"),
            }),
            Kind::Book => {
                let (bids, asks) = (level_columns(sheet, "bid", "volBid")?, level_columns(sheet, "ask", "volAsk")?);
                Ok(Self::Book { bids, asks })
            }
            Kind::Bar(size) => Ok(Self::Bar {
                size,
                open: sheet.needed("open")?,
                high: sheet.needed("high")?,
                low: sheet.needed("low")?,
                close: sheet.needed("close")?,
                vol: sheet.column("vol"),
                vwap: sheet.column("vwap"),
            }),
        }
    }
}

impl TickColumns {
    fn find(sheet: &Sheet) -> Result<Self, BadData> {
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
            None => sheet.needed("last").map(|_| columns),
        }
    }
}

/// `bid1`, `volBid1`, `bid2` and so on, as many as there are.
fn level_columns(sheet: &Sheet, price: &str, quantity: &str) -> Result<Vec<(Column, Column)>, BadData> {
    let mut columns = vec![(sheet.needed(&format!("{price}1"))?, sheet.needed(&format!("{quantity}1"))?)];
    for level in 2..=LEVELS_MAX {
        let Some(found) = sheet.column(&format!("{price}{level}")) else { break };
        columns.push((found, sheet.needed(&format!("{quantity}{level}"))?));
    }
    Ok(columns)
}

/// A bid above the ask would be free money for every strategy.
fn check_uncrossed(sheet: &Sheet, column: &str, bid: Option<Price>, ask: Option<Price>) -> Result<(), BadData> {
    match bid.zip(ask) {
        Some((bid, ask)) if bid > ask => Err(sheet.bad(column, format!("{bid} is above the ask of {ask}"))),
        _ => Ok(()),
    }
}

fn side(sheet: &Sheet, column: Column) -> Result<Side, BadData> {
    match sheet.text(column)? {
        "BUY" => Ok(Side::Buy),
        "SELL" => Ok(Side::Sell),
        _ => Err(sheet.bad_cell(column, "BUY or SELL")),
    }
}
