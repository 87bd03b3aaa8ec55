//! When this installation first logged on to the account. What ended before is not its business: the books begin
//! with the balances of that instant, which contain it.

use std::io;

use adapter_kit::KeptText;

use crate::protocol::wire_values::WireInteger;

pub struct FirstLogOn {
    text: KeptText,
    at: Option<WireInteger>,
}

impl FirstLogOn {
    /// A text that says no instant is an error: another instant would book old trades, or leave out newer ones.
    pub fn open(text: KeptText) -> io::Result<Self> {
        let known = text.read()?;
        let number = |known: &String| known.trim().parse().map(WireInteger).map_err(|_| invalid(&text, known));
        Ok(Self { at: known.as_ref().map(number).transpose()?, text })
    }

    /// By the venue's clock, in milliseconds. Only the first one counts.
    pub fn mark(&mut self, at: WireInteger) -> io::Result<()> {
        if self.at.is_none() {
            self.text.write(&format!("{}\n", at.0))?;
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

fn invalid(text: &KeptText, known: &str) -> io::Error {
    let text = format!("{}: the instant of the first log-on is no number: {:?}", text.path().display(), known.trim());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_kept_over_a_restart_and_a_damaged_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MAIN.since");
        let mut first = FirstLogOn::open(KeptText::file(&path)).unwrap();
        assert!(first.is_after(WireInteger(i64::MAX)), "nothing counts before the first log-on");
        first.mark(WireInteger(500)).unwrap();
        first.mark(WireInteger(900)).unwrap();
        let again = FirstLogOn::open(KeptText::file(&path)).unwrap();
        assert_eq!(
            (again.at(), again.is_after(WireInteger(499)), again.is_after(WireInteger(500))),
            (Some(WireInteger(500)), true, false)
        );
        std::fs::write(&path, "soon").unwrap();
        assert!(FirstLogOn::open(KeptText::file(&path)).err().unwrap().to_string().contains("no number: \"soon\""));
    }
}
