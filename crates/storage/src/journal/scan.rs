//! Journal scan: checks every header, frame, checksum and link. Read-only.
//!
//! `Journal::open` trusts a journal only after this walk; `verify` prints it. With an anchor the walk begins at the segment that the
//! anchor stands in or before; of older segments only the headers are read.

use std::fmt;
use std::path::{Path, PathBuf};

use super::format::chain::{ChainHash, InstanceId};
use super::format::floor::JournalFloor;
use super::format::frame::JournalFrame;
use super::format::segment::{self, ListedSegments, Segment};
use super::format::segment_reader::{SegmentEnd, SegmentReader};
use super::head::{self, Head};
use super::options::{KnownSequence, StartAnchor};
use crate::{Damage, StorageError, TornWrite};

/// What a journal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSummary {
    /// Unknown while there is no segment.
    pub instance: Option<InstanceId>,
    pub segments: u64,
    pub frames: u64,
    pub records: u64,
    /// Headers and frames of the segments that were read, without the room that is not used.
    pub bytes: u64,
    pub first_sequence: Option<u64>,
    /// 0 while there is no record.
    pub last_sequence: u64,
    /// The hash of the last frame: with it the whole journal can be verified.
    pub head: ChainHash,
    /// The end of the last write, where a crash cut it off.
    pub torn: Option<TornWrite>,
    /// Where the journal begins, if older segments were verified and deleted.
    pub floor: Option<JournalFloor>,
}

/// The findings of `verify`: what is good up to the first damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    pub good: JournalSummary,
    pub damage: Option<Damage>,
    /// Who remembers more than is good.
    pub known: Vec<String>,
}

/// How far a long walk is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanProgress {
    pub read: u64,
    pub total: u64,
}

/// Checks a journal from its first byte to its last, also one that is in use or damaged.
pub fn verify(folder: &Path, progress: &mut dyn FnMut(ScanProgress)) -> Result<VerifyReport, StorageError> {
    verify_with(folder, &[], progress)
}

