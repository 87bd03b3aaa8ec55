//! The disk's share: one sync after the other, of a file that grows and of one whose length was reserved.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

const SYNCS: usize = 2_000;
const BYTES: usize = 256;

#[derive(Clone, Copy)]
pub(crate) enum FileKind {
    Growing,
    Reserved,
}

impl FileKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Growing => "a file that grows",
            Self::Reserved => "a file with zeros ahead",
        }
    }
}

/// p50, p99 and p99.9.
pub(crate) fn sync_times(folder: &Path, kind: FileKind) -> io::Result<[Duration; 3]> {
    let file = File::create(folder.join("syncs"))?;
    if matches!(kind, FileKind::Reserved) {
        file.write_all_at(&vec![0; SYNCS * BYTES], 0)?;
    }
    file.sync_all()?;
    let mut times = Vec::with_capacity(SYNCS);
    for number in 0..SYNCS {
        let began = Instant::now();
        file.write_all_at(&[1; BYTES], (number * BYTES) as u64)?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok([500, 990, 999].map(|thousandth| times[(SYNCS - 1) * thousandth / 1_000]))
}
