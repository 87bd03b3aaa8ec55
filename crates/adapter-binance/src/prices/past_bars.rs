//! Bars that the venue still has (klines), asked for without a key, for stored bars and the warm-up of strategies.

use adapters::thread::AdapterClock;
use adapters::venue_type::{PastBars, WantedBars};
use domain::{Bar, Text, Timestamp};

use crate::prices::market_mapping::{FeedSecurity, interval_of};
use crate::protocol::answers::exchange_info::ExchangeInfo;
use crate::protocol::answers::market_answers::Kline;
use crate::protocol::requests::{BinanceRequest, KLINES_PAGE_MAX};
use crate::symbols::public_calls::PublicCalls;

pub(crate) struct BinanceBars {
    calls: PublicCalls,
    clock: AdapterClock,
    /// The source of the bars.
    feed: Text,
    listed: Vec<String>,
}

impl BinanceBars {
    /// The venue's list comes first: it has the limits that all further requests keep.
    pub(crate) fn open(mut calls: PublicCalls, clock: AdapterClock, feed: Text) -> Result<Self, String> {
        let info: ExchangeInfo = calls.ask(&BinanceRequest::exchange_info())?;
        calls.on_limits(&info.rate_limits);
        let listed = info.symbols.into_iter().map(|symbol| symbol.symbol).collect();
        Ok(Self { calls, clock, feed, listed })
    }

    fn read(&self, wanted: &WantedBars, kline: &Kline) -> Result<Bar, String> {
        let security = FeedSecurity { security: wanted.security, feed: self.feed.clone() };
        let bar = security.bar(kline, wanted.size);
        bar.ok_or_else(|| format!("{}: the bar of {} contradicts itself", wanted.symbol, kline.opened.0))
    }
}

impl PastBars for BinanceBars {
    fn source(&self) -> &Text {
        &self.feed
    }

    fn bars(&mut self, wanted: &WantedBars) -> Result<Vec<Bar>, String> {
        if !self.listed.contains(&wanted.symbol.to_string()) {
            return Err(format!("the venue does not list {}", wanted.symbol));
        }
        let now = (self.clock)();
        let is_closed = |bar: &Bar| bar.at.plus_seconds(wanted.size.seconds()) <= now;
        let (mut bars, mut from): (Vec<Bar>, Timestamp) = (Vec::new(), wanted.from);
        loop {
            let request = BinanceRequest::klines(&wanted.symbol, interval_of(wanted.size), from, now);
            let page: Vec<Kline> = self.calls.ask(&request)?;
            let is_last = i64::try_from(page.len()).is_ok_and(|length| length < KLINES_PAGE_MAX);
            for kline in &page {
                bars.push(self.read(wanted, kline)?);
            }
            let Some(newest) = bars.last().filter(|newest| !is_last && newest.at >= from) else { break };
            from = newest.at.plus_seconds(wanted.size.seconds());
            if from > now {
                break;
            }
        }
        bars.retain(is_closed);
        Ok(bars)
    }
}
