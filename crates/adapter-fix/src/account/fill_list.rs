//! The list of executions while the session is up, by a trade capture (AD) from a cursor on. It counts when its last report has come; half of
//! one is none. The cursor is the time of the last execution and the ids of those that happened then, because the next list begins with them.

use domain::report::{FillsPage, ListingScope, ReportKind, VenueFill};
use domain::{Text, Timestamp};
use fix::FixMessage;

use crate::account::open_captures::{CAPTURE_PREFIX, CaptureScope, CaptureStep};
use crate::reports::FixTranslator;
use crate::requests::QuestionId;

/// Executions of one page, where the venue can be told; the next page begins behind them.
pub(crate) const FILLS_PER_PAGE: usize = 1_000;
/// Executions of one instant that a cursor names; others of that instant are listed again, and booked once.
pub(crate) const CURSOR_IDS_MAX: usize = 64;
/// Without a cursor the list begins so far back: the engine knows the orders of so long.
const FIRST_LIST_SECONDS: i64 = 23 * 3_600;
/// A venue may refuse a list for what there is since then: the next first one begins half as far back, and never less than so far.
const FIRST_LIST_SECONDS_MIN: i64 = 300;

/// Where a list ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FillCursor {
    at: Timestamp,
    /// What happened at that instant and was listed.
    exec_ids: Vec<Text>,
}

impl FillCursor {
    /// `None` where it is none of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let at = Timestamp(words.next()?.parse().ok()?);
        Some(Self { at, exec_ids: words.map(Text::from).collect() })
    }

    fn text(&self) -> Text {
        let words = self.exec_ids.iter().map(|id| format!(" {id}"));
        format!("{}{}", self.at.0, words.collect::<String>()).into()
    }

    fn has(&self, fill: &VenueFill) -> bool {
        fill.at == Some(self.at) && self.exec_ids.contains(&fill.exec_id)
    }

    /// An id with a blank cannot be part of it.
    fn note(&mut self, at: Timestamp, exec_id: Text) {
        if at > self.at {
            *self = Self { at, exec_ids: Vec::new() };
        }
        if at == self.at && self.exec_ids.len() < CURSOR_IDS_MAX && !exec_id.contains(' ') {
            self.exec_ids.push(exec_id);
        }
    }
}

/// The newest question; the answer to an older one is not used.
#[derive(Debug)]
pub(crate) struct FillList {
    asked: Option<AskedFills>,
    /// How far back a list without a cursor begins.
    first_seconds: i64,
}

impl Default for FillList {
    fn default() -> Self {
        Self { asked: None, first_seconds: FIRST_LIST_SECONDS }
    }
}

#[derive(Debug)]
struct AskedFills {
    id: QuestionId,
    as_of: Timestamp,
    cursor: Option<FillCursor>,
    /// Behind what has come, also of other clients.
    next: Option<FillCursor>,
    reports: usize,
    /// A report in it could not be read.
    is_spoilt: bool,
}

/// What a message means for the list.
#[derive(Debug)]
pub(crate) enum FillListStep {
    /// It is not part of the answer.
    NotOfList,
    /// More has to come.
    Waiting,
    Done(Box<ReportKind>),
}

impl FillList {
    /// What is to be asked for from a cursor on.
    pub(crate) fn scope(&self, cursor: Option<&FillCursor>, at: Timestamp, read_lag_millis: u32) -> CaptureScope {
        let from = match cursor {
            Some(cursor) => cursor.at.plus_millis(-i64::from(read_lag_millis)),
            None => at.plus_seconds(-self.first_seconds),
        };
        CaptureScope::Oldest(from, FILLS_PER_PAGE)
    }

    pub(crate) fn begin(
        &mut self,
        translator: &mut FixTranslator,
        id: QuestionId,
        as_of: Timestamp,
        cursor: Option<FillCursor>,
    ) {
        if let Some(older) = self.asked.take() {
            translator.captures.forget(older.id);
        }
        translator.on_executions_asked(id, None);
        self.asked = Some(AskedFills { id, as_of, cursor, next: None, reports: 0, is_spoilt: false });
    }

