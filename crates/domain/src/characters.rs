//! The characters of currencies and symbols: what a person can read and tell from another, in any script.

use unicode_general_category::{GeneralCategory, get_general_category};

/// The longest symbol of a security.
pub const SYMBOL_CHARACTERS_MAX: usize = 64;

/// Blocks of letters that only look different from the letters they stand for, such as full-width Latin.
const COMPATIBILITY_BLOCKS: [(char, char); 8] = [
    ('\u{2100}', '\u{218F}'),
    ('\u{3130}', '\u{318F}'),
    ('\u{3200}', '\u{33FF}'),
    ('\u{F900}', '\u{FDFF}'),
    ('\u{FE70}', '\u{FEFF}'),
    ('\u{FF00}', '\u{FFEF}'),
    ('\u{1D400}', '\u{1D7FF}'),
    ('\u{2F800}', '\u{2FA1F}'),
];

/// Letters by their category, but nothing is seen.
const FILLERS: [char; 2] = ['\u{115F}', '\u{1160}'];

/// The last letter of those that are plainly Latin with an accent.
const LAST_ACCENTED_LATIN: char = '\u{17F}';

/// Upper-case letters, letters of scripts without case, and the digits 0 to 9.
pub(crate) fn is_code_character(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_uppercase() || character.is_ascii_digit();
    }
    is_distinct_letter(character)
}

fn is_distinct_letter(character: char) -> bool {
    use GeneralCategory::{ModifierLetter, OtherLetter, UppercaseLetter};
    let category = get_general_category(character);
    let is_letter = match category {
        UppercaseLetter | OtherLetter => true,
        // The marks of length and repetition of Japanese; the others are small letters.
        ModifierLetter => matches!(character, '\u{3005}' | '\u{30FC}'),
        _ => false,
    };
    let is_inside = |(first, last): &(char, char)| (*first..=*last).contains(&character);
    is_letter && !FILLERS.contains(&character) && !COMPATIBILITY_BLOCKS.iter().any(is_inside)
}

/// Whether letters of another alphabet stand beside Latin ones and could pass for them: `USDТ` with a Cyrillic T.
pub(crate) fn mixes_alphabets(text: &str) -> bool {
    let is_foreign = |character: char| character > LAST_ACCENTED_LATIN && character.is_uppercase();
    text.chars().any(is_foreign) && text.chars().any(|character| character.is_ascii_uppercase())
}

/// Whether a text can be the symbol of a security: 1 to 64 characters that are seen. Spaces stand inside only, and marks
/// that join, reorder or hide other characters nowhere.
pub fn is_symbol(text: &str) -> bool {
    let is_long = text.chars().nth(SYMBOL_CHARACTERS_MAX).is_some();
    !text.is_empty() && !is_long && text.trim() == text && text.chars().all(is_symbol_character)
}

fn is_symbol_character(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    use GeneralCategory::{
        Control, EnclosingMark, Format, LineSeparator, NonspacingMark, ParagraphSeparator, PrivateUse, SpaceSeparator,
        SpacingMark, Surrogate, Unassigned,
    };
    let is_hidden = matches!(
        get_general_category(character),
        Control
            | EnclosingMark
            | Format
            | LineSeparator
            | NonspacingMark
            | ParagraphSeparator
            | PrivateUse
            | SpaceSeparator
            | SpacingMark
            | Surrogate
            | Unassigned
    );
    !is_hidden && !FILLERS.contains(&character) && !matches!(character, '\u{3164}' | '\u{FFA0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_what_can_be_seen_in_any_script() {
        for good in
            ["AAPL", "EUR.USD", "AAPL C280", "BRK/B", "ES=F", "币安人生USDT", "日経225", "Ørsted", &"龙".repeat(64)]
        {
            assert!(is_symbol(good), "{good}");
        }
    }

    #[test]
    fn a_symbol_has_nothing_that_hides_joins_or_reorders() {
        let bad = [
            "",
            " AAPL",
            "AAPL ",
            "A\u{1}B",
            "A\tB",
            "A\u{A0}B",
            "A\u{200B}B",
            "A\u{202E}B",
            "A\u{2066}B",
            "E\u{301}",
            "A\u{3164}",
            "A\u{E000}",
            &"龙".repeat(65),
        ];
        for text in bad {
            assert!(!is_symbol(text), "{text:?}");
        }
    }
}
