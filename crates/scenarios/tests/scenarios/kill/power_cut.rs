//! A power cut: kill -9 on a disk that forgets what was not synced. `tests/power_cut/forgetful.c`, preloaded into the server,
//! notes beside every write what the file held before; here that is put back.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use storage::journal;

use super::flow::Random;
use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit};

/// A record of the notes: size of the file, offset and length of the old bytes.
const RECORD_BYTES: usize = 24;

pub(crate) struct ForgetfulDisk {
    root: PathBuf,
    notes: PathBuf,
    /// Writes that were forgotten so far.
    pub(crate) forgotten: usize,
}

impl ForgetfulDisk {
    /// Puts a platform on such a disk. None where there is no C compiler.
    pub(crate) fn under(mut desk: TestPlatform) -> Option<(TestPlatform, Self)> {
        let folder = desk.data().parent().unwrap().to_owned();
        let (root, notes, library) = (desk.data().to_owned(), folder.join("notes"), folder.join("forgetful.so"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power_cut/forgetful.c");
        let compiled = Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
        if !compiled.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: no C compiler makes the disk that forgets");
            return None;
        }
        fs::create_dir_all(&notes).unwrap();
        desk.launch = desk
            .launch
            .clone()
            .with_variable("LD_PRELOAD", &library)
            .with_variable("POWER_CUT_ROOT", &root)
            .with_variable("POWER_CUT_NOTES", &notes);
        Some((desk, Self { root, notes, forgotten: 0 }))
    }

    /// While the server is dead. Of its unsynced writes each file keeps the first ones, as many as chance says and often none;
    /// of unsynced names the first ones stay too.
    pub(crate) fn cut(&mut self, random: &mut Random) {
        self.cut_with(&mut |unsynced| kept(unsynced, random));
    }

    fn cut_with(&mut self, keep: &mut dyn FnMut(usize) -> usize) {
        self.forget_names(keep);
        let files = files_by_inode(&self.root);
        for entry in fs::read_dir(&self.notes).unwrap().map(|entry| entry.unwrap().path()) {
            let inode = entry.file_name().unwrap().to_str().unwrap().strip_suffix(".file").map(str::to_owned);
            let path = inode.and_then(|inode| files.get(&inode.parse::<u64>().unwrap()));
            if let Some(path) = path {
                self.forgotten += forget_writes(path, &fs::read(&entry).unwrap(), keep);
            }
        }
        fs::remove_dir_all(&self.notes).unwrap();
        fs::create_dir(&self.notes).unwrap();
    }

    fn forget_names(&self, keep: &mut dyn FnMut(usize) -> usize) {
        let text = fs::read_to_string(self.notes.join("names")).unwrap_or_default();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        let unsynced: Vec<_> = (0..lines.len()).filter(|at| !is_synced(&lines, *at)).collect();
        let stay = keep(unsynced.len());
        for at in unsynced[stay..].iter().rev() {
            self.undo_name(&lines[*at]);
        }
    }

    fn undo_name(&self, line: &[&str]) {
        // A file may be gone for another reason; then there is nothing to undo.
        let restore = |number: &str, path: &str| fs::rename(self.notes.join(format!("{number}.kept")), path);
        let _ = match *line {
            ["C", path] => fs::remove_file(path),
            ["R", from, to, kept] => fs::rename(to, from).and_then(|()| restore(kept, to)),
            ["U", path, kept] => restore(kept, path),
            _ => panic!("not a note: {line:?}"),
        };
    }
}

/// Whether the folder of that name was synced later.
fn is_synced(lines: &[Vec<&str>], at: usize) -> bool {
    let name = match lines[at][..] {
        ["C" | "U", path, ..] | ["R", _, path, _] => path,
        _ => return true,
    };
    let folder = Path::new(name).parent().unwrap().to_str().unwrap();
    let covers = |line: &Vec<&str>| line[0] == "S" && line[1] == folder && line[2].parse::<usize>().unwrap() > at;
    lines[at..].iter().any(covers)
}

/// Half of all times nothing that was unsynced stays.
fn kept(count: usize, random: &mut Random) -> usize {
    let most = if random.between((0, 1)) == 0 { 0 } else { count as u64 };
    usize::try_from(random.between((0, most))).unwrap()
}

fn forget_writes(path: &Path, notes: &[u8], keep: &mut dyn FnMut(usize) -> usize) -> usize {
    let number = |at: usize| u64::from_le_bytes(notes[at..at + 8].try_into().unwrap());
    let length = |at: usize| usize::try_from(number(at + 16)).unwrap();
    let mut records = Vec::new();
    let mut at = usize::try_from(number(0)).unwrap();
    while at + RECORD_BYTES <= notes.len() {
        records.push(at);
        at += RECORD_BYTES + length(at);
    }
    let forgotten = records.split_off(keep(records.len()));
    let file = File::options().write(true).open(path).unwrap();
    for at in forgotten.iter().rev() {
        let old = &notes[at + RECORD_BYTES..at + RECORD_BYTES + length(*at)];
        file.write_all_at(old, number(at + 8)).unwrap();
        file.set_len(number(*at)).unwrap();
    }
    forgotten.len()
}

fn files_by_inode(folder: &Path) -> BTreeMap<u64, PathBuf> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, found) = (entry.path(), entry.metadata().unwrap());
        if found.is_dir() {
            files.extend(files_by_inode(&path));
        } else {
            files.insert(found.ino(), path);
        }
    }
    files
}

/// The method itself: without syncs the same cut loses what was acknowledged.
#[test]
fn without_syncs_a_power_cut_loses_acknowledged_orders() {
    let Some((desk, mut disk)) = ForgetfulDisk::under(TestPlatform::new().set("journal.sync", "os")) else { return };
    let server = desk.start();
    for _ in 0..20 {
        server.client().place(&limit(AAPL, "BUY", 1, "250"));
    }
    server.kill();
    let folder = desk.data().join(journal::FOLDER);
    let end = || journal::verify(&folder, &mut |_| {}).map_or(0, |report| report.good.last_sequence);
    let acknowledged = end();
    disk.cut_with(&mut |_| 0);
    assert!(acknowledged > 20 && end() < acknowledged, "{} of {acknowledged}", end());
}
