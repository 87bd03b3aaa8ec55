//! Destinations and patterns: `/topic/a.b`, `/queue/a`, with the wildcards `*` and `>`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::limits::{DESTINATION_BYTES_MAX, SEGMENTS_MAX};

/// A topic delivers each message to all subscribers, a queue delivers it to one consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DestinationKind {
    Topic,
    Queue,
}

impl DestinationKind {
    pub const ALL: [Self; 2] = [Self::Topic, Self::Queue];

    pub fn prefix(self) -> &'static str {
        match self {
            Self::Topic => "/topic/",
            Self::Queue => "/queue/",
        }
    }

    fn from_text(text: &str) -> Option<(Self, &str)> {
        let with = |kind: Self| Some((kind, text.strip_prefix(kind.prefix())?));
        with(Self::Topic).or_else(|| with(Self::Queue))
    }
}

/// Why a text is not a valid destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidDestination {
    UnknownPrefix,
    NoName,
    /// A message has one destination; only a subscription may select several.
    Wildcard,
    TooLong {
        limit: usize,
    },
    TooDeep {
        limit: usize,
    },
}

impl fmt::Display for InvalidDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPrefix => f.write_str("the destination begins with neither /topic/ nor /queue/"),
            Self::NoName => f.write_str("the destination has no name"),
            Self::Wildcard => f.write_str("the destination of a message has no wildcard"),
            Self::TooLong { limit } => write!(f, "the destination is longer than {limit} octets"),
            Self::TooDeep { limit } => write!(f, "the destination has more than {limit} segments"),
        }
    }
}

/// One topic or one queue, by its full name. Names are case-sensitive, and segments are separated by dots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination(DestinationPattern);

impl Destination {
    pub fn parse(text: &str) -> Result<Self, InvalidDestination> {
        Self::from_pattern(DestinationPattern::parse(text)?)
    }

    /// Parses a destination from a client: its length and depth are limited.
    pub(crate) fn parse_from_client(text: &str) -> Result<Self, InvalidDestination> {
        Self::from_pattern(DestinationPattern::parse_from_client(text)?)
    }

    fn from_pattern(pattern: DestinationPattern) -> Result<Self, InvalidDestination> {
        if pattern.has_wildcard() { Err(InvalidDestination::Wildcard) } else { Ok(Self(pattern)) }
    }

    pub fn kind(&self) -> DestinationKind {
        self.0.kind
    }

    /// Without the prefix: `tick.12`.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// With the prefix: `/topic/tick.12`.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.segments()
    }

    /// The pattern that selects this destination alone.
    pub fn pattern(&self) -> &DestinationPattern {
        &self.0
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What a subscription or a permission selects: `*` is one whole segment, `>` is the rest, none included. Text after
/// `>` selects nothing, as in ActiveMQ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DestinationPattern {
    kind: DestinationKind,
    text: Arc<str>,
}

impl DestinationPattern {
    pub fn parse(text: &str) -> Result<Self, InvalidDestination> {
        let (kind, name) = DestinationKind::from_text(text).ok_or(InvalidDestination::UnknownPrefix)?;
        if name.is_empty() { Err(InvalidDestination::NoName) } else { Ok(Self { kind, text: text.into() }) }
    }

    /// Parses a pattern from a client: its length and depth are limited.
    pub(crate) fn parse_from_client(text: &str) -> Result<Self, InvalidDestination> {
        if text.len() > DESTINATION_BYTES_MAX {
            return Err(InvalidDestination::TooLong { limit: DESTINATION_BYTES_MAX });
        }
        let pattern = Self::parse(text)?;
        let is_too_deep = pattern.segments().nth(SEGMENTS_MAX).is_some();
        if is_too_deep { Err(InvalidDestination::TooDeep { limit: SEGMENTS_MAX }) } else { Ok(pattern) }
    }

    pub fn kind(&self) -> DestinationKind {
        self.kind
    }

