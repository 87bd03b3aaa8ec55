//! Streams of a symbol that were confirmed and do not send.
//!
//! A quiet market sends nothing either. So what the venue answers is compared with what it has answered before: where best
//! quotes or the last trade have moved between two answers, their streams must have told it. Answers may be some seconds old,
//! so only a stream that was silent since well before the first of them is suspected, and only one that stays silent for a while
//! after the second is called silent.

use domain::Timestamp;

use crate::protocol::answers::market_answers::SymbolTicker;

/// Between two looks at a symbol, and so long a stream may be silent without one.
pub(super) const LOOK_SECONDS: i64 = 30;
/// An answer may be so old.
const ANSWER_AGE_SECONDS: i64 = 10;
/// What moved just before an answer may still be on its way.
const ON_ITS_WAY_SECONDS: i64 = 5;

/// A stream of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedStream {
    Quotes,
    Trades,
    Depth,
}

impl FeedStream {
    const ALL: [Self; 3] = [Self::Quotes, Self::Trades, Self::Depth];

    fn has_moved(self, before: &SymbolTicker, now: &SymbolTicker) -> bool {
        let quotes = |ticker: &SymbolTicker| [ticker.bid_price, ticker.bid_qty, ticker.ask_price, ticker.ask_qty];
        match self {
            // The best quotes are part of the book.
            Self::Quotes | Self::Depth => quotes(before) != quotes(now),
            // The last trade of a day is none any more a day later.
            Self::Trades => before.last_id < now.last_id,
        }
    }
}

/// What is known of the streams of one symbol.
#[derive(Debug, Default)]
pub(super) struct StreamWatch {
    confirmed_at: Option<Timestamp>,
    look: Option<(Timestamp, SymbolTicker)>,
    streams: [StreamState; FeedStream::ALL.len()],
}

#[derive(Debug, Clone, Copy, Default)]
struct StreamState {
    heard_at: Option<Timestamp>,
    /// Since when it is known that it should have sent.
    missing_since: Option<Timestamp>,
    /// It was silent, and has not sent since.
    is_mistrusted: bool,
}

impl StreamWatch {
    pub(super) fn on_confirmed(&mut self, now: Timestamp) {
        self.confirmed_at.get_or_insert(now);
    }

    /// Whether with it every stream is trusted again.
    pub(super) fn on_heard(&mut self, stream: FeedStream, now: Timestamp) -> bool {
        let state = &mut self.streams[stream as usize];
        let was_mistrusted = state.is_mistrusted;
        *state = StreamState { heard_at: Some(now), missing_since: None, is_mistrusted: false };
        was_mistrusted && self.is_trusted()
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.streams.iter().all(|state| !state.is_mistrusted)
    }

    /// Streams that send need no look.
    pub(super) fn wants_look(&self, now: Timestamp) -> bool {
        let is_quiet = |state: &StreamState| state.heard_at.is_none_or(|at| at.plus_seconds(LOOK_SECONDS) <= now);
        self.confirmed_at.is_some() && self.streams.iter().any(is_quiet)
    }

    pub(super) fn on_look(&mut self, ticker: &SymbolTicker, asked_at: Timestamp, now: Timestamp) {
        let Some((before_at, before)) = self.look.replace((asked_at, ticker.clone())) else { return };
        if self.confirmed_at.is_none_or(|at| at > before_at) {
            return;
        }
        let since = before_at.plus_seconds(-ANSWER_AGE_SECONDS);
        for stream in FeedStream::ALL {
            let state = &mut self.streams[stream as usize];
            if stream.has_moved(&before, ticker) && state.heard_at.is_none_or(|at| at < since) {
                state.missing_since.get_or_insert(now);
            }
        }
    }

    pub(super) fn is_silent(&self, now: Timestamp) -> bool {
        let is_over = |since: Timestamp| since.plus_seconds(ON_ITS_WAY_SECONDS) <= now;
        self.streams.iter().any(|state| state.missing_since.is_some_and(is_over))
    }

