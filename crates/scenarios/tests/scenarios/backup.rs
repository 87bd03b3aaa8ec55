//! A backup that is taken while clients trade, and data folders that are made from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use scenarios::fault_injector;
use scenarios::server::{RunningServer, ServerExit};
use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, MSFT, TestPlatform, TraderClient, launcher_for, limit, market};

/// Clients that place and cancel orders until they are told to stop.
struct Load {
    stop: Arc<AtomicBool>,
    placed: Arc<AtomicU64>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    fn on(server: &RunningServer) -> Self {
        let (stop, placed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let trade = |(security, price): (u64, &'static str)| {
            let (stop, placed, mut client) = (stop.clone(), placed.clone(), server.client());
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let order = client.place(&limit(security, "BUY", 1, price));
                    client.delete(&format!("/rest/execution/order/{order}")).unwrap();
                    placed.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let clients = [(AAPL, "240"), (MSFT, "480"), (AAPL, "241")].map(trade).into();
        Self { stop, placed, clients }
    }

    /// However long that takes: it ends where the load does not go on.
    fn until(&self, reached: impl Fn() -> bool) {
        while !reached() {
            let before = self.placed.load(Ordering::Relaxed);
            wait_for("the next order", || (self.placed.load(Ordering::Relaxed) > before).then_some(()));
        }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.into_iter().for_each(|client| client.join().unwrap());
    }
}

/// A desk with a folder for its backups and restored folders.
struct BackupPlatform {
    platform: TestPlatform,
    backups: PathBuf,
}

impl BackupPlatform {
    fn new() -> Self {
        // A quick machine places more orders a second than the usual limits permit.
        let platform = TestPlatform::new()
            .set("journal.segmentMegabytes", 1)
            .set("risk.ordersPerSecond", 100_000)
            .set("http.requestsPerSecond", 1_000_000);
        let backups = platform.data().with_file_name("backups");
        Self { platform, backups }
    }

    fn back_up(&self) -> Vec<String> {
        let taken = self.platform.launch.run(&["backup", self.backups.to_str().unwrap()]);
        assert_eq!(taken.code, Some(0), "{taken}");
        taken.output.lines().map(str::to_owned).collect()
    }

    fn restore(&self, name: &str, words: &[&str]) -> (PathBuf, ServerExit) {
        let target = self.platform.data().with_file_name(name);
        let launch = launcher_for(&target);
        (target, launch.restore(&self.backups, words))
    }

    /// The digest of the first so many records of the desk's own journal.
    fn digest_at(&self, sequence: u64) -> String {
        let (data, up_to) = (self.platform.data().to_str().unwrap(), sequence.to_string());
        let ended = self.platform.launch.run(&["simulate", "--from-journal", data, "--up-to", &up_to]);
        assert_eq!(ended.code, Some(0), "{ended}");
        ended.output.lines().last().unwrap().to_owned()
    }

    fn first_archived(&self) -> PathBuf {
        self.platform.data().join("archive/00000000000000000001.journal.zst")
    }

    fn segments(&self) -> usize {
        segments(&self.platform.data().join("journal")).len()
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect()
}

/// The value of a line such as `last sequence  1087`.
fn value<'a>(lines: &'a [String], name: &str) -> &'a str {
    let found = lines.iter().find_map(|line| line.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no {name}: {lines:?}")).trim()
}

fn sequence(lines: &[String]) -> u64 {
    value(lines, "last sequence").parse().unwrap()
}

#[test]
fn a_backup_under_load_restores_to_the_digest_of_its_sequence() {
    let desk = BackupPlatform::new();
    desk.platform.start().stop();
    let late = fs::read(desk.read_model()).unwrap();
    let server = desk.platform.start();
    let mut client = server.client();
    let bought = client.place(&market(AAPL, "BUY", 200));
    client.wait_for_status(&bought, "EXECUTED");
    let load = Load::on(&server);
    load.until(|| desk.segments() >= 2);
    // Killed in the middle: before the first segment is there, and before it has its name.
    if fault_injector::is_possible() {
        for call in ["link,linkat", "rename,renameat,renameat2"] {
            let words = ["backup", desk.backups.to_str().unwrap()];
            let killed = desk.platform.launch.run_killed_at(call, &words);
            assert_eq!(killed.code, None, "{killed}");
        }
    }
    let first = desk.back_up();
    let archived = desk.platform.launch.run(&["journal", "archive", "--keep", "0"]);
    assert_eq!(archived.code, Some(0), "{archived}");
    assert!(desk.first_archived().is_file(), "{archived}");
    let second = desk.back_up();
    load.stop();
    server.stop();
    assert!(sequence(&second) > sequence(&first), "{first:?} {second:?}");
    assert!(!value(&first, "segments").contains(" 1 new") && value(&second, "segments").contains(" new"), "{second:?}");

    let (folder, restored) = desk.restore("restored", &[]);
    assert_eq!(restored.code, Some(0), "{restored}");
    assert_eq!(restored.output.lines().last().unwrap(), desk.digest_at(sequence(&second)));
    let to = format!("seq:{}", sequence(&first) - 1);
    let (_, earlier) = desk.restore("earlier", &["--to", &to]);
    assert_eq!(earlier.code, Some(0), "{earlier}");
    assert_eq!(earlier.output.lines().last().unwrap(), desk.digest_at(sequence(&first) - 1));
    goes_on_as_another(&desk, &folder, &bought);
    damage_before_the_snapshot_is_told(&desk);
    the_archive_is_pruned_and_the_backup_keeps_all(&desk, &bought, &earlier.output, &late);
    nothing_is_given_up_that_a_pruned_journal_needs(&desk);
}

/// It keeps nobody from trading, and whoever asks is told.
fn damage_before_the_snapshot_is_told(desk: &BackupPlatform) {
    let file = desk.first_archived();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 10]).unwrap();
    let text = format!("{} is damaged at offset 0: it cannot be unpacked", file.display());
    let server = desk.platform.start();
    wait_for("the check of older segments", || server.log().contains(&text).then_some(()));
    server.client().place(&limit(AAPL, "BUY", 1, "240"));
    server.stop();
    let verified = desk.platform.launch.run(&["journal", "verify"]);
    assert_eq!((verified.code, verified.output.contains(&text)), (Some(4), true), "{verified}");
}

