//! Bar files: closed bars of the live server as CSV, one file per size and security, in the format that simulations
//! read. Strategies warm up from them after a restart, history can be added to the files, and live bars can be
//! simulated.
//!
//! Bars are prices, not trading state: they are not synced, and a line that a crash cut off is dropped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::{Bar, BarSize, SecurityId, Timestamp};
use tracing::warn;

use crate::price_files::{CsvSource, InvalidPriceData, PriceFileKind, PriceFileSpec, PriceRecord, PriceSource};

/// The folder of all of it within the data folder.
pub const FOLDER: &str = "bars";

/// The file of the folder that names where bars were fetched from, and when.
pub const SOURCES: &str = "sources.csv";

const HEADER: &str = "dateTime,open,high,low,close,vol,vwap";

type BarFileKey = (SecurityId, BarSize);

#[derive(Debug)]
pub struct BarFiles {
    folder: PathBuf,
    /// Bars kept of one security and size; a file has up to twice as many.
    kept: usize,
    /// Files that were checked.
    files: Mutex<BTreeMap<BarFileKey, BarFileState>>,
}

#[derive(Debug, Clone, Copy)]
enum BarFileState {
    Good {
        rows: usize,
        last: Option<Timestamp>,
    },
    /// The file is invalid and is left alone.
    Bad,
}

impl BarFiles {
    pub fn open(folder: PathBuf, kept: usize) -> Self {
        Self { folder, kept, files: Mutex::default() }
    }

    /// Adds closed bars. Bars of a second are left out as too many, and one that is not newer than the last is known
    /// already.
    pub fn append(&self, bars: &[Arc<Bar>]) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_file: BTreeMap<BarFileKey, Vec<&Bar>> = BTreeMap::new();
        for bar in bars.iter().filter(|bar| bar.size != BarSize::Sec1) {
            by_file.entry((bar.security, bar.size)).or_default().push(bar);
        }
        for (key, bars) in by_file {
            let known = match files.get(&key) {
                Some(known) => *known,
                None => self.repair(key)?,
            };
            files.insert(key, self.append_to(key, known, &bars)?);
        }
        Ok(())
    }

    /// Adds bars of one security and size from elsewhere, between those that are stored. Where both have a bar, the new one
    /// counts: of a stored one parts may be missing. Of all of them the newest are kept.
    pub fn merge(&self, bars: &[Bar]) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = bars.first() else { return Ok(()) };
        let key = (first.security, first.size);
        fs::create_dir_all(self.folder.join(key.1.name()))?;
        let stored = self.read(key).map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad.to_string()))?;
        let merged: BTreeMap<Timestamp, Bar> =
            stored.into_iter().chain(bars.iter().cloned()).map(|bar| (bar.at, bar)).collect();
        let mut merged: Vec<Bar> = merged.into_values().collect();
        merged.drain(..merged.len().saturating_sub(self.kept));
        self.rewrite(key, &merged)?;
        files.remove(&key);
        Ok(())
    }

    /// The newest bars that were closed by then, oldest first; none where there is no such file or it is invalid.
    pub fn newest(&self, security: SecurityId, size: BarSize, count: usize, by: Timestamp) -> Vec<Bar> {
        let _whole = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bars = self.read((security, size)).unwrap_or_else(|bad| {
            warn!(error = %bad, "stored bars cannot be read and are not used for warm-up");
            Vec::new()
        });
        bars.retain(|bar| bar.at.plus_seconds(size.seconds()) <= by);
        bars.drain(..bars.len().saturating_sub(count));
        bars
    }

    fn append_to(&self, key: BarFileKey, known: BarFileState, bars: &[&Bar]) -> io::Result<BarFileState> {
        let BarFileState::Good { rows, last } = known else { return Ok(known) };
        let news: Vec<&&Bar> = bars.iter().filter(|bar| last.is_none_or(|last| bar.at > last)).collect();
        let lines: String = news.iter().map(|bar| line(bar)).collect();
        let path = self.path(key);
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            writeln!(file, "{HEADER}")?;
        }
        file.write_all(lines.as_bytes())?;
        let rows = rows + news.len();
        let last = news.last().map(|bar| bar.at).or(last);
        if rows < self.kept.saturating_mul(2) { Ok(BarFileState::Good { rows, last }) } else { self.repair(key) }
    }

    /// Normalises a file: our columns, and only the kept bars.
    fn repair(&self, key: BarFileKey) -> io::Result<BarFileState> {
        fs::create_dir_all(self.folder.join(key.1.name()))?;
        let mut bars = match self.read(key) {
            Ok(bars) => bars,
            Err(bad) => {
                warn!(error = %bad, "bar file is invalid; new bars are not stored there");
                return Ok(BarFileState::Bad);
            }
        };
        bars.drain(..bars.len().saturating_sub(self.kept));
        self.rewrite(key, &bars)?;
        Ok(BarFileState::Good { rows: bars.len(), last: bars.last().map(|bar| bar.at) })
    }

    fn rewrite(&self, key: BarFileKey, bars: &[Bar]) -> io::Result<()> {
        let path = self.path(key);
        let aside = path.with_extension("new");
        let lines: String = bars.iter().map(line).collect();
        fs::write(&aside, format!("{HEADER}\n{lines}"))?;
        fs::rename(aside, path)
    }

    fn read(&self, (security, size): BarFileKey) -> Result<Vec<Bar>, InvalidPriceData> {
        let path = self.path((security, size));
        let name = path.display().to_string();
        let bad = |error: io::Error| InvalidPriceData {
            file: name.clone(),
            line: None,
            column: None,
            reason: error.to_string(),
        };
        if !path.exists() {
            return Ok(Vec::new());
        }
        drop_torn_line(&path).map_err(bad)?;
        let (kind, feed) = (PriceFileKind::Bar(size), "STORED".into());
        let file = PriceFileSpec { path, name: name.clone(), kind, security, feed, may_be_negative: true };
        let mut source = CsvSource::open(&file)?;
        let mut bars = Vec::new();
        while let Some(recorded) = source.next()? {
            if let PriceRecord::Bar(bar) = recorded {
                bars.push(bar);
            }
        }
        Ok(bars)
    }

    fn path(&self, (security, size): BarFileKey) -> PathBuf {
        self.folder.join(size.name()).join(format!("{security}.csv"))
    }
}

