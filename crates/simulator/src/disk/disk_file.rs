//! A file of the simulated disk: what of it is durable, and what may be lost.

use std::collections::BTreeSet;

use domain::SeededRng;

const SECTOR_BYTES: u64 = 512;

/// What has surely reached the disk, and the writes that are still on their way.
#[derive(Default)]
pub(super) struct DiskFile {
    pub(super) synced: Vec<u8>,
    pub(super) pending: Vec<(u64, Vec<u8>)>,
    pub(super) length: u64,
    /// A sync has failed: the machine shows what was written and takes it for synced, whatever the disk has.
    pub(super) is_deceptive: bool,
}

impl DiskFile {
    pub(super) fn sync(&mut self) {
        for (offset, bytes) in std::mem::take(&mut self.pending) {
            self.put(offset, &bytes);
        }
    }

    /// Of what was not synced any sectors may have arrived, each with all writes or with those up to one of them.
    pub(super) fn settle(&mut self, rng: &mut SeededRng) {
        let mut left_behind = BTreeSet::new();
        for (offset, bytes) in std::mem::take(&mut self.pending) {
            for (at, piece) in sectors(offset, &bytes) {
                let sector = at / SECTOR_BYTES;
                if left_behind.contains(&sector) || rng.one_in(2) {
                    left_behind.insert(sector);
                } else {
                    self.put(at, piece);
                }
            }
        }
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let start = usize::try_from(offset).expect("files here are small");
        let end = start + bytes.len();
        self.synced.resize(self.synced.len().max(end), 0);
        self.synced[start..end].copy_from_slice(bytes);
    }
}

fn sectors(mut offset: u64, mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut sectors = Vec::new();
    while !bytes.is_empty() {
        let room = usize::try_from(SECTOR_BYTES - offset % SECTOR_BYTES).expect("below the size of a sector");
        let (sector, rest) = bytes.split_at(room.min(bytes.len()));
        sectors.push((offset, sector));
        offset += sector.len() as u64;
        bytes = rest;
    }
    sectors
}