impl BackupPlatform {
    /// Ten days later, when all of the archive is older than a day.
    fn prune(&self, words: &[&str]) -> ServerExit {
        let settings = ["--set", "archive.keepDays=1", "--set", "clock.offset=864000"];
        self.platform.launch.run(&[&["journal", "prune"], words, &settings].concat())
    }

    fn read_model(&self) -> PathBuf {
        self.platform.data().join("read-model.sqlite")
    }

    /// With a read model that would need what is due.
    fn prune_with_read_model(&self, older: &[u8]) -> ServerExit {
        let newest = fs::read(self.read_model()).unwrap();
        fs::write(self.read_model(), older).unwrap();
        let pruned = self.prune(&["--without-backup"]);
        fs::write(self.read_model(), newest).unwrap();
        pruned
    }
}

/// The first archived segment is damaged when it begins.
fn the_archive_is_pruned_and_the_backup_keeps_all(desk: &BackupPlatform, bought: &str, earlier: &str, late: &[u8]) {
    let backups = desk.backups.to_str().unwrap();
    let damaged = desk.prune(&["--backup", backups]);
    assert_eq!((damaged.code, desk.first_archived().is_file()), (Some(4), true), "{damaged}");
    let name = "journal/00000000000000000001.journal";
    fs::remove_file(desk.first_archived()).unwrap();
    fs::copy(desk.backups.join(name), desk.platform.data().join(name)).unwrap();
    assert_eq!(desk.platform.launch.run(&["journal", "archive", "--keep", "0"]).code, Some(0));
    let behind = desk.prune_with_read_model(late);
    assert!(behind.log.contains("the read model is behind the oldest snapshot"), "{behind}");
    assert_eq!((behind.code, desk.first_archived().is_file()), (Some(2), true), "{behind}");
    let pruned = desk.prune(&["--backup", backups]);
    assert_eq!((pruned.code, desk.first_archived().is_file()), (Some(0), false), "{pruned}");
    let verified = desk.platform.launch.run(&["journal", "verify"]);
    assert!(verified.code == Some(0) && verified.output.contains("older segments were verified"), "{verified}");
    let replayed = desk.platform.launch.run(&["simulate", "--from-journal", desk.platform.data().to_str().unwrap()]);
    assert_eq!((replayed.code, replayed.log.contains("were deleted from the archive")), (Some(2), true), "{replayed}");

    let server = desk.platform.start();
    let mut client = server.client();
    assert_eq!(client.order(bought)["status"], "EXECUTED");
    let gone = client.get("/rest/position?at=seq:5").unwrap();
    assert!(gone.status == 404 && gone.body.contains("pruned-state"), "{gone:?}");
    let newest = desk.back_up();
    let other = desk.backups.with_file_name("other-backups");
    let begun = desk.platform.launch.run(&["backup", other.to_str().unwrap()]);
    assert_eq!(begun.code, Some(0), "{begun}");
    server.stop();
    let to = value(&earlier.lines().map(str::to_owned).collect::<Vec<_>>(), "last sequence").to_owned();
    let (_, again) = desk.restore("again", &["--to", &format!("seq:{to}")]);
    assert_eq!(again.output.lines().last(), earlier.lines().last(), "the backup has what was deleted: {again}");
    restore_of_a_pruned_journal(desk, &other, &newest, bought);
}