/// As [`verify`], and holds what others remember against it. They were asked before: a journal in use grows meanwhile.
pub fn verify_with(
    folder: &Path,
    witnesses: &[KnownSequence],
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<VerifyReport, StorageError> {
    let (head, bad_head) = match head::read(folder) {
        Ok(head) => (head, None),
        Err(StorageError::Damaged(damage)) => (None, Some(damage)),
        Err(other) => return Err(other),
    };
    let mut scan = JournalScan::new(head);
    let damage = match scan.run(folder, None, progress) {
        Ok(()) => bad_head,
        Err(StorageError::Damaged(damage)) => Some(damage),
        Err(other) => return Err(other),
    };
    let known = scan.known_beyond(folder, witnesses);
    Ok(VerifyReport { good: scan.summary, damage, known })
}

/// Checks what a start from an anchor has left out: all segments before the one that `sequence` stands in.
pub fn verify_older(folder: &Path, sequence: u64) -> Result<(), StorageError> {
    segment::read_listed(folder, |listed| {
        let mut scan = JournalScan::new(None);
        scan.begin_at_floor(listed.floor);
        let (segments, checked) = check_segments(listed.segments, listed.floor.as_ref(), None);
        let end = first_needed(&segments, sequence);
        for (index, segment) in segments.iter().enumerate().take(end) {
            scan.walk(segment, segments.get(index + 1), &mut |_| {})?;
        }
        if end < segments.len() { Ok(()) } else { checked }
    })
}

/// The place of the segment that a sequence stands in, or would.
fn first_needed(segments: &[Segment], sequence: u64) -> usize {
    segments.iter().rposition(|segment| segment.header.first <= sequence).unwrap_or(0)
}

/// The instance that a journal belongs to, if it has a segment yet.
pub fn instance_of(folder: &Path) -> Result<Option<InstanceId>, StorageError> {
    if !folder.exists() {
        return Ok(None);
    }
    let Some((_, path)) = segment::list(folder)?.into_iter().next() else { return Ok(None) };
    Ok(Some(Segment::look(path)?.header.instance))
}

pub(crate) struct JournalScan {
    pub(crate) summary: JournalSummary,
    /// The last segment, and where its good frames end.
    pub(crate) last: Option<(Segment, u64)>,
    /// The one before it.
    pub(crate) before_last: Option<(Segment, u64)>,
    /// The segment that is being walked through, and where its next frame is expected.
    pub(crate) at: Option<(Segment, u64)>,
    /// What the journal must have, and whether that was met.
    head: Option<Head>,
    is_head_met: bool,
    anchor: Option<StartAnchor>,
    is_anchor_met: bool,
    /// Where segments before were left out: the first sequence of those that were not.
    pub(crate) walked_from: Option<u64>,
    /// Where what the head tells of ends: the number of a segment, and an offset in it. All before is surely on the disk.
    pub(crate) synced: Option<(u64, u64)>,
}

impl JournalScan {
    pub(crate) fn new(head: Option<Head>) -> Self {
        let summary = JournalSummary {
            instance: None,
            segments: 0,
            frames: 0,
            records: 0,
            bytes: 0,
            first_sequence: None,
            last_sequence: 0,
            head: ChainHash::GENESIS,
            torn: None,
            floor: None,
        };
        Self {
            summary,
            last: None,
            before_last: None,
            at: None,
            head,
            is_head_met: false,
            anchor: None,
            is_anchor_met: false,
            walked_from: None,
            synced: None,
        }
    }

    /// Leaves out the segments before the anchor.
    pub(crate) fn with_anchor(self, anchor: Option<StartAnchor>) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn run(
        &mut self,
        folder: &Path,
        instance: Option<InstanceId>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(), StorageError> {
        segment::read_listed(folder, |listed| {
            *self = Self::new(self.head).with_anchor(self.anchor.take());
            self.run_over(listed, instance, progress)
        })
    }

    fn run_over(
        &mut self,
        listed: ListedSegments,
        instance: Option<InstanceId>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(), StorageError> {
        self.begin_at_floor(listed.floor);
        let (mut segments, checked) = check_segments(listed.segments, listed.floor.as_ref(), instance);
        self.leave_out(&mut segments);
        let total = segment::total_bytes(segments.iter().map(|segment| segment.path.as_path()))?;
        let mut read = 0;
        for (index, segment) in segments.iter().enumerate() {
            self.walk(segment, segments.get(index + 1), &mut |offset| {
                progress(ScanProgress { read: total.min(read + offset), total });
            })?;
            read += segment.header.capacity;
        }
        checked
    }

    /// The chain goes on from what was verified when older segments were deleted.
    fn begin_at_floor(&mut self, floor: Option<JournalFloor>) {
        self.summary.floor = floor;
        if let Some(floor) = floor {
            (self.summary.head, self.summary.last_sequence) = (floor.hash, floor.sequence);
        }
    }

    /// The chain goes on from the header of the first segment that stays. Whether what is before it leads there is checked later.
    fn leave_out(&mut self, segments: &mut Vec<Segment>) {
        let Some(anchor) = &self.anchor else { return };
        let needed = first_needed(segments, anchor.snapshot.min(anchor.head.sequence));
        let Some(first) = segments.get(needed).filter(|_| needed > 0) else { return };
        self.summary.head = first.header.previous;
        self.summary.first_sequence = Some(segments[0].header.first);
        self.summary.segments = needed as u64;
        self.walked_from = Some(first.header.first);
        segments.drain(..needed);
    }

    /// Who remembers more than was found.
    pub(crate) fn known_beyond(&self, folder: &Path, witnesses: &[KnownSequence]) -> Vec<String> {
        let end = self.summary.last_sequence;
        let file = folder.join(head::FILE);
        // After a power cut the head file may be older than the anchor, which is met.
        let is_older = |head: &Head| self.walked_from.is_some_and(|first| head.sequence < first);
        let missing = self.head.filter(|head| !self.is_head_met && !is_older(head));
        let head = missing.map(|head| match head.sequence {
            sequence if sequence > end => format!("the head file {} knows of {sequence}", file.display()),
            sequence => format!("the head file {} knows another record {sequence}", file.display()),
        });
        let others = witnesses.iter().filter(|witness| witness.sequence > end);
        let known: Vec<_> = head.into_iter().chain(others.map(|witness| witness.says.clone())).collect();
        match &self.anchor {
            Some(anchor) if known.is_empty() && !self.is_anchor_met => vec![anchor.says.clone()],
            _ => known,
        }
    }

    fn walk(
        &mut self,
        segment: &Segment,
        next: Option<&Segment>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), StorageError> {
        let (segment, file) = Segment::open(segment.path.clone())?;
        self.enter(&segment)?;
        let mut frames = SegmentReader::new(segment, file)?;
        self.at = Some((frames.segment().clone(), frames.offset()));
        while let Some(frame) = self.next_frame(&mut frames, next)? {
            let was_met = self.is_head_met;
            self.count(&frame, frames.head());
            if self.is_head_met && !was_met {
                self.synced = Some((frames.segment().header.number, frames.offset()));
            }
            self.at.iter_mut().for_each(|(_, offset)| *offset = frames.offset());
            progress(frames.offset());
        }
        self.summary.bytes += frames.offset();
        self.before_last = self.last.replace((frames.segment().clone(), frames.offset()));
        Ok(())
    }

    /// The next frame, or none where the segment rightly ends.
    fn next_frame(
        &mut self,
        frames: &mut SegmentReader,
        next: Option<&Segment>,
    ) -> Result<Option<JournalFrame>, StorageError> {
        let fault = match frames.step()? {
            Ok(frame) => return Ok(Some(frame)),
            Err(fault) => fault,
        };
        if let Some(next) = next {
            frames.check_sealed(fault, &next.header)?;
            return Ok(None);
        }
        match frames.check_last()? {
            SegmentEnd::Grown(frame) => return Ok(Some(frame)),
            SegmentEnd::Clean => {}
            SegmentEnd::Torn { bytes } => {
                let file = frames.path().to_owned();
                self.summary.torn = Some(TornWrite { file, offset: frames.offset(), bytes });
            }
        }
        Ok(None)
    }

    fn enter(&mut self, segment: &Segment) -> Result<(), StorageError> {
        if segment.header.previous != self.summary.head {
            return Err(StorageError::damaged(&segment.path, 0, "it continues a frame that is not here"));
        }
        if segment.header.first <= self.summary.last_sequence {
            return Err(StorageError::damaged(&segment.path, 0, "it begins below the segment before it"));
        }
        self.summary.instance = Some(segment.header.instance);
        self.summary.segments += 1;
        Ok(())
    }

    fn count(&mut self, frame: &JournalFrame, hash: ChainHash) {
        self.summary.frames += 1;
        self.summary.records += u64::from(frame.count);
        self.summary.first_sequence.get_or_insert(frame.first);
        self.summary.last_sequence = frame.last;
        self.summary.head = hash;
        self.is_head_met |= self.head.is_some_and(|head| head.sequence == frame.last && head.hash == hash);
        let is_anchor = |anchor: &StartAnchor| anchor.head.sequence == frame.last && anchor.head.hash == hash;
        self.is_anchor_met |= self.anchor.as_ref().is_some_and(is_anchor);
    }
}

/// Opens all headers first: those up to the first that is missing, foreign or swapped, and what is wrong with it.
fn check_segments(
    listed: Vec<(u64, PathBuf)>,
    floor: Option<&JournalFloor>,
    instance: Option<InstanceId>,
) -> (Vec<Segment>, Result<(), StorageError>) {
    let mut segments: Vec<Segment> = Vec::with_capacity(listed.len());
    for (_, path) in listed {
        match check_segment(path, segments.last(), floor, instance) {
            Ok(segment) => segments.push(segment),
            Err(problem) => return (segments, Err(problem)),
        }
    }
    (segments, Ok(()))
}

fn check_segment(
    path: PathBuf,
    before: Option<&Segment>,
    floor: Option<&JournalFloor>,
    instance: Option<InstanceId>,
) -> Result<Segment, StorageError> {
    let segment = Segment::look(path)?;
    segment.check_place(before, floor)?;
    instance.map_or(Ok(()), |instance| segment.check_instance(instance))?;
    Ok(segment)
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let good = &self.good;
        let first = good.first_sequence.map_or("none".to_owned(), |first| first.to_string());
        writeln!(f, "segments        {}", good.segments)?;
        writeln!(f, "frames          {}", good.frames)?;
        writeln!(f, "records         {}", good.records)?;
        writeln!(f, "bytes           {}", good.bytes)?;
        if let Some(JournalFloor { sequence, hash, .. }) = &good.floor {
            writeln!(
                f,
                "floor           {sequence}, older segments were verified and deleted; the chain begins at {hash}"
            )?;
        }
        writeln!(f, "first sequence  {first}")?;
        writeln!(f, "last sequence   {}", good.last_sequence)?;
        writeln!(f, "head            {}", good.head)?;
        if let Some(torn) = &good.torn {
            writeln!(f, "torn end        {torn}")?;
        }
        for known in &self.known {
            writeln!(f, "lost            {known}")?;
        }
        match &self.damage {
            Some(damage) => write!(f, "damage          {damage}"),
            None => f.write_str("damage          none"),
        }
    }
}
