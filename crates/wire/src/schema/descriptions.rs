//! Field descriptions of published payloads: units, signs, and when a value is null. A field means the same everywhere,
//! unless its shape has an entry of its own.

use crate::topic_families;

/// The meaning of a field of a shape.
pub(super) fn description(shape: &str, field: &str) -> Option<&'static str> {
    let own = OF_SHAPES.iter().find(|(of, name, _)| *of == shape && *name == field).map(|(_, _, says)| *says);
    own.or_else(|| EVERYWHERE.iter().find(|(name, _)| *name == field && is_published(shape)).map(|(_, says)| *says))
}

/// Elsewhere a name may mean something else: the status of a response is not that of an order.
fn is_published(shape: &str) -> bool {
    shape == "PriceLevel" || topic_families::FAMILIES.iter().any(|family| family.payloads.contains(&shape))
}

const EVERYWHERE: &[(&str, &str)] = &[
    ("accountId", "The account at a venue, as /rest/account lists it"),
    ("aggressorSide", "Which side crossed the spread; null where the feed does not tell"),
    ("ask", "Best offered price in the security's currency; null where there is no offer"),
    ("asks", "Offers, the lowest price first"),
    ("avgPrice", "Average price per unit in the security's currency; null before the first fill"),
    ("barSize", "How long a bar lasts"),
    ("bid", "Best bid price in the security's currency; null where there is no bid"),
    ("bids", "Bids, the highest price first"),
    ("charges", "What a fill cost in other currencies than its own, each with amount, currency and kind"),
    ("clOrdId", "The last accepted ClOrdID of an order that came by FIX, else null"),
    ("commissions", "Commissions paid so far; they are not part of realizedPL"),
    ("currency", "The currency that the amounts beside it are in"),
    ("dateTime", "When it happened here"),
    ("displayQuantity", "How much of the order the book shows at a time; absent or null: all of it"),
    ("exchangeId", "The exchange that the order is routed to, as /rest/exchange lists it"),
    ("exchangeOrder", "Whether a stop rests at the exchange instead of here"),
    ("extDateTime", "When it happened by the venue's clock; null where the venue did not tell"),
    ("extId", "The venue's own id; null before the venue has given one"),
    ("feed", "Which feed the price came from"),
    ("fees", "Fees paid so far; they are not part of realizedPL"),
    ("filledQuantity", "How much was traded so far, in units of the security"),
    ("inDoubt", "Whether it is not known if the venue has the order; its exposure stays reserved"),
    ("intId", "The platform's id of the order, for ever"),
    ("last", "Price of the last trade in the security's currency; null before the first"),
    ("lastDateTime", "When the last trade was"),
    ("limit", "Worst price that the order may trade at, in the security's currency"),
    ("marketPrice", "The price that it is valued at: bid for a long, ask for a short; null where there is none"),
    ("marketValue", "What it is worth at the market price; null where there is no price"),
    ("minQuantity", "How much must trade at once, or nothing does; only with IOC"),
    ("objectType", "Which kind of object this is"),
    ("postOnly", "Whether the order never takes: the venue rejects it where it would trade at once"),
    ("price", "Price per unit in the security's currency"),
    ("quantity", "How much, in units of the security"),
    ("realizedPL", "Profit and loss of what was closed, before commissions and fees"),
    ("reason", "The reason as text; null where there is none"),
    ("reduceOnly", "Whether the order may only reduce the position of its strategy, account and security"),
    ("reference", "A note of the sender of the order, returned unchanged; null where there is none"),
    ("remainingQuantity", "How much is still to be traded, in units of the security; 0 once the order is done"),
    ("securityId", "The security, as /rest/security lists it"),
    ("side", "Whether it buys or sells"),
    (
        "source",
        "The interface that the order came in by: REST, UI, STRATEGY, PLATFORM, EXTERNAL (nobody placed it here), or FIX: with the client's CompID",
    ),
    ("status", "What the status of the order is now; docs/order-states.md has all ways between them"),
    ("stop", "Price that triggers the order, in the security's currency"),
    ("strategyId", "The strategy that it belongs to, as /rest/strategy lists it; 1 is SERVER"),
    ("strategyName", "The name of the strategy"),
    ("submittedBy", "The user that sent the order; null where no login is required"),
    ("tif", "Time in force: how long the order lives"),
    ("tifDateTime", "With GTD: until when; else null"),
    ("unrealizedPL", "Profit and loss of what is open, at the market price; null where there is no price"),
    ("vol", "Quantity that was traded in the session so far; null where the feed does not tell"),
    ("volAsk", "Quantity at the best offer; null where the feed does not tell"),
    ("volBid", "Quantity at the best bid; null where the feed does not tell"),
    ("volLast", "Quantity of the last trade; null where the feed does not tell"),
];

