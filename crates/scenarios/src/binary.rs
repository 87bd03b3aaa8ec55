//! Path of the binary: `RIALTO_BIN`, else the release build, else the debug build beside the test.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The environment variable that names the binary; `make test` sets it.
pub const VARIABLE: &str = "RIALTO_BIN";

/// The path of the binary.
///
/// # Panics
/// Where there is none, with the places that were tried.
pub fn rialto() -> PathBuf {
    let candidates = candidates();
    let found = candidates.iter().find(|path| path.is_file());
    found.cloned().unwrap_or_else(|| {
        let tried: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        panic!("there is no rialto binary: build it with `make build`, or name one by {VARIABLE}; tried {tried:?}")
    })
}

fn candidates() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return vec![named.into()];
    }
    let test = env::current_exe().expect("a running program has a path");
    // The test lies in <target>/<profile>/deps.
    let target = test.ancestors().nth(3).unwrap_or(Path::new("target"));
    ["release", "debug"].map(|profile| target.join(profile).join("rialto")).into()
}

/// The configuration keys of all ports of a binary, as it lists them itself; every binary that contains the server has
/// the same.
///
/// # Panics
/// Where it cannot be run.
pub fn port_keys(program: &Path) -> &'static [String] {
    static KEYS: OnceLock<Vec<String>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let listed = Command::new(program).arg("check-config").output().expect("the binary can be run");
        let table = String::from_utf8_lossy(&listed.stdout).into_owned();
        let keys = table.lines().filter_map(|line| line.split_whitespace().next());
        keys.filter(|key| key.ends_with(".port")).map(ToOwned::to_owned).collect()
    })
}
