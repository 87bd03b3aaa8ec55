//! The machine that is measured on, and what it spends on each thread.

use std::collections::BTreeMap;
use std::fs;
use std::ops::AddAssign;
use std::thread;
use std::time::Duration;

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

/// Threads that matter here; the kernel cuts their names after fifteen letters.
const THREADS: [(&str, &str); 6] = [
    ("rest-bench", "client"),
    ("door", "door"),
    ("bare", "bare"),
    ("engine", "engine"),
    ("journal", "journal"),
    ("adapter", "adapter"),
];

/// Processor time by thread; a second that others took is not in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cpu(BTreeMap<&'static str, Duration>);

impl Cpu {
    /// What every thread has spent since it began.
    pub(crate) fn now() -> Self {
        let mut spent = Self::default();
        for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
            let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let comm = read("comm");
            let Some((_, who)) = THREADS.iter().find(|(name, _)| *name == comm.trim()) else { continue };
            let nanos = read("schedstat").split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
            *spent.0.entry(who).or_default() += Duration::from_nanos(nanos);
        }
        spent
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        let spent = |who| self.0.get(who).copied().unwrap_or_default();
        let before = |who| before.0.get(who).copied().unwrap_or_default();
        Self(self.0.keys().map(|who| (*who, spent(who).saturating_sub(before(who)))).collect())
    }

    /// In microseconds for each of so many, most first; who spent next to nothing is left out.
    pub(crate) fn each(&self, count: usize) -> String {
        let each = |spent: &Duration| spent.as_secs_f64() * 1e6 / count.max(1) as f64;
        let mut shares: Vec<_> = self.0.iter().map(|(who, spent)| (each(spent), who)).collect();
        shares.retain(|(micros, _)| *micros >= 0.1);
        shares.sort_by(|one, other| other.0.total_cmp(&one.0));
        shares.iter().map(|(micros, who)| format!("{who} {micros:.1} µs")).collect::<Vec<_>>().join(", ")
    }
}

impl AddAssign<&Self> for Cpu {
    fn add_assign(&mut self, more: &Self) {
        for (who, spent) in &more.0 {
            *self.0.entry(who).or_default() += *spent;
        }
    }
}
