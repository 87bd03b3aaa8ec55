//! Reports of the drop copy, which are translated like the order session's.

use adapters::ReportSink;
use domain::Timestamp;
use domain::report::{LineKind, ReportKind};
use fix::FixDecoder;

use crate::adapter::FixAdapter;
use crate::sessions::side_session::SideSessionEvent;

impl FixAdapter {
    /// Those besides the order session.
    pub(crate) fn lines(&self) -> Vec<LineKind> {
        let reports = self.drop_copy.iter().map(|_| LineKind::Private);
        reports.chain(self.setup.price_plan.iter().map(|_| LineKind::Prices)).collect()
    }

    pub(crate) fn deliver_drop_copy(&mut self, at: Timestamp, sink: &mut dyn ReportSink) {
        let Some(mut copy) = self.drop_copy.take() else { return };
        // Before the channel is emptied: what comes meanwhile counts the next time.
        let passed = copy.numbers.unconfirmed();
        for event in copy.session.poll(&self.runtime, &self.wake.0, at) {
            match event {
                SideSessionEvent::Up => {}
                SideSessionEvent::Down(reason) => copy.down_reason = reason.into(),
                SideSessionEvent::Skipped => sink.on_report(None, ReportKind::Gap),
                SideSessionEvent::Reset { expected, received } => self.on_reset((expected, received), sink),
                // Rejects there name numbers of that session, not of the orders'.
                SideSessionEvent::Message(frame) if is_execution_report(&frame) => self.on_message(at, &frame, sink),
                SideSessionEvent::Message(frame) => {
                    tracing::warn!(venue = %self.setup.venue, message = %fix::masked(&frame), "a message on the drop copy is not used");
                }
            }
        }
        copy.confirmation.confirm((&self.setup.venue, &copy.numbers), at, passed, sink);
        copy.tell_line(sink);
        self.drop_copy = Some(copy);
    }

    /// While the order session is down. The reports wait for it.
    pub(crate) fn look_after_drop_copy(&mut self, at: Timestamp) {
        if let Some(copy) = &mut self.drop_copy {
            copy.session.look_after(&self.runtime, &self.wake.0, at);
        }
    }

    pub(crate) fn end_drop_copy(&mut self) {
        if let Some(copy) = &mut self.drop_copy {
            copy.session.end(&self.runtime);
        }
    }
}

fn is_execution_report(frame: &[u8]) -> bool {
    FixDecoder::new().decode(frame).is_ok_and(|message| message.msg_type() == b"8")
}

/// A session that is ended with a Logout can log on again at once.
impl Drop for FixAdapter {
    fn drop(&mut self) {
        self.end_drop_copy();
    }
}
