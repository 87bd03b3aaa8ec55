//! Ids of requests as UUIDs, for a venue that takes nothing else: version 8 (RFC 9562), whose bits are free. They hold the low 48 bits of
//! the installation's number, 48 of the order's and 26 of the request's, so that an id follows from the three and can be read again.

use domain::{OrderId, WireId};

const PART_BITS: u32 = 48;
const PART_MASK: u64 = (1 << PART_BITS) - 1;
/// Bits of the request between version and variant, and behind the order.
const HIGH_BITS: u32 = 12;
const LOW_BITS: u32 = 14;
const REQUEST_MAX: u32 = (1 << (HIGH_BITS + LOW_BITS)) - 1;
const VERSION: u64 = 8;
const VARIANT: u64 = 0b10;

/// Nothing where a number is too large.
pub(crate) fn write(id: WireId) -> Option<String> {
    if id.order.0 > PART_MASK || id.request > REQUEST_MAX {
        return None;
    }
    let request = u64::from(id.request);
    let high = (id.instance & PART_MASK) << 16 | VERSION << HIGH_BITS | request >> LOW_BITS;
    let low = VARIANT << 62 | id.order.0 << LOW_BITS | request & ((1 << LOW_BITS) - 1);
    let text = format!("{high:016x}{low:016x}");
    Some([&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-"))
}

/// `None` for an id that is not of this installation.
pub(crate) fn read(text: &str, instance: u64) -> Option<WireId> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_uuid = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
    let digits = parts.concat();
    if !is_uuid || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let half = |text: &str| u64::from_str_radix(text, 16).ok();
    let (high, low) = (half(&digits[..16])?, half(&digits[16..])?);
    let is_ours = high >> 16 == instance & PART_MASK;
    if !is_ours || (high >> HIGH_BITS) & 0xf != VERSION || low >> 62 != VARIANT {
        return None;
    }
    let request = (high & ((1 << HIGH_BITS) - 1)) << LOW_BITS | low & ((1 << LOW_BITS) - 1);
    Some(WireId { instance, order: OrderId((low >> LOW_BITS) & PART_MASK), request: u32::try_from(request).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_version_8_that_can_be_read_again() {
        let id = |instance, order, request| WireId { instance, order: OrderId(order), request };
        assert_eq!(write(id(7, 1, 0)).unwrap(), "00000000-0007-8000-8000-000000004000");
        for wanted in [id(7, 1, 0), id(u64::MAX, PART_MASK, REQUEST_MAX), id(0x0123_4567_89ab_cdef, 77, 16_385)] {
            let text = write(wanted).unwrap();
            assert_eq!(read(&text, wanted.instance), Some(wanted), "{text}");
            assert_eq!(read(&text.to_uppercase(), wanted.instance), Some(wanted));
        }
        assert_eq!([write(id(7, PART_MASK + 1, 0)), write(id(7, 1, REQUEST_MAX + 1))], [None, None]);
    }

    #[test]
    fn ids_of_others_are_not_ours() {
        let ours = write(WireId { instance: 7, order: OrderId(1), request: 0 }).unwrap();
        assert_eq!(read(&ours, 8), None);
        for foreign in [
            "00000000-0007-4000-8000-000000004000",
            "00000000-0007-8000-0000-000000004000",
            "0000000-00007-8000-8000-000000004000",
            "+0000000-0007-8000-8000-000000004000",
            "R7-1-0",
            "",
        ] {
            assert_eq!(read(foreign, 7), None, "{foreign}");
        }
    }
}
