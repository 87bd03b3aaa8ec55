//! Names the source that the program is built of, so that a server and a strategy process of two different sources notice it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// Where all crates of the program stand.
const CRATES: &str = "..";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let name = source_name(Path::new(CRATES)).unwrap_or_else(|error| panic!("the source can't be read: {error}"));
    println!("cargo::rustc-env=RIALTO_SOURCE={name:016x}");
}

/// A number that differs where a file of any crate's `src` does.
fn source_name(crates: &Path) -> io::Result<u64> {
    let mut files = Vec::new();
    for member in fs::read_dir(crates)? {
        let source = member?.path().join("src");
        if source.is_dir() {
            println!("cargo::rerun-if-changed={}", source.display());
            collect(&source, &mut files)?;
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
