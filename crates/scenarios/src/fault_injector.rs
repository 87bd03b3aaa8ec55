//! Fault injector: makes system calls of one server thread fail or hang, as a bad disk does, by `strace`. Only servers
//! that the scenario started itself are affected.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::server::{RunningServer, ServerExit};
use crate::wait::wait_for;

/// The thread that writes the journal.
pub const JOURNAL: &str = "journal";

/// Active until it is dropped or the server ends.
pub struct FaultInjector(Child);

/// The effect on a system call, as `strace` defines it.
#[derive(Debug, Clone, Copy)]
pub enum DiskFault {
    /// From the n-th call on, all fail: the disk is broken.
    FailFrom(u32),
    /// Each call takes longer than any scenario.
    Delay,
}

impl DiskFault {
    fn rule(self, call: &str) -> String {
        match self {
            Self::FailFrom(first) => format!("inject={call}:error=EIO:when={first}+"),
            Self::Delay => format!("inject={call}:delay_enter=600000000"),
        }
    }
}

impl FaultInjector {
    /// SIGKILL for the server while one of its calls hangs, which then has no effect any more.
    pub fn kill(self, mut server: RunningServer) -> ServerExit {
        server.kill_process();
        // A hanging thread only ends when `strace` has released it.
        drop(self);
        server.wait()
    }
}

/// Whether fault injection is possible here; prints a line where not.
pub fn is_possible() -> bool {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let possible = found.is_ok_and(|status| status.success());
    if !possible {
        eprintln!("SKIPPED: strace is not here, so no system call can be made to fail; `make setup` installs it");
    }
    possible
}

/// Starts the injection; returns when it is active.
///
/// # Panics
/// Where it cannot become active.
pub fn inject(server: &RunningServer, thread_name: &str, call: &str, fault: DiskFault) -> FaultInjector {
    let thread_id = wait_for(thread_name, || thread_id(server.pid(), thread_name));
    let rule = fault.rule(call);
    let mut child = Command::new("strace")
        .args(["-e", &format!("trace={call}"), "-e", &rule, "-p", &thread_id.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("strace was found");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let taken_hold = lines.find(|line| line.contains("attached"));
    assert!(taken_hold.is_some(), "strace could not attach to thread {thread_id} of process {}", server.pid());
    // It would block on a full pipe.
    thread::spawn(move || lines.for_each(drop));
    FaultInjector(child)
}

fn thread_id(pid: u32, name: &str) -> Option<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.map_while(Result::ok);
    let mut named = threads
        .filter(|thread| fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name));
    named.next()?.file_name().to_str()?.parse().ok()
}

impl Drop for FaultInjector {
    fn drop(&mut self) {
        // It ends by itself with the server.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
