//! The machine that is measured on.

use std::fs;
use std::thread;

/// Processor and cores, as the kernel names them.
pub(crate) fn name() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    format!("{}, {cores} cores", model.trim_matches([' ', '\t', ':']))
}

/// Running and waiting tasks of the last 1, 5 and 15 minutes.
pub(crate) fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
