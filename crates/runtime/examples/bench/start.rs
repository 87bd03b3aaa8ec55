//! The real binary with the demo: how long until it serves, and what it keeps in memory.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::machine::resident_mib;
use crate::table::Row;

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// The variable in which `make` passes the path of the binary.
const BINARY_VARIABLE: &str = "RIALTO_BIN";

const READY_AIM: Duration = Duration::from_secs(1);
const MEMORY_AIM_MIB: f64 = 60.0;

pub(crate) fn rows(folder: &Path) -> BenchResult<Vec<Row>> {
    let data = folder.join("data");
    let (first, mib) = serve(&data)?;
    let (second, mib_again) = serve(&data)?;
    Ok(vec![
        Row::time("start to ready, first start", first, READY_AIM, "demo, empty folder".into()),
        Row::time("start to ready, second start", second, READY_AIM, "the same folder".into()),
        Row::mib(
            "memory, demo.activity = off",
            mib.max(mib_again),
            MEMORY_AIM_MIB,
            format!("first start {mib:.1} MiB"),
        ),
    ])
}

/// Starts the server, waits for its ready line, and stops it.
pub(crate) fn serve(data: &Path) -> BenchResult<(Duration, f64)> {
    let begun = Instant::now();
    let (mut server, _) = launch(data, &[])?;
    let taken = begun.elapsed();
    let mib = resident_mib(server.id());
    stop(&mut server)?;
    Ok((taken, mib))
}

/// A server that runs, and its ready line.
pub(crate) fn launch(data: &Path, words: &[&str]) -> BenchResult<(Child, String)> {
    let mut server = Command::new(binary()?)
        .arg("serve")
        .arg("--data-dir")
        .arg(data)
        .args(["--set", "http.port=0", "--set", "https.port=0", "--set", "demo.activity=off", "--set", "fix.port=0"])
        .args(["--set", "broker.tcp.port=0", "--set", "broker.tls.port=0", "--set", "broker.ws.port=0"])
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    if !line.is_empty() {
        return Ok((server, line));
    }
    server.wait()?;
    Err("the server did not start".into())
}

pub(crate) fn stop(server: &mut Child) -> BenchResult<()> {
    kill_process(Pid::from_child(server), Signal::TERM)?;
    server.wait()?;
    Ok(())
}

pub(crate) fn binary() -> BenchResult<PathBuf> {
    if let Some(named) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(named.into());
    }
    let examples = std::env::current_exe()?;
    let release = examples.parent().and_then(Path::parent).ok_or("no folder of builds")?;
    Ok(release.join("rialto"))
}
