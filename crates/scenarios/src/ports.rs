//! Ports of servers that are told to others before the servers start, or that stay the same over a restart.
//!
//! A port that the system chose is free again until its server starts, and then any connection of this machine may get it. So these are
//! outside of the range that the system chooses from, and each is reserved for one process of tests by a lock, which ends with it.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Above the ports that programs have by default, ours too.
const FIRST: u16 = 15_000;
/// Where the system does not say which ports it chooses itself.
const USUAL_CHOICE: Range<u16> = 32_768..61_000;
/// Tests that run at once have far fewer.
const RANGE_MIN: usize = 1_000;

/// Locks of the ports of this process.
static RESERVED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Ports that no server has now, and no other test gets until this process has ended.
///
/// # Panics
/// Where there are too few.
pub fn reserve_ports(count: usize) -> Vec<u16> {
    let (folder, mut reserved) = (lock_folder(), RESERVED.lock().unwrap_or_else(PoisonError::into_inner));
    let found = candidates().filter_map(|port| Some((port, reserve(&folder, port)?))).take(count);
    let (ports, locks): (Vec<_>, Vec<_>) = found.unzip();
    assert_eq!(ports.len(), count, "there are too few free ports");
    reserved.extend(locks);
    ports
}

/// Users do not share their locks; a port that another one has is seen to be in use.
fn lock_folder() -> PathBuf {
    let user = fs::metadata("/proc/self").map_or(0, |process| process.uid());
    let folder = std::env::temp_dir().join(format!("rialto-test-ports-{user}"));
    fs::create_dir_all(&folder).expect("a folder for locks");
    folder
}

/// None where another test has it, or a server.
fn reserve(folder: &Path, port: u16) -> Option<File> {
    let lock = File::create(folder.join(port.to_string())).expect("a file for a lock");
    lock.try_lock().ok()?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok().then_some(lock)
}

/// Each process begins elsewhere, so that few look at the same.
fn candidates() -> impl Iterator<Item = u16> {
    let range = range_beside(&chosen_by_system().unwrap_or(USUAL_CHOICE));
    let begin = (std::process::id() as usize).wrapping_mul(61) % range.len();
    range.clone().cycle().skip(begin).take(range.len())
}

fn chosen_by_system() -> Option<Range<u16>> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = text.split_whitespace().map(str::parse);
    Some(ends.next()?.ok()?..ends.next()?.ok()?.checked_add(1)?)
}

/// Below what the system chooses from, or above; where it chooses from nearly everything, there is no better place than any.
fn range_beside(chosen: &Range<u16>) -> Range<u16> {
    let ranges = [FIRST..chosen.start.max(FIRST), chosen.end..u16::MAX];
    ranges.into_iter().find(|range| range.len() >= RANGE_MIN).unwrap_or(FIRST..USUAL_CHOICE.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_beside_those_that_the_system_chooses() {
        let chosen = chosen_by_system().unwrap_or(USUAL_CHOICE);
        let ports = reserve_ports(20);
        assert!(ports.iter().all(|port| !chosen.contains(port)) || chosen.len() > 60_000, "{ports:?} in {chosen:?}");
        assert_eq!(range_beside(&(32_768..61_000)), 15_000..32_768);
        assert_eq!(range_beside(&(1_024..50_000)), 50_000..u16::MAX);
        assert_eq!(range_beside(&(1_024..65_535)), 15_000..32_768);
    }

    #[test]
    fn no_port_is_given_twice_and_none_that_a_server_has() {
        let mut ports = reserve_ports(20);
        ports.extend(reserve_ports(20));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 40);
        let folder = lock_folder();
        assert!(ports.iter().all(|port| reserve(&folder, *port).is_none()), "another test must not get them");
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        assert!(reserve(&folder, server.local_addr().expect("it is bound").port()).is_none());
    }
}
