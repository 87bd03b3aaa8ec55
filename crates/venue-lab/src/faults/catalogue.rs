//! Catalogue of faults that venues were seen to have.

macro_rules! faults {
    ($($variant:ident = $name:literal: $text:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault {
            $(#[doc = $text] $variant),+
        }

        impl Fault {
            /// Each with its name and what happens.
            pub(crate) const ALL: &'static [(Fault, &'static str, &'static str)] = &[$((Fault::$variant, $name, $text)),+];
        }
    };
}

faults! {
    TakenUnknown = "taken-unknown": "a new order is taken and answered 503 -1007, execution status unknown",
    NotTakenUnknown = "not-taken-unknown": "the same answer, and the order was not taken",
    CutAnswer = "cut-answer": "a new order is taken, and the connection is cut instead of (over REST: in the middle of) the answer",
    LateQuery = "late-query": "the query of an order that exists is answered -2013",
    LateRequest = "late-request": "a new order reaches the matching engine just before its recvWindow ends",
    StreamMute = "stream-mute": "the events of a command are not sent to an account's subscribers; pings go on",
    StreamNever = "stream-never": "a subscription is confirmed and never sends",
    KeyExpired = "key-expired": "the user data subscriptions of a connection end, with eventStreamTerminated",
    ServerShutdown = "server-shutdown": "a connection is sent serverShutdown and ends",
    EventsShuffled = "events-shuffled": "the events of a command come in reverse order, and twice",
    ReplaceHalf = "replace-half": "a cancel-replace cancels, and its new order is rejected: 409 -2021",
    ReplaceCut = "replace-cut": "a cancel-replace places its new order without the cancel, and the connection is cut: two orders live",
    FillAfterCancel = "fill-after-cancel": "a cancel is confirmed, but the order was filled; the fill comes afterwards",
    FillOnlyInList = "fill-only-in-list": "the event of a trade is not sent; myTrades has it",
    FillsReplayed = "fills-replayed": "the events of the trades of a subscription so far are sent once more, unmarked",
    OrderIdsReissued = "order-ids-reissued": "a new order gets the id of an ended order of the account",
    ListPartial = "list-partial": "openOrders, allOrders or myTrades lack their newer half",
    OddFills = "odd-fills": "an event of a trade with quantity 0 comes before the real one, with its trade id",
    FeeForeign = "fee-foreign": "the commissions of a new order are charged in a third asset, where the account has one",
    Strangers = "strangers": "after a new order, the account also has one that fills and one that rests from somewhere else",
    BalanceMoves = "balance-moves": "after a new order, an amount of the quote asset comes from outside",
    DepthDamage = "depth-damage": "one message of depth changes is not sent",
    ClockOff = "clock-off": "the venue's clock is three seconds ahead, for as long as it is armed",
    RateLimited = "rate-limited": "a request is answered 429 with Retry-After",
    FiltersChange = "filters-change": "the steps of price and quantity of a symbol become ten times coarser before a new order is checked",
    EndpointMoved = "endpoint-moved": "a new order is answered -4120: its type is placed by another endpoint now",
    SignatureRule = "signature-rule": "a signed request is answered -1022 though its signature is right",
    OddValues = "odd-values": "the answer about an order has an unknown field and an unknown status",
    KeyRevoked = "key-revoked": "a signed request is answered 401 -2015",
    CancelOnly = "cancel-only": "a new order is rejected with \"Market is closed.\"; cancels are accepted",
    FixNumbersReset = "fix-numbers-reset": "after a new order on a generic FIX session the venue logs out and begins at 1 in both directions",
    FixGapFlags = "fix-gap-flags": "a gap fill on a generic FIX session has no GapFillFlag and no PossDupFlag, and comes twice",
    FixLogonBlocked = "fix-logon-blocked": "a FIX Logon is refused, and so is every one of the same SenderCompID for twice its HeartBtInt",
    FixContradiction = "fix-contradiction": "the FIX report of a cancel has the order's own ClOrdID, no OrigClOrdID, and says that the order is new",
}

/// What the venue does without any fault: ids of clients are free again, trade ids are those of one symbol.
pub(crate) const ALWAYS: [&str; 2] = ["id-reused", "trade-ids-repeat"];

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(fault, ..)| *fault == self).map_or("", |(_, name, _)| name)
    }

    /// Whether it strikes FIX sessions alone.
    pub(crate) fn is_of_fix(self) -> bool {
        matches!(self, Self::FixNumbersReset | Self::FixGapFlags | Self::FixLogonBlocked | Self::FixContradiction)
    }

    /// Its place in the catalogue: the stream of random numbers that decides for it.
    pub(crate) fn number(self) -> u64 {
        Self::ALL.iter().zip(1..).find(|((fault, ..), _)| *fault == self).map_or(0, |(_, number)| number)
    }

    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        if let Some((fault, ..)) = Self::ALL.iter().find(|(_, known, _)| *known == name) {
            return Ok(*fault);
        }
        if ALWAYS.contains(&name) {
            return Err(format!("fault: {name} needs no arming: the venue is always so"));
        }
        let known: Vec<_> = Self::ALL.iter().map(|(_, name, _)| *name).collect();
        Err(format!("fault: {name} is none of {}", known.join(", ")))
    }
}
