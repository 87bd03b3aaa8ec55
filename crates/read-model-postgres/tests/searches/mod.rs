//! Searches that both stores answer.

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
        OrderSearch { changed_from: Some(Timestamp(15_000)), ..any() },
        OrderSearch {
            changed_from: Some(Timestamp(15_000)),
            sources: vec![SourceSearch::Exactly("FIX:BANK".into())],
            ..any()
        },
    ]
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
