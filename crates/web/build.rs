//! Takes the two files of Swagger UI that the documentation page needs out of the vendored archive, so that neither the
//! build nor the page ever goes to the network.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::io::{self, Cursor};
use std::path::Path;

use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const FILES: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").expect("cargo names the folder");
    for file in FILES {
        unpack(file, Path::new(&folder))
            .unwrap_or_else(|error| panic!("{file} of Swagger UI can't be unpacked: {error}"));
    }
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
