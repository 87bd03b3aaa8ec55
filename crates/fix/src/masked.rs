//! Masked messages for logs.

use crate::codec::{FixDecoder, SOH};
use crate::tag::{self, Tag};

/// The values of these fields are secrets.
const SECRET_TAGS: [Tag; 3] = [tag::PASSWORD, tag::NEW_PASSWORD, tag::RAW_DATA];

/// A frame as text, `|` between the fields, without passwords. A garbled frame may contain a secret anywhere, so only
/// its length is printed.
pub fn masked(frame: &[u8]) -> String {
    masked_with(frame, &[])
}

/// The same, where a session has secrets in further fields.
pub fn masked_with(frame: &[u8], further: &[Tag]) -> String {
    match FixDecoder::new().decode(frame) {
        Ok(message) => message.fields().map(|field| shown(field.tag, field.value, further)).collect(),
        Err(why) => format!("{} bytes: {why}", frame.len()),
    }
}

fn shown(tag: Tag, value: &[u8], further: &[Tag]) -> String {
    if SECRET_TAGS.contains(&tag) || further.contains(&tag) {
        return format!("{tag}=***|");
    }
    format!("{tag}={}|", String::from_utf8_lossy(value).replace(char::from(SOH), "<SOH>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let body = "35=A\x01553=desk\x01554=secret\x0195=3\x0196=a\x01b\x01925=secret2\x0158=x\x01";
        let mut logon = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let sum = logon.bytes().fold(0, |sum: u8, byte| sum.wrapping_add(byte));
        logon += &format!("10={sum:03}\x01");
        let shown = masked(logon.as_bytes());
        assert_eq!(shown, format!("8=FIX.4.4|9=54|35=A|553=desk|554=***|95=3|96=***|925=***|58=x|10={sum:03}|"));
        let shown = masked_with(logon.as_bytes(), &[58, 553]);
        assert_eq!(shown, format!("8=FIX.4.4|9=54|35=A|553=***|554=***|95=3|96=***|925=***|58=***|10={sum:03}|"));
        assert_eq!(masked(b"8=FIX.4.4\x01554=secret\x01"), "21 bytes: the first three fields are not 8, 9 and 35");
    }
}