    /// The streams are subscribed again. Those that were silent must send before they are trusted. Whether one of them was silent
    /// before.
    pub(super) fn begin_again(&mut self) -> bool {
        let is_repeated = self.streams.iter().any(|state| state.missing_since.is_some() && state.is_mistrusted);
        let again = |state: StreamState| StreamState {
            is_mistrusted: state.is_mistrusted || state.missing_since.is_some(),
            ..StreamState::default()
        };
        *self = Self { streams: self.streams.map(again), ..Self::default() };
        is_repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(0).plus_seconds(seconds)
    }

    fn ticker(bid: &str, last_id: i64) -> SymbolTicker {
        let text = format!(
            r#"{{"symbol":"BTCUSDT","bidPrice":"{bid}","bidQty":"1","askPrice":"11","askQty":"1","lastId":{last_id}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    /// Confirmed at 0, with a first look at 1.
    fn watched() -> StreamWatch {
        let mut watch = StreamWatch::default();
        watch.on_confirmed(at(0));
        watch.on_look(&ticker("9", 5), at(1), at(1));
        watch
    }

    #[test]
    fn a_market_that_does_not_move_is_not_silent() {
        let mut watch = watched();
        for second in [31, 61, 3_600] {
            watch.on_look(&ticker("9", 5), at(second), at(second));
            assert!(!watch.is_silent(at(second + 30)));
        }
        // The last trade is more than a day old.
        watch.on_look(&ticker("9", -1), at(90_000), at(90_000));
        assert!(!watch.is_silent(at(90_030)));
    }

    #[test]
    fn a_stream_that_does_not_tell_what_moved_is_silent() {
        let mut watch = watched();
        watch.on_heard(FeedStream::Quotes, at(20));
        watch.on_heard(FeedStream::Depth, at(20));
        watch.on_look(&ticker("8", 6), at(31), at(31));
        assert!(!watch.is_silent(at(35)), "it may be on its way");
        assert!(watch.is_silent(at(36)), "no trade was told");
        watch.on_heard(FeedStream::Trades, at(36));
        assert!(!watch.is_silent(at(36)), "it came late");
    }

    #[test]
    fn an_answer_that_is_some_seconds_old_accuses_nobody() {
        let mut watch = watched();
        for stream in FeedStream::ALL {
            watch.on_heard(stream, at(28));
        }
        watch.on_look(&ticker("9", 5), at(31), at(31));
        watch.on_look(&ticker("8", 6), at(61), at(61));
        assert!(!watch.is_silent(at(70)), "the answer at 31 was older than what was told at 28");
        watch.on_look(&ticker("7", 7), at(91), at(91));
        assert!(watch.is_silent(at(96)), "nothing came for a minute in which the market moved twice");
    }

    #[test]
    fn a_silent_stream_is_trusted_when_it_sends_again() {
        let mut watch = watched();
        watch.on_look(&ticker("8", 5), at(31), at(31));
        assert!(watch.is_silent(at(40)));
        assert!(!watch.begin_again(), "for the first time");
        assert!(!watch.is_trusted() && !watch.is_silent(at(40)));
        assert!(!watch.on_heard(FeedStream::Trades, at(41)));
        assert!(!watch.on_heard(FeedStream::Quotes, at(41)), "the book is still missing");
        assert!(watch.on_heard(FeedStream::Depth, at(42)) && watch.is_trusted());
    }

    #[test]
    fn a_stream_that_is_silent_again_after_its_new_subscription_is_told_so() {
        let mut watch = watched();
        watch.on_look(&ticker("8", 5), at(31), at(31));
        assert!(watch.is_silent(at(40)) && !watch.begin_again());
        watch.on_confirmed(at(41));
        watch.on_look(&ticker("8", 5), at(42), at(42));
        watch.on_look(&ticker("7", 5), at(72), at(72));
        assert!(watch.is_silent(at(77)) && watch.begin_again());
    }
}