fn line(bar: &Bar) -> String {
    let Bar { at, open, high, low, close, vol, vwap, .. } = bar;
    let mut line = format!("{},{open},{high},{low},{close},{vol},", at.millis());
    if let Some(vwap) = vwap {
        write!(line, "{vwap}").expect("a string takes everything");
    }
    line.push('\n');
    line
}

/// Text after the last end of a line was cut off by a crash.
fn drop_torn_line(path: &Path) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let mut last = [0];
    if length == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" {
        return Ok(());
    }
    let text = fs::read(path)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(whole as u64)
}

impl bus::BarStore for BarFiles {
    fn newest_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar> {
        self.newest(security, size, count, Timestamp(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Price, Quantity};
    use tempfile::TempDir;

    use super::*;

    const ONE: SecurityId = SecurityId(1);

    fn bar(minute: i64, close: i64) -> Arc<Bar> {
        let (at, price) = (Timestamp(1_735_689_600_000_000_000).plus_seconds(minute * 60), Price::from(close));
        let (feed, size, vol) = ("F".into(), BarSize::Min1, Quantity::from(3));
        let (open, high, low, close) = (price, price, price, price);
        Arc::new(Bar { security: ONE, feed, at, size, open, high, low, close, vol, vwap: Some(price) })
    }

    fn files(folder: &TempDir, kept: usize) -> BarFiles {
        BarFiles::open(folder.path().join(FOLDER), kept)
    }

    fn closes(files: &BarFiles, count: usize) -> Vec<String> {
        let bars = files.newest(ONE, BarSize::Min1, count, Timestamp(i64::MAX));
        bars.iter().map(|bar| bar.close.to_string()).collect()
    }

    fn path(folder: &TempDir) -> PathBuf {
        folder.path().join("bars/MIN_1/1.csv")
    }

    #[test]
    fn bars_survive_a_restart_and_each_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        files(&folder, 10).append(&[bar(0, 1), bar(1, 2)]).unwrap();
        let again = files(&folder, 10);
        again.append(&[bar(1, 7), bar(2, 3)]).unwrap();
        assert_eq!(closes(&again, 10), ["1", "2", "3"]);
        assert_eq!(closes(&again, 2), ["2", "3"]);
        let by = bar(2, 0).at;
        assert_eq!(again.newest(ONE, BarSize::Min1, 10, by).len(), 2, "the third is not over by then");
        assert_eq!(again.newest(ONE, BarSize::Day1, 10, by), []);
        assert_eq!(
            fs::read_to_string(path(&folder)).unwrap(),
            "dateTime,open,high,low,close,vol,vwap\n1735689600000,1,1,1,1,3,1\n1735689660000,2,2,2,2,3,2\n\
             1735689720000,3,3,3,3,3,3\n"
        );
    }

    #[test]
    fn bars_from_elsewhere_go_between_the_stored_ones_and_replace_them() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(&folder, 4);
        files.append(&[bar(3, 30), bar(5, 50)]).unwrap();
        let fetched = [bar(1, 1), bar(2, 2), bar(3, 3), bar(4, 4)].map(|bar| Bar::clone(&bar));
        files.merge(&fetched).unwrap();
        assert_eq!(closes(&files, 10), ["2", "3", "4", "50"], "the newest four");
        files.append(&[bar(5, 7), bar(6, 60)]).unwrap();
        assert_eq!(closes(&files, 10), ["2", "3", "4", "50", "60"]);
        let mistaken = "close,open,low,high,dateTime\n5,5,6,5,1735689000000\n";
        fs::write(path(&folder), mistaken).unwrap();
        files.merge(&fetched).unwrap_err();
        assert_eq!(fs::read_to_string(path(&folder)).unwrap(), mistaken, "it is left alone");
    }

