//! The engine knows no interface: what is different for one is said by the source of a command, in `domain`.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const ENGINE: &str = "crates/engine/src/";

/// A source that is named, such as one of FIX; tests name them.
const NAMED_SOURCE: &str = "Source::Fix";

/// No file of the engine decides by the interface that a command came through.
pub fn engine_knows_no_interface(tree: &Tree) -> Vec<Violation> {
    let of_engine = |file: &&TextFile| file.path.starts_with(ENGINE) && !file.path.contains("/tests");
    let named = |file: &TextFile| {
        let lines = file.text.lines().zip(1..).filter(|(line, _)| line.contains(NAMED_SOURCE));
        let what = |(_, number)| {
            Violation::new(&file.path, number, format!("`{NAMED_SOURCE}`: ask the source for its policy"))
        };
        lines.map(what).collect::<Vec<_>>()
    };
    tree.texts().filter(of_engine).flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    #[test]
    fn a_decision_for_one_interface_is_named_and_a_test_may_have_one() {
        let text = "use domain::Source;\nlet Source::Fix(comp_id) = source else { return };";
        let tree = Tree::from_texts(&[
            ("crates/engine/src/orders/requests/mod.rs", text),
            ("crates/engine/src/market/tests.rs", text),
            ("crates/fix-gateway/src/gateway.rs", text),
        ]);
        assert_eq!(
            report(engine_knows_no_interface(&tree)),
            "crates/engine/src/orders/requests/mod.rs:2: `Source::Fix`: ask the source for its policy"
        );
    }
}
