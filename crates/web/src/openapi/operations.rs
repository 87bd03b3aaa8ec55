//! Operations: summary, body and response of each handler of the endpoint table.

use serde_json::{Value, json};
use wire::schema::{example, reference};

pub(super) struct Operation {
    pub(super) handler: &'static str,
    pub(super) summary: &'static str,
    pub(super) response: ResponseKind,
    pub(super) body: Option<RequestBody>,
    /// Statuses of failures beyond those that follow from the row itself.
    pub(super) failures: &'static [u16],
    /// Notes for callers.
    pub(super) more: &'static str,
}

/// The successful response of a call.
#[derive(Clone, Copy)]
pub(super) enum ResponseKind {
    /// Nothing but 200.
    Nothing,
    /// Only the location of the created order or transaction.
    Location,
    List(&'static str),
    /// A list with an ETag, which is not sent again.
    TaggedList(&'static str),
    /// A list whose response has the start of the next one.
    Lines(&'static str),
    One(&'static str),
    /// Texts with a description.
    Text(&'static str),
    TextList(&'static str),
    /// A key and a text for each parameter of the configuration.
    Parameters,
    /// The identity of the caller, with the session cookie.
    Session,
    NoSession,
    /// A value whose ETag is its revision.
    Document(&'static str),
    /// Only the ETag of the stored value.
    RevisionTag,
    /// UP, or 503 with the same body.
    Health,
    /// Metrics, in the format of the client.
    Metrics,
    /// A file of this media type.
    File(&'static str),
}

impl ResponseKind {
    /// The columns of a list as a table.
    pub(super) fn columns(self) -> Vec<&'static str> {
        match self {
            Self::List(name) | Self::TaggedList(name) | Self::Lines(name) => wire::schema::keys(name),
            _ => vec![wire::csv::ONLY_COLUMN],
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum RequestBody {
    Needed(&'static str),
    /// A bare number, with its description.
    Id(&'static str),
    Quantity(&'static str),
}

/// Sections of the document, in reading order.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("Reference data", "Accounts, securities, exchanges, strategies"),
    ("Orders", "To see them, to place, change and cancel them"),
    ("Positions", "Positions, cash and what strategies are worth"),
    ("Transactions", "Bookings"),
    ("Market data", "Prices, and who wants which"),
    ("Risk", "Dry runs, limits, trading states, the kill switch"),
    ("History", "What has been, page by page"),
    ("Access", "Logging in, users, tokens, the audit"),
    ("Operation", "The running server: health, log, parameters, doors"),
    ("Documentation", "This description, and the page that shows it"),
];

pub(super) fn operation(handler: &str) -> &'static Operation {
    let reply = OPERATIONS.iter().find(|operation| operation.handler == handler);
    reply.expect("a test finds an operation for every row")
}

impl Operation {
    pub(super) fn tag(&self) -> &'static str {
        match self.module_name() {
            "account" | "adapter" | "security" | "exchange" | "strategy" | "reference" => "Reference data",
            "order" => "Orders",
            "position" | "portfolio" => "Positions",
            "transaction" => "Transactions",
            "subscription" | "marketdata" => "Market data",
            "risk" => "Risk",
            "history" => "History",
            "login" | "user" | "token" | "audit" | "settings" => "Access",
            "docs" | "topic_docs" => "Documentation",
            _ => "Operation",
        }
    }

    /// Whether the response has the sequence up to which it is complete.
    pub(super) fn is_live(&self) -> bool {
        let of_the_engine = ["Orders", "Positions", "Transactions", "Market data", "Risk", "History"];
        of_the_engine.contains(&self.tag()) && self.handler != "order::next_id"
            || matches!(self.handler, "strategy::list" | "adapter::list" | "security::list")
    }

    fn module_name(&self) -> &'static str {
        self.handler.split("::").next().unwrap_or_default()
    }

    const fn with_body(mut self, body: RequestBody) -> Self {
        self.body = Some(body);
        self
    }

    const fn with_failures(mut self, failures: &'static [u16]) -> Self {
        self.failures = failures;
        self
    }

    const fn with_note(mut self, more: &'static str) -> Self {
        self.more = more;
        self
    }
}

impl RequestBody {
    pub(super) fn described(self) -> Value {
        let (schema, example) = match self {
            Self::Needed(name) => (reference(name), example(name).unwrap_or_default()),
            Self::Id(says) => (
                json!({ "type": "integer", "minimum": 1, "maximum": (1_u64 << 53) - 1, "description": says }),
                json!(1),
            ),
            Self::Quantity(says) => (json!({ "type": "number", "description": says }), json!(10)),
        };
        json!({ "required": true, "content": { "application/json": { "schema": schema, "example": example } } })
    }
}

const fn operation_row(handler: &'static str, summary: &'static str, answer: ResponseKind) -> Operation {
    Operation { handler, summary, response: answer, body: None, failures: &[], more: "" }
}

use RequestBody::{Id, Needed, Quantity};
use ResponseKind::{
    Document, File, Health, Lines, List, Location, Metrics, NoSession, Nothing, One, Parameters, RevisionTag, Session,
    TaggedList, Text, TextList,
};

pub(super) const OPERATIONS: &[Operation] = &[
    operation_row("account::list", "All accounts", TaggedList("AccountVO")).with_note("Pages of every origin may read this."),
    operation_row("account::one", "An account by its name", One("AccountVO")),
    operation_row("adapter::list", "All adapters, with their sessions and what their venues offer", List("AdapterVO")),
    operation_row("security::list", "All securities", TaggedList("SecurityVO"))
        .with_note("`security.changes` with `after` = `Rialto-Sequence` has what changed since; of several pages, that of the first."),
    operation_row("security::one", "A security by its id", One("SecurityVO")),
    operation_row("security::families", "All security families", TaggedList("SecurityFamilyVO")),
    operation_row("security::family", "A security family by its id", One("SecurityFamilyVO")),
    operation_row("security::search", "Securities by words, fields and comparisons", List("SecurityVO")),
    operation_row("security::changes", "Securities that were added, changed or removed", Lines("SecurityChangeVO"))
        .with_failures(&[410])
        .with_note(
            "`after` with the `Rialto-After` of an answer goes on where it ended; an empty page says that nothing changed. \
             Changes of one input stay on one page, which may become longer for it.",
        ),
    operation_row("security::forex", "A currency pair", One("SecurityVO")).with_failures(&[404]),
    operation_row("exchange::list", "All exchanges", TaggedList("ExchangeVO")),
    operation_row("strategy::list", "All strategies, with the phase of their life", List("StrategyVO")),
    operation_row("strategy::start", "Starts a strategy", Nothing).with_failures(NO_BODY),
    operation_row("strategy::stop", "Stops a strategy", Nothing).with_failures(NO_BODY),
    operation_row("reference::clear_caches", "Reads the reference data of the configuration again", Nothing)
        .with_failures(&[422])
        .with_note("Only what differs becomes a change; what has orders, positions or transactions is never deleted."),
    operation_row("reference::import", "Reads reference data from a folder of the server's machine", One("ImportedVO"))
        .with_body(Needed("ImportBody"))
        .with_failures(&[422])
        .with_note("Only for callers on that machine."),
    operation_row("position::list", "Open positions, and those closed today", List("PositionVO")),
    operation_row("position::close", "Closes a position by an opposite market order", Location)
        .with_failures(&[409, 422])
        .with_note("Orders that protect the position and would flip it are cancelled first; the order is OPEN until then."),
    operation_row("position::reduce", "Reduces a position by an opposite market order", Location)
        .with_body(Quantity("how much of it: more than zero, and at most the open quantity"))
        .with_failures(&[409, 422])
        .with_note("The order cannot flip the position: what protects it is cancelled or reduced first."),
    operation_row("position::reset", "Rebuilds positions from the recorded transactions", Nothing).with_failures(&[422]),
    operation_row("portfolio::value", "What strategies are worth", List("PortfolioValueVO")).with_failures(&[422]),
    operation_row("portfolio::balance", "Cash of strategies and accounts", List("CashBalanceVO")),
    operation_row("portfolio::history", "Value, exposure and P/L by sample, day, week or month, oldest first", List("ValueHistoryVO"))
        .with_note(
            "Of the platform, or of one strategy, account or security. Days are platform days, weeks begin on Monday. A page goes \
             on after the sequence of the last row before; one that is shorter than its limit is the last.",
        )
        .with_failures(&[422]),
    operation_row("transaction::record", "Records a transaction", Location)
        .with_body(Needed("TransactionBody"))
        .with_failures(&[409, 422])
        .with_note("What is left out is defaulted; a uuid that is known is 409, so a retry never books twice."),
    operation_row("transaction::one", "A transaction by its id", One("TransactionVO")),
    operation_row("transaction::daily", "Transactions that are dated today, newest first", List("TransactionVO")),
    operation_row("transaction::reset_cash", "Rebuilds cash from the recorded transactions", Nothing)
        .with_failures(&[422])
        .with_note("Served under both spellings."),
    operation_row("order::list", "Open orders", List("OrderVO")),
    operation_row("order::one", "An order, open or of today, by its intId or a ClOrdID", List("OrderVO"))
        .with_note("A list, because a ClOrdID may have named several."),
    operation_row("order::cancel", "Cancels an order", Nothing).with_failures(&[409, 422]),
    operation_row("order::place_market", "Places a market order", Location)
        .with_body(Needed("MarketOrderVO"))
        .with_failures(&[409, 422])
        .with_note(PLACING),
    operation_row("order::place_limit", "Places a limit order", Location)
        .with_body(Needed("LimitOrderVO"))
        .with_failures(&[409, 422])
        .with_note(PLACING),
    operation_row("order::place_stop", "Places a stop order", Location)
        .with_body(Needed("StopOrderVO"))
        .with_failures(&[409, 422])
        .with_note(PLACING),
    operation_row("order::place_stop_limit", "Places a stop-limit order", Location)
        .with_body(Needed("StopLimitOrderVO"))
        .with_failures(&[409, 422])
        .with_note(PLACING),
    operation_row("order::modify_market", "Changes a market order", Nothing)
        .with_body(Needed("OrderChangeBody"))
        .with_failures(&[409, 422])
        .with_note(CHANGING),
    operation_row("order::modify_limit", "Changes a limit order", Nothing)
        .with_body(Needed("OrderChangeBody"))
        .with_failures(&[409, 422])
        .with_note(CHANGING),
    operation_row("order::modify_stop", "Changes a stop order", Nothing)
        .with_body(Needed("OrderChangeBody"))
        .with_failures(&[409, 422])
        .with_note(CHANGING),
    operation_row("order::modify_stop_limit", "Changes a stop-limit order", Nothing)
        .with_body(Needed("OrderChangeBody"))
        .with_failures(&[409, 422])
        .with_note(CHANGING),
    operation_row("order::claim", "Gives an order that nobody placed here to a strategy", Nothing)
        .with_body(Needed("ClaimBody"))
        .with_failures(&[409, 422])
        .with_note("Its fills go along: each is undone under EXTERNAL and booked again under the strategy, at its price."),
    operation_row("order::next_id", "An intId for the next order of an account", Text("the id, never given twice"))
        .with_body(Id("the account's id"))
        .with_failures(&[422]),
    operation_row("subscription::feeds", "The feeds that are active", TextList("names of feeds")),
    operation_row("subscription::subscribe", "Asks for the prices of a security", Nothing)
        .with_body(Needed("SubscribeBody"))
        .with_failures(&[422])
        .with_note("Asking twice does no harm."),
    operation_row("subscription::unsubscribe", "Gives the prices of a security up", Nothing)
        .with_body(Needed("SubscriptionBody"))
        .with_failures(&[422]),
    operation_row("marketdata::ticks", "The newest tick of every security", List("Tick"))
        .with_note("One of which none is known is not in the list."),
    operation_row("marketdata::bars", "Bars that are closed, oldest first", List("Bar"))
        .with_note("Those after an instant, or the newest there are. Of several securities one comes after the other, in the \
               order in which they are named; `after` and `limit` count for each, and there are at most 20,000 bars in all."),
    operation_row("marketdata::book", "The order books of securities", List("OrderBook"))
        .with_note("One of which none is known is not in the list."),
    operation_row("marketdata::set_settlement", "Gives the price at which a security is settled on a day", Nothing)
        .with_body(Needed("SettlementBody"))
        .with_failures(&[422])
        .with_note("What expired without a price is settled at once; a later one for the same day replaces it."),
    operation_row("risk::check", "What would happen to an order; it leaves no trace", One("VerdictVO"))
        .with_body(Needed("OrderCheckBody"))
        .with_failures(&[422]),
    operation_row("risk::check_modify", "What would happen to a live order with new terms; it leaves no trace", One("VerdictVO"))
        .with_body(Needed("OrderChangeCheckBody"))
        .with_failures(&[422])
        .with_note(
            "What the order reserves already is not counted again. Notional and fee are of all of it as it would be.",
        ),
    operation_row("risk::states", "Which scopes may trade", List("TradingState")),
    operation_row("risk::set_state", "Sets the trading state of a scope", Nothing).with_body(Needed("StateBody")).with_failures(&[422]),
    operation_row("risk::kill", "The kill switch: halts a scope and cancels its orders", One("KilledVO"))
        .with_body(Needed("KillBody"))
        .with_failures(&[422])
        .with_note("The scope must be named, also where it is the whole platform."),
    operation_row("risk::limits", "The limits of all scopes", List("LimitsVO")),
    operation_row("risk::set_limits", "Changes limits of a scope", Nothing)
        .with_body(Needed("LimitsBody"))
        .with_failures(&[422])
        .with_note("Only the limits that are named change; `null` removes one."),
    operation_row("risk::dead_man_timers", "The dead-man timers that run", List("DeadManTimerVO")),
    operation_row("risk::arm_dead_man", "Arms or renews the dead-man timer of a scope", One("DeadManTimerVO"))
        .with_body(Needed("DeadManBody"))
        .with_failures(&[409, 422])
        .with_note("Unless it is renewed in time, the kill switch of the scope fires."),
    operation_row("risk::disarm_dead_man", "Ends the dead-man timer of a scope", Nothing).with_failures(&[409, 422]),
    operation_row("breaks::list", "Open differences between us and the venues, by id; settled ones with `state`", List("BreakVO"))
        .with_note("Settled ones are kept until the end of the next day."),
    operation_row("breaks::one", "One break", One("BreakVO")),
    operation_row("breaks::explain", "Says why a break is there; it may still be accepted or repaired", One("BreakVO"))
        .with_body(Needed("BreakBody"))
        .with_failures(&[409, 422]),
    operation_row("breaks::accept", "Leaves a difference as it is", One("BreakVO"))
        .with_body(Needed("BreakBody"))
        .with_failures(&[409, 422]),
    operation_row("breaks::repair", "Takes over the venue's side, or tells the venue: `repair` says which", One("BreakVO"))
        .with_body(Needed("BreakBody"))
        .with_failures(&[409, 422, 503]),
    operation_row("history::orders", "Orders of all times, by id; those that fit every parameter", List("OrderVO"))
        .with_note("A page goes on after the id of the last order before; one that is shorter than its limit is the last."),
    operation_row("history::order_events", "What happened to an order", List("OrderStatusVO")),
    operation_row("history::transactions", "Transactions of all times, by id", List("TransactionVO")),
    operation_row("history::events", "All events, by sequence", List("PastEvent"))
        .with_note("Events of one input stay on one page, which may become longer for it."),
    operation_row("broker::main", "Where topics are published over TCP", Text("such as `tcp://localhost:61613`")),
    operation_row("broker::ws", "Where topics are published over WebSocket", Text("such as `ws://localhost:61614`")),
    operation_row("fix::sessions", "The sessions of the FIX door", List("FixSessionVO")),
    operation_row("fix::logout", "Logs a FIX session out", Nothing).with_failures(NO_BODY),
    operation_row("fix::reset", "Resets the numbers of a FIX session", Nothing).with_failures(NO_BODY),
    operation_row("fix::numbers", "Sets the numbers of a FIX session", Nothing).with_body(Needed("FixNumbersBody")).with_failures(&[409, 422]),
    operation_row("fix::reload", "Reads the file of FIX sessions again", One("FixReloadVO"))
        .with_failures(&[404, 408, 413, 415, 422])
        .with_note("Sessions are added, changed and removed; those that are the same keep their connections. A file with an error changes nothing."),
    operation_row("login::who", "Who the server takes the caller for", One("IdentityVO")),
    operation_row("login::login", "Begins a session", Session)
        .with_body(Needed("LoginBody"))
        .with_failures(&[401, 422])
        .with_note("The session lives in a cookie that scripts cannot read."),
    operation_row("login::logout", "Ends the session", NoSession),
    operation_row("settings::read", "Settings of the caller: layouts, watch lists, thresholds", Document("Settings"))
        .with_note("Without users there is one set for everybody; who has kept nothing finds an empty object."),
    operation_row("settings::write", "Keeps settings in place of those before", RevisionTag)
        .with_body(Needed("Settings"))
        .with_failures(&[412])
        .with_note("Of at most 256 KiB. With `If-Match` only where they are still those that the caller has read."),
    operation_row("user::list", "All users", List("UserVO")),
    operation_row("user::add", "Adds a user, or changes one", Nothing)
        .with_body(Needed("UserBody"))
        .with_failures(&[409, 422])
        .with_note("From the first user on every caller must log in, the caller of this too."),
    operation_row("user::set_rights", "Sets what a user may trade", Nothing).with_body(Needed("RightsBody")).with_failures(&[422]),
    operation_row("user::remove", "Removes a user", Nothing),
    operation_row("token::list", "All tokens, without their secrets", List("TokenVO")),
    operation_row("token::make", "Makes a token", One("NewTokenVO"))
        .with_body(Needed("TokenBody"))
        .with_failures(&[409, 422])
        .with_note("The answer is the only place where it is ever seen."),
    operation_row("token::set_rights", "Sets what a token may trade", Nothing).with_body(Needed("RightsBody")).with_failures(&[422]),
    operation_row("token::revoke", "Revokes a token", Nothing),
    operation_row("audit::list", "What was refused, and what was done with power", List("AuditVO")),
    operation_row("runtime::parameters", "Every effective parameter, secrets as `***`", Parameters),
    operation_row("runtime::exit", "Shuts the server down in order", Nothing),
    operation_row("log::lines", "The newest lines of the log, oldest first", Lines("LogEvent"))
        .with_note("`after` with the `Rialto-After` of an answer goes on where it ended, and misses no line."),
    operation_row("health::live", "Whether the process is up", One("Health")),
    operation_row("health::ready", "Whether it trades, with each check", Health),
    operation_row("health::leader", "Whether it takes commands: a server alone, or the leader of a cluster", Health),
    operation_row("health::cluster", "The member of a cluster, as it sees itself: role, epoch, leader, lag, lease", One("Cluster")),
    operation_row("cluster::overview", "The whole cluster as this member knows it: who leads, whether orders are acknowledged, every member", One("ClusterOverviewVO"))
        .with_note("Each member answers for itself: what it was told by the others, with the age of what they said. A server alone has the role `alone` and no members."),
    operation_row("metrics::all", "Numbers for Prometheus", Metrics),
    operation_row("docs::document", "This description", File("application/json")),
    operation_row("docs::page", "A page that shows this description", File("text/html")),
    operation_row("docs::style", "The style of that page", File("text/css")),
    operation_row("docs::fix_dictionary", "The FIX dictionary for clients, in QuickFIX's format", File("text/xml")),
    operation_row("docs::program", "The program of that page", File("text/javascript")),
    operation_row("docs::start", "What that page begins with", File("text/javascript")),
    operation_row("topic_docs::document", "The description of the topics", File("application/json"))
        .with_note("AsyncAPI 3.0: every family of topics, with a schema for each payload and the ports of this server."),
    operation_row("topic_docs::page", "A page that shows the topics and listens to them", File("text/html")),
    operation_row("topic_docs::program", "The program of that page", File("text/javascript")),
    operation_row("topic_docs::style", "The style of that page", File("text/css")),
];

/// A call without a body that has one all the same; and one on a resource in the wrong state.
const NO_BODY: &[u16] = &[408, 409, 413, 415, 422];

const PLACING: &str = "\
accountId may be left out where exactly one active account reaches the exchange; the strategy defaults to `SERVER`, \
tif to DAY, intId to a new one. A second order with a known intId is 409 and shows the first, so a retry never trades \
twice. tifDateTime belongs to GTD.";

const CHANGING: &str = "\
What is left out keeps its value; `reference` changes at once, because no venue has to agree; tif changes among DAY, GTC \
and GTD only; side, security, account, strategy and kind can't change. The path names the kind that \
the order has.";

/// The columns of a list, in the order in which they are described.
pub(crate) fn columns(handler: &str) -> Vec<&'static str> {
    let reply = OPERATIONS.iter().find(|operation| operation.handler == handler);
    reply.map(|operation| operation.response.columns()).unwrap_or_default()
}
