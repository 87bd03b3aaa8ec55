//! Positions of an account: Request for Positions (AN), its acknowledgement (AO) and the reports (AP).

use domain::report::{VenuePosition, VenueStatement};
use domain::{AccountId, Quantity, SecurityId, Timestamp};
use fix::{FixMessage, OutgoingMessage};

use crate::account::open_captures::DATE_DIGITS;
use crate::dialect::Dialect;
use crate::execution::decimal;
use crate::requests::{QuestionId, RequestKind, RequestRefusal, utc, write_constants};

/// First letter of PosReqID (710).
const POSITIONS_PREFIX: char = 'P';

/// Asks what the venue holds for an account.
pub fn position_request(
    dialect: &Dialect,
    id: QuestionId,
    account: &str,
    at: Timestamp,
) -> Result<OutgoingMessage, RequestRefusal> {
    let mut time = Vec::new();
    utc(at).write(dialect.session.time_digits, &mut time);
    let mut message = OutgoingMessage::new(RequestKind::Positions.msg_type());
    message.field(710, id.text(POSITIONS_PREFIX)).field(724, "0").field(1, account).field(581, "1");
    message.field(715, &time[..time.len().min(DATE_DIGITS)]).field(60, &time);
    write_constants(dialect, RequestKind::Positions, &mut message)?;
    Ok(message)
}

/// The newest question about positions; the answer to an older one is not used.
#[derive(Debug, Default)]
pub struct OpenPositions(Option<OpenStatement>);

#[derive(Debug)]
struct OpenStatement {
    id: QuestionId,
    as_of: Timestamp,
    account: AccountId,
    positions: Vec<VenuePosition>,
    reports: u64,
    total: Option<u64>,
}

/// What a message of an answer brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PositionStep {
    Waiting,
    Refused(String),
    Stated(VenueStatement),
}

impl OpenPositions {
    pub fn begin(&mut self, id: QuestionId, as_of: Timestamp, account: AccountId) {
        let statement = OpenStatement { id, as_of, account, positions: Vec::new(), reports: 0, total: None };
        self.0 = Some(statement);
    }

    /// Questions of an earlier connection get no answers.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// `security` says which of ours a report (AP) is about; none where the reference data does not have it.
    pub fn on_message(&mut self, message: &FixMessage<'_>, security: Option<SecurityId>) -> PositionStep {
        let id = message.text(710).and_then(|text| QuestionId::read(POSITIONS_PREFIX, text));
        let Some(open) = self.0.as_mut().filter(|open| Some(open.id) == id) else { return PositionStep::Waiting };
        match message.msg_type() {
            b"AO" => match message.text(728) {
                Some("0") => open.total = message.number(727).or(open.total),
                Some("2") => open.total = Some(0),
                result => {
                    let reason = message.text(58).or(result).unwrap_or_default().to_owned();
                    self.0 = None;
                    return PositionStep::Refused(reason);
                }
            },
            _ => {
                open.reports += 1;
                open.total = message.number(727).or(open.total);
                match (security, held(message)) {
                    (Some(security), Some(quantity)) => open.positions.push(VenuePosition { security, quantity }),
                    (None, Some(_)) => {}
                    (_, None) => {
                        self.0 = None;
                        return PositionStep::Refused("a position cannot be read".to_owned());
                    }
                }
            }
        }
        match self.0.take_if(|open| open.total == Some(open.reports)) {
            Some(open) => PositionStep::Stated(open.into_statement()),
            None => PositionStep::Waiting,
        }
    }
}

impl OpenStatement {
    /// Positions alone: of cash FIX 4.4 says nothing.
    fn into_statement(self) -> VenueStatement {
        VenueStatement {
            as_of: self.as_of,
            account: self.account,
            cash: Vec::new(),
            positions: self.positions,
            cash_complete: false,
            positions_complete: true,
        }
    }
}

/// Whether a message is about positions.
pub(crate) fn is_about_positions(message: &FixMessage<'_>) -> bool {
    matches!(message.msg_type(), b"AO" | b"AP")
}

/// LongQty (704) less ShortQty (705) of the total (703=TOT), or of the first entry where the venue has no total.
fn held(message: &FixMessage<'_>) -> Option<Quantity> {
    let mut entries: Vec<(bool, Quantity)> = Vec::new();
    for field in message.fields() {
        match field.tag {
            703 => entries.push((field.value == b"TOT", Quantity::ZERO)),
            704 | 705 => {
                let size = Quantity(domain::Decimal::from_str_exact(std::str::from_utf8(field.value).ok()?).ok()?);
                let (_, sum) = entries.last_mut()?;
                *sum = if field.tag == 704 { sum.plus(size).ok()? } else { sum.minus(size).ok()? };
            }
            _ => {}
        }
    }
    let total = entries.iter().find(|(is_total, _)| *is_total).or_else(|| entries.first());
    // A message whose count says that there is none holds nothing.
    match total {
        Some((_, quantity)) => Some(*quantity),
        None => decimal(message, 702).ok().flatten().filter(domain::Decimal::is_zero).map(|_| Quantity::ZERO),
    }
}
