//! How much of a frame is read. Each limit is checked while the bytes arrive, before anything is kept for them.

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

/// The limits of a decoder; a frame that goes beyond one is a fault that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub command_bytes: usize,
    pub header_line_bytes: usize,
    pub headers: usize,
    pub header_bytes: usize,
    pub body_bytes: usize,
}

impl Default for Limits {
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
