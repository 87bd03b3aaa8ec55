//! Topic families table: names, payloads, conflation, snapshot, replay. The broker and the AsyncAPI document use it.

use domain::EventClass;

/// Topics with the same first segment and payload.
#[derive(Debug, PartialEq, Eq)]
pub struct TopicFamily {
    /// The first segments of its topics; each event is published under all of them.
    pub roots: &'static [&'static str],
    /// The further segments, by the names of [`SEGMENTS`]; one that begins with `=` is literal.
    pub segments: &'static [&'static str],
    /// Description in the AsyncAPI document.
    pub description: &'static str,
    /// The schemas of its bodies; none where a body is any JSON.
    pub payloads: &'static [&'static str],
    /// Only the newest price counts: prices are throttled and conflated.
    pub is_price: bool,
    /// Whether the last value is delivered to a subscription that requests a snapshot.
    pub has_snapshot: bool,
    /// Whether history stores every event, so that a subscription can start in the past.
    pub is_replayable: bool,
}

/// No spelling suggestion for longer names.
const NEAR_BYTES_MAX: usize = 64;

/// Descriptions of topic segments.
pub const SEGMENTS: &[(&str, &str)] = &[
    ("securityId", "The id of a security"),
    ("barSize", "SEC_1, MIN_1, MIN_5, MIN_15, HOUR_1 or DAY_1"),
    ("strategyName", "The name of a strategy; SERVER is the platform itself and manual trading"),
    ("intId", "The platform's id of an order"),
    ("positionId", "The id of a position"),
    ("transactionId", "The id of a booking"),
    ("currency", "A currency, such as USD"),
    ("adapter", "The kind of an adapter, such as SIMULATED"),
    ("scope", "PLATFORM, ACCOUNT-, STRATEGY- or SECURITY- with an id"),
    ("breakId", "The id of a break"),
    ("level", "error, warn or info"),
    ("name", "The name of an event, chosen by the sender"),
];

const PRICE: TopicFamily = TopicFamily {
    roots: &[],
    segments: &["securityId"],
    description: "",
    payloads: &[],
    is_price: true,
    has_snapshot: true,
    is_replayable: false,
};
/// An event, stored for ever.
const EVENT: TopicFamily = TopicFamily { is_price: false, has_snapshot: false, is_replayable: true, ..PRICE };
/// A current state.
const STATE: TopicFamily = TopicFamily { has_snapshot: true, is_replayable: false, ..EVENT };
/// Both: an event, and the state until the next one.
const STATE_EVENT: TopicFamily = TopicFamily { has_snapshot: true, ..EVENT };

const ORDER_SEGMENTS: &[&str] = &["strategyName", "intId"];

const TICK: TopicFamily = TopicFamily { roots: &["tick"], description: "Every quote.", payloads: &["Tick"], ..PRICE };
const TRADE: TopicFamily =
    TopicFamily { roots: &["trade"], description: "Every trade of the market.", payloads: &["Trade"], ..PRICE };
const BAR: TopicFamily = TopicFamily {
    roots: &["bar"],
    segments: &["securityId", "barSize"],
    description: "Every bar, when it is complete.",
    payloads: &["Bar"],
    ..PRICE
};
const ORDER_BOOK: TopicFamily =
    TopicFamily { roots: &["order-book"], description: "Every change of the book.", payloads: &["OrderBook"], ..PRICE };
