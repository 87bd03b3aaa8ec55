//! Schemas of reference data and platform resources: accounts, securities, users, health.

use super::object::{ObjectSchema, golden, optional, required, shape, variant};
use super::schema_type::SchemaType::*;

pub(super) const SHAPES: &[ObjectSchema] = &[
    shape(
        "AccountVO",
        "An account at a venue.",
        &[
            required("id", Id),
            required("name", Text),
            required("active", Flag),
            required("adapterType", Text),
            required("broker", Text),
            required("sessionQualifier", Maybe(&Text)),
            required("extAccount", Maybe(&Text)),
            required("extAccountGroup", Maybe(&Text)),
            required("extAllocationProfile", Maybe(&Text)),
            required("extClearingAccount", Maybe(&Text)),
        ],
    )
    .with_example(golden!("AccountVO")),
    shape(
        "AdapterVO",
        "An adapter: the state of its session, and what its venue offers.",
        &[
            required("name", Text),
            required("adapterType", Text),
            required("sessionQualifier", Maybe(&Text)),
            required("state", OneOf(SESSION_STATES)),
            required("simulated", Flag),
            required("exchangeIds", List(&Id)),
            required("orderProperties", List(&OneOf(ORDER_PROPERTIES))),
            required("openFor", OneOf(OPEN_FOR)),
            required("lines", List(&Shape("LineVO"))),
        ],
    )
    .with_example(golden!("AdapterVO")),
    shape(
        "LineVO",
        "A connection of an adapter to its venue, and what the server has seen of it since it started.",
        &[
            required("line", OneOf(LINES)),
            required("up", Flag),
            required("since", Maybe(&Millis)),
            required("lastHeard", Maybe(&Millis)),
            required("reason", Maybe(&Text)),
        ],
    ),
    shape(
        "SecurityVO",
        "Something that is traded or observed; the keys of a kind stand only on that kind.",
        &[
            required("id", Id),
            required("objectType", OneOf(SECURITY_TYPES)),
            required("symbol", Text),
            required("description", Maybe(&Text)),
            required("isin", Maybe(&Text)),
            required("bbgid", Maybe(&Text)),
            required("ric", Maybe(&Text)),
            required("conid", Maybe(&Text)),
            required("adapterTicker", Maybe(&Text)),
            required("underlyingId", Maybe(&Id)),
            required("securityFamilyId", Maybe(&Id)),
            required("exchangeId", Id),
            required("currency", Currency),
            required("contractSize", Number),
            required("minQty", Maybe(&Number)),
            required("maxQty", Maybe(&Number)),
            required("qtyIncr", Number),
            required("minPrice", Maybe(&Number)),
            required("maxPrice", Maybe(&Number)),
            required("priceIncr", Number),
            required("minNotional", Maybe(&Number)),
            required("tradeable", Flag),
            required("venueSymbols", TextsByKey),
            optional("baseCurrency", Currency),
            optional("transactionCurrency", Currency),
            optional("expiration", Date),
            optional("monthYear", Text),
            optional("firstNotice", Maybe(&Date)),
            optional("strike", Number),
            optional("optionType", OneOf(&["CALL", "PUT"])),
            optional("maturity", Date),
            optional("coupon", Number),
            optional("couponFrequency", Whole),
        ],
    )
    .with_variants(&[
        variant(
            "PlainSecurityVO",
            "A security without keys of its own kind.",
            &["Stock", "Index", "Commodity", "Fund", "PerpetualSwap"],
            &[],
        ),
        variant("ForexVO", "A currency pair.", &["Forex"], &["baseCurrency", "transactionCurrency"]),
        variant("FutureVO", "A future.", &["Future"], &["expiration", "monthYear", "firstNotice"]),
        variant("OptionVO", "An option.", &["Option"], &["expiration", "strike", "optionType"]),
        variant("BondVO", "A bond.", &["Bond"], &["maturity", "coupon", "couponFrequency"]),
    ])
    .with_example(golden!("SecurityVO")),
    shape(
        "SecurityFamilyVO",
        "What the securities of a family have in common. `settlement` says what becomes of a future or an option that expires; \
        null: a future pays its value, an option delivers its underlying unless that is an index.",
        &[
            required("id", Id),
            required("name", Text),
            required("symbolRoot", Maybe(&Text)),
            required("isinRoot", Maybe(&Text)),
            required("ricRoot", Maybe(&Text)),
            required("currency", Currency),
            required("contractSize", Number),
            required("priceIncr", Number),
            required("underlyingId", Maybe(&Id)),
            required("exchangeId", Maybe(&Id)),
            required("executionCommission", Number),
            required("clearingCommission", Number),
            required("fee", Number),
            required("settlement", Maybe(&OneOf(&["CASH", "PHYSICAL"]))),
        ],
    )
    .with_example(golden!("SecurityFamilyVO")),
    shape(
        "StrategyVO",
        "A strategy; its phase is null while it has not run. One that was stopped has the reason until it starts again.",
        &[
            required("id", Id),
            required("name", Text),
            required("autoActivate", Flag),
            required("phase", Maybe(&OneOf(PHASES))),
            required("lastError", Maybe(&Text)),
        ],
    )
    .with_example(golden!("StrategyVO")),
    shape(
        "ExchangeVO",
        "An exchange with its hours, in its own time zone.",
        &[
            required("id", Id),
            required("name", Text),
            required("code", Maybe(&Text)),
            required("mic", Maybe(&Text)),
            required("bloombergCode", Maybe(&Text)),
            required("timeZone", Text),
            required("tradingHours", List(&Shape("TradingHours"))),
            required("holidays", List(&Shape("Holiday"))),
        ],
    )
    .with_example(golden!("ExchangeVO")),
    shape(
        "TradingHours",
        "A session; Monday is day 1, Sunday day 7.",
        &[required("open", Hour), required("close", Hour), required("days", List(&Whole))],
    ),
    shape(
        "Holiday",
        "A day without a session, or with a shorter one.",
        &[required("date", Date), required("open", Maybe(&Hour)), required("close", Maybe(&Hour))],
    ),
    shape("ImportedVO", "Number of differences that were applied.", &[required("changes", Whole)])
        .with_example(golden!("ImportedVO")),
    shape(
        "IdentityVO",
        "The caller as authenticated by the server; an anonymous caller has no name.",
        &[required("user", Maybe(&Text)), required("role", OneOf(ROLES)), required("strategy", Maybe(&Text))],
    )
    .with_example(golden!("IdentityVO")),
    shape("Settings", "Settings of a user: any JSON, not interpreted.", &[])
        .with_example(r#"{"layout": "wide", "watchList": [1, 2, 3]}"#),
    shape(
        "UserVO",
        "A user with the role, and the strategy that the role strategy is bound to.",
        &[
            required("name", Text),
            required("role", OneOf(ROLES)),
            required("strategy", Maybe(&Text)),
            required("created", Millis),
            required("accounts", Maybe(&List(&Id))),
            required("securities", Maybe(&List(&Id))),
            required("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
        ],
    )
    .with_example(golden!("UserVO")),
    shape(
        "TokenVO",
        "The key of a program, without its secret.",
        &[
            required("name", Text),
            required("prefix", Text),
            required("role", OneOf(ROLES)),
            required("strategy", Maybe(&Text)),
            required("created", Millis),
            required("expires", Millis),
            required("accounts", Maybe(&List(&Id))),
            required("securities", Maybe(&List(&Id))),
            required("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
        ],
    )
    .with_example(golden!("TokenVO")),
    shape(
        "NewTokenVO",
        "A key when it is made: the only time that it is seen whole.",
        &[
            required("name", Text),
            required("prefix", Text),
            required("role", OneOf(ROLES)),
            required("strategy", Maybe(&Text)),
            required("created", Millis),
            required("expires", Millis),
            required("accounts", Maybe(&List(&Id))),
            required("securities", Maybe(&List(&Id))),
            required("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
            required("token", Text),
        ],
    )
    .with_example(golden!("NewTokenVO")),
    shape(
        "AuditVO",
        "What was refused, or done with power; equal rows of one minute are counted in one.",
        &[
            required("id", Id),
            required("dateTime", Millis),
            required("user", Maybe(&Text)),
            required("door", Text),
            required("peer", Maybe(&Text)),
            required("action", Text),
            required("outcome", Text),
            required("detail", Text),
            required("times", Whole),
            required("lastDateTime", Millis),
        ],
    )
    .with_example(golden!("AuditVO")),
    shape(
        "FixSessionVO",
        "A session of the FIX gateway, with the next sequence numbers.",
        &[
            required("id", Text),
            required("senderCompId", Text),
            required("targetCompId", Text),
            required("state", OneOf(&["LOGGED_ON", "CONNECTED", "DISCONNECTED"])),
            required("peer", Maybe(&Text)),
            required("nextIn", Whole),
            required("nextOut", Whole),
            required("lastReceived", Maybe(&Millis)),
            required("lastSent", Maybe(&Millis)),
            required("nextReset", Maybe(&Millis)),
            required("reason", Maybe(&Text)),
        ],
    )
    .with_example(golden!("FixSessionVO")),
    shape(
        "LogEvent",
        "A line of the log.",
        &[
            required("dateTime", Millis),
            required("level", OneOf(&["ERROR", "WARN", "INFO", "DEBUG", "TRACE"])),
            required("logger", Text),
            required("message", Text),
            required("exceptionClass", Maybe(&Text)),
            required("exceptionMessage", Maybe(&Text)),
        ],
    )
    .with_example(golden!("LogEvent")),
    shape(
        "Health",
        "UP where every check is passed.",
        &[required("status", OneOf(&["UP", "DOWN"])), required("checks", List(&Shape("Check")))],
    )
    .with_example(golden!("Health")),
    shape("Check", "One check of readiness.", &[required("name", Text), required("ok", Flag), required("detail", Text)]),
    shape(
        "Problem",
        "Why a call failed, as RFC 9457 has it. Programs go by the code, people by the detail.",
        &[
            required("type", Text),
            required("title", Text),
            required("status", Whole),
            required("detail", Text),
            required("code", Text),
            optional("errors", List(&Shape("FieldError"))),
            optional("order", Shape("OrderVO")),
        ],
    )
    .with_example(golden!("Problem")),
    shape("FieldError", "A field that is to blame.", &[required("field", Text), required("code", Text), required("reason", Text)]),
];

const SECURITY_TYPES: &[&str] =
    &["Stock", "Forex", "Future", "Option", "Index", "Bond", "Commodity", "Fund", "PerpetualSwap"];
pub(super) const SESSION_STATES: &[&str] = &["DISCONNECTED", "CONNECTED", "LOGGED_ON", "SUBSCRIBED"];
pub(super) const OPEN_FOR: &[&str] = &["NOTHING", "REDUCE", "ORDERS"];
pub(super) const LINES: &[&str] = &["TRADING", "PRIVATE", "PRICES"];
const ORDER_PROPERTIES: &[&str] = &["postOnly", "displayQuantity", "minQuantity", "reduceOnly"];
const PHASES: &[&str] = &["INIT", "PREFEED", "START", "RUN", "EXIT"];
pub(super) const ROLES: &[&str] = &["VIEWER", "TRADER", "STRATEGY", "ADMIN"];
pub(super) const INTERFACES: &[&str] = &["REST", "FIX", "STOMP"];
