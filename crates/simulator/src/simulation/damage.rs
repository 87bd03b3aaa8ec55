//! Bits that flip at rest, in files of the journal and in snapshots. A start then either gives the right state, or is refused with the
//! name of the damaged file; an operator restores the file from a copy, and the next start goes on.

use std::path::PathBuf;

use super::SimulatedRun;
use crate::disk::is_segment;
use crate::faulty_lines::FlippedBit;
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};
use crate::invariants::progress::CheckProgress;

/// A flip near the end of what is used is as likely as one anywhere: the newest records are where a torn write could be, too.
const NEAR_END_BYTES: u64 = 512;

/// What a start says where the end of the journal is missing: that of its head file or of what else remembers it, of a snapshot, of a
/// venue's ledger.
const MISSING_END: [&str; 3] =
    ["lost its end: it ends at", ": journal files are missing", ", and the journal's last is "];

impl SimulatedRun {
    pub(super) fn flip_bit(&mut self, file: u64, place: u64) -> InvariantResult {
        let files = self.machine.disk.used_files();
        let Some((path, used)) = damaged_file(&files, file) else { return Ok(()) };
        let (near, anywhere) = ((place >> 3).is_multiple_of(2), place >> 4);
        let offset = if near { used.saturating_sub(1 + anywhere % NEAR_END_BYTES.min(*used)) } else { anywhere % used };
        // One at a time.
        self.restore_bit()?;
        let Some(before) = self.machine.disk.byte(path, offset) else { return Ok(()) };
        let flipped = FlippedBit { path: path.clone(), offset, before, after: before ^ (1 << (place % 8)) };
        self.trace.line(format_args!("a bit of {} flips at offset {offset}", flipped.name()));
        self.set_byte(&flipped, flipped.after)?;
        self.flipped = Some(flipped);
        Ok(())
    }

    fn set_byte(&self, bit: &FlippedBit, value: u8) -> InvariantResult {
        let done = self.machine.disk.set_byte(&bit.path, bit.offset, value);
        done.map_err(|error| broken("the simulator failed", error.to_string()))
    }

    /// A refusal must lead to the damage: it names the file, or says that the end of the journal is missing.
    pub(super) fn on_damage_refused(&mut self, reason: &str) -> InvariantResult {
        let Some(bit) = &self.flipped else { return Ok(()) };
        let is_end_missing = MISSING_END.iter().any(|phrase| reason.contains(phrase));
        if !reason.contains(&bit.name()) && !is_end_missing {
            return Err(broken(
                "damage is not named",
                format!("{} is damaged, and a start says: {reason}", bit.name()),
            ));
        }
        self.restore_bit()?;
        self.end_process("the damaged file is restored from a copy", false)
    }

    /// The file is as it was before, where it still has the flipped bit.
    pub(super) fn restore_bit(&mut self) -> InvariantResult {
        match self.flipped.take() {
            Some(bit) if self.machine.disk.byte(&bit.path, bit.offset) == Some(bit.after) => {
                self.set_byte(&bit, bit.before)
            }
            _ => Ok(()),
        }
    }

    /// The journal as it is now, and what of it was checked before. What was read at an earlier start is not replayed again, except where
    /// the journal has lost records, and at the end of a run. Damage far behind, which a start does not meet, is found here first.
    pub(super) fn read_books(&mut self, end: u64) -> Result<(JournalBooks, CheckProgress), BrokenInvariant> {
        let known = self.books.take().filter(|(books, _)| books.recovered.last_sequence <= end);
        let Some((mut books, progress)) = known else { return self.read_all_books(end) };
        if self.flipped.is_some() {
            self.records_are_unchanged(&books)?;
        }
        match books.read_on(&self.machine, end) {
            Ok(()) => Ok((books, progress)),
            Err(_) if self.flipped.is_some() => self.read_all_books(end),
            Err(reason) => Err(unreadable(reason)),
        }
    }

    fn read_all_books(&mut self, end: u64) -> Result<(JournalBooks, CheckProgress), BrokenInvariant> {
        let read = match JournalBooks::read(&self.machine, end) {
            Err(_) if self.flipped.is_some() => {
                self.restore_bit()?;
                JournalBooks::read(&self.machine, end)
            }
            read => read,
        };
        read.map_err(unreadable).map(|books| (books, CheckProgress::default()))
    }

    /// A flipped bit makes the journal unreadable, or changes nothing that is read of it.
    fn records_are_unchanged(&mut self, books: &JournalBooks) -> InvariantResult {
        let unchanged = match books.are_records_unchanged(&self.machine) {
            Err(_) => {
                self.restore_bit()?;
                books.are_records_unchanged(&self.machine)
            }
            read => read,
        };
        let unchanged = unchanged.map_err(unreadable)?;
        ensure(unchanged, "damage is read as a record", || format!("{:?} has flipped", self.flipped))
    }
}

fn unreadable(reason: String) -> BrokenInvariant {
    broken("the journal cannot be read", reason)
}

/// Half of all flips are in the newest segment, which every start reads; the others in any file.
fn damaged_file(files: &[(PathBuf, u64)], draw: u64) -> Option<&(PathBuf, u64)> {
    let newest = files.iter().rfind(|(path, _)| is_segment(path)).filter(|_| draw.is_multiple_of(2));
    let any = usize::try_from(draw / 2 % files.len().max(1) as u64).ok();
    newest.or_else(|| files.get(any?))
}