const ORDER: TopicFamily = TopicFamily {
    roots: &["order"],
    segments: ORDER_SEGMENTS,
    description: "The whole order, on every change.",
    payloads: &["OrderVO"],
    ..STATE
};
/// The first segments of the topics with the status of an order: ours, and the specification's own, with its space.
const ORDER_STATUS: TopicFamily = TopicFamily {
    roots: &["order-status", "the service", "rialto"],
    segments: ORDER_SEGMENTS,
    description: "Every change of an order's status, under three names.",
    payloads: &["OrderStatusVO"],
    ..STATE_EVENT
};
const FILL: TopicFamily = TopicFamily {
    roots: &["fill"],
    segments: ORDER_SEGMENTS,
    description: "Every fill.",
    payloads: &["FillVO"],
    ..EVENT
};
const POSITION: TopicFamily = TopicFamily {
    roots: &["position"],
    segments: &["strategyName", "positionId"],
    description: "A position, on a fill and otherwise at most once a second.",
    payloads: &["PositionVO"],
    ..STATE
};
const TRANSACTION: TopicFamily = TopicFamily {
    roots: &["transaction"],
    segments: &["strategyName", "transactionId"],
    description: "Every booking.",
    payloads: &["TransactionVO"],
    ..EVENT
};
const CASH_BALANCE: TopicFamily = TopicFamily {
    roots: &["cash-balance"],
    segments: &["strategyName", "currency"],
    description: "Cash, once a second where it changed.",
    payloads: &["CashBalanceVO"],
    ..STATE
};
const PORTFOLIO_VALUE: TopicFamily = TopicFamily {
    roots: &["portfolio-value"],
    segments: &["strategyName"],
    description: "Value of a strategy, once a second where it changed.",
    payloads: &["PortfolioValueVO"],
    ..STATE
};
const SUBSCRIPTION: TopicFamily = TopicFamily {
    roots: &["market-data-subscription"],
    segments: &["strategyName", "securityId"],
    description: "Market data subscriptions of strategies.",
    payloads: &["SubscriptionVO"],
    ..STATE_EVENT
};
const LIFE_CYCLE: TopicFamily = TopicFamily {
    roots: &["life-cycle"],
    segments: &["strategyName"],
    description: "Phases of a strategy.",
    payloads: &["LifeCycleEvent"],
    ..STATE_EVENT
};
const SESSION: TopicFamily = TopicFamily {
    roots: &["session"],
    segments: &["adapter"],
    description: "An adapter's connection to its venue.",
    payloads: &["SessionEvent"],
    ..STATE_EVENT
};
const RISK: TopicFamily = TopicFamily {
    roots: &["risk"],
    segments: &["scope"],
    description: "Whether a scope may trade.",
    payloads: &["TradingState"],
    ..STATE_EVENT
};
const BREAK: TopicFamily = TopicFamily {
    roots: &["break"],
    segments: &["breakId"],
    description: "A difference between us and a venue, when it is found and whenever it changes.",
    payloads: &["BreakVO"],
    ..STATE_EVENT
};
const SECURITY: TopicFamily = TopicFamily {
    roots: &["security"],
    description: "A security that was added, changed or removed.",
    payloads: &["SecurityChangeVO"],
    has_snapshot: false,
    is_replayable: false,
    ..EVENT
};
const LOG_EVENT: TopicFamily = TopicFamily {
    roots: &["log-event"],
    segments: &["level"],
    description: "Alarms of the engine, which are kept, and lines of the server's log, which are not.",
    payloads: &["LogEvent"],
    ..EVENT
};
const GENERIC_EVENT: TopicFamily = TopicFamily {
    roots: &["generic-event"],
    segments: &["strategyName", "name"],
    description: "Generic events between strategies: any JSON. Clients of the role trader may send here.",
    ..EVENT
};
const STRATEGY_BUS_PRICES: TopicFamily = TopicFamily {
    roots: &["strategy-bus"],
    segments: &["=market-data"],
    description: "Every price, for strategies in processes of their own; roles strategy and admin.",
    payloads: &["Tick", "Trade", "Bar", "OrderBook"],
    has_snapshot: false,
    is_replayable: false,
    ..EVENT
};
const STRATEGY_BUS_EVENTS: TopicFamily = TopicFamily {
    segments: &["=generic-event"],
    description: "Every generic event, for strategies in processes of their own; roles strategy and admin.",
    payloads: &["GenericEvent"],
    ..STRATEGY_BUS_PRICES
};

pub const FAMILIES: &[TopicFamily] = &[
    TICK,
    TRADE,
    BAR,
    ORDER_BOOK,
    ORDER,
    ORDER_STATUS,
    FILL,
    POSITION,
    TRANSACTION,
    CASH_BALANCE,
    PORTFOLIO_VALUE,
    SUBSCRIPTION,
    LIFE_CYCLE,
    SESSION,
    RISK,
    BREAK,
    SECURITY,
    LOG_EVENT,
    GENERIC_EVENT,
    STRATEGY_BUS_PRICES,
    STRATEGY_BUS_EVENTS,
];

