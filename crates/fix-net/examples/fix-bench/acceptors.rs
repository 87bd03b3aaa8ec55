//! The two echo acceptors as programs of their own: our fix-echo, and one that is made here with QuickFIX from Debian's
//! libquickfix-dev. Both have the same dictionary and the same rules, keep messages in memory, and write no log.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::quickfix::{compile, dictionary};

/// An acceptor that listens; it is ended when this is dropped.
pub(crate) struct Acceptor {
    process: Child,
    pub(crate) port: u16,
}

impl Acceptor {
    /// Our fix-echo, which must have been built beside this program.
    pub(crate) fn our_program() -> Outcome<PathBuf> {
        let program = std::env::current_exe()?.with_file_name("fix-echo");
        let missing = "there is no fix-echo: cargo build --release -p fix-net --example fix-echo";
        program.is_file().then_some(program).ok_or_else(|| missing.into())
    }

    pub(crate) fn compile_quickfix(folder: &Path) -> Outcome<PathBuf> {
        let program = folder.join("quickfix-echo");
        compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fix-bench/quickfix_echo.cpp"), &program)?;
        Ok(program)
    }

    /// Starts a program with these settings beside the usual ones, and waits until it says that it is listening.
    pub(crate) fn start(program: &Path, folder: &Path, more_settings: &str) -> Outcome<Self> {
        let port = free_port()?;
        let settings = folder.join(format!("{port}.cfg"));
        std::fs::write(&settings, format!("{}\n{more_settings}\n", self::settings(port, dictionary()?)))?;
        let mut process = Command::new(program)
            .arg(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let acceptor = Self { process, port };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let said = || format!("{} said {line}", program.display()).into();
        line.starts_with("listening").then_some(acceptor).ok_or_else(said)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing of it to keep.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn settings(port: u16, dictionary: &Path) -> String {
    format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort={port}\nStartTime=00:00:00\nEndTime=00:00:00\n\
         BeginString=FIX.4.4\nDataDictionary={}\nSenderCompID=ISLD\nTargetCompID=TW44\n\
         # QuickFIX needs to be told; ours never waits for company.\nSocketNodelay=Y",
        dictionary.display()
    )
}

/// The system picks one; nobody else asks for it in the moment until the acceptor does.
fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
