//! Schemas of reference data and platform resources: accounts, securities, users, health.

use super::kind::Kind::*;
use super::{Shape, form, golden, has, may_have, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape(
        "AccountVO",
        "An account at a venue.",
        &[
            has("id", Id),
            has("name", Text),
            has("active", Flag),
            has("adapterType", Text),
            has("broker", Text),
            has("sessionQualifier", Maybe(&Text)),
            has("extAccount", Maybe(&Text)),
            has("extAccountGroup", Maybe(&Text)),
            has("extAllocationProfile", Maybe(&Text)),
            has("extClearingAccount", Maybe(&Text)),
        ],
    )
    .like(golden!("AccountVO")),
    shape(
        "SecurityVO",
        "Something that is traded or observed; the keys of a kind stand only on that kind.",
        &[
            has("id", Id),
            has("objectType", OneOf(SECURITY_TYPES)),
            has("symbol", Text),
            has("description", Maybe(&Text)),
            has("isin", Maybe(&Text)),
            has("bbgid", Maybe(&Text)),
            has("ric", Maybe(&Text)),
            has("conid", Maybe(&Text)),
            has("adapterTicker", Maybe(&Text)),
            has("underlyingId", Maybe(&Id)),
            has("securityFamilyId", Maybe(&Id)),
            has("exchangeId", Id),
            has("currency", Currency),
            has("contractSize", Number),
            has("minQty", Maybe(&Number)),
            has("maxQty", Maybe(&Number)),
            has("qtyIncr", Number),
            has("minPrice", Maybe(&Number)),
            has("maxPrice", Maybe(&Number)),
            has("priceIncr", Number),
            has("minNotional", Maybe(&Number)),
            has("tradeable", Flag),
            may_have("baseCurrency", Currency),
            may_have("transactionCurrency", Currency),
            may_have("expiration", Date),
            may_have("monthYear", Text),
            may_have("firstNotice", Maybe(&Date)),
            may_have("strike", Number),
            may_have("optionType", OneOf(&["CALL", "PUT"])),
            may_have("maturity", Date),
            may_have("coupon", Number),
            may_have("couponFrequency", Whole),
        ],
    )
    .varying(&[
        form(
            "PlainSecurityVO",
            "A security without keys of its own kind.",
            &["Stock", "Index", "Commodity", "Fund", "PerpetualSwap"],
            &[],
        ),
        form("ForexVO", "A currency pair.", &["Forex"], &["baseCurrency", "transactionCurrency"]),
        form("FutureVO", "A future.", &["Future"], &["expiration", "monthYear", "firstNotice"]),
        form("OptionVO", "An option.", &["Option"], &["expiration", "strike", "optionType"]),
        form("BondVO", "A bond.", &["Bond"], &["maturity", "coupon", "couponFrequency"]),
    ])
    .like(golden!("SecurityVO")),
    shape(
        "SecurityFamilyVO",
        "What the securities of a family have in common. `settlement` says what becomes of a future or an option that expires; \
        null: a future pays its value, an option delivers its underlying unless that is an index.",
        &[
            has("id", Id),
            has("name", Text),
            has("symbolRoot", Maybe(&Text)),
            has("isinRoot", Maybe(&Text)),
            has("ricRoot", Maybe(&Text)),
            has("currency", Currency),
            has("contractSize", Number),
            has("priceIncr", Number),
            has("underlyingId", Maybe(&Id)),
            has("exchangeId", Maybe(&Id)),
            has("executionCommission", Number),
            has("clearingCommission", Number),
            has("fee", Number),
            has("settlement", Maybe(&OneOf(&["CASH", "PHYSICAL"]))),
        ],
    )
    .like(golden!("SecurityFamilyVO")),
    shape(
        "StrategyVO",
        "A strategy; its phase is null while it has not run. One that was stopped has the reason until it starts again.",
        &[
            has("id", Id),
            has("name", Text),
            has("autoActivate", Flag),
            has("phase", Maybe(&OneOf(PHASES))),
            has("lastError", Maybe(&Text)),
        ],
    )
    .like(golden!("StrategyVO")),
    shape(
        "ExchangeVO",
        "An exchange with its hours, in its own time zone.",
        &[
            has("id", Id),
            has("name", Text),
            has("code", Maybe(&Text)),
            has("mic", Maybe(&Text)),
            has("bloombergCode", Maybe(&Text)),
            has("timeZone", Text),
            has("tradingHours", List(&Shape("TradingHours"))),
            has("holidays", List(&Shape("Holiday"))),
        ],
    )
    .like(golden!("ExchangeVO")),
    shape(
        "TradingHours",
        "A session; Monday is day 1, Sunday day 7.",
        &[has("open", Hour), has("close", Hour), has("days", List(&Whole))],
    ),
    shape(
        "Holiday",
        "A day without a session, or with a shorter one.",
        &[has("date", Date), has("open", Maybe(&Hour)), has("close", Maybe(&Hour))],
    ),
    shape("ImportedVO", "Number of differences that were applied.", &[has("changes", Whole)])
        .like(golden!("ImportedVO")),
    shape(
        "IdentityVO",
        "The caller as authenticated by the server; an anonymous caller has no name.",
        &[has("user", Maybe(&Text)), has("role", OneOf(ROLES)), has("strategy", Maybe(&Text))],
    )
    .like(golden!("IdentityVO")),
    shape("Settings", "Settings of a user: any JSON, not interpreted.", &[])
        .like(r#"{"layout": "wide", "watchList": [1, 2, 3]}"#),
    shape(
        "UserVO",
        "A user with the role, and the strategy that the role strategy is bound to.",
        &[has("name", Text), has("role", OneOf(ROLES)), has("strategy", Maybe(&Text)), has("created", Millis)],
    )
    .like(golden!("UserVO")),
    shape(
        "TokenVO",
        "The key of a program, without its secret.",
        &[
            has("name", Text),
            has("prefix", Text),
            has("role", OneOf(ROLES)),
            has("strategy", Maybe(&Text)),
            has("created", Millis),
            has("expires", Millis),
        ],
    )
    .like(golden!("TokenVO")),
    shape(
        "NewTokenVO",
        "A key when it is made: the only time that it is seen whole.",
        &[
            has("name", Text),
            has("prefix", Text),
            has("role", OneOf(ROLES)),
            has("strategy", Maybe(&Text)),
            has("created", Millis),
            has("expires", Millis),
            has("token", Text),
        ],
    )
    .like(golden!("NewTokenVO")),
    shape(
        "AuditVO",
        "What was refused, or done with power; equal rows of one minute are counted in one.",
        &[
            has("id", Id),
            has("dateTime", Millis),
            has("user", Maybe(&Text)),
            has("door", Text),
            has("peer", Maybe(&Text)),
            has("action", Text),
            has("outcome", Text),
            has("detail", Text),
            has("times", Whole),
            has("lastDateTime", Millis),
        ],
    )
    .like(golden!("AuditVO")),
    shape(
        "FixSessionVO",
        "A session of the FIX gateway, with the next sequence numbers.",
        &[
            has("id", Text),
            has("senderCompId", Text),
            has("targetCompId", Text),
            has("state", OneOf(&["LOGGED_ON", "CONNECTED", "DISCONNECTED"])),
            has("peer", Maybe(&Text)),
            has("nextIn", Whole),
            has("nextOut", Whole),
            has("lastReceived", Maybe(&Millis)),
            has("lastSent", Maybe(&Millis)),
            has("nextReset", Maybe(&Millis)),
            has("reason", Maybe(&Text)),
        ],
    )
    .like(golden!("FixSessionVO")),
    shape(
        "LogEvent",
        "A line of the log.",
        &[
            has("dateTime", Millis),
            has("level", OneOf(&["ERROR", "WARN", "INFO", "DEBUG", "TRACE"])),
            has("logger", Text),
            has("message", Text),
            has("exceptionClass", Maybe(&Text)),
            has("exceptionMessage", Maybe(&Text)),
        ],
    )
    .like(golden!("LogEvent")),
    shape(
        "Health",
        "UP where every check is passed.",
        &[has("status", OneOf(&["UP", "DOWN"])), has("checks", List(&Shape("Check")))],
    )
    .like(golden!("Health")),
    shape("Check", "One check of readiness.", &[has("name", Text), has("ok", Flag), has("detail", Text)]),
    shape(
        "Problem",
        "Why a call failed, as RFC 9457 has it. Programs go by the code, people by the detail.",
        &[
            has("type", Text),
            has("title", Text),
            has("status", Whole),
            has("detail", Text),
            has("code", Text),
            may_have("errors", List(&Shape("FieldError"))),
            may_have("order", Shape("OrderVO")),
        ],
    )
    .like(golden!("Problem")),
    shape("FieldError", "A field that is to blame.", &[has("field", Text), has("code", Text), has("reason", Text)]),
];

const SECURITY_TYPES: &[&str] =
    &["Stock", "Forex", "Future", "Option", "Index", "Bond", "Commodity", "Fund", "PerpetualSwap"];
const PHASES: &[&str] = &["INIT", "PREFEED", "START", "RUN", "EXIT"];
pub(super) const ROLES: &[&str] = &["VIEWER", "TRADER", "STRATEGY", "ADMIN"];