/// The family that publishes events of a class; none where no topic carries them.
pub const fn for_class(class: EventClass) -> Option<&'static TopicFamily> {
    Some(match class {
        EventClass::Tick => &TICK,
        EventClass::Trade => &TRADE,
        EventClass::Book => &ORDER_BOOK,
        EventClass::Bar => &BAR,
        EventClass::Order => &ORDER,
        EventClass::OrderStatus => &ORDER_STATUS,
        EventClass::Fill => &FILL,
        EventClass::Position => &POSITION,
        EventClass::Transaction => &TRANSACTION,
        EventClass::Cash => &CASH_BALANCE,
        EventClass::Portfolio => &PORTFOLIO_VALUE,
        EventClass::Subscription => &SUBSCRIPTION,
        EventClass::LifeCycle => &LIFE_CYCLE,
        EventClass::Session => &SESSION,
        EventClass::TradingState => &RISK,
        EventClass::Break => &BREAK,
        EventClass::Security => &SECURITY,
        EventClass::Alarm => &LOG_EVENT,
        EventClass::Generic => &GENERIC_EVENT,
        EventClass::Limits
        | EventClass::Reference
        | EventClass::Refused
        | EventClass::MassCancel
        | EventClass::ValueSample => return None,
    })
}

/// The family with this first segment.
pub fn by_root(root: &str) -> Option<&'static TopicFamily> {
    FAMILIES.iter().find(|family| family.roots.contains(&root))
}

/// The most similar known first segment, where one is near.
pub fn nearest(root: &str) -> Option<&'static str> {
    if root.len() > NEAR_BYTES_MAX {
        return None;
    }
    let known = FAMILIES.iter().flat_map(|family| family.roots.iter().copied());
    let near = known.map(|known| (distance(root, known), known)).min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, known)| *distance <= known.len().div_ceil(3)).map(|(_, known)| known)
}

/// Levenshtein distance, ignoring case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<u8> = other.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, byte) in one.bytes().map(|byte| byte.to_ascii_lowercase()).enumerate() {
        let (mut diagonal, mut left) = (row[0], line + 1);
        row[0] = left;
        for (column, known) in other.iter().enumerate() {
            let changed = diagonal + usize::from(*known != byte);
            diagonal = row[column + 1];
            left = changed.min(left + 1).min(diagonal + 1);
            row[column + 1] = left;
        }
    }
    row[other.len()]
}

impl TopicFamily {
    /// The names of its topics, with `{segment}` for each parameter.
    pub fn patterns(&self) -> impl Iterator<Item = String> {
        self.roots.iter().map(|root| self.segments.iter().fold((*root).to_owned(), joined))
    }
}

fn joined(mut name: String, segment: &&str) -> String {
    name.push('.');
    match segment.strip_prefix('=') {
        Some(literal) => name.push_str(literal),
        None => name.extend(["{", segment, "}"]),
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

    #[test]
    fn every_class_that_is_published_has_a_row() {
        let rows: Vec<_> = EventClass::ALL.into_iter().filter_map(for_class).collect();
        assert!(rows.iter().all(|row| FAMILIES.contains(row)));
        assert_eq!(rows.len() + 2, FAMILIES.len());
        let shared: Vec<_> = FAMILIES[rows.len()..].iter().flat_map(TopicFamily::patterns).collect();
        assert_eq!(shared, [SHARED_MARKET_DATA, SHARED_GENERIC_EVENT]);
    }

    #[test]
    fn every_segment_is_explained() {
        let unknown = |segment: &&&str| !segment.starts_with('=') && !SEGMENTS.iter().any(|(name, _)| name == *segment);
        let segments = FAMILIES.iter().flat_map(|family| family.segments);
        assert_eq!(segments.filter(|segment| unknown(segment)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn a_name_that_is_misspelt_is_near_one_that_exists() {
        let near = [("ticks", "tick"), ("orders", "order"), ("Order-Status", "order-status"), ("rialtoo", "rialto")];
        for (wrong, right) in near {
            assert_eq!((by_root(wrong), nearest(wrong)), (None, Some(right)));
        }
        assert_eq!((nearest("THE SERVICE"), nearest("weather-report"), nearest("")), (Some("the service"), None, None));
        assert!(nearest(&"x".repeat(10_000)).is_none());
    }
}
