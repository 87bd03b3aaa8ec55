//! Configured faults of simulated venues, to test how a strategy handles them.

use domain::Text;

use super::setting::{Literal, Setting};

/// One fault of one venue, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueFault {
    /// Absent: every venue.
    pub qualifier: Option<Text>,
    pub fault: VenueFaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueFaultKind {
    /// Every n-th new order is rejected.
    Reject(u32),
    /// Every report is late by this many milliseconds.
    Delay(u32),
    /// One report in n is sent twice.
    Duplicate(u32),
    /// One report in n is lost.
    Drop(u32),
    /// One report in n is overtaken by later ones.
    Reorder(u32),
    /// The venue can't be reached.
    Disconnect,
    /// The connection is cut after so many milliseconds and restored after as many, over and over.
    Cut(u32),
    /// Requests are executed, but no report is sent.
    Mute,
    /// One request in n never arrives, though the connection stands.
    Lose(u32),
    /// One request in n arrives up to five seconds late.
    Late(u32),
}

impl Setting for VenueFault {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "QUALIFIER:FAULT or *:FAULT with reject=n, delay=<ms>, duplicate=n, drop=n, reorder=n, lose=n, late=n, disconnect, \
         cut=<ms> or mute"
            .into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(qualifier, fault)| {
            let legal = !qualifier.is_empty() && qualifier.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let qualifier = if qualifier == "*" { None } else { Some(legal.then(|| qualifier.into())?) };
            Some(Self { qualifier, fault: parse_fault(fault)? })
        });
        parsed.ok_or_else(|| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        let fault = match self.fault {
            VenueFaultKind::Reject(nth) => format!("reject={nth}"),
            VenueFaultKind::Delay(millis) => format!("delay={millis}"),
            VenueFaultKind::Duplicate(odds) => format!("duplicate={odds}"),
            VenueFaultKind::Drop(odds) => format!("drop={odds}"),
            VenueFaultKind::Reorder(odds) => format!("reorder={odds}"),
            VenueFaultKind::Disconnect => "disconnect".into(),
            VenueFaultKind::Cut(millis) => format!("cut={millis}"),
            VenueFaultKind::Mute => "mute".into(),
            VenueFaultKind::Lose(odds) => format!("lose={odds}"),
            VenueFaultKind::Late(odds) => format!("late={odds}"),
        };
        format!("{}:{fault}", self.qualifier.as_deref().unwrap_or("*"))
    }
}

fn parse_fault(text: &str) -> Option<VenueFaultKind> {
    let (name, number) = match text.split_once('=') {
        Some((name, number)) => (name, number.parse().ok().filter(|number| *number > 0)),
        None => (text, None),
    };
    Some(match (name, number) {
        ("reject", Some(nth)) => VenueFaultKind::Reject(nth),
        ("delay", Some(millis)) => VenueFaultKind::Delay(millis),
        ("duplicate", Some(odds)) => VenueFaultKind::Duplicate(odds),
        ("drop", Some(odds)) => VenueFaultKind::Drop(odds),
        ("reorder", Some(odds)) => VenueFaultKind::Reorder(odds),
        ("lose", Some(odds)) => VenueFaultKind::Lose(odds),
        ("late", Some(odds)) => VenueFaultKind::Late(odds),
        ("cut", Some(millis)) => VenueFaultKind::Cut(millis),
        ("disconnect", None) if text == "disconnect" => VenueFaultKind::Disconnect,
        ("mute", None) if text == "mute" => VenueFaultKind::Mute,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_shown_as_it_was_written() {
        let counted = ["ALPHA:reject=10", "*:delay=50", "B:duplicate=3", "B:drop=4", "B:reorder=5", "B:cut=6000"];
        for text in [&counted[..], &["*:mute", "A:disconnect", "*:lose=3", "C:late=2"]].concat() {
            assert_eq!(VenueFault::parse(text).unwrap().show(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_the_right_form() {
        for text in ["reject=1", "A:reject", "A:reject=0", "A:cut", "A:mute=1", ":mute", "A:explode", "A B:mute"] {
            let reason = VenueFault::parse(text).unwrap_err();
            assert!(reason.starts_with(&format!("'{text}' is not QUALIFIER:FAULT")), "{reason}");
        }
    }
}
