//! Memory of the state: what an order takes, and that it is given back.

use crate::world::StoryEngine;

const ORDERS: i64 = 1_000;
/// As `docs/operations.md` states it: an order, its fill and its transaction in the engine's state.
const BYTES_PER_ORDER_MAX: i64 = 1_500;

/// Bytes that an order adds to the state; what the script notes for itself is not counted.
fn bytes_per_order(world: &mut StoryEngine, from: i64, script: impl Fn(i64) -> String) -> i64 {
    let counted = allocation_counter::measure(|| {
        for number in from..from + ORDERS {
            world.run(&script(number));
            world.inputs = vec![];
        }
    });
    counted.bytes_current / ORDERS
}

#[test]
fn an_order_takes_as_much_as_is_stated_however_many_there_were() {
    let mut world = StoryEngine::open();
    let filled = |n: i64| {
        let side = if n % 2 == 0 { "buy" } else { "sell" };
        format!("wait 1\nplace {n} {side} 1 AAPL @ 10\nvenue accepts {n}\nvenue fills {n} 1 @ 10 x{n}")
    };
    let first = bytes_per_order(&mut world, 1_000, filled);
    let later = bytes_per_order(&mut world, 2_000, filled);
    println!("an order with its fill: {first} bytes, later {later}");
    assert!((100..=BYTES_PER_ORDER_MAX).contains(&first), "{first}");
    assert!((100..=BYTES_PER_ORDER_MAX).contains(&later), "{later}");
}

#[test]
fn a_snapshot_leaves_nothing_behind() {
    let mut world = StoryEngine::open();
    bytes_per_order(&mut world, 1_000, |n| format!("place {n} buy 1 AAPL @ 10\nvenue accepts {n}"));
    let counted = allocation_counter::measure(|| {
        let state = world.engine.snapshot().encode_state();
        assert!(state.len() > 10_000);
    });
    assert_eq!((counted.bytes_current, counted.count_current), (0, 0));
}
