//! Metrics of the broker, once it runs.

use std::fmt;

use broker::BrokerMonitor;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counter, encode_gauge};

const OLDEST_EVENT_HELP: &str = "For how long the oldest event waits that is not published";

pub(super) struct BrokerCollector(pub(super) BrokerMonitor);

impl fmt::Debug for BrokerCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> EncodeResult {
        f.write_str("Topics")
    }
}

impl Collector for BrokerCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let Some(numbers) = self.0.metrics() else { return Ok(()) };
        let gauges = [
            ("topic_clients", "Connections to the broker", numbers.connections),
            ("topic_subscriptions", "Subscriptions of all connections", numbers.subscriptions),
            ("topic_queue_bytes", "Bytes that wait for connections", numbers.queue_bytes),
        ];
        for (name, help, value) in gauges {
            encode_gauge(&mut encoder, name, help, value as u64)?;
        }
        let oldest = u64::try_from(numbers.oldest_event.as_millis()).unwrap_or(u64::MAX);
        encode_gauge(&mut encoder, "topic_oldest_event_milliseconds", OLDEST_EVENT_HELP, oldest)?;
        let counters = [
            ("topic_delivered", "Messages that were handed to sockets", numbers.delivered),
            ("topic_conflated", "Prices that a newer one replaced before they were sent", numbers.conflated),
            ("topic_dropped", "Messages that waited for connections that were cut", numbers.dropped),
            (
                "topic_slow_consumers",
                "Times that a connection took nothing of what waited for it",
                numbers.slow_consumers,
            ),
            ("topic_slow_consumers_closed", "Connections that were cut for not reading", numbers.slow_disconnects),
        ];
        for (name, help, value) in counters {
            encode_counter(&mut encoder, name, help, value)?;
        }
        Ok(())
    }
}
