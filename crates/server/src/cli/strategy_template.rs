//! `rialto strategy new`: a crate whose binary is this server with the user's own strategies inside.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit_failure::{Exit, ExitFailure};

/// What is written, by path; `{{name}}` and `{{rialto}}` are filled in.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../../templates/strategy/Cargo.toml.txt")),
    ("README.md", include_str!("../../templates/strategy/README.md")),
    ("src/main.rs", include_str!("../../templates/strategy/src/main.rs")),
    ("src/dip.rs", include_str!("../../templates/strategy/src/dip.rs")),
];

/// Writes the crate into a new folder of that name below `parent` and says what to do next.
pub fn create(parent: &Path, name: &str, rialto: &Path) -> Result<String, ExitFailure> {
    check_name(name)?;
    let rialto = sources(rialto)?;
    let folder = parent.join(name);
    if folder.exists() {
        return Err(ExitFailure::new(Exit::Refused, format!("{} is there already", folder.display())));
    }
    for (path, template) in FILES {
        let text = template.replace("{{name}}", name).replace("{{rialto}}", &rialto.display().to_string());
        write(&folder.join(path), text.as_bytes())?;
    }
    // The same versions as in Rialto itself, so that what was tested together is built together.
    let lock = rialto.join("Cargo.lock");
    if let Ok(bytes) = fs::read(&lock) {
        write(&folder.join("Cargo.lock"), &bytes)?;
    }
    Ok(format!("{} is written: edit src/dip.rs there, then cargo run -- serve\n", folder.display()))
}

/// A name that cargo takes for a package and configuration for a strategy.
fn check_name(name: &str) -> Result<(), ExitFailure> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let begins_well = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
    if begins_well && name.len() <= 64 && name.bytes().all(legal) {
        return Ok(());
    }
    let text = format!("'{name}' is no name for a crate: small letters, digits and -, beginning with a letter");
    Err(ExitFailure::new(Exit::Refused, text))
}

/// The folder with Rialto's own sources, as an absolute path.
fn sources(rialto: &Path) -> Result<PathBuf, ExitFailure> {
    let found = rialto.canonicalize().ok().filter(|path| path.join("crates/strategy/Cargo.toml").is_file());
    found.ok_or_else(|| {
        let text = format!("--rialto {} is not the folder of Rialto's sources", rialto.display());
        ExitFailure::new(Exit::Refused, text)
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ExitFailure> {
    let failed = |error: std::io::Error| ExitFailure::io("write", path, &error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rialto() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn a_crate_is_written_once_and_names_its_strategy() {
        let folder = tempfile::tempdir().unwrap();
        let told = create(folder.path(), "my-dip", &rialto()).unwrap();
        assert!(told.contains("my-dip is written"), "{told}");
        let main = fs::read_to_string(folder.path().join("my-dip/src/dip.rs")).unwrap();
        assert!(main.contains("name: \"my-dip\"") && !main.contains("{{"), "{main}");
        let again = create(folder.path(), "my-dip", &rialto()).unwrap_err();
        assert!(again.to_string().ends_with("my-dip is there already"), "{again}");
    }

    #[test]
    fn a_bad_name_or_a_wrong_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "My", "1a", "a_b", "a b"] {
            let refused = create(folder.path(), name, &rialto()).unwrap_err();
            assert!(refused.to_string().contains("is no name for a crate"), "{refused}");
        }
        let refused = create(folder.path(), "mine", folder.path()).unwrap_err();
        assert!(refused.to_string().contains("is not the folder of Rialto's sources"), "{refused}");
    }
}
