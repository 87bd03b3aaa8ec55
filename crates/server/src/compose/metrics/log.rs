//! Metrics of the log: lines that were dropped.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counter};
use crate::logging;

#[derive(Debug)]
pub(super) struct Log;

impl Collector for Log {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let help = "Lines of the log that standard error was too slow for";
        encode_counter(&mut encoder, "log_lines_dropped", help, logging::dropped())
    }
}
