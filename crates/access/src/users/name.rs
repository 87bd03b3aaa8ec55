//! Names of users and tokens. They are used in headers, paths and logs, so they are plain.

use std::fmt;
use std::str::FromStr;

use domain::Text;

/// A name of 1 to 64 letters, digits and `. _ @ -`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrincipalName(Text);

/// A text that cannot be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidName;

impl PrincipalName {
    pub const LENGTH_MAX: usize = 64;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn text(&self) -> &Text {
        &self.0
    }
}

impl FromStr for PrincipalName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
        let good = (1..=Self::LENGTH_MAX).contains(&text.len()) && text.bytes().all(legal);
        if good { Ok(Self(text.into())) } else { Err(InvalidName) }
    }
}

impl fmt::Display for PrincipalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be 1 to {} letters, digits or any of . _ @ -", PrincipalName::LENGTH_MAX)
    }
}

impl std::error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        for good in ["anna", "A.B_c@desk-1", &"x".repeat(64)] {
            assert_eq!(good.parse::<PrincipalName>().unwrap().as_str(), good);
        }
        for bad in ["", "anna b", "a:b", "a/b", "ännä", "a\n", &"x".repeat(65)] {
            assert_eq!(bad.parse::<PrincipalName>(), Err(InvalidName), "{bad:?}");
        }
    }
}
