//! Operations: summary, body and response of each handler of the endpoint table.

use serde_json::{Value, json};
use wire::schema::{example, reference};

pub(super) struct Operation {
    pub(super) handler: &'static str,
    pub(super) summary: &'static str,
    pub(super) answer: Answer,
    pub(super) body: Option<Body>,
    /// Statuses of failures beyond those that follow from the row itself.
    pub(super) failures: &'static [u16],
    /// Notes for callers.
    pub(super) more: &'static str,
}

/// The successful response of a call.
#[derive(Clone, Copy)]
pub(super) enum Answer {
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
    Texts(&'static str),
    /// A key and a text for each parameter of the configuration.
    Parameters,
    /// The identity of the caller, with the session cookie.
    Session,
    NoSession,
    /// A value whose ETag is its revision.
    Document(&'static str),
    /// Only the ETag of the stored value.
    Kept,
    /// UP, or 503 with the same body.
    Health,
    /// Metrics, in the format of the client.
    Metrics,
    /// A file of this media type.
    File(&'static str),
}

impl Answer {
    /// The columns of a list as a table.
    pub(super) fn columns(self) -> Vec<&'static str> {
        match self {
            Self::List(name) | Self::TaggedList(name) | Self::Lines(name) => wire::schema::keys(name),
            _ => vec![wire::csv::ONLY_COLUMN],
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Body {
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
    let told = OPERATIONS.iter().find(|operation| operation.handler == handler);
    told.expect("a test finds an operation for every row")
}

impl Operation {
    pub(super) fn tag(&self) -> &'static str {
        match self.room() {
            "account" | "security" | "exchange" | "strategy" | "reference" => "Reference data",
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
        of_the_engine.contains(&self.tag()) && self.handler != "order::next_id" || self.handler == "strategy::list"
    }

    fn room(&self) -> &'static str {
        self.handler.split("::").next().unwrap_or_default()
    }

    const fn takes(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }

    const fn fails(mut self, failures: &'static [u16]) -> Self {
        self.failures = failures;
        self
    }

    const fn more(mut self, more: &'static str) -> Self {
        self.more = more;
        self
    }
}

impl Body {
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

const fn on(handler: &'static str, summary: &'static str, answer: Answer) -> Operation {
    Operation { handler, summary, answer, body: None, failures: &[], more: "" }
}

use Answer::{
    Document, File, Health, Kept, Lines, List, Location, Metrics, NoSession, Nothing, One, Parameters, Session,
    TaggedList, Text, Texts,
};
use Body::{Id, Needed, Quantity};

pub(super) const OPERATIONS: &[Operation] = &[
    on("account::list", "All accounts", TaggedList("AccountVO")).more("Pages of every origin may read this."),
    on("account::one", "An account by its name", One("AccountVO")),
    on("security::list", "All securities", TaggedList("SecurityVO")),
    on("security::one", "A security by its id", One("SecurityVO")),
    on("security::families", "All security families", TaggedList("SecurityFamilyVO")),
    on("security::family", "A security family by its id", One("SecurityFamilyVO")),
    on("security::search", "Securities by words, fields and comparisons", List("SecurityVO")),
    on("security::forex", "A currency pair", One("SecurityVO")).fails(&[404]),
    on("exchange::list", "All exchanges", TaggedList("ExchangeVO")),
    on("strategy::list", "All strategies, with the phase of their life", List("StrategyVO")),
    on("strategy::start", "Starts a strategy", Nothing).fails(NO_BODY),
    on("strategy::stop", "Stops a strategy", Nothing).fails(NO_BODY),
    on("reference::clear_caches", "Reads the reference data of the configuration again", Nothing)
        .fails(&[422])
        .more("Only what differs becomes a change; what has orders, positions or transactions is never deleted."),
    on("reference::import", "Reads reference data from a folder of the server's machine", One("ImportedVO"))
        .takes(Needed("ImportBody"))
        .fails(&[422])
        .more("Only for callers on that machine."),
    on("position::list", "Open positions, and those closed today", List("PositionVO")),
    on("position::close", "Closes a position by an opposite market order", Location)
        .fails(&[409, 422])
        .more("Orders that protect the position and would flip it are cancelled first; the order is OPEN until then."),
    on("position::reduce", "Reduces a position by an opposite market order", Location)
        .takes(Quantity("how much of it: more than zero, and at most the open quantity"))
        .fails(&[409, 422])
        .more("The order cannot flip the position: what protects it is cancelled or reduced first."),
    on("position::reset", "Rebuilds positions from the recorded transactions", Nothing).fails(&[422]),
    on("portfolio::value", "What strategies are worth", List("PortfolioValueVO")).fails(&[422]),
    on("portfolio::balance", "Cash of strategies and accounts", List("CashBalanceVO")),
    on("transaction::record", "Records a transaction", Location)
        .takes(Needed("TransactionBody"))
        .fails(&[409, 422])
        .more("What is left out is defaulted; a uuid that is known is 409, so a retry never books twice."),
    on("transaction::one", "A transaction by its id", One("TransactionVO")),
    on("transaction::daily", "Transactions that are dated today, newest first", List("TransactionVO")),
    on("transaction::reset_cash", "Rebuilds cash from the recorded transactions", Nothing)
        .fails(&[422])
        .more("Served under both spellings."),
    on("order::list", "Open orders", List("OrderVO")),
    on("order::one", "An order, open or of today, by its intId or a ClOrdID", List("OrderVO"))
        .more("A list, because a ClOrdID may have named several."),
    on("order::cancel", "Cancels an order", Nothing).fails(&[409, 422]),
    on("order::place_market", "Places a market order", Location)
        .takes(Needed("MarketOrderVO"))
        .fails(&[409, 422])
        .more(PLACING),
    on("order::place_limit", "Places a limit order", Location)
        .takes(Needed("LimitOrderVO"))
        .fails(&[409, 422])
        .more(PLACING),
    on("order::place_stop", "Places a stop order", Location)
        .takes(Needed("StopOrderVO"))
        .fails(&[409, 422])
        .more(PLACING),
    on("order::place_stop_limit", "Places a stop-limit order", Location)
        .takes(Needed("StopLimitOrderVO"))
        .fails(&[409, 422])
        .more(PLACING),
    on("order::modify_market", "Changes a market order", Nothing)
        .takes(Needed("OrderChangeBody"))
        .fails(&[409, 422])
        .more(CHANGING),
    on("order::modify_limit", "Changes a limit order", Nothing)
        .takes(Needed("OrderChangeBody"))
        .fails(&[409, 422])
        .more(CHANGING),
    on("order::modify_stop", "Changes a stop order", Nothing)
        .takes(Needed("OrderChangeBody"))
        .fails(&[409, 422])
        .more(CHANGING),
    on("order::modify_stop_limit", "Changes a stop-limit order", Nothing)
        .takes(Needed("OrderChangeBody"))
        .fails(&[409, 422])
        .more(CHANGING),
    on("order::next_id", "An intId for the next order of an account", Text("the id, never given twice"))
        .takes(Id("the account's id"))
        .fails(&[422]),
    on("subscription::feeds", "The feeds that are active", Texts("names of feeds")),
    on("subscription::subscribe", "Asks for the prices of a security", Nothing)
        .takes(Needed("SubscribeBody"))
        .fails(&[422])
        .more("Asking twice does no harm."),
    on("subscription::unsubscribe", "Gives the prices of a security up", Nothing)
        .takes(Needed("SubscriptionBody"))
        .fails(&[422]),
    on("marketdata::ticks", "The newest tick of every security", List("Tick"))
        .more("One of which none is known is not in the list."),
    on("marketdata::bars", "Bars that are closed, oldest first", List("Bar"))
        .more("Those after an instant, or the newest there are. Of several securities one comes after the other, in the \
               order in which they are named; `after` and `limit` count for each, and there are at most 20,000 bars in all."),
    on("marketdata::book", "The order books of securities", List("OrderBook"))
        .more("One of which none is known is not in the list."),
    on("marketdata::set_settlement", "Gives the price at which a security is settled on a day", Nothing)
        .takes(Needed("SettlementBody"))
        .fails(&[422])
        .more("What expired without a price is settled at once; a later one for the same day replaces it."),
    on("risk::check", "What would happen to an order; it leaves no trace", One("VerdictVO"))
        .takes(Needed("OrderCheckBody"))
        .fails(&[422]),
    on("risk::check_modify", "What would happen to a live order with new terms; it leaves no trace", One("VerdictVO"))
        .takes(Needed("OrderChangeCheckBody"))
        .fails(&[422])
        .more(
            "What the order reserves already is not counted again. Notional and fee are of all of it as it would be.",
        ),
    on("risk::states", "Which scopes may trade", List("TradingState")),
    on("risk::set_state", "Sets the trading state of a scope", Nothing).takes(Needed("StateBody")).fails(&[422]),
    on("risk::kill", "The kill switch: halts a scope and cancels its orders", One("KilledVO"))
        .takes(Needed("KillBody"))
        .fails(&[422])
        .more("The scope must be named, also where it is the whole platform."),
    on("risk::limits", "The limits of all scopes", List("LimitsVO")),
    on("risk::set_limits", "Changes limits of a scope", Nothing)
        .takes(Needed("LimitsBody"))
        .fails(&[422])
        .more("Only the limits that are named change; `null` removes one."),
    on("history::orders", "Orders of all times, by id; those that fit every parameter", List("OrderVO"))
        .more("A page goes on after the id of the last order before; one that is shorter than its limit is the last."),
    on("history::order_events", "What happened to an order", List("OrderStatusVO")),
    on("history::transactions", "Transactions of all times, by id", List("TransactionVO")),
    on("history::events", "All events, by sequence", List("PastEvent"))
        .more("Events of one input stay on one page, which may become longer for it."),
    on("broker::main", "Where topics are published over TCP", Text("such as `tcp://localhost:61613`")),
    on("broker::ws", "Where topics are published over WebSocket", Text("such as `ws://localhost:61614`")),
    on("fix::sessions", "The sessions of the FIX door", List("FixSessionVO")),
    on("fix::logout", "Logs a FIX session out", Nothing).fails(NO_BODY),
    on("fix::reset", "Resets the numbers of a FIX session", Nothing).fails(NO_BODY),
    on("fix::numbers", "Sets the numbers of a FIX session", Nothing).takes(Needed("FixNumbersBody")).fails(&[409, 422]),
    on("login::who", "Who the server takes the caller for", One("IdentityVO")),
    on("login::login", "Begins a session", Session)
        .takes(Needed("LoginBody"))
        .fails(&[401, 422])
        .more("The session lives in a cookie that scripts cannot read."),
    on("login::logout", "Ends the session", NoSession),
    on("settings::read", "Settings of the caller: layouts, watch lists, thresholds", Document("Settings"))
        .more("Without users there is one set for everybody; who has kept nothing finds an empty object."),
    on("settings::write", "Keeps settings in place of those before", Kept)
        .takes(Needed("Settings"))
        .fails(&[412])
        .more("Of at most 256 KiB. With `If-Match` only where they are still those that the caller has read."),
    on("user::list", "All users", List("UserVO")),
    on("user::add", "Adds a user, or changes one", Nothing)
        .takes(Needed("UserBody"))
        .fails(&[409, 422])
        .more("From the first user on every caller must log in, the caller of this too."),
    on("user::remove", "Removes a user", Nothing),
    on("token::list", "All tokens, without their secrets", List("TokenVO")),
    on("token::make", "Makes a token", One("NewTokenVO"))
        .takes(Needed("TokenBody"))
        .fails(&[409, 422])
        .more("The answer is the only place where it is ever seen."),
    on("token::revoke", "Revokes a token", Nothing),
    on("audit::list", "What was refused, and what was done with power", List("AuditVO")),
    on("runtime::parameters", "Every effective parameter, secrets as `***`", Parameters),
    on("runtime::exit", "Shuts the server down in order", Nothing),
    on("log::lines", "The newest lines of the log, oldest first", Lines("LogEvent"))
        .more("`after` with the `Rialto-After` of an answer goes on where it ended, and misses no line."),
    on("health::live", "Whether the process is up", One("Health")),
    on("health::ready", "Whether it trades, with each check", Health),
    on("metrics::all", "Numbers for Prometheus", Metrics),
    on("docs::document", "This description", File("application/json")),
    on("docs::page", "A page that shows this description", File("text/html")),
    on("docs::style", "The style of that page", File("text/css")),
    on("docs::fix_dictionary", "The FIX dictionary for clients, in QuickFIX's format", File("text/xml")),
    on("docs::program", "The program of that page", File("text/javascript")),
    on("docs::start", "What that page begins with", File("text/javascript")),
    on("topic_docs::document", "The description of the topics", File("application/json"))
        .more("AsyncAPI 3.0: every family of topics, with a schema for each payload and the ports of this server."),
    on("topic_docs::page", "A page that shows the topics and listens to them", File("text/html")),
    on("topic_docs::program", "The program of that page", File("text/javascript")),
    on("topic_docs::style", "The style of that page", File("text/css")),
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
