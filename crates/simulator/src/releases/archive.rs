//! Reads the files out of a packed folder: a tar archive, compressed with gzip.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;

/// Headers and contents fill whole blocks of this size.
const BLOCK: usize = 512;
const NAME: std::ops::Range<usize> = 0..100;
const SIZE: std::ops::Range<usize> = 124..136;
const KIND: usize = 156;

/// All files with their paths; folders follow from them.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let (mut files, mut rest) = (Vec::new(), &bytes[..]);
    // The end is marked by blocks of zeros.
    while let Some((header, behind)) = rest.split_at_checked(BLOCK).filter(|(header, _)| header[0] != 0) {
        let (name, size) = (text(&header[NAME])?, size(&header[SIZE])?);
        let content = behind.get(..size).ok_or_else(|| format!("{name} is cut off"))?;
        match header[KIND] {
            b'0' | 0 => files.push((PathBuf::from(name), content.to_vec())),
            b'5' => {}
            kind => return Err(format!("{name} is of kind {kind}, which is neither a file nor a folder")),
        }
        rest = behind.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
    Ok(files)
}

fn text(field: &[u8]) -> Result<&str, String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    std::str::from_utf8(&field[..end]).map_err(|error| error.to_string())
}

/// An octal number.
fn size(field: &[u8]) -> Result<usize, String> {
    usize::from_str_radix(text(field)?.trim(), 8).map_err(|error| error.to_string())
}
