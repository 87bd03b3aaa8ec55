//! The machine that is measured on: its cores, how busy it is, and what it spends on us.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

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

/// The wall's clock and this thread's processor time, added up over what is measured. Where others use the machine too,
/// the second is the cost of the code.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

impl Meter {
    /// Gives how long it took by the wall's clock.
    pub(crate) fn measure(&mut self, what: impl FnOnce()) -> Duration {
        let (begun, cpu_before) = (Instant::now(), cpu_of_this_thread());
        what();
        self.cpu += cpu_of_this_thread().saturating_sub(cpu_before);
        let wall = begun.elapsed();
        self.wall += wall;
        wall
    }
}

fn cpu_of_this_thread() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec.unsigned_abs(), u32::try_from(spent.tv_nsec).unwrap_or(0))
}

/// Processor time of the threads of this process that bear a name.
pub(crate) fn cpu_of_threads(name: &str) -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|task| task.path());
    let named = tasks.filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name));
    named.map(|task| running_time(&task.join("schedstat"))).sum()
}

/// The scheduler counts in nanoseconds; the first word is the time spent running.
fn running_time(schedstat: &Path) -> Duration {
    let text = fs::read_to_string(schedstat).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0))
}
