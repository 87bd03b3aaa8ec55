//! The machine that is measured on: its cores, how busy it is, and what it spends on us.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

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

/// Resident memory of a process, in MiB.
pub(crate) fn resident_mib(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
    kib / 1_024.0
}

/// The wall's clock and this thread's processor time since a beginning. Where others use the machine too, the second
/// tells what the code costs.
pub(crate) struct Meter {
    begun: Instant,
    cpu_before: Duration,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { cpu_before: cpu_of_this_thread(), begun: Instant::now() }
    }

    pub(crate) fn wall(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn cpu(&self) -> Duration {
        cpu_of_this_thread().saturating_sub(self.cpu_before)
    }
}

fn cpu_of_this_thread() -> Duration {
    cpu_of("/proc/thread-self/schedstat")
}

/// Processor time of the threads of this process that bear a name.
pub(crate) fn cpu_of_threads(name: &str) -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|task| task.path());
    let named = tasks.filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name));
    named.map(|task| cpu_of(&task.join("schedstat").to_string_lossy())).sum()
}

/// The scheduler counts in nanoseconds; the first word is the time spent running.
fn cpu_of(schedstat: &str) -> Duration {
    let text = fs::read_to_string(schedstat).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0))
}
