//! Header escapes: none in 1.0, three in 1.1, four in 1.2, and never any in CONNECT and CONNECTED.

use std::borrow::Cow;

use crate::limits::FramingError;
use crate::version::StompVersion;

/// Which escapes the headers of a frame use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    None,
    Three,
    Four,
}

impl Escapes {
    pub(crate) fn for_version(version: StompVersion) -> Self {
        match version {
            StompVersion::V10 => Self::None,
            StompVersion::V11 => Self::Three,
            StompVersion::V12 => Self::Four,
        }
    }

    /// The unescaped text; an undefined escape is an error, by the specification.
    pub(crate) fn decode(self, text: &str) -> Result<Cow<'_, str>, FramingError> {
        if self == Self::None || !text.contains('\\') {
            return Ok(Cow::Borrowed(text));
        }
        let mut meant = String::with_capacity(text.len());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            meant.push(if c == '\\' { self.unescape(chars.next())? } else { c });
        }
        Ok(Cow::Owned(meant))
    }

    fn unescape(self, letter: Option<char>) -> Result<char, FramingError> {
        match letter {
            Some('n') => Ok('\n'),
            Some('c') => Ok(':'),
            Some('\\') => Ok('\\'),
            Some('r') if self == Self::Four => Ok('\r'),
            _ => Err(FramingError::UndefinedEscape),
        }
    }

    /// Whether a header can be encoded. Where a version has no escape for a character that would end the line or the
    /// name, the header is left out for that version: written raw, it could forge another header.
    pub(crate) fn can_encode(self, name: &str, value: &str) -> bool {
        let carries = |text: &str| !text.contains(|c| self.cannot_encode(c));
        !name.is_empty() && carries(name) && carries(value) && (self != Self::None || !name.contains(':'))
    }

    fn cannot_encode(self, c: char) -> bool {
        match c {
            '\0' => true,
            '\r' => self != Self::Four,
            '\n' => self == Self::None,
            _ => false,
        }
    }

    /// Encodes a name or value for which `can_encode` holds.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) {
        if self == Self::None || is_plain(text) {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        for byte in text.bytes() {
            match byte {
                b'\\' => out.extend_from_slice(b"\\\\"),
                b':' => out.extend_from_slice(b"\\c"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                _ => out.push(byte),
            }
        }
    }
}

/// Whether a text is the same in all versions. Looks at every octet without a branch, which is quicker than stopping at
/// the first for texts as short as headers.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & !matches!(byte, b'\\' | b':' | b'\n' | b'\r' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_own_escapes() {
        let decoded = |version, text| Escapes::for_version(version).decode(text).map(Cow::into_owned);
        assert_eq!(decoded(StompVersion::V10, r"a\nb\c\q"), Ok(r"a\nb\c\q".to_owned()));
        assert_eq!(decoded(StompVersion::V11, r"a\nb\c\\"), Ok("a\nb:\\".to_owned()));
        assert_eq!(decoded(StompVersion::V11, r"a\r"), Err(FramingError::UndefinedEscape));
        assert_eq!(decoded(StompVersion::V12, r"a\r\n"), Ok("a\r\n".to_owned()));
        assert_eq!(decoded(StompVersion::V12, r"a\t"), Err(FramingError::UndefinedEscape));
        assert_eq!(decoded(StompVersion::V12, r"a\"), Err(FramingError::UndefinedEscape));
    }

    #[test]
    fn a_header_that_a_version_cannot_carry_is_known() {
        assert!(!Escapes::for_version(StompVersion::V10).can_encode("note", "two\nlines"));
        assert!(!Escapes::for_version(StompVersion::V10).can_encode("a:b", "c"));
        assert!(Escapes::for_version(StompVersion::V10).can_encode("a", "b:c"));
        assert!(Escapes::for_version(StompVersion::V11).can_encode("a:b", "two\nlines"));
        assert!(!Escapes::for_version(StompVersion::V11).can_encode("a", "b\r"));
        assert!(Escapes::for_version(StompVersion::V12).can_encode("a", "b\r"));
        assert!(!Escapes::for_version(StompVersion::V12).can_encode("", "b"));
    }
}
