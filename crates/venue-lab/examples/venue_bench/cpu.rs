//! Processor time of this process by the names of its threads.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

/// Nanoseconds by thread name. A thread that has ended counts no more, so it is read while the threads of interest live.
#[derive(Debug, Default)]
pub(crate) struct CpuTimes(BTreeMap<String, u64>);

/// Microseconds each, by thread name.
pub(crate) struct CpuUse(Vec<(String, f64)>);

impl CpuTimes {
    pub(crate) fn read() -> Self {
        let mut times = BTreeMap::new();
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        for task in tasks {
            let text = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
            let nanos = text("schedstat").split(' ').next().and_then(|field| field.parse::<u64>().ok());
            *times.entry(text("comm").trim().to_owned()).or_default() += nanos.unwrap_or(0);
        }
        Self(times)
    }

    pub(crate) fn since(&self, before: &Self, messages: usize) -> CpuUse {
        let each = |(name, nanos): (&String, &u64)| {
            let spent = nanos.saturating_sub(before.0.get(name).copied().unwrap_or(0));
            (name.clone(), spent as f64 / 1e3 / messages.max(1) as f64)
        };
        CpuUse(self.0.iter().map(each).filter(|(_, micros)| *micros >= 0.1).collect())
    }
}

impl fmt::Display for CpuUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(|(name, micros)| format!("{name} {micros:.1} µs")).collect();
        f.write_str(&parts.join(", "))
    }
}
