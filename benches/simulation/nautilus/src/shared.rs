//! The shared data: rows of 64-bit numbers, prices in ticks of 0.00001.

use std::fs;
use std::str::FromStr;

use anyhow::{Context, bail};
use nautilus_model::data::{Bar, BarSpecification, BarType, Data, QuoteTick};
use nautilus_model::enums::{AggregationSource, BarAggregation, PriceType};
use nautilus_model::identifiers::InstrumentId;
use nautilus_model::types::{Price, Quantity};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Quotes,
    Bars,
}

impl FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text {
            "quotes" => Ok(Self::Quotes),
            "bars" => Ok(Self::Bars),
            other => bail!("{other} is neither quotes nor bars"),
        }
    }
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Bars => "bars",
        }
    }

    /// 64-bit numbers of one row.
    fn numbers(self) -> usize {
        match self {
            Self::Quotes => 5,
            Self::Bars => 6,
        }
    }
}

/// The first `rows` rows of a shared file as events of the peer.
pub(crate) fn read(folder: &str, kind: Kind, pair: InstrumentId, rows: usize) -> anyhow::Result<Vec<Data>> {
    let path = format!("{folder}/{}.bin", kind.name());
    let bytes = fs::read(&path).with_context(|| path)?;
    let bars = minute_bars(pair);
    let event = |row: &[u8]| match kind {
        Kind::Quotes => Data::Quote(quote(pair, &numbers(row))),
        Kind::Bars => Data::Bar(bar(bars, &numbers(row))),
    };
    Ok(bytes.chunks_exact(kind.numbers() * 8).take(rows).map(event).collect())
}

pub(crate) fn minute_bars(pair: InstrumentId) -> BarType {
    BarType::new(pair, BarSpecification::new(1, BarAggregation::Minute, PriceType::Last), AggregationSource::External)
}

fn numbers<const N: usize>(row: &[u8]) -> [i64; N] {
    std::array::from_fn(|place| i64::from_le_bytes(row[place * 8..place * 8 + 8].try_into().expect("eight bytes")))
}

fn quote(pair: InstrumentId, &[at, bid, ask, bid_size, ask_size]: &[i64; 5]) -> QuoteTick {
    let at = at.cast_unsigned().into();
    QuoteTick::new(pair, price(bid), price(ask), quantity(bid_size), quantity(ask_size), at, at)
}

fn bar(bars: BarType, &[at, open, high, low, close, volume]: &[i64; 6]) -> Bar {
    let at = at.cast_unsigned().into();
    Bar::new(bars, price(open), price(high), price(low), price(close), quantity(volume), at, at)
}

fn price(ticks: i64) -> Price {
    Price::new(ticks as f64 / 100_000.0, 5)
}

fn quantity(units: i64) -> Quantity {
    Quantity::new(units as f64, 0)
}
