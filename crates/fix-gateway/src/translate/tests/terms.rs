//! Terms that could change an execution and are not supported: nothing trades on them.

use expect_test::expect;

use super::harness::GatewayHarness;
use crate::translate::terms::table::{AppliesTo, TABLE, Term, Treatment};

const ORDER: &str = "35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1";
const REPLACE: &str = "35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1";

/// The first report on an order, or on a replace of a working one.
fn heard(message: &str) -> String {
    let mut floor = GatewayHarness::literal();
    if message.starts_with("35=G") {
        floor.run(&format!("{ORDER}\nvenue accepts X"));
    }
    floor.run(message).lines().nth(1).unwrap_or_default().trim().to_owned()
}

/// A value that is never supported.
fn strange(term: &Term) -> bool {
    matches!(term.treatment, Treatment::Refused { .. } | Treatment::Compared)
}

#[test]
fn whatever_is_not_honoured_is_refused_by_its_name() {
    for term in TABLE.iter().filter(|term| strange(term)) {
        for (tag, name) in term.fields {
            let text = format!("text term-not-offered: {name} ({tag})");
            if term.messages != AppliesTo::Replace {
                let told = heard(&format!("{ORDER}|{tag}=Z"));
                let expected = format!("8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 11 {text}");
                assert!(told.starts_with(&expected), "{tag}: {told}");
            }
            if term.messages != AppliesTo::NewOrder {
                let told = heard(&format!("{REPLACE}|{tag}=Z"));
                let expected = format!("9(Y,X) 39=0 id X to 2 reason 99 {text}");
                assert!(told.starts_with(&expected), "{tag}: {told}");
            }
        }
    }
}

#[test]
fn what_can_not_change_an_execution_is_ignored() {
    for term in TABLE.iter().filter(|term| term.treatment == Treatment::Ignored) {
        for (tag, _) in term.fields {
            if term.messages != AppliesTo::Replace {
                assert_eq!(heard(&format!("{ORDER}|{tag}=1")), "8(X) A/A id X of 100 cum 0 leaves 100 avg 0", "{tag}");
            }
            if term.messages != AppliesTo::NewOrder {
                assert_eq!(
                    heard(&format!("{REPLACE}|{tag}=1")),
                    "8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0",
                    "{tag}"
                );
            }
        }
    }
}

#[test]
fn a_value_that_asks_for_what_is_done_anyway_passes() {
    for term in TABLE {
        let Treatment::Refused { passing } = term.treatment else { continue };
        for (tag, value) in term.fields.iter().flat_map(|(tag, _)| passing.iter().map(move |value| (tag, value))) {
            // Reduce-only is honoured, and nothing is held here.
            if term.messages != AppliesTo::Replace && *value != "E" {
                let told = heard(&format!("{ORDER}|{tag}={value}"));
                assert_eq!(told, "8(X) A/A id X of 100 cum 0 leaves 100 avg 0", "{tag}={value}");
            }
        }
    }
}

/// Fields that are added to a valid order and to a valid replace.
const ADDED: [&str; 28] = [
    "18=6",
    "18=1 5",
    "18=5 6",
    "18=",
    "15=USD",
    "15=EUR",
    "167=CS",
    "167=OPT",
    "854=0",
    "854=1",
    "168=20991231-12:00:00",
    "110=0",
    "110=50",
    "111=10",
    "18=E",
    "18=G",
    "18=6 E|111=10",
    "59=3|110=50",
    "423=1",
    "386=1|336=2",
    "59=0|126=20261120-16:00:00",
    "432=20261120",
    "1138=10",
    "9999=x",
    "41=X",
    "128=OTHER",
    "50=desk",
    "7003=Y",
];

/// The result of each.
fn told_with_each(message: &str) -> String {
    let line = |term: &&str| {
        let told = heard(&format!("{message}|{term}"));
        let text = told.split_once(" text ").map_or("taken", |(_, text)| text).to_owned();
        format!("{term} => {text}\n")
    };
    ADDED.iter().map(line).collect()
}