    #[test]
    fn a_file_never_grows_beyond_twice_of_what_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(&folder, 3);
        for minute in 0..100 {
            files.append(&[bar(minute, minute + 1)]).unwrap();
            assert!(closes(&files, 100).len() < 6);
        }
        assert_eq!(closes(&files, 3), ["98", "99", "100"]);
    }

    #[test]
    fn a_line_that_a_crash_cut_off_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        files(&folder, 10).append(&[bar(0, 1), bar(1, 2)]).unwrap();
        let whole = fs::read_to_string(path(&folder)).unwrap();
        fs::write(path(&folder), &whole[..whole.len() - 4]).unwrap();
        let again = files(&folder, 10);
        assert_eq!(closes(&again, 10), ["1"]);
        again.append(&[bar(1, 2)]).unwrap();
        assert_eq!(closes(&again, 10), ["1", "2"]);
    }

    #[test]
    fn history_from_elsewhere_is_taken_and_one_with_a_mistake_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("bars/MIN_1")).unwrap();
        fs::write(path(&folder), "close,open,low,high,dateTime\n5,5,5,5,1735689000000\n").unwrap();
        let good = files(&folder, 10);
        good.append(&[bar(0, 6)]).unwrap();
        assert_eq!(closes(&good, 10), ["5", "6"]);
        let mistaken = "close,open,low,high,dateTime\n5,5,6,5,1735689000000\n";
        fs::write(path(&folder), mistaken).unwrap();
        let bad = files(&folder, 10);
        bad.append(&[bar(0, 6)]).unwrap();
        assert_eq!((closes(&bad, 10), fs::read_to_string(path(&folder)).unwrap()), (vec![], mistaken.to_owned()));
    }
}
