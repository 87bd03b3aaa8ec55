//! Puts into the program what it shows in a browser: the two files of Swagger UI that the documentation page needs, out of
//! the vendored archive, and the trading screen where `make ui` has built it. Nothing here goes to the network or runs npm.

use std::borrow::Cow;
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Cursor, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];
/// Where the screen is built; the folder is always there, its files are not.
const SCREEN: &str = "../../ui/dist";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCREEN}");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    for file in FILES {
        unpack(file, &folder).unwrap_or_else(|error| panic!("{file} of Swagger UI can't be unpacked: {error}"));
    }
    embed(Path::new(SCREEN), &folder).unwrap_or_else(|error| panic!("the screen can't be embedded: {error}"));
}

fn unpack(file: &str, folder: &Path) -> io::Result<()> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    let wanted = format!("/dist/{file}");
    let mut paths = archive.file_names().filter_map(|path| path.ok().map(Cow::into_owned));
    let path = paths.find(|path| path.ends_with(&wanted));
    drop(paths);
    let mut entry = archive.by_name(&path.ok_or(io::ErrorKind::NotFound)?)?;
    io::copy(&mut entry, &mut File::create(folder.join(file))?)?;
    Ok(())
}

/// A table of the screen's files; an empty one where it was not built, unless `REQUIRE_UI` says that it must have been.
fn embed(screen: &Path, folder: &Path) -> io::Result<()> {
    let is_built = screen.join("index.html").is_file();
    if !is_built {
        println!("cargo::rerun-if-env-changed=REQUIRE_UI");
        let is_required = env::var("REQUIRE_UI").is_ok_and(|value| value == "1");
        assert!(!is_required, "REQUIRE_UI=1 and ui/dist has no index.html: run make ui");
    }
    let names = if is_built { files(screen)? } else { vec![] };
    let mut table = "static FILES: &[BuiltInFile] = &[\n".to_owned();
    for (number, name) in names.iter().enumerate() {
        let bytes = fs::read(screen.join(name))?;
        let plain = keep(&bytes, folder.join(format!("screen-{number}")))?;
        let gzip = keep(&gzip(&bytes)?, folder.join(format!("screen-{number}.gz")))?;
        let line = format!(
            "BuiltInFile {{ path: {name:?}, bytes: include_bytes!({plain:?}), gzip: include_bytes!({gzip:?}) }},"
        );
        writeln!(table, "    {line}").map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    fs::write(folder.join("screen.rs"), table)
}

/// Files of the folder and of `assets` in it, which is as deep as the screen is; hidden ones are no part of it.
fn files(screen: &Path) -> io::Result<Vec<String>> {
    let mut names = vec![];
    for prefix in ["", "assets/"] {
        for entry in fs::read_dir(screen.join(prefix))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_file() && !name.starts_with('.') {
                names.push(format!("{prefix}{name}"));
            }
        }
    }
    names.sort();
    Ok(names)
}

fn keep(bytes: &[u8], path: PathBuf) -> io::Result<PathBuf> {
    fs::write(&path, bytes)?;
    Ok(path)
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
