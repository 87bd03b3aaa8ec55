//! Copies of frames on other machines: with a replicator a frame is durable when this disk and the others have it.

use super::format::sealed_frame::SealedFrame;

/// Copies each frame to other machines. The journal's writer is its one caller, with one frame at a time: group commit follows the
/// slower of disk and copies by itself.
pub trait FrameReplicator: Send {
    /// Begins to copy a frame, and does not wait.
    fn begin(&mut self, frame: SealedFrame);

    /// Waits until the frame that was begun is safe elsewhere. An error is final: nothing more becomes durable, and whether others
    /// have the frame is not known.
    fn finish(&mut self) -> Result<(), String>;
}
