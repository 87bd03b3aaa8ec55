//! Price files: ticks, trades, order books and bars from CSV, one row in memory at a time.
//!
//! Columns are found by their header names, in any order; unknown columns are ignored. An impossible row is refused
//! with file, line, column and reason, because a simulation on guessed data would prove nothing. The columns are
//! described in `docs/simulation.md`.

mod error;
mod csv_file;
mod price_record;
mod row_decoder;
mod merged_prices;
pub mod synthetic;
#[cfg(test)]
mod tests;

use domain::{SecurityId, Timestamp};

use csv_file::CsvFile;
pub use error::InvalidPriceData;
pub use merged_prices::MergedPrices;
pub use price_record::{PriceFileKind, PriceFileSpec, PriceRecord};
use row_decoder::RowDecoder;

/// Past prices in order of time.
pub trait PriceSource {
    fn next(&mut self) -> Result<Option<PriceRecord>, InvalidPriceData>;

    /// The next row in the place of the one before, whose memory a source may use again.
    fn read(&mut self, row: &mut Option<PriceRecord>) -> Result<(), InvalidPriceData> {
        *row = self.next()?;
        Ok(())
    }

    /// How much was read, and how much there is, in whatever unit the source counts.
    fn progress(&self) -> (u64, u64);
}

/// A file that is being read.
pub struct CsvSource {
    sheet: CsvFile,
    rows: RowDecoder,
    kind: PriceFileKind,
    security: SecurityId,
    last: Option<Timestamp>,
}

impl CsvSource {
    pub fn open(file: &PriceFileSpec) -> Result<Self, InvalidPriceData> {
        let sheet = CsvFile::open(&file.path, &file.name)?;
        let rows = RowDecoder::new(file, &sheet)?;
        Ok(Self { sheet, rows, kind: file.kind, security: file.security, last: None })
    }

    /// Time never runs backwards in a file, and a bar never begins before the one before it is over.
    fn check_order(&mut self, recorded: &PriceRecord) -> Result<(), InvalidPriceData> {
        let at = recorded.at();
        let Some(last) = self.last.replace(at) else { return Ok(()) };
        match recorded {
            PriceRecord::Bar(_) if at <= last => Err(self.sheet.bad("dateTime", "is not after the line before it")),
            PriceRecord::Bar(bar) if at < last.plus_seconds(bar.size.seconds()) => {
                let reason = format!("is less than a bar of {} after the line before it", bar.size.name());
                Err(self.sheet.bad("dateTime", reason))
            }
            _ if at < last => Err(self.sheet.bad("dateTime", "is before the line before it")),
            _ => Ok(()),
        }
    }
}

impl PriceSource for CsvSource {
    fn next(&mut self) -> Result<Option<PriceRecord>, InvalidPriceData> {
        if !self.sheet.step()? {
            return Ok(None);
        }
        let recorded = self.rows.decode(&self.sheet)?;
        self.check_order(&recorded)?;
        Ok(Some(recorded))
    }

    fn progress(&self) -> (u64, u64) {
        self.sheet.progress()
    }
}