/// A backup that was begun after the prune has a snapshot in the place of what is gone.
fn restore_of_a_pruned_journal(desk: &BackupPlatform, other: &Path, newest: &[String], bought: &str) {
    let at = format!("seq:{}", sequence(newest));
    let (_, whole) = desk.restore("whole", &["--to", &at]);
    let target = desk.platform.data().with_file_name("from-floor");
    let launch = launcher_for(&target);
    let before = launch.restore(other, &["--to", "seq:5"]);
    assert_eq!((before.code, target.exists()), (Some(2), false), "{before}");
    let restored = launch.restore(other, &["--to", &at]);
    assert_eq!((restored.code, restored.output.lines().last()), (Some(0), whole.output.lines().last()), "{restored}");
    let server = launch.start();
    let mut client = server.client();
    assert_eq!(client.order(bought)["status"], "EXECUTED");
    let sold = client.place(&market(AAPL, "SELL", 10));
    client.wait_for_status(&sold, "EXECUTED");
    server.stop();
}

/// The end of a pruned journal is lost, and with it every snapshot: what is left begins with nothing.
fn nothing_is_given_up_that_a_pruned_journal_needs(desk: &BackupPlatform) {
    let data = desk.platform.data();
    let mut left = segments(&data.join("journal"));
    left.sort();
    fs::remove_file(left.last().unwrap()).unwrap();
    fs::remove_dir_all(data.join("snapshots")).unwrap();
    let verified = desk.platform.launch.run(&["journal", "verify"]);
    let end = value(&verified.output.lines().map(str::to_owned).collect::<Vec<_>>(), "last sequence").to_owned();
    let refused = desk.platform.launch.run(&["journal", "accept-loss", "--up-to", &end]);
    assert!(refused.code == Some(2) && refused.log.contains("no good snapshot from there"), "{refused}");
    assert!(!data.join("lost").exists(), "nothing was touched");
}

