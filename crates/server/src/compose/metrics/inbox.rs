//! What came through the inbox: refusals, dropped prices, and when each adapter and each feed was last heard.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use bus::Inbox;
use bus::lanes::LaneDepth;
use bus::quotas::InFlightLimit;
use domain::Text;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counters, encode_gauges};

pub(super) struct InboxCollector(pub(super) Inbox);

impl fmt::Debug for InboxCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> EncodeResult {
        f.write_str("InboxCollector")
    }
}

impl Collector for InboxCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let tally = self.0.metrics();
        let refusals = tally.refusals().into_iter().map(|(code, count)| ([("code", code)], count));
        encode_counters(&mut encoder, "rejects", "Commands that the engine refused, by code", refusals)?;
        let LaneDepth { ordinary, urgent } = self.0.depth();
        let depths = [("ordinary", ordinary), ("urgent", urgent)].map(|(lane, depth)| ([("lane", lane)], count(depth)));
        encode_gauges(&mut encoder, "engine_waiting", "Requests that wait for the engine, by lane", depths)?;
        let held_back = InFlightLimit::ALL.map(|limit| ([("limit", limit.name())], self.0.quotas().throttled(limit)));
        let help = "Commands that waited outside or were refused because too many were unanswered, by limit";
        encode_counters(&mut encoder, "held_back", help, held_back)?;
        let prices = tally.since_prices();
        let adapters = tally.since_reports().into_iter().map(|(name, age)| (name.0, age)).collect();
        let heard = ages("adapter", last_received(adapters, &prices));
        let help = "Since an adapter last reported something or gave a price";
        encode_gauges(&mut encoder, "adapter_last_message_age_seconds", help, heard)?;
        let dropped = tally.dropped_prices().map(|(reason, count)| ([("reason", reason.name())], count));
        encode_counters(
            &mut encoder,
            "market_data_dropped",
            "Prices that the engine did not apply, by reason",
            dropped,
        )?;
        let priced = ages("feed", prices);
        encode_gauges(&mut encoder, "market_data_age_seconds", "Since the last price of a feed came", priced)
    }
}

/// No lane holds so many that it would not fit.
fn count(depth: usize) -> f64 {
    u32::try_from(depth).map_or(f64::INFINITY, f64::from)
}

/// An adapter that gives prices is heard with each of them; its feed bears its name.
fn last_received(adapters: BTreeMap<Text, Duration>, prices: &BTreeMap<Text, Duration>) -> BTreeMap<Text, Duration> {
    let heard = |name: &Text, age: Duration| prices.get(name).copied().unwrap_or(age).min(age);
    adapters.into_iter().map(|(name, age)| (name.clone(), heard(&name, age))).collect()
}

fn ages(
    label: &'static str,
    ages: BTreeMap<Text, Duration>,
) -> impl Iterator<Item = ([(&'static str, String); 1], f64)> {
    ages.into_iter().map(move |(name, age)| ([(label, name.to_string())], age.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_heard_by_reports_and_by_prices() {
        let ages = |list: &[(&str, u64)]| -> BTreeMap<Text, Duration> {
            list.iter().map(|(name, seconds)| ((*name).into(), Duration::from_secs(*seconds))).collect()
        };
        let heard =
            last_received(ages(&[("ALPHA", 60), ("BETA", 5), ("GAMMA", 7)]), &ages(&[("ALPHA", 1), ("BETA", 9)]));
        assert_eq!(heard, ages(&[("ALPHA", 1), ("BETA", 5), ("GAMMA", 7)]));
    }
}