#[test]
fn orders_with_terms() {
    expect![[r#"
        18=6 => taken
        18=1 5 => taken
        18=5 6 => taken
        18= => taken
        15=USD => taken
        15=EUR => term-not-offered: Currency (15) EUR is not that of the security
        167=CS => taken
        167=OPT => term-not-offered: SecurityType (167) OPT is not that of the security
        854=0 => taken
        854=1 => term-not-offered: QtyType (854) 1 is not that of the security
        168=20991231-12:00:00 => term-not-offered: EffectiveTime (168) is not offered: 20991231-12:00:00
        110=0 => taken
        110=50 => property-not-allowed: minQuantity is not possible with DAY
        111=10 => taken
        18=E => would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
        18=G => term-not-offered: ExecInst (18) is not offered: G
        18=6 E|111=10 => would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
        59=3|110=50 => taken
        423=1 => term-not-offered: PriceType (423) is not offered: 1
        386=1|336=2 => term-not-offered: NoTradingSessions (386) is not offered: 1
        59=0|126=20261120-16:00:00 => term-not-offered: ExpireTime (126) is not offered without TimeInForce (59) 6 (good till date)
        432=20261120 => term-not-offered: ExpireDate (432) is not offered without TimeInForce (59) 6 (good till date)
        1138=10 => term-not-offered: tag 1138 is not offered on this message, and could be a term of the order
        9999=x => term-not-offered: tag 9999 is not offered on this message, and could be a term of the order
        41=X => term-not-offered: OrigClOrdID (41) is not offered on this message, and could be a term of the order
        128=OTHER => term-not-offered: DeliverToCompID (128) is not offered: OTHER
        50=desk => taken
        7003=Y => taken
    "#]].assert_eq(&told_with_each(ORDER));
    expect![[r#"
        18=6 => field-fixed: postOnly of an order cannot be changed
        18=1 5 => taken
        18=5 6 => field-fixed: postOnly of an order cannot be changed
        18= => taken
        15=USD => taken
        15=EUR => term-not-offered: Currency (15) EUR is not that of the security
        167=CS => taken
        167=OPT => term-not-offered: SecurityType (167) OPT is not that of the security
        854=0 => taken
        854=1 => term-not-offered: QtyType (854) 1 is not that of the security
        168=20991231-12:00:00 => term-not-offered: EffectiveTime (168) is not offered: 20991231-12:00:00
        110=0 => taken
        110=50 => field-fixed: minQuantity of an order cannot be changed
        111=10 => field-fixed: displayQuantity of an order cannot be changed
        18=E => field-fixed: reduceOnly of an order cannot be changed
        18=G => term-not-offered: ExecInst (18) is not offered: G
        18=6 E|111=10 => field-fixed: postOnly of an order cannot be changed
        59=3|110=50 => field-fixed: minQuantity of an order cannot be changed
        423=1 => term-not-offered: PriceType (423) is not offered: 1
        386=1|336=2 => term-not-offered: NoTradingSessions (386) is not offered: 1
        59=0|126=20261120-16:00:00 => term-not-offered: ExpireTime (126) is not offered without TimeInForce (59) 6 (good till date)
        432=20261120 => term-not-offered: ExpireDate (432) is not offered without TimeInForce (59) 6 (good till date)
        1138=10 => term-not-offered: tag 1138 is not offered on this message, and could be a term of the order
        9999=x => term-not-offered: tag 9999 is not offered on this message, and could be a term of the order
        41=X => taken
        128=OTHER => term-not-offered: DeliverToCompID (128) is not offered: OTHER
        50=desk => taken
        7003=Y => term-not-offered: ExchangeOrder (7003) is not offered on this message, and could be a term of the order
    "#]].assert_eq(&told_with_each(&REPLACE.replace("|41=X", "|37=X")));
}

#[test]
fn a_replace_that_names_no_security_has_nothing_to_compare_with() {
    let told = heard("35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|15=USD");
    expect!["9(Y,X) 39=0 id X to 2 reason 99 text term-not-offered: Currency (15) is not offered without SecurityID (48) or Symbol (55) to compare it with"].assert_eq(&told);
}

#[test]
fn a_clients_own_tags_pass_where_the_operator_says_so() {
    let mut floor = GatewayHarness::literal();
    floor.rules.ignore_user_defined_fields = true;
    let told = floor.run(&format!("{ORDER}|9999=x\n{}|1138=10", ORDER.replace("11=X", "11=Z")));
    expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|9999=x
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=D|11=Z|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|1138=10
            8(Z) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 11 text term-not-offered: tag 1138 is not offered on this message, and could be a term of the order
    "#]].assert_eq(&told);
}
