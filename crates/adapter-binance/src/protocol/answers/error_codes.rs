//! Error codes of the venue, and what each means for the request that got it.

/// What an error says about the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorMeaning {
    /// It certainly did not take effect.
    Refused,
    /// It may have taken effect: the venue itself does not know.
    Unknown,
    /// An open order has the same client id: the first one lives.
    Duplicate,
    /// There is no such order, or not any more. A fresh order may be found a little later.
    NoSuchOrder,
    /// Too many requests or orders; wait.
    RateLimited,
    /// Our timestamp does not fit the venue's clock.
    Clock,
    /// The key, its permissions or our address are not accepted.
    Key,
    /// A cancel-replace of which one half succeeded.
    HalfDone,
    /// The order is too old to be shown.
    Archived,
    /// The user data stream is already subscribed.
    AlreadySubscribed,
}

/// A code with its documented name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode {
    pub code: i64,
    pub name: &'static str,
    pub meaning: ErrorMeaning,
}

const fn code(code: i64, name: &'static str, meaning: ErrorMeaning) -> ErrorCode {
    ErrorCode { code, name, meaning }
}

/// Codes that requests of this adapter can get. A code that is not here means what its status means.
pub const ERROR_CODES: [ErrorCode; 51] = {
    use ErrorMeaning::{AlreadySubscribed, Archived, Clock, HalfDone, Key, NoSuchOrder, RateLimited, Refused, Unknown};
    [
        code(-1000, "UNKNOWN", Unknown),
        code(-1001, "DISCONNECTED", Unknown),
        code(-1002, "UNAUTHORIZED", Key),
        code(-1003, "TOO_MANY_REQUESTS", RateLimited),
        code(-1006, "UNEXPECTED_RESP", Unknown),
        code(-1007, "TIMEOUT", Unknown),
        code(-1008, "SERVER_BUSY", Unknown),
        code(-1013, "INVALID_MESSAGE", Refused),
        code(-1014, "UNKNOWN_ORDER_COMPOSITION", Refused),
        code(-1015, "TOO_MANY_ORDERS", RateLimited),
        code(-1016, "SERVICE_SHUTTING_DOWN", Unknown),
        code(-1020, "UNSUPPORTED_OPERATION", Refused),
        code(-1021, "INVALID_TIMESTAMP", Clock),
        code(-1022, "INVALID_SIGNATURE", Key),
        code(-1034, "TOO_MANY_CONNECTIONS", RateLimited),
        code(-1100, "ILLEGAL_CHARS", Refused),
        code(-1101, "TOO_MANY_PARAMETERS", Refused),
        code(-1102, "MANDATORY_PARAM_EMPTY_OR_MALFORMED", Refused),
        code(-1103, "UNKNOWN_PARAM", Refused),
        code(-1104, "UNREAD_PARAMETERS", Refused),
        code(-1105, "PARAM_EMPTY", Refused),
        code(-1106, "PARAM_NOT_REQUIRED", Refused),
        code(-1108, "PARAM_OVERFLOW", Refused),
        code(-1111, "BAD_PRECISION", Refused),
        code(-1112, "NO_DEPTH", Refused),
        code(-1114, "TIF_NOT_REQUIRED", Refused),
        code(-1115, "INVALID_TIF", Refused),
        code(-1116, "INVALID_ORDER_TYPE", Refused),
        code(-1117, "INVALID_SIDE", Refused),
        code(-1118, "EMPTY_NEW_CL_ORD_ID", Refused),
        code(-1119, "EMPTY_ORG_CL_ORD_ID", Refused),
        code(-1121, "BAD_SYMBOL", Refused),
        code(-1122, "INVALID_SYMBOLSTATUS", Refused),
        code(-1127, "MORE_THAN_XX_HOURS", Refused),
        code(-1128, "OPTIONAL_PARAMS_BAD_COMBO", Refused),
        code(-1130, "INVALID_PARAMETER", Refused),
        code(-1135, "INVALID_JSON", Refused),
        code(-1145, "INVALID_CANCEL_RESTRICTIONS", Refused),
        code(-1220, "SYMBOL_DOES_NOT_MATCH_STATUS", Refused),
        code(-2010, "NEW_ORDER_REJECTED", Refused),
        code(-2011, "CANCEL_REJECTED", Refused),
        code(-2013, "NO_SUCH_ORDER", NoSuchOrder),
        code(-2014, "BAD_API_KEY_FMT", Key),
        code(-2015, "REJECTED_MBX_KEY", Key),
        code(-2021, "CANCEL_REPLACE_PARTIALLY_FAILED", HalfDone),
        code(-2022, "CANCEL_REPLACE_FAILED", Refused),
        code(-2026, "ORDER_ARCHIVED", Archived),
        code(-2035, "SUBSCRIPTION_ACTIVE", AlreadySubscribed),
        code(-2036, "SUBSCRIPTION_INACTIVE", Refused),
        code(-2038, "ORDER_AMEND_REJECTED", Refused),
        code(-2039, "CLIENT_ORDER_ID_INVALID", Refused),
    ]
};

/// Messages that say more than their code (-1010, -2010, -2011, -2038).
const MESSAGE_MEANINGS: [(&str, ErrorMeaning); 2] =
    [("Duplicate order sent.", ErrorMeaning::Duplicate), ("Unknown order sent.", ErrorMeaning::NoSuchOrder)];

/// The message codes are shared by.
const MESSAGE_CODES: [i64; 4] = [-1010, -2010, -2011, -2038];

/// Meaning of the statuses whose answers have no code that is known: an error page, a firewall, a code of tomorrow.
pub fn meaning_of_status(status: u16) -> ErrorMeaning {
    match status {
        401 => ErrorMeaning::Key,
        403 => ErrorMeaning::Refused,
        409 => ErrorMeaning::HalfDone,
        418 | 429 => ErrorMeaning::RateLimited,
        408 => ErrorMeaning::Unknown,
        400..=499 => ErrorMeaning::Refused,
        // 5xx is documented as unknown. What is no error status was not answered by the venue's API.
        _ => ErrorMeaning::Unknown,
    }
}

/// A server error is unknown whatever its code says: the documentation names the status, not the code.
pub fn meaning_of(status: u16, error_code: i64, message: &str) -> ErrorMeaning {
    if status >= 500 {
        return ErrorMeaning::Unknown;
    }
    if matches!(status, 418 | 429) {
        return ErrorMeaning::RateLimited;
    }
    let by_message = MESSAGE_MEANINGS.iter().find(|(text, _)| message.starts_with(text));
    match by_message.filter(|_| MESSAGE_CODES.contains(&error_code)) {
        Some((_, meaning)) => *meaning,
        None => known(error_code).map_or_else(|| meaning_of_status(status), |known| known.meaning),
    }
}

pub fn known(error_code: i64) -> Option<&'static ErrorCode> {
    ERROR_CODES.iter().find(|known| known.code == error_code)
}
