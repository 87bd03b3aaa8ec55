//! Public data of Binance spot: rules, books, trades, candles and tickers, by request and by stream.

pub(crate) mod exchange_info;
pub(crate) mod klines;
pub(crate) mod market_data;
pub(crate) mod stream_events;
pub(crate) mod streams;
pub(crate) mod tickers;
