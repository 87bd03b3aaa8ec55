//! What the time alone changes in market data: bars that close, and feeds that are silent for longer than usual.

use domain::{Event, StaleCause, Timestamp};
use engine::Outbox;
use tracing::warn;

use super::LiveLoop;

impl LiveLoop {
    pub(super) fn advance_market(&mut self, now: Timestamp) {
        let mut out = Outbox::default();
        self.parts.engine.advance_market(now, &mut out);
        // What is flagged is told once, so it needs a number.
        if self.options.flag_silence && self.sequencer.has_unjournalled() {
            self.parts.engine.flag_silent_feeds(now, &mut out);
        }
        out.events.iter().for_each(log_silence);
        if !out.events.is_empty()
            && let Some(sequence) = self.sequencer.next_unjournalled()
        {
            self.publish_market(sequence, now, out);
        }
    }
}

fn log_silence(event: &Event) {
    if let Event::Tick(tick) = event
        && tick.stale == Some(StaleCause::Silent)
    {
        warn!(security = %tick.security, feed = %tick.feed, last_price_at = %tick.at, "the price feed is silent for longer than usual");
    }
}
