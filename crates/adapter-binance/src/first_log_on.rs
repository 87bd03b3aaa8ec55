//! When this program first logged on to the account, in a file. What ended before is not its business: the books begin
//! with the balances of that instant, which contain it.

use std::fs;
use std::io;
use std::path::PathBuf;

use adapter_kit::file_write::write_durably;

use crate::protocol::wire_values::WireInteger;

#[derive(Debug)]
pub struct FirstLogOn {
    path: PathBuf,
    at: Option<WireInteger>,
}

impl FirstLogOn {
    /// A file that cannot be read is an error: another instant would book old trades, or leave out newer ones.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        let at = match fs::read_to_string(&path) {
            Ok(text) => Some(WireInteger(text.trim().parse().map_err(|_| invalid(&path, &text))?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { path, at })
    }

    /// By the venue's clock, in milliseconds. Only the first one counts.
    pub fn mark(&mut self, at: WireInteger) -> io::Result<()> {
        if self.at.is_none() {
            write_durably(&self.path, format!("{}\n", at.0).as_bytes())?;
            self.at = Some(at);
        }
        Ok(())
    }

    /// Whether something of that instant came before.
    pub fn is_after(&self, at: WireInteger) -> bool {
        self.at.is_none_or(|first| at < first)
    }

    pub fn at(&self) -> Option<WireInteger> {
        self.at
    }
}

fn invalid(path: &std::path::Path, text: &str) -> io::Error {
    let text = format!("{}: the instant of the first log-on is no number: {:?}", path.display(), text.trim());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_kept_over_a_restart_and_a_damaged_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MAIN.since");
        let mut first = FirstLogOn::open(path.clone()).unwrap();
        assert!(first.is_after(WireInteger(i64::MAX)), "nothing counts before the first log-on");
        first.mark(WireInteger(500)).unwrap();
        first.mark(WireInteger(900)).unwrap();
        let again = FirstLogOn::open(path.clone()).unwrap();
        assert_eq!(
            (again.at(), again.is_after(WireInteger(499)), again.is_after(WireInteger(500))),
            (Some(WireInteger(500)), true, false)
        );
        fs::write(&path, "soon").unwrap();
        assert!(FirstLogOn::open(path).unwrap_err().to_string().contains("no number: \"soon\""));
    }
}
