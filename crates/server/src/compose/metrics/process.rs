//! What the operating system says of us; nothing where it does not.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_gauge};

/// The kernel counts memory in pages of this size.
const PAGE_BYTES: u64 = 4_096;

#[derive(Debug)]
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        if let Some(bytes) = resident_bytes() {
            encode_gauge(&mut encoder, "process_resident_memory_bytes", "Memory in use", bytes)?;
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            encode_gauge(&mut encoder, "process_open_fds", "Open files and sockets", open.count() as u64)?;
        }
        Ok(())
    }
}

fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(PAGE_BYTES)
}