const OF_SHAPES: &[(&str, &str, &str)] = &[
    ("OrderVO", "id", "A number for the order, counted up over the life of the platform"),
    ("OrderVO", "dateTime", "When the order was accepted"),
    ("OrderStatusVO", "orderId", "The number of the order, as `id` in OrderVO"),
    ("OrderStatusVO", "sequenceNumber", "The sequence of the input that caused it, as in the header `sequence`"),
    ("OrderStatusVO", "lastQuantity", "With a fill: how much was traded by it; else null"),
    ("OrderStatusVO", "lastPrice", "With a fill: its price per unit; else null"),
    ("FillVO", "orderIntId", "The platform's id of the order that was filled"),
    ("FillVO", "extId", "The venue's id of the execution"),
    ("FillVO", "sequenceNumber", "The sequence of the input that caused it, as in the header `sequence`"),
    ("FillVO", "quantity", "How much was traded by this fill, in units of the security, never negative"),
    ("PositionVO", "id", "A number for the position, for ever"),
    ("PositionVO", "quantity", "How much is held: negative for a short, 0 once it is closed"),
    ("PositionVO", "cost", "What the open quantity cost, in `currency`; negative for a short"),
    ("PositionVO", "avgPrice", "Cost per unit and contract size; null where nothing is open"),
    ("TransactionVO", "id", "A number for the booking, counted up over the life of the platform"),
    ("TransactionVO", "uuid", "A name for the booking that is unique everywhere; a second one with it is refused"),
    ("TransactionVO", "dateTime", "When it was traded or booked"),
    ("TransactionVO", "settlementDate", "The day on which money and securities change hands; null where unknown"),
    ("TransactionVO", "extId", "The venue's id of the execution; null for a booking by hand"),
    ("TransactionVO", "intOrderId", "The order that it came from; null for a booking by hand"),
    ("TransactionVO", "extOrderId", "The venue's id of that order; null where there is none"),
    ("TransactionVO", "type", "What was booked"),
    ("TransactionVO", "quantity", "Signed: what comes in is positive, what goes out negative"),
    ("TransactionVO", "price", "The amount per unit, never negative; for cash alone the amount"),
    ("TransactionVO", "executionCommission", "Commission for the execution, in `currency`"),
    ("TransactionVO", "clearingCommission", "Commission for the clearing, in `currency`"),
    ("TransactionVO", "fee", "Fees of the exchange, in `currency`"),
    ("TransactionVO", "securityId", "The security; null where only cash was booked"),
    ("TransactionVO", "description", "Text of the user that booked it by hand; else null"),
    ("TransactionVO", "venueKind", "What the venue calls an entry that it booked besides trades; else null"),
    ("CashBalanceVO", "id", "A number for the balance, for ever"),
    ("CashBalanceVO", "amount", "Cash in `currency`; negative where it is owed"),
    (
        "CashBalanceVO",
        "venueTotal",
        "What the venue holds of it for the whole account, by its last statement; null where it gave none",
    ),
    ("CashBalanceVO", "venueLocked", "The part of it that open orders hold; null where the venue gave no statement"),
    ("PortfolioValueVO", "netLiqValue", "Cash and market value together, in `currency`; null where a rate is missing"),
    ("PortfolioValueVO", "marketValue", "Market value of all open positions, in `currency`"),
    ("PortfolioValueVO", "cashBalance", "All cash, in `currency`"),
    ("PortfolioValueVO", "openPositions", "How many positions are open"),
    ("PortfolioValueVO", "currency", "The base currency of the platform"),
    ("Bar", "dateTime", "When the span of the bar began"),
    ("Bar", "open", "Its first price: of a trade, or the middle of the quote where the security has none"),
    ("Bar", "high", "Its highest price"),
    ("Bar", "low", "Its lowest price"),
    ("Bar", "close", "Its last price, as `open`"),
    ("Bar", "vol", "Quantity that was traded in it"),
    ("Bar", "vwap", "Average price weighted by volume; null where nothing was traded"),
    ("Trade", "extId", "The feed's own id of the trade; null where it has none"),
    ("PriceLevel", "quantity", "How much rests at this price"),
    ("SubscriptionVO", "subscribe", "true to subscribe, false to unsubscribe"),
    ("LifeCycleEvent", "mode", "Whether the strategy runs on live time or in a simulation"),
    ("LifeCycleEvent", "phase", "The phase that begins"),
    ("LifeCycleEvent", "failure", "With EXIT: how a strategy failed; absent where it ended by itself"),
    ("LifeCycleEvent", "reason", "With a failure: what is known about it"),
    ("SessionEvent", "adapter", "The kind of adapter"),
    ("SessionEvent", "qualifier", "Which adapter of that kind; null where there is only one"),
    ("SessionEvent", "state", "State of its connection to the venue"),
    ("SessionEvent", "openFor", "What can be sent to the venue; absent on a client's session"),
    ("SessionEvent", "lines", "The lines of the adapter; absent on a client's session"),
    ("AdapterVO", "openFor", "ORDERS, or REDUCE: only cancels and orders that reduce a position, or NOTHING"),
    ("AdapterVO", "lines", "Trading line, private stream and price feeds, which fail apart"),
    ("LineVO", "line", "Which one: requests, the stream of order reports, or prices"),
    ("LineVO", "up", "Whether it works"),
    ("LineVO", "since", "Since when it is up or down; null before the server has seen it"),
    ("LineVO", "lastHeard", "When the last message came on it; null before the first"),
    ("LineVO", "reason", "Why it is down, where the adapter knows"),
    ("LineState", "line", "Which one: requests, the stream of order reports, or prices"),
    ("LineState", "up", "Whether it works"),
    ("LineState", "reason", "Why it is down, where the adapter knows"),
    ("TradingState", "scope", "What the state holds for: the platform, an account, a strategy or a security"),
    ("TradingState", "state", "ACTIVE trades, REDUCING only closes positions, HALTED only cancels"),
    ("TradingState", "changedBy", "The user that set it, or the platform itself; null where no login is required"),
    ("BreakVO", "id", "The id of the break: B and a number"),
    ("BreakVO", "kind", "What differs"),
    ("BreakVO", "state", "OPEN until both sides agree again or somebody explains, repairs or accepts it"),
    ("BreakVO", "adapter", "The adapter of the venue"),
    ("BreakVO", "account", "The name of the account; null where it is not about one"),
    ("BreakVO", "security", "The symbol of the security; null where it is not about one"),
    ("BreakVO", "intOrderId", "The intId of the order; null where it is not about one of ours"),
    ("BreakVO", "extOrderId", "The venue's id of the order; null where it has none"),
    ("BreakVO", "currency", "The currency of the difference; null where it is not about money"),
    ("BreakVO", "ours", "Our values, as texts; null where we have nothing"),
    ("BreakVO", "theirs", "The venue's values, as texts; null where it has nothing"),
    ("BreakVO", "difference", "Theirs less ours; null where that is no number"),
    ("BreakVO", "value", "What the difference is worth in base currency, without a sign; null where that is not known"),
    ("BreakVO", "evidence", "What the venue said, where the journal has it, and a hash of it"),
    ("BreakVO", "since", "When it was found, as ISO 8601 in UTC"),
    ("BreakVO", "changedAt", "When it last changed, as ISO 8601 in UTC"),
    ("BreakVO", "changedBy", "The user that changed its state; null where nobody did or no login is required"),
    ("BreakVO", "comment", "What that user said, or why it settled by itself; null while nobody has said anything"),
    ("BreakVO", "repair", "What a repair would do; null where only a person can correct it"),
    ("LogEvent", "level", "Severity"),
    ("LogEvent", "logger", "The part of the server that wrote the line"),
    ("LogEvent", "message", "The line; of an alarm of the engine its code, a colon and its text"),
    ("LogEvent", "exceptionClass", "The kind of the underlying error; null where there is none"),
    ("LogEvent", "exceptionMessage", "The text of that error; null where there is none"),
    ("GenericEvent", "name", "What the event is called, as in its topic"),
    ("GenericEvent", "body", "What was sent, as text"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_is_published_has_a_meaning() {
        let published = super::super::shapes().filter(|shape| is_published(shape.name));
        let unexplained: Vec<_> = published
            .flat_map(|shape| shape.fields.iter().map(move |field| (shape.name, field.name)))
            .filter(|(shape, field)| description(shape, field).is_none())
            .collect();
        assert_eq!(unexplained, []);
    }

    #[test]
    fn a_name_means_something_else_elsewhere() {
        assert_eq!(description("Problem", "status"), None);
    }
}
