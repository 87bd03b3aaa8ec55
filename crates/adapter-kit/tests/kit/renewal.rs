//! A connection is renewed before its end: no gap, no message twice.

use adapter_kit::{ConnectionNumber, ConnectionRenewal, MessageCopy, RenewalAction, RenewalRule};
use proptest::prelude::*;

use crate::budget::at;

const FIRST: ConnectionNumber = ConnectionNumber(1);
const SECOND: ConnectionNumber = ConnectionNumber(2);
const THIRD: ConnectionNumber = ConnectionNumber(3);

/// A day of life, renewed ten minutes before its end, with five seconds of both.
fn renewal() -> ConnectionRenewal {
    let rule = RenewalRule { life_seconds: 86_400, lead_seconds: 600, overlap_seconds: 5 };
    let mut renewal = ConnectionRenewal::new(rule);
    assert_eq!(renewal.step(at(0)), Some(RenewalAction::Open(FIRST)));
    assert_eq!(renewal.step(at(0)), None);
    renewal.on_ready(at(0), FIRST);
    renewal
}

#[test]
fn the_old_connection_ends_only_after_the_new_one_delivers() {
    let mut renewal = renewal();
    assert_eq!((renewal.step(at(85_799)), renewal.next_due()), (None, Some(at(85_800))));
    assert_eq!(renewal.step(at(85_800)), Some(RenewalAction::Open(SECOND)));
    assert_eq!(renewal.step(at(85_900)), None, "it is not subscribed yet");
    renewal.on_ready(at(85_901), SECOND);
    assert_eq!((renewal.step(at(85_905)), renewal.next_due()), (None, Some(at(85_906))));
    assert_eq!(renewal.step(at(85_906)), Some(RenewalAction::Close(FIRST)));
    assert_eq!(renewal.on_closed(FIRST, at(86_000)), None);
    assert!(renewal.is_up());
    assert_eq!(renewal.next_due(), Some(at(85_901 + 85_800)));
}

#[test]
fn both_copies_of_a_message_are_passed_on_once() {
    let mut renewal = renewal();
    assert_eq!(renewal.on_message(FIRST, "u1"), MessageCopy::First);
    renewal.step(at(85_800));
    assert_eq!(renewal.on_message(FIRST, "u2"), MessageCopy::First);
    renewal.on_ready(at(85_801), SECOND);
    assert_eq!(renewal.on_message(SECOND, "u2"), MessageCopy::Second);
    assert_eq!(renewal.on_message(SECOND, "u3"), MessageCopy::First);
    assert_eq!(renewal.on_message(FIRST, "u3"), MessageCopy::Second);
    assert_eq!(renewal.on_message(FIRST, "u4"), MessageCopy::First);
    assert_eq!(renewal.step(at(85_806)), Some(RenewalAction::Close(FIRST)));
    assert_eq!(renewal.on_message(FIRST, "u5"), MessageCopy::Late);
    assert_eq!(renewal.on_message(SECOND, "u4"), MessageCopy::Second, "the slower copy comes after the close");
    assert_eq!(renewal.on_message(SECOND, "u5"), MessageCopy::First);
}

#[test]
fn a_new_connection_that_fails_is_tried_again_while_the_old_one_delivers() {
    let mut renewal = renewal();
    renewal.step(at(85_800));
    assert_eq!(renewal.on_closed(SECOND, at(85_830)), None);
    assert_eq!((renewal.step(at(85_829)), renewal.next_due()), (None, Some(at(85_830))));
    assert_eq!(renewal.step(at(85_830)), Some(RenewalAction::Open(THIRD)));
    assert_eq!(renewal.on_message(FIRST, "u1"), MessageCopy::First);
}

#[test]
fn an_old_connection_that_ends_during_the_overlap_leaves_no_gap() {
    let mut renewal = renewal();
    renewal.step(at(85_800));
    renewal.on_ready(at(85_801), SECOND);
    assert_eq!(renewal.on_closed(FIRST, at(86_000)), None);
    assert!(renewal.is_up());
    assert_eq!(renewal.step(at(85_900)), None);
}

#[test]
fn a_connection_that_ends_alone_is_a_gap_and_is_opened_again() {
    let mut renewal = renewal();
    assert_eq!(renewal.on_closed(FIRST, at(12)), Some(RenewalAction::Gap));
    assert_eq!((renewal.is_up(), renewal.step(at(11)), renewal.next_due()), (false, None, Some(at(12))));
    assert_eq!(renewal.step(at(12)), Some(RenewalAction::Open(SECOND)));
    renewal.on_ready(at(13), SECOND);
    assert!(renewal.is_up());
    // The new one is opened, but not subscribed, when the old one ends.
    renewal.step(at(13 + 85_800));
    assert_eq!(renewal.on_closed(SECOND, at(86_000)), Some(RenewalAction::Gap));
    renewal.on_ready(at(86_001), THIRD);
    assert!(renewal.is_up());
}

#[test]
fn an_announced_shutdown_renews_early() {
    let mut renewal = renewal();
    renewal.on_shutdown_notice(at(1_000));
    renewal.on_shutdown_notice(at(2_000));
    assert_eq!(renewal.next_due(), Some(at(400)));
    assert_eq!(renewal.step(at(400)), Some(RenewalAction::Open(SECOND)));
}

proptest! {
    /// Two connections deliver the same messages, each with its own delays; the application gets each exactly once.
    #[test]
    fn an_overlap_passes_every_message_on_exactly_once(choices in prop::collection::vec(any::<bool>(), 0..400)) {
        let mut renewal = renewal();
        let (mut old, mut new, mut passed) = (0_u32, 0_u32, Vec::new());
        renewal.step(at(85_800));
        renewal.on_ready(at(85_801), SECOND);
        for takes_old in choices {
            let (number, update) = if takes_old { (FIRST, &mut old) } else { (SECOND, &mut new) };
            *update += 1;
            if renewal.on_message(number, &update.to_string()) == MessageCopy::First {
                passed.push(*update);
            }
        }
        renewal.step(at(90_000));
        // The rest comes by the new connection alone.
        while new < old + 10 {
            new += 1;
            if renewal.on_message(SECOND, &new.to_string()) == MessageCopy::First {
                passed.push(new);
            }
        }
        passed.sort_unstable();
        prop_assert_eq!(passed, (1..=new).collect::<Vec<_>>());
    }
}
