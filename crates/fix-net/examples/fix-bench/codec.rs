//! Reading messages, without a socket: one thread, the same message again and again.

use crate::client::sealed;
use crate::table::Row;
use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder};
use std::hint::black_box;
use std::time::Instant;

/// A partial fill with 29 fields.
const REPORT: &str = "35=8|34=215|49=ISLD|52=20260105-12:00:00.123|56=TW44|1=ACC-1|6=101.25|11=order-000215|14=400|\
    17=0f8fad5b-d9cb-469f-a165-70867728950e|31=101.25|32=100|37=order-000215|38=1000|39=1|40=2|44=101.50|48=4711|54=1|\
    55=AAPL|58=partial fill|59=0|60=20260105-12:00:00.120|150=F|151=600|167=CS|";

const DECODE_AIM_NANOSECONDS: f64 = 500.0;

pub(crate) fn rows() -> Vec<Row> {
    let frame = sealed(&REPORT.replace('|', "\x01"));
    let dictionary = Dictionary::fix44();
    let (mut decoder, mut checker) = (FixDecoder::new(), DictionaryChecker::default());
    let decode = best_nanoseconds(|| {
        let _ = black_box(decoder.decode(black_box(&frame)));
    });
    let message = decoder.decode(&frame).expect("the report is sound");
    let check = best_nanoseconds(|| {
        let _ = black_box(checker.check(&dictionary, CheckRules::default(), black_box(&message)));
    });
    vec![
        Row::nanoseconds("decode an Execution Report", decode, Some(DECODE_AIM_NANOSECONDS)),
        Row::nanoseconds("check it against the FIX 4.4 dictionary", check, None),
    ]
}

/// The best of many short rounds, because other programs run here too.
fn best_nanoseconds(mut work: impl FnMut()) -> f64 {
    const ROUND: u32 = 1_000;
    let rounds = (0..500).map(|_| {
        let start = Instant::now();
        (0..ROUND).for_each(|_| work());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND)
    });
    rounds.fold(f64::INFINITY, f64::min)
}
