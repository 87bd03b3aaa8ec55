//! Searches that both stores answer.

use bus::history::{ChangePage, TradedSearch};

use super::*;

pub(super) fn searches() -> Vec<OrderSearch> {
    let any = OrderSearch::default;
    let text = |part: &str, securities: Vec<SecurityId>| OrderSearch {
        text: Some(TextSearch { part: part.into(), securities }),
        ..any()
    };
    let by_id = Filter { strategy: Some(StrategyId(1)), account: Some(AccountId(11)), security: Some(SecurityId(21)) };
    vec![
        any(),
        by_id.into(),
        text("venue-9", vec![]),
        text("zürich \\ \"quoted\"\ttab", vec![]),
        text("nothing has it", vec![SecurityId(22)]),
        text("' OR 1=1 --", vec![]),
        OrderSearch { statuses: vec![OrdStatus::Canceled, OrdStatus::Open], ..any() },
        OrderSearch { sources: vec![SourceSearch::AnyFix, SourceSearch::Exactly("UI".into())], ..any() },
        OrderSearch { exclude_strategies: true, ..any() },
        OrderSearch { from: Some(Timestamp(10_000)), to: Some(Timestamp(20_000)), ..any() },
    ]
}

/// The only execution of an order is taken back. It is found all the same.
pub(super) fn emptied(sequence: u64) -> Vec<Event> {
    if sequence != 250 {
        return vec![];
    }
    let emptied = Order { filled: Quantity::ZERO, ..order(62, BaseState::Filled) };
    vec![Event::Order(Arc::new(emptied.clone())), status(sequence, &emptied, ExecType::TradeCancel)]
}

/// From the first one on, and from behind others, also of the same instant.
pub(super) fn traded_searches() -> Vec<(TradedSearch, ChangePage)> {
    let starts = [(i64::MIN, 0), (1_015_000, 0), (1_018_000, 17), (1_018_000, 18)].map(|(at, id)| (Timestamp(at), id));
    let pages = starts.into_iter().flat_map(|after| [0, 1, 7, usize::MAX].map(|limit| ChangePage { after, limit }));
    let search = |(source, security): (&str, Option<u64>)| TradedSearch {
        source: source.into(),
        security: security.map(SecurityId),
    };
    let searches = [("FIX:BANK", None), ("FIX:BANK", Some(22)), ("FIX:BANK", Some(23)), ("UI", None)].map(search);
    pages.flat_map(|page| searches.clone().map(|search| (search, page))).collect()
}

/// By a part of each of its names, by the symbol of its security, and by what it belongs to.
pub(super) fn transaction_searches() -> Vec<TransactionSearch> {
    let text = |part: &str, securities: Vec<SecurityId>| TransactionSearch {
        filter: Filter::default(),
        text: Some(TextSearch { part: part.into(), securities }),
    };
    let of_security = Filter { security: Some(SecurityId(22)), ..Filter::default() };
    vec![
        TransactionSearch::default(),
        of_security.into(),
        text("exec-9", vec![]),
        text(&Uuid::mint(1, 12).to_string(), vec![]),
        text("zürich \\ \"quoted\"\ttab", vec![]),
        text("nothing has it", vec![SecurityId(23)]),
        text("' OR 1=1 --", vec![]),
        TransactionSearch { filter: of_security, ..text("exec-1", vec![]) },
    ]
}

#[test]
fn orders_of_a_client_that_traded_are_found_by_their_last_change() {
    let folder = tempfile::tempdir().unwrap();
    let model = sqlite(folder.path(), INPUTS);
    replay(&model, &story());
    let found = |(search, page): &(TradedSearch, ChangePage)| {
        let orders = model.traded_orders(INPUTS, search, *page).unwrap();
        orders.iter().map(|order| order.id.0).collect::<Vec<_>>()
    };
    let all: Vec<_> = (2..=100).step_by(4).collect();
    let searches = traded_searches();
    let of_bank: Vec<_> = searches.iter().filter(|(search, _)| *search == searches[0].0).map(found).collect();
    let from = |first| all.iter().copied().filter(|id| *id >= first).collect::<Vec<u64>>();
    let pages = |first| [0, 1, 7, 100].map(|limit| from(first).into_iter().take(limit).collect::<Vec<_>>());
    assert_eq!(of_bank, [pages(2), pages(15), pages(18), pages(19)].concat());
}

#[test]
fn transactions_are_found_by_a_part_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let model = sqlite(folder.path(), INPUTS);
    replay(&model, &story());
    let found = |search: &TransactionSearch| {
        let booked = model.transactions(INPUTS, search, SortOrder::Oldest, ALL).unwrap();
        booked.iter().map(|booked| booked.id.0).collect::<Vec<_>>()
    };
    let [all, _, exec, uuid, note, symbol, attack, both] = &transaction_searches()[..] else { unreachable!() };
    let everything = found(all);
    let beginning_with_nine = |id: &&u64| id.to_string().starts_with('9');
    assert_eq!(found(exec), everything.iter().filter(beginning_with_nine).copied().collect::<Vec<_>>());
    assert!(everything.contains(&12) && everything.contains(&90), "{everything:?}");
    assert_eq!((found(uuid), found(attack)), (vec![12], vec![]));
    assert_eq!(found(note), everything.iter().filter(|id| id.is_multiple_of(10)).copied().collect::<Vec<_>>());
    assert_eq!(found(symbol), everything.iter().filter(|id| *id % 4 == 3).copied().collect::<Vec<_>>());
    let expected = everything.iter().filter(|id| id.to_string().starts_with('1') && *id % 4 == 2);
    assert_eq!(found(both), expected.copied().collect::<Vec<_>>());
}