/// The restored folder is a desk of its own that knows what was before.
fn goes_on_as_another(desk: &BackupPlatform, folder: &Path, bought: &str) {
    let name = |data: &Path| fs::read_to_string(data.join("instance")).unwrap().lines().next().unwrap().to_owned();
    assert_ne!(name(folder), name(desk.platform.data()));
    let launch = launcher_for(folder);
    let server = launch.start();
    let mut client = server.client();
    assert_eq!(client.order(bought)["status"], "EXECUTED");
    let sold = client.place(&market(AAPL, "SELL", 100));
    client.wait_for_status(&sold, "EXECUTED");
    let audit = client.get_json("/rest/audit?limit=100").to_string();
    assert!(audit.contains("restored up to "), "{audit}");
    server.stop();
    let verified = launch.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}");
    let replayed = launch.run(&["simulate", "--from-journal", folder.to_str().unwrap()]);
    assert!(replayed.output.contains("is the one that the session wrote"), "{replayed}");
}

#[test]
fn the_same_instance_goes_on_above_everything_that_was_given() {
    let desk = BackupPlatform::new();
    let server = desk.platform.start();
    let mut client = server.client();
    let before = client.place(&market(AAPL, "BUY", 10));
    client.wait_for_status(&before, "EXECUTED");
    let taken = desk.back_up();
    let after = client.place(&market(AAPL, "BUY", 10));
    client.wait_for_status(&after, "EXECUTED");
    server.stop();
    let (folder, restored) = desk.restore("again", &["--same-instance"]);
    assert_eq!(restored.code, Some(0), "{restored}");
    let text = |data: &Path| fs::read_to_string(data.join("instance")).unwrap();
    assert_eq!(text(&folder), text(desk.platform.data()));
    let server = launcher_for(&folder).start();
    let mut client = server.client();
    let next = client.place(&market(AAPL, "BUY", 10));
    let placed = client.wait_for_status(&next, "EXECUTED");
    assert!(next != before && next != after, "{next} was given before");
    let number = client.get("/rest/execution/order").unwrap().header("rialto-sequence").map(str::to_owned);
    let number: u64 = number.expect("every answer has its sequence").parse().unwrap();
    assert!(number > sequence(&taken) + 1_000_000_000, "{number}: {placed}");
    server.stop();
}

#[test]
fn what_cannot_be_restored_is_refused_and_nothing_is_touched() {
    let desk = BackupPlatform::new();
    let server = desk.platform.start();
    let mut client = server.client();
    client.place(&limit(AAPL, "BUY", 5, "272.40"));
    let none = desk.restore("none", &[]).1;
    assert_eq!((none.code, none.log.contains("there is no backup in")), (Some(2), true), "{none}");
    desk.back_up();
    server.stop();
    let data = desk.platform.data().file_name().unwrap().to_str().unwrap().to_owned();
    let over = desk.restore(&data, &[]).1;
    assert_eq!((over.code, over.log.contains("is in the way")), (Some(2), true), "{over}");
    let late = desk.restore("late", &["--to", "seq:999999999"]).1;
    assert_eq!((late.code, late.log.contains("--to is after the newest backup")), (Some(2), true), "{late}");
    let stranger = TestPlatform::new();
    stranger.start().stop();
    let foreign = stranger.launch.run(&["backup", desk.backups.to_str().unwrap()]);
    assert_eq!(
        (foreign.code, foreign.log.contains("is a backup of another data folder")),
        (Some(2), true),
        "{foreign}"
    );
    damage_the_tail(&desk.backups);
    let damaged = desk.restore("damaged", &[]).1;
    assert_eq!((damaged.code, damaged.log.contains("does not end with record")), (Some(4), true), "{damaged}");
    assert!(!desk.platform.data().with_file_name("damaged").exists());
}

fn damage_the_tail(backups: &Path) {
    let point = fs::read_dir(backups.join("points")).unwrap().next().unwrap().unwrap().path();
    let tail = segments(&point.join("journal")).remove(0);
    let mut bytes = fs::read(&tail).unwrap();
    let end = bytes.len();
    bytes[end - 1] ^= 1;
    fs::write(&tail, bytes).unwrap();
}
