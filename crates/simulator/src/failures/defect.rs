//! What tells two failures apart that break the same promise: the words of what was seen, without the numbers, ids and values of one run.

use crate::invariants::broken_invariant::BrokenInvariant;

/// Equal for two runs that show the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DefectWords {
    invariant: &'static str,
    words: Vec<String>,
}

impl DefectWords {
    pub(super) fn of(broken: &BrokenInvariant) -> Self {
        let text = without_values(&broken.detail);
        let is_word = |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit());
        let words = text.split_whitespace().filter(is_word).map(str::to_owned).collect();
        Self { invariant: broken.invariant, words }
    }
}

/// Without what stands in brackets or quotes: fields of an order, an id.
fn without_values(text: &str) -> String {
    let (mut kept, mut depth, mut is_quoted) = (String::new(), 0_u32, false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && !is_quoted => kept.push(letter),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(detail: &str) -> DefectWords {
        DefectWords::of(&BrokenInvariant { invariant: "a promise", detail: detail.to_owned() })
    }

    #[test]
    fn numbers_ids_and_fields_of_one_run_make_no_other_defect() {
        let one = words(r#"the venue has Some(((5, "SIM-7"), Fill { order: 3 })), order T1-9 is 12.5"#);
        assert_eq!(one, words(r#"the venue has Some(((6, "SIM-12"), Fill { order: 30 })), order T2-1 is 7"#));
    }

    #[test]
    fn another_panic_is_another_defect() {
        let one = words("index out of bounds, at crates/engine/src/fills.rs:12");
        assert_ne!(one, words("no such order, at crates/engine/src/fills.rs:12"));
    }

    #[test]
    fn another_promise_is_another_defect() {
        let detail = "an order".to_owned();
        let other = DefectWords::of(&BrokenInvariant { invariant: "another promise", detail });
        assert_ne!(words("an order"), other);
    }
}
