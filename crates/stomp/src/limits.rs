//! Frame limits. Each is checked while the bytes arrive, before memory is allocated for them.

/// Octets of the command line, its end excluded.
pub const COMMAND_BYTES_MAX: usize = 1_024;
/// Octets of one header line, its end excluded.
pub const HEADER_LINE_BYTES_MAX: usize = 10 * 1_024;
/// Headers of one frame, repeated ones included.
pub const HEADERS_MAX: usize = 1_000;
/// Octets of all header lines of one frame.
pub const HEADER_BYTES_MAX: usize = 64 * 1_024;
/// Octets of a body, unless the application chooses another limit.
pub const BODY_BYTES_MAX: usize = 1_024 * 1_024;

/// Octets of one destination of a client.
pub const DESTINATION_BYTES_MAX: usize = 1_024;
/// Segments of one destination of a client.
pub const SEGMENTS_MAX: usize = 32;
/// Octets of all header lines of a frame before CONNECTED.
pub const CONNECT_HEADER_BYTES_MAX: usize = 4 * 1_024;
/// Headers of a frame before CONNECTED.
pub const CONNECT_HEADERS_MAX: usize = 64;
/// Octets of a body before CONNECTED. CONNECT has none, but some clients end it with a line too many.
pub const CONNECT_BODY_BYTES_MAX: usize = 64;

/// The limits of a decoder; a frame that exceeds one is an error that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    pub command_bytes: usize,
    pub header_line_bytes: usize,
    pub headers: usize,
    pub header_bytes: usize,
    pub body_bytes: usize,
}

impl FrameLimits {
    /// Limits for a client that has not logged in.
    #[must_use]
    pub(crate) fn before_login(self) -> Self {
        Self {
            command_bytes: self.command_bytes,
            header_line_bytes: self.header_line_bytes.min(CONNECT_HEADER_BYTES_MAX),
            headers: self.headers.min(CONNECT_HEADERS_MAX),
            header_bytes: self.header_bytes.min(CONNECT_HEADER_BYTES_MAX),
            body_bytes: self.body_bytes.min(CONNECT_BODY_BYTES_MAX),
        }
    }
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self {
            command_bytes: COMMAND_BYTES_MAX,
            header_line_bytes: HEADER_LINE_BYTES_MAX,
            headers: HEADERS_MAX,
            header_bytes: HEADER_BYTES_MAX,
            body_bytes: BODY_BYTES_MAX,
        }
    }
}
