//! `scripts/audit.py`: a package with a known vulnerability is found, others are not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit code and the output for a lock file of two packages.
fn audit(folder: &str, packages: [(&str, &str); 2]) -> Option<(Option<i32>, String)> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    let text: String = packages
        .iter()
        .map(|(name, version)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry\"\n")
        })
        .collect();
    fs::write(folder.join("Cargo.lock"), text).expect("a file for the test");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/audit.py");
    let output = Command::new("python3").arg(script).arg("advisories").arg(folder.join("Cargo.lock")).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: python3 is missing");
        return None;
    };
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some((output.status.code(), printed.into_owned()))
}

#[test]
fn a_package_with_a_known_vulnerability_is_found() {
    let Some((code, printed)) = audit("bad", [("libsqlite3-sys", "0.25.0"), ("bytes", "1.11.0")]) else { return };
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("libsqlite3-sys 0.25.0: RUSTSEC-2022-0090"), "{printed}");
}

#[test]
fn a_patched_package_is_no_hit() {
    let Some((code, printed)) = audit("good", [("libsqlite3-sys", "0.25.1"), ("serde", "1.0.228")]) else { return };
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("0 hits"), "{printed}");
}

#[test]
fn every_locked_package_of_ours_is_free_of_known_vulnerabilities() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = Command::new("python3").arg(root.join("scripts/audit.py")).args(["advisories"]).output();
    let Ok(output) = command else { return eprintln!("SKIPPED: python3 is missing") };
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
}
