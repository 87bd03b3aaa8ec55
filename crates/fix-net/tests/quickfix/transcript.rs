//! A transcript of `contract/fix` (its README has the format), and a caller with a plain socket that plays it.

use crate::test_peer::wire_of;
use fix::{Framer, SOH};
use fix_net::now;
use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Longest wait for an answer of the transcript.
const PATIENCE: Duration = Duration::from_secs(20);

/// A transcript with a longer wait is not for a real acceptor.
const WAIT_SECONDS_MAX: u64 = 3;

pub(crate) struct QuickfixTranscript {
    pub(crate) name: String,
    pub(crate) settings: String,
    /// The lines that are played, each followed by the answers; without remarks, questions and reasons, times as `<t>`.
    pub(crate) text: String,
    /// Verbs that only our own engine understands.
    is_ours_alone: bool,
}

impl QuickfixTranscript {
    pub(crate) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/fix");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut stories: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
        stories.sort();
        stories.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let file = std::fs::read_to_string(path).unwrap();
        let settings = file.lines().find_map(|line| line.strip_prefix("settings ")).unwrap_or_default();
        let is_told = |line: &&str| {
            !line.is_empty() && !["#", "settings ", "?", "=", "@"].iter().any(|mark| line.starts_with(mark))
        };
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            settings: settings.replace(' ', "\n"),
            text: file.lines().filter(is_told).map(comparable).collect(),
            is_ours_alone: file
                .lines()
                .any(|line| ["S", "L", "Z"].contains(&line.split(' ').next().unwrap_or_default())),
        }
    }

    /// Whether it needs neither our hands nor a clock that can be moved.
    pub(crate) fn is_for_any_acceptor(&self) -> bool {
        let waits = self.text.lines().filter_map(|line| line.strip_prefix("R ")?.parse().ok());
        let is_patient = waits.max().is_none_or(|seconds: u64| seconds <= WAIT_SECONDS_MAX);
        !self.is_ours_alone && is_patient && !self.settings.contains("initiator") && !self.settings.contains("NonStop")
    }
}

/// A line as two engines can share it: the reason for closing is our own, and clocks differ.
fn comparable(line: &str) -> String {
    match line.as_bytes()[0] {
        b'X' => "X\n".to_owned(),
        b'E' => line.split('|').map(without_time).collect::<Vec<_>>().join("|") + "\n",
        _ => line.to_owned() + "\n",
    }
}

fn without_time(field: &str) -> String {
    let tag = field.split('=').next().unwrap_or_default();
    if ["52", "60", "122"].contains(&tag) { format!("{tag}=<t>") } else { field.to_owned() }
}

/// A peer with a plain socket.
pub(crate) struct TranscriptClient {
    port: u16,
    line: Option<TcpStream>,
    framer: Framer,
}

impl TranscriptClient {
    pub(crate) fn new(port: u16) -> Self {
        Self { port, line: None, framer: Framer::new() }
    }

    /// Plays the peer's lines; after each it reads as many answers as the transcript has, so that a surplus answer
    /// shows up in place of the next one.
    pub(crate) fn play(&mut self, story: &QuickfixTranscript) -> Result<String, Box<dyn Error>> {
        let mut told = String::new();
        let answer = |line: &str| line == "X" || line.starts_with("E ");
        for line in story.text.lines() {
            if answer(line) {
                told += &self.hear()?;
            } else {
                told += &format!("{line}\n");
                self.act(line)?;
            }
        }
        Ok(told)
    }

    fn act(&mut self, line: &str) -> io::Result<()> {
        match line.split_once(' ') {
            None if line == "D" => self.line = None,
            None => self.connect()?,
            Some(("I", message)) => {
                if self.line.is_none() {
                    self.connect()?;
                }
                // A line that the acceptor has closed shows when we listen.
                let _ = self.line.as_mut().unwrap().write_all(&wire_of(message, now()));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn connect(&mut self) -> io::Result<()> {
        self.line = None;
        self.framer = Framer::new();
        let line = TcpStream::connect(("127.0.0.1", self.port))?;
        line.set_read_timeout(Some(PATIENCE))?;
        self.line = Some(line);
        Ok(())
    }

    /// The next message, or that the connection is closed, in the format of a transcript.
    fn hear(&mut self) -> Result<String, Box<dyn Error>> {
        loop {
            if let Some(frame) = self.framer.next_frame().map_err(|error| error.to_string())? {
                return Ok(shown(frame));
            }
            let mut piece = [0; 4096];
            match self.line.as_mut().ok_or("there is no connection")?.read(&mut piece) {
                Ok(length) if length > 0 => self.framer.buffer().extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok("nothing\n".to_owned()),
                _ => return Ok("X\n".to_owned()),
            }
        }
    }
}

fn shown(frame: &[u8]) -> String {
    let text = String::from_utf8_lossy(frame).replace(char::from(SOH), "|");
    let fields = text.trim_end_matches('|').split('|');
    let told = fields.filter(|field| !["8=", "9=", "10="].iter().any(|tag| field.starts_with(tag)));
    comparable(&format!("E {}", told.collect::<Vec<_>>().join("|")))
}
