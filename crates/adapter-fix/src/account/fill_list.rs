//! The list of executions while the session is up, by a trade capture (AD) from a cursor on. It counts when its last report has come; half of
//! one is none. The cursor is the time of the last execution and the ids of those that happened then, because the next list begins with them.

use domain::report::{FillsPage, ListingScope, ReportKind, VenueFill};
use domain::{Text, Timestamp};
use fix::FixMessage;

use crate::account::open_captures::{CAPTURE_PREFIX, CaptureScope, CaptureStep, Captured, TakenBack};
use crate::reports::FixTranslator;
use crate::requests::QuestionId;

/// Executions of one page, where the venue can be told; the next page begins behind them.
pub(crate) const FILLS_PER_PAGE: usize = 1_000;
/// Executions of a page behind one that ended at the instant at which it began: the next one of as many would be the same. A Rialto tells no
/// more at once.
pub(crate) const FILLS_PER_PAGE_MAX: usize = 10_000;
/// Executions of one instant that a cursor names; others of that instant are listed again, and booked once.
pub(crate) const CURSOR_IDS_MAX: usize = 64;
/// Without a cursor the list begins so far back: the engine knows the orders of so long.
const FIRST_LIST_SECONDS: i64 = 23 * 3_600;
/// A venue may refuse a list for what there is since then: the next first one begins half as far back, and never less than so far.
const FIRST_LIST_SECONDS_MIN: i64 = 300;

/// What of a cursor says that its instant has more than a page.
const CROWDED: char = '+';

/// Where a list ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FillCursor {
    at: Timestamp,
    /// More happened at that instant than fits on a page, so the next page is the largest.
    is_crowded: bool,
    /// What happened at that instant and was listed.
    exec_ids: Vec<Text>,
}

