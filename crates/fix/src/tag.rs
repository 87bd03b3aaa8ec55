//! Tags of the session layer.

/// A field's number. Signed, because a peer may send `-1=x` and the Reject must contain the wrong tag.
pub type Tag = i32;

pub const BEGIN_SEQ_NO: Tag = 7;
pub const BEGIN_STRING: Tag = 8;
pub const BODY_LENGTH: Tag = 9;
pub const CHECK_SUM: Tag = 10;
pub const CL_ORD_ID: Tag = 11;
pub const END_SEQ_NO: Tag = 16;
pub const MSG_SEQ_NUM: Tag = 34;
pub const MSG_TYPE: Tag = 35;
pub const NEW_SEQ_NO: Tag = 36;
pub const POSS_DUP_FLAG: Tag = 43;
pub const REF_SEQ_NUM: Tag = 45;
pub const SENDER_COMP_ID: Tag = 49;
pub const SENDING_TIME: Tag = 52;
pub const TARGET_COMP_ID: Tag = 56;
pub const TEXT: Tag = 58;
pub const SIGNATURE: Tag = 89;
pub const SIGNATURE_LENGTH: Tag = 93;
pub const RAW_DATA: Tag = 96;
pub const POSS_RESEND: Tag = 97;
pub const ENCRYPT_METHOD: Tag = 98;
pub const HEART_BT_INT: Tag = 108;
pub const TEST_REQ_ID: Tag = 112;
pub const ON_BEHALF_OF_COMP_ID: Tag = 115;
pub const ON_BEHALF_OF_SUB_ID: Tag = 116;
pub const ORIG_SENDING_TIME: Tag = 122;
pub const GAP_FILL_FLAG: Tag = 123;
pub const DELIVER_TO_COMP_ID: Tag = 128;
pub const DELIVER_TO_SUB_ID: Tag = 129;
pub const RESET_SEQ_NUM_FLAG: Tag = 141;
pub const ON_BEHALF_OF_LOCATION_ID: Tag = 144;
pub const DELIVER_TO_LOCATION_ID: Tag = 145;
pub const LAST_MSG_SEQ_NUM_PROCESSED: Tag = 369;
pub const REF_TAG_ID: Tag = 371;
pub const REF_MSG_TYPE: Tag = 372;
pub const SESSION_REJECT_REASON: Tag = 373;
pub const BUSINESS_REJECT_REASON: Tag = 380;
pub const USERNAME: Tag = 553;
pub const PASSWORD: Tag = 554;
pub const NO_HOPS: Tag = 627;
pub const NEXT_EXPECTED_MSG_SEQ_NUM: Tag = 789;
pub const NEW_PASSWORD: Tag = 925;

/// Tags from here on are user-defined; `ValidateUserDefinedFields` defines whether they are checked.
pub const USER_DEFINED_MIN: Tag = 5000;

/// The standard header of FIX 4.4, in ascending order.
const HEADER: [Tag; 29] = [
    8, 9, 34, 35, 43, 49, 50, 52, 56, 57, 90, 91, 97, 115, 116, 122, 128, 129, 142, 143, 144, 145, 212, 213, 347, 369,
    370, 627, 1128,
];

/// Header fields that are written anew for each sending.
const PER_TRANSMISSION: [Tag; 9] = [
    BEGIN_STRING,
    BODY_LENGTH,
    MSG_SEQ_NUM,
    MSG_TYPE,
    POSS_DUP_FLAG,
    SENDER_COMP_ID,
    SENDING_TIME,
    TARGET_COMP_ID,
    ORIG_SENDING_TIME,
];

/// Data fields may contain any byte, the delimiter too; the field before has the length.
const DATA: [(Tag, Tag); 16] = [
    (90, 91),
    (SIGNATURE_LENGTH, SIGNATURE),
    (95, 96),
    (212, 213),
    (348, 349),
    (350, 351),
    (352, 353),
    (354, 355),
    (356, 357),
    (358, 359),
    (360, 361),
    (362, 363),
    (364, 365),
    (445, 446),
    (618, 619),
    (621, 622),
];

pub fn is_header(tag: Tag) -> bool {
    HEADER.binary_search(&tag).is_ok()
}

/// Whether a header field belongs to one sending and not to the message.
pub(crate) fn is_per_transmission(tag: Tag) -> bool {
    PER_TRANSMISSION.contains(&tag)
}

pub fn is_trailer(tag: Tag) -> bool {
    matches!(tag, SIGNATURE | SIGNATURE_LENGTH | CHECK_SUM)
}

/// The data field whose length is in the field of this number.
pub fn data_after(length: Tag) -> Option<Tag> {
    if !(90..=621).contains(&length) {
        return None;
    }
    DATA.binary_search_by_key(&length, |(length, _)| *length).ok().map(|at| DATA[at].1)
}

/// The field that has the length of a data field, and stands before it.
pub fn length_before(data: Tag) -> Option<Tag> {
    DATA.iter().find(|(_, known)| *known == data).map(|(length, _)| *length)
}