    pub fn name(&self) -> &str {
        &self.text[self.kind.prefix().len()..]
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> + Clone {
        self.name().split('.')
    }

    pub fn has_wildcard(&self) -> bool {
        self.segments().any(|segment| segment == "*" || segment == ">")
    }

    /// Whether something that begins with this segment can match.
    pub fn may_match(&self, root: &str) -> bool {
        self.segments().next().is_some_and(|first| first == root || first == "*" || first == ">")
    }

    pub fn matches(&self, destination: &Destination) -> bool {
        self.kind == destination.0.kind && selects(self.name().as_bytes(), destination.name().as_bytes())
    }

    /// Whether everything that `other` selects is selected here too.
    pub fn covers(&self, other: &Self) -> bool {
        self.kind == other.kind && covers(self.segments(), other.segments())
    }
}

impl fmt::Display for DestinationPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The same as [`covers`] for a name without wildcards, octet by octet: it runs for every message of every connection.
fn selects(mut pattern: &[u8], mut name: &[u8]) -> bool {
    loop {
        if pattern == b">" {
            return true;
        }
        if pattern.first() == Some(&b'*') && matches!(pattern.get(1), None | Some(b'.')) {
            pattern = &pattern[1..];
            name = &name[segment_of(name)..];
        } else {
            let length = segment_of(pattern);
            if name.get(..length) != Some(&pattern[..length]) || !matches!(name.get(length), None | Some(b'.')) {
                return false;
            }
            (pattern, name) = (&pattern[length..], &name[length..]);
        }
        match (pattern.split_first(), name.split_first()) {
            (None, None) => return true,
            // The rest may be none.
            (Some((_, rest)), None) => return rest == b">",
            (None, Some(_)) => return false,
            (Some((_, next)), Some((_, behind))) => (pattern, name) = (next, behind),
        }
    }
}

/// The length of the first segment.
fn segment_of(text: &[u8]) -> usize {
    text.iter().position(|octet| *octet == b'.').unwrap_or(text.len())
}

fn covers<'a>(mut wide: impl Iterator<Item = &'a str>, mut narrow: impl Iterator<Item = &'a str>) -> bool {
    loop {
        match (wide.next(), narrow.next()) {
            (Some(">"), _) => return wide.next().is_none(),
            (Some("*"), Some(segment)) if segment != ">" => {}
            (Some(ours), Some(theirs)) if ours == theirs => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// A name as one segment of a topic: what is not `A-Z a-z 0-9 _ -` is percent-encoded, so that no name can contain a
/// dot or a wildcard.
pub fn encode_segment(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut segment = String::with_capacity(name.len() * 3);
    for byte in name.bytes() {
        if is_plain(byte) {
            segment.push(byte.into());
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    Cow::Owned(segment)
}

/// The name that a segment encodes, or `None` where its percent-encoding is invalid.
pub fn decode_segment(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(Cow::Borrowed(segment));
    }
    let mut parts = segment.split('%');
    let mut name = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, plain) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        name.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        name.extend_from_slice(plain.as_bytes());
    }
    String::from_utf8(name).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(pattern: &str, topic: &str) -> bool {
        let topic = Destination::parse(&format!("/topic/{topic}")).unwrap();
        DestinationPattern::parse(&format!("/topic/{pattern}")).unwrap().matches(&topic)
    }

    #[test]
    fn wildcards_select_as_activemq_has_them() {
        let topics = ["tick", "tick.1", "tick.1.2", "trade.1", "the service.A%2EB.7"];
        let cases = [
            ("tick", "tick"),
            ("tick.*", "tick.1"),
            ("tick.>", "tick tick.1 tick.1.2"),
            ("*.1", "tick.1 trade.1"),
            ("*", "tick"),
            ("*.*.*", "tick.1.2 the service.A%2EB.7"),
            ("*.>", "tick tick.1 tick.1.2 trade.1 the service.A%2EB.7"),
            (">", "tick tick.1 tick.1.2 trade.1 the service.A%2EB.7"),
            ("the service.A%2EB.*", "the service.A%2EB.7"),
            ("Tick.*", ""),
            ("tick.>.2", ""),
            ("tick.1*", ""),
        ];
        for (pattern, expected) in cases {
            let selected: Vec<&str> = topics.into_iter().filter(|topic| selects(pattern, topic)).collect();
            assert_eq!(selected.join(" "), expected, "{pattern}");
            let may = |topic: &&str| {
                let root = topic.split('.').next().unwrap();
                DestinationPattern::parse(&format!("/topic/{pattern}")).unwrap().may_match(root)
            };
            assert!(selected.iter().all(may), "{pattern}");
        }
    }

    /// All short patterns against all short names.
    #[test]
    fn a_name_is_selected_where_the_pattern_covers_it() {
        fn texts(segments: &[&str]) -> Vec<String> {
            let longer = |text: &String| segments.iter().map(|segment| format!("{text}.{segment}")).collect::<Vec<_>>();
            let one: Vec<String> = segments.iter().map(|segment| (*segment).to_owned()).collect();
            let two: Vec<String> = one.iter().flat_map(longer).collect();
            let three: Vec<String> = two.iter().flat_map(longer).collect();
            [one, two, three].concat()
        }
        for pattern in texts(&["a", "ab", "", "*", ">", "a*", "*a"]).into_iter().filter(|text| !text.is_empty()) {
            let pattern = DestinationPattern::parse(&format!("/topic/{pattern}")).unwrap();
            for name in texts(&["a", "ab", "b", "", "a*"]).into_iter().filter(|text| !text.is_empty()) {
                let name = Destination::parse(&format!("/topic/{name}")).unwrap();
                assert_eq!(pattern.matches(&name), pattern.covers(name.pattern()), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn a_permission_covers_narrower_patterns_only() {
        let covers = |wide: &str, narrow: &str| {
            DestinationPattern::parse(wide).unwrap().covers(&DestinationPattern::parse(narrow).unwrap())
        };
        assert!(covers("/topic/generic-event.>", "/topic/generic-event.ALPHA.*"));
        assert!(covers("/topic/generic-event.>", "/topic/generic-event.>"));
        assert!(covers("/topic/generic-event.>", "/topic/generic-event"));
        assert!(covers("/topic/*.ALPHA", "/topic/*.ALPHA"));
        assert!(!covers("/topic/generic-event.>", "/topic/>"));
        assert!(!covers("/topic/generic-event.>", "/topic/*.ALPHA"));
        assert!(!covers("/topic/order.*", "/topic/order.>"));
        assert!(!covers("/topic/>", "/queue/orders"));
    }

    #[test]
    fn a_destination_says_what_it_lacks() {
        let refused = |text| Destination::parse(text).unwrap_err();
        assert_eq!(refused("tick.1"), InvalidDestination::UnknownPrefix);
        assert_eq!(refused("/temp-queue/a"), InvalidDestination::UnknownPrefix);
        assert_eq!(refused("/topic/"), InvalidDestination::NoName);
        assert_eq!(refused("/topic/tick.*"), InvalidDestination::Wildcard);
        assert_eq!(refused("/queue/>"), InvalidDestination::Wildcard);
    }

    #[test]
    fn what_a_client_names_is_bounded_in_length_and_depth() {
        let named = |name: &str| Destination::parse_from_client(&format!("/topic/{name}")).map(|_| ());
        let (deep, long) = (vec!["a"; SEGMENTS_MAX].join("."), "x".repeat(DESTINATION_BYTES_MAX - "/topic/".len()));
        assert_eq!((named(&deep), named(&long)), (Ok(()), Ok(())));
        assert_eq!(named(&format!("{deep}.a")), Err(InvalidDestination::TooDeep { limit: 32 }));
        assert_eq!(named(&format!("{long}x")), Err(InvalidDestination::TooLong { limit: 1_024 }));
        assert_eq!(named(&format!("{long}x")).unwrap_err().to_string(), "the destination is longer than 1024 octets");
        assert_eq!(DestinationPattern::parse_from_client("/topic/>").map(|_| ()), Ok(()));
    }

    #[test]
    fn any_name_is_one_segment() {
        for name in ["ALPHA", "two words", "a.b", "*", ">", "100%", "Zürich", ""] {
            let segment = encode_segment(name);
            assert!(!segment.contains(['.', '*', '>', ' ']), "{segment}");
            assert_eq!(decode_segment(&segment).as_deref(), Some(name));
        }
        assert_eq!(encode_segment("a.b"), "a%2Eb");
        for broken in ["%", "%2", "%zz", "%+1", "%FF"] {
            assert_eq!(decode_segment(broken), None, "{broken}");
        }
    }
}