    /// Questions of an earlier connection get no answers.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn on_message(&mut self, translator: &mut FixTranslator, message: &FixMessage<'_>) -> FillListStep {
        let Some(asked) = &mut self.asked else { return FillListStep::NotOfList };
        match message.msg_type() {
            b"AE" | b"AQ" if asked.is_answered_by(message) => {
                if message.msg_type() == b"AE" {
                    asked.on_report(translator, message);
                }
                match translator.on_capture(message) {
                    CaptureStep::Waiting => FillListStep::Waiting,
                    CaptureStep::Done { fills, .. } => self.end(translator, fills, message),
                }
            }
            b"3" | b"j" if message.text(372) == Some("AD") && !translator.names_request(message) => {
                match refused_question(message) {
                    // By its number (45), which is not kept: it is the newest.
                    None => self.refuse(translator, message),
                    Some(id) if id == Some(asked.id) => self.refuse(translator, message),
                    // An older one of ours, whose answer would not be used either.
                    Some(Some(id)) if id.begun_millis == asked.id.begun_millis && !translator.captures.is_open(id) => {
                        FillListStep::Waiting
                    }
                    Some(_) => FillListStep::NotOfList,
                }
            }
            _ => FillListStep::NotOfList,
        }
    }

    fn refuse(&mut self, translator: &mut FixTranslator, message: &FixMessage<'_>) -> FillListStep {
        if let Some(asked) = &self.asked {
            translator.captures.forget(asked.id);
        }
        self.end(translator, None, message)
    }

    fn end(
        &mut self,
        translator: &FixTranslator,
        fills: Option<Vec<VenueFill>>,
        message: &FixMessage<'_>,
    ) -> FillListStep {
        let Some(asked) = self.asked.take() else { return FillListStep::NotOfList };
        let is_in_parts = translator.dialect().recovery.fills_limit_tag.is_some();
        if fills.is_none() && message.msg_type() == b"AQ" && asked.cursor.is_none() {
            self.shorten_first();
        }
        let report = match fills.filter(|_| !asked.is_spoilt) {
            Some(fills) => ReportKind::Fills(asked.into_page(fills, is_in_parts)),
            None => {
                let reason = message.text(58).unwrap_or("the executions of the venue cannot be read");
                ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason: reason.into() }
            }
        };
        FillListStep::Done(report.into())
    }

    /// Asked again in the same way, it would be refused for ever, and no list would ever begin.
    fn shorten_first(&mut self) {
        self.first_seconds = (self.first_seconds / 2).max(FIRST_LIST_SECONDS_MIN);
        let seconds = self.first_seconds;
        tracing::warn!(
            seconds,
            "the venue refuses the first list of executions; the next one begins so many seconds back"
        );
    }
}

/// The question that BusinessRejectRefID (379) names; absent where the field is, and within it where it is none of ours.
fn refused_question(message: &FixMessage<'_>) -> Option<Option<QuestionId>> {
    message.text(379).map(|id| QuestionId::read(CAPTURE_PREFIX, id))
}

impl AskedFills {
    fn is_answered_by(&self, message: &FixMessage<'_>) -> bool {
        message.text(568).and_then(|text| QuestionId::read(CAPTURE_PREFIX, text)) == Some(self.id)
    }

    /// The next list begins behind it, so it needs a time and an id.
    fn on_report(&mut self, translator: &FixTranslator, message: &FixMessage<'_>) {
        self.reports += 1;
        let at = message.time(60).map(|time| Timestamp(time.nanos()));
        match at.zip(translator.captured_exec_id(message)) {
            Some((at, exec_id)) => self.next.get_or_insert(FillCursor { at, exec_ids: Vec::new() }).note(at, exec_id),
            None => self.is_spoilt = true,
        }
    }

    /// Executions that the last list ended with are not told again. A page that is full may have others behind it.
    fn into_page(self, mut fills: Vec<VenueFill>, is_in_parts: bool) -> FillsPage {
        fills.retain(|fill| !self.cursor.as_ref().is_some_and(|cursor| cursor.has(fill)));
        let from = self.cursor.as_ref().map(FillCursor::text);
        let is_ahead = |next: &FillCursor| self.cursor.as_ref().is_none_or(|cursor| next.at >= cursor.at);
        let next_cursor = self.next.filter(is_ahead).as_ref().map(FillCursor::text);
        FillsPage {
            security: None,
            next_cursor: next_cursor.or_else(|| from.clone()),
            from,
            fills,
            last: !is_in_parts || self.reports < FILLS_PER_PAGE,
            as_of: self.as_of,
        }
    }
}
