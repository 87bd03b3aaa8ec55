//! CONNECT and CONNECTED.

use super::action::Credentials;
use super::breach::Breach;
use crate::frame::{Command, Frame};
use crate::version::Version;

/// Values of CONNECT that CONNECTED repeats.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) version: Version,
    /// `request-id` and `receipt`, which ActiveMQ answers although no version requires it.
    request: Option<String>,
    receipt: Option<String>,
}

impl Opening {
    /// Any `host` is accepted: clients send the name by which they connected.
    pub(crate) fn read(frame: &Frame) -> Result<(Self, Credentials), Breach> {
        if !matches!(frame.command, Command::Connect | Command::Stomp) {
            return Err(Breach::NotConnected);
        }
        let version = Version::highest_common(frame.headers.get("accept-version")).ok_or(Breach::NoCommonVersion)?;
        // The decoder could not know yet that this is 1.0, which trims.
        let trimmed = |value: &str| if version == Version::V10 { value.trim().to_owned() } else { value.to_owned() };
        let value = |name| frame.headers.get(name).map(trimmed);
        let credentials = Credentials { login: value("login"), passcode: value("passcode"), host: value("host") };
        Ok((Self { version, request: value("request-id"), receipt: value("receipt") }, credentials))
    }

    /// A client of 1.0 receives version and heart-beat too, as from ActiveMQ.
    pub(crate) fn connected(&self, session: &str, server: &str, heart_beat: &str) -> Frame {
        let mut frame = Frame::new(Command::Connected)
            .with("version", self.version.name())
            .with("heart-beat", heart_beat)
            .with("session", session)
            .with("server", server);
        self.request.iter().for_each(|request| frame.headers.push("response-id", request));
        self.receipt.iter().for_each(|receipt| frame.headers.push("receipt-id", receipt));
        frame
    }
}