impl FillCursor {
    /// `None` where it is none of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let instant = words.next()?;
        let nanos = instant.strip_suffix(CROWDED).unwrap_or(instant);
        let (at, is_crowded) = (Timestamp(nanos.parse().ok()?), nanos != instant);
        Some(Self { at, is_crowded, exec_ids: words.map(Text::from).collect() })
    }

    fn at(at: Timestamp) -> Self {
        Self { at, is_crowded: false, exec_ids: Vec::new() }
    }

    fn text(&self) -> Text {
        let words = self.exec_ids.iter().map(|id| format!(" {id}"));
        let crowded = if self.is_crowded { CROWDED.to_string() } else { String::new() };
        format!("{}{crowded}{}", self.at.0, words.collect::<String>()).into()
    }

    fn has(&self, fill: &VenueFill) -> bool {
        fill.at == Some(self.at) && self.exec_ids.contains(&fill.exec_id)
    }

    fn has_taken_back(&self, taken: &TakenBack) -> bool {
        taken.at == Some(self.at) && taken.told_by.as_ref().is_some_and(|id| self.exec_ids.contains(id))
    }

    /// An id with a blank cannot be part of it.
    fn note(&mut self, at: Timestamp, exec_id: Text) {
        if at > self.at {
            *self = Self::at(at);
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
    /// The instant at which the list stands still, as was told.
    stuck_at: Option<Timestamp>,
}

impl Default for FillList {
    fn default() -> Self {
        Self { asked: None, first_seconds: FIRST_LIST_SECONDS, stuck_at: None }
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
    /// As many reports as were asked for may have others behind them; absent where the venue tells all.
    page: Option<usize>,
    /// Digits of a second in the question: what happened within the last one happened at one instant.
    time_digits: u8,
}

/// What a message means for the list.
#[derive(Debug)]
pub(crate) enum FillListStep {
    /// It is not part of the answer.
    NotOfList,
    /// More has to come.
    Waiting,
    Done(Vec<ReportKind>),
}

impl FillList {
    /// What is to be asked for from a cursor on.
    pub(crate) fn scope(&self, cursor: Option<&FillCursor>, at: Timestamp, read_lag_millis: u32) -> CaptureScope {
        let from = match cursor {
            Some(cursor) => cursor.at.plus_millis(-i64::from(read_lag_millis)),
            None => at.plus_seconds(-self.first_seconds),
        };
        CaptureScope::Oldest(from, page_size(cursor))
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
        let page = translator.dialect().recovery.fills_limit_tag.map(|_| page_size(cursor.as_ref()));
        let time_digits = translator.dialect().session.time_digits;
        self.asked =
            Some(AskedFills { id, as_of, cursor, next: None, reports: 0, is_spoilt: false, page, time_digits });
    }

    /// Questions of an earlier connection get no answers.
    pub(crate) fn clear(&mut self) {
        *self = Self { stuck_at: self.stuck_at, ..Self::default() };
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
                    CaptureStep::Done { captured, .. } => self.end(translator, captured, message),
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
        translator: &mut FixTranslator,
        captured: Option<Captured>,
        message: &FixMessage<'_>,
    ) -> FillListStep {
        let Some(asked) = self.asked.take() else { return FillListStep::NotOfList };
        if captured.is_none() && message.msg_type() == b"AQ" && asked.cursor.is_none() {
            self.shorten_first();
        }
        FillListStep::Done(match captured.filter(|_| !asked.is_spoilt) {
            Some(captured) => {
                captured.taken_back.iter().for_each(|taken| translator.chains.take_back(taken));
                let (told_at, stuck_at) = (self.stuck_at, asked.stuck_at());
                self.stuck_at = stuck_at;
                asked.into_reports(captured, stuck_at.is_some() && stuck_at == told_at)
            }
            None => vec![failed(message.text(58).unwrap_or("the executions of the venue cannot be read"))],
        })
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

fn page_size(cursor: Option<&FillCursor>) -> usize {
    if cursor.is_some_and(|cursor| cursor.is_crowded) { FILLS_PER_PAGE_MAX } else { FILLS_PER_PAGE }
}

fn failed(reason: &str) -> ReportKind {
    ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason: reason.into() }
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
            Some((at, exec_id)) => self.next.get_or_insert(FillCursor::at(at)).note(at, exec_id),
            None => self.is_spoilt = true,
        }
    }

    /// What was listed is booked also where the list cannot go on, which is told once. What was taken back comes first: a correction is then
    /// booked in place of what it corrects.
    fn into_reports(mut self, mut captured: Captured, is_told: bool) -> Vec<ReportKind> {
        captured.taken_back.retain(|taken| !self.cursor.as_ref().is_some_and(|cursor| cursor.has_taken_back(taken)));
        let taken_back = captured.taken_back.into_iter().map(TakenBack::report).collect::<Vec<_>>();
        let (is_full, stands_still, stuck_at) = (self.is_full(), self.stands_still(), self.stuck_at());
        let was_crowded = self.is_crowded();
        let mut next = self.next.take().filter(|next| self.cursor.as_ref().is_none_or(|cursor| next.at >= cursor.at));
        next = next.or_else(|| self.cursor.clone());
        if let Some(next) = &mut next {
            next.is_crowded = stands_still && (is_full || was_crowded);
        }
        // It was compared up to that instant, and is behind by more and more.
        self.as_of = stuck_at.unwrap_or(self.as_of);
        let page = ReportKind::Fills(self.into_page(captured.fills, next.as_ref(), stuck_at.is_some() || !is_full));
        let told = stuck_at.filter(|_| !is_told).map(|at| failed(&too_many_at(at)));
        taken_back.into_iter().chain([page]).chain(told).collect()
    }

    fn is_crowded(&self) -> bool {
        self.cursor.as_ref().is_some_and(|cursor| cursor.is_crowded)
    }

    /// The instant at which the largest page begins and ends: no further question brings more.
    fn stuck_at(&self) -> Option<Timestamp> {
        let at = self.next.as_ref().map(|next| next.at);
        at.filter(|_| self.is_full() && self.stands_still() && self.is_crowded())
    }

    /// A page that is full may have others behind it.
    fn is_full(&self) -> bool {
        self.page.is_some_and(|page| self.reports >= page)
    }

    /// Whether the next question begins where this one did.
    fn stands_still(&self) -> bool {
        let step = 10_i64.pow(9_u32.saturating_sub(self.time_digits.into()));
        let asked = |at: Timestamp| at.0.div_euclid(step);
        let at = self.cursor.as_ref().map(|cursor| cursor.at);
        at.is_some_and(|at| self.next.as_ref().is_none_or(|next| asked(next.at) <= asked(at)))
    }

    /// Executions that the last list ended with are not told again.
    fn into_page(self, mut fills: Vec<VenueFill>, next: Option<&FillCursor>, last: bool) -> FillsPage {
        fills.retain(|fill| !self.cursor.as_ref().is_some_and(|cursor| cursor.has(fill)));
        let from = self.cursor.as_ref().map(FillCursor::text);
        FillsPage { security: None, next_cursor: next.map(FillCursor::text), from, fills, last, as_of: self.as_of }
    }
}

fn too_many_at(at: Timestamp) -> String {
    format!(
        "{FILLS_PER_PAGE_MAX} executions or more happened at {at}, and the venue is not asked for more at once: the list stands still \
         there; reports and inquiries do not, compare with the venue's statement"
    )
}
