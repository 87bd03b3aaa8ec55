//! The log, as far as somebody may miss some of it.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::{Written, put_counter};
use crate::logs;

#[derive(Debug)]
pub(super) struct Log;

impl Collector for Log {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Written {
        let help = "Lines of the log that standard error was too slow for";
        put_counter(&mut encoder, "log_lines_dropped", help, logs::dropped())
    }
}
