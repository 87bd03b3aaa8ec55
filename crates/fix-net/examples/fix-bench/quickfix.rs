//! QuickFIX from Debian's libquickfix-dev: programs that use it, and its dictionary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::Outcome;

/// Makes a program that uses QuickFIX.
pub(crate) fn compile(source: &Path, program: &Path) -> Outcome<()> {
    // QuickFIX 1.15 still says throw(...), which later standards have given up.
    let compiled = Command::new("g++")
        .args(["-std=c++14", "-O2", "-w", "-I/usr/include/quickfix", "-o"])
        .args([program, source])
        .args(["-lquickfix", "-lpthread"])
        .output()
        .map_err(|error| format!("g++: {error}; make setup installs it"))?;
    if compiled.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&compiled.stderr);
    Err(format!("{said}\nthis needs libquickfix-dev; make setup installs it").into())
}

/// QuickFIX's own FIX 4.4 file, in the sources of the crate that our built-in dictionary is made of; Debian ships none.
pub(crate) fn dictionary() -> Outcome<&'static Path> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found);
    }
    let listed = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&listed.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo lists no packages")?;
    let package = packages.iter().find(|package| package["name"] == "hotfix-dictionary");
    let manifest = package.and_then(|package| package["manifest_path"].as_str()).ok_or("no hotfix-dictionary")?;
    let sources = Path::new(manifest).with_file_name("src");
    Ok(FOUND.get_or_init(|| sources.join("resources/quickfix/FIX-4.4.xml")))
}
