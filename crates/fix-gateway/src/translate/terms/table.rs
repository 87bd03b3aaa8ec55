//! Every field of New Order Single and Order Cancel/Replace Request of FIX 4.4, groups and their members included.
//! Tests compare it with the dictionary, and `docs/fix.md` with it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fix::tag::Tag;

pub(super) const EXEC_INST: Tag = 18;

/// Treatment of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// The order is traded by it.
    Honoured,
    /// Must match the security.
    Compared,
    /// Could change an execution and is not supported. These values are allowed: they are honoured or have no effect.
    Refused { passing: &'static [&'static str] },
    /// Cannot change an execution.
    Ignored,
}

/// The messages that have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppliesTo {
    Both,
    NewOrder,
    Replace,
}

impl AppliesTo {
    pub(super) fn includes(self, msg_type: &[u8]) -> bool {
        match self {
            Self::Both => true,
            Self::NewOrder => msg_type == b"D",
            Self::Replace => msg_type == b"G",
        }
    }
}

/// Fields that share a treatment and its reason.
pub(crate) struct Term {
    pub(crate) fields: &'static [(Tag, &'static str)],
    pub(crate) messages: AppliesTo,
    pub(crate) treatment: Treatment,
    /// For the documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test that holds the page against the table prints it"))]
    pub(crate) why: &'static str,
}

/// The name that FIX gives a field of the table.
pub(crate) fn field_name(tag: Tag) -> Option<&'static str> {
    known_field(tag).map(|known| known.name)
}

#[derive(Clone, Copy)]
pub(super) struct KnownField {
    pub(super) name: &'static str,
    pub(super) term: &'static Term,
}

pub(super) fn known_field(tag: Tag) -> Option<KnownField> {
    static BY_TAG: OnceLock<BTreeMap<Tag, KnownField>> = OnceLock::new();
    let by_tag = BY_TAG.get_or_init(|| {
        let of = |term: &'static Term| term.fields.iter().map(move |(tag, name)| (*tag, KnownField { name, term }));
        TABLE.iter().flat_map(of).collect()
    });
    by_tag.get(&tag).copied()
}

/// Values of counts and quantities without effect.
const ZERO: &[&str] = &["0", "0.0", "0.00"];
const NO_VALUES: &[&str] = &[];

const fn honoured(fields: &'static [(Tag, &'static str)], why: &'static str) -> Term {
    Term { fields, messages: AppliesTo::Both, treatment: Treatment::Honoured, why }
}

const fn compared(fields: &'static [(Tag, &'static str)], why: &'static str) -> Term {
    Term { fields, messages: AppliesTo::Both, treatment: Treatment::Compared, why }
}

const fn refused(fields: &'static [(Tag, &'static str)], passing: &'static [&'static str], why: &'static str) -> Term {
    Term { fields, messages: AppliesTo::Both, treatment: Treatment::Refused { passing }, why }
}

const fn ignored(fields: &'static [(Tag, &'static str)], why: &'static str) -> Term {
    Term { fields, messages: AppliesTo::Both, treatment: Treatment::Ignored, why }
}

const fn only(messages: AppliesTo, term: Term) -> Term {
    Term { messages, ..term }
}

pub(crate) const TABLE: &[Term] = &[
    // What an order is made of.
    honoured(&[(11, "ClOrdID"), (54, "Side"), (38, "OrderQty"), (40, "OrdType"), (60, "TransactTime")], "the order"),
    honoured(&[(44, "Price"), (99, "StopPx")], "by order type; refused where the type has none"),
    honoured(
        &[
            (48, "SecurityID"),
            (22, "SecurityIDSource"),
            (55, "Symbol"),
            (207, "SecurityExchange"),
            (100, "ExDestination"),
        ],
        "which security, and where",
    ),
    honoured(&[(1, "Account")], "whose it is"),
    honoured(
        &[(59, "TimeInForce"), (126, "ExpireTime"), (432, "ExpireDate")],
        "how long it lives; 126 and 432 are refused without 59=6",
    ),
    honoured(&[(7001, "StrategyID"), (7002, "StrategyName")], "for which strategy"),
    only(AppliesTo::NewOrder, honoured(&[(7003, "ExchangeOrder")], "not on G: it can't be changed")),
    only(AppliesTo::Replace, honoured(&[(37, "OrderID"), (41, "OrigClOrdID")], "which order")),
    // What describes the security.
    compared(&[(15, "Currency"), (120, "SettlCurrency"), (947, "StrikeCurrency")], "the security's currency"),
    compared(
        &[(167, "SecurityType"), (460, "Product"), (461, "CFICode")],
        "the security's type; of 461 the first letter, of options the first two",
    ),
    compared(
        &[(200, "MaturityMonthYear"), (541, "MaturityDate"), (201, "PutOrCall"), (202, "StrikePrice")],
        "of a future, option or bond",
    ),
    compared(&[(231, "ContractMultiplier")], "the security's contract size"),
    compared(&[(854, "QtyType")], "0 (units) always, 1 (contracts) for futures, options and perpetual swaps"),
    refused(&[(65, "SymbolSfx"), (206, "OptAttribute")], NO_VALUES, "would be another security"),
    refused(
        &[
            (762, "SecuritySubType"),
            (224, "CouponPaymentDate"),
            (225, "IssueDate"),
            (239, "RepoCollateralSecurityType"),
            (226, "RepurchaseTerm"),
            (227, "RepurchaseRate"),
            (228, "Factor"),
            (255, "CreditRating"),
            (543, "InstrRegistry"),
            (470, "CountryOfIssue"),
            (471, "StateOrProvinceOfIssue"),
            (472, "LocaleOfIssue"),
            (240, "RedemptionDate"),
            (223, "CouponRate"),
            (691, "Pool"),
            (667, "ContractSettlMonth"),
            (875, "CPProgram"),
            (876, "CPRegType"),
            (873, "DatedDate"),
            (874, "InterestAccrualDate"),
        ],
        NO_VALUES,
        "describes a security in a way that is not compared: name it by 48",
    ),
    refused(
        &[(864, "NoEvents"), (865, "EventType"), (866, "EventDate"), (867, "EventPx"), (868, "EventText")],
        ZERO,
        "events of a security",
    ),
    refused(
        &[
            (711, "NoUnderlyings"),
            (311, "UnderlyingSymbol"),
            (312, "UnderlyingSymbolSfx"),
            (309, "UnderlyingSecurityID"),
            (305, "UnderlyingSecurityIDSource"),
            (457, "NoUnderlyingSecurityAltID"),
            (458, "UnderlyingSecurityAltID"),
            (459, "UnderlyingSecurityAltIDSource"),
            (462, "UnderlyingProduct"),
            (463, "UnderlyingCFICode"),
            (310, "UnderlyingSecurityType"),
            (763, "UnderlyingSecuritySubType"),
            (313, "UnderlyingMaturityMonthYear"),
            (542, "UnderlyingMaturityDate"),
            (315, "UnderlyingPutOrCall"),
            (241, "UnderlyingCouponPaymentDate"),
            (242, "UnderlyingIssueDate"),
            (243, "UnderlyingRepoCollateralSecurityType"),
            (244, "UnderlyingRepurchaseTerm"),
            (245, "UnderlyingRepurchaseRate"),
            (246, "UnderlyingFactor"),
            (256, "UnderlyingCreditRating"),
            (595, "UnderlyingInstrRegistry"),
            (592, "UnderlyingCountryOfIssue"),
            (593, "UnderlyingStateOrProvinceOfIssue"),
            (594, "UnderlyingLocaleOfIssue"),
            (247, "UnderlyingRedemptionDate"),
            (316, "UnderlyingStrikePrice"),
            (941, "UnderlyingStrikeCurrency"),
            (317, "UnderlyingOptAttribute"),
            (436, "UnderlyingContractMultiplier"),
            (435, "UnderlyingCouponRate"),
            (308, "UnderlyingSecurityExchange"),
            (306, "UnderlyingIssuer"),
            (362, "EncodedUnderlyingIssuerLen"),
            (363, "EncodedUnderlyingIssuer"),
            (307, "UnderlyingSecurityDesc"),
            (364, "EncodedUnderlyingSecurityDescLen"),
            (365, "EncodedUnderlyingSecurityDesc"),
            (877, "UnderlyingCPProgram"),
            (878, "UnderlyingCPRegType"),
            (318, "UnderlyingCurrency"),
            (879, "UnderlyingQty"),
            (810, "UnderlyingPx"),
            (882, "UnderlyingDirtyPrice"),
            (883, "UnderlyingEndPrice"),
            (884, "UnderlyingStartValue"),
            (885, "UnderlyingCurrentValue"),
            (886, "UnderlyingEndValue"),
            (887, "NoUnderlyingStips"),
            (888, "UnderlyingStipType"),
            (889, "UnderlyingStipValue"),
        ],
        ZERO,
        "what lies under a security is not compared: name the security by 48",
    ),
    ignored(
        &[
            (454, "NoSecurityAltID"),
            (455, "SecurityAltID"),
            (456, "SecurityAltIDSource"),
            (106, "Issuer"),
            (348, "EncodedIssuerLen"),
            (349, "EncodedIssuer"),
            (107, "SecurityDesc"),
            (350, "EncodedSecurityDescLen"),
            (351, "EncodedSecurityDesc"),
        ],
        "more names of the security that 48 or 55 name",
    ),
    // How it is to be executed.
    refused(
        &[(EXEC_INST, "ExecInst")],
        &["1", "5", "6", "E"],
        "6 (post only) and E (reduce only) are honoured, 1 and 5 change nothing; of several values all must pass",
    ),
    honoured(&[(110, "MinQty")], "at least this much trades at once, with 59=3; 0 is none"),
    honoured(&[(111, "MaxFloor")], "only this much is shown in the book"),
    refused(&[(210, "MaxShow")], NO_VALUES, "the display quantity is 111"),
    refused(&[(168, "EffectiveTime")], NO_VALUES, "an order works from when it is accepted"),
    refused(
        &[(386, "NoTradingSessions"), (336, "TradingSessionID"), (625, "TradingSessionSubID")],
        ZERO,
        "an order works in every session; auctions are 59=2 and 7",
    ),
    refused(
        &[
            (211, "PegOffsetValue"),
            (835, "PegMoveType"),
            (836, "PegOffsetType"),
            (837, "PegLimitType"),
            (838, "PegRoundDirection"),
            (840, "PegScope"),
        ],
        NO_VALUES,
        "pegged prices",
    ),
    refused(
        &[
            (388, "DiscretionInst"),
            (389, "DiscretionOffsetValue"),
            (841, "DiscretionMoveType"),
            (842, "DiscretionOffsetType"),
            (843, "DiscretionLimitType"),
            (844, "DiscretionRoundDirection"),
            (846, "DiscretionScope"),
        ],
        NO_VALUES,
        "discretionary prices",
    ),
    refused(
        &[(847, "TargetStrategy"), (848, "TargetStrategyParameters"), (849, "ParticipationRate")],
        NO_VALUES,
        "algorithms; a strategy of the platform is 7001 or 7002",
    ),
    // How much, at which price.
    refused(
        &[(152, "CashOrderQty"), (516, "OrderPercent"), (468, "RoundingDirection"), (469, "RoundingModulus")],
        NO_VALUES,
        "quantities are units or contracts (38)",
    ),
    refused(&[(423, "PriceType")], &["2"], "prices are per unit"),
    refused(
        &[
            (218, "Spread"),
            (220, "BenchmarkCurveCurrency"),
            (221, "BenchmarkCurveName"),
            (222, "BenchmarkCurvePoint"),
            (662, "BenchmarkPrice"),
            (663, "BenchmarkPriceType"),
            (699, "BenchmarkSecurityID"),
            (761, "BenchmarkSecurityIDSource"),
            (235, "YieldType"),
            (236, "Yield"),
            (701, "YieldCalcDate"),
            (696, "YieldRedemptionDate"),
            (697, "YieldRedemptionPrice"),
            (698, "YieldRedemptionPriceType"),
        ],
        NO_VALUES,
        "spreads and yields",
    ),
    only(
        AppliesTo::NewOrder,
        refused(&[(23, "IOIID"), (117, "QuoteID")], NO_VALUES, "a price that was agreed elsewhere"),
    ),
    refused(&[(193, "SettlDate2"), (192, "OrderQty2"), (640, "Price2")], NO_VALUES, "the far leg of a swap"),
    only(
        AppliesTo::NewOrder,
        refused(
            &[(232, "NoStipulations"), (233, "StipulationType"), (234, "StipulationValue")],
            ZERO,
            "conditions of the security",
        ),
    ),
    // How it is settled and booked, where that is part of what is bought.
    refused(&[(63, "SettlType")], &["0"], "settlement is regular"),
    refused(&[(64, "SettlDate")], NO_VALUES, "settlement is regular"),
    refused(&[(121, "ForexReq")], &["N"], "no currency is exchanged with an order"),
    refused(&[(775, "BookingType")], &["0"], "what is bought is the security, not a swap on it"),
    refused(&[(544, "CashMargin")], &["1"], "margin is the account's"),
    refused(&[(114, "LocateReqd")], &["N"], "the platform does not locate stock to borrow"),
    refused(
        &[(77, "PositionEffect")],
        NO_VALUES,
        "positions are netted: what an order opens or closes follows from them",
    ),
    refused(&[(203, "CoveredOrUncovered")], NO_VALUES, "cover is not checked"),
    refused(
        &[
            (913, "AgreementDesc"),
            (914, "AgreementID"),
            (915, "AgreementDate"),
            (918, "AgreementCurrency"),
            (788, "TerminationType"),
            (916, "StartDate"),
            (917, "EndDate"),
            (919, "DeliveryType"),
            (898, "MarginRatio"),
        ],
        NO_VALUES,
        "financing",
    ),
    refused(
        &[
            (78, "NoAllocs"),
            (79, "AllocAccount"),
            (661, "AllocAcctIDSource"),
            (736, "AllocSettlCurrency"),
            (467, "IndividualAllocID"),
            (539, "NoNestedPartyIDs"),
            (524, "NestedPartyID"),
            (525, "NestedPartyIDSource"),
            (538, "NestedPartyRole"),
            (804, "NoNestedPartySubIDs"),
            (545, "NestedPartySubID"),
            (805, "NestedPartySubIDType"),
            (80, "AllocQty"),
        ],
        ZERO,
        "all of an order is booked on its account (1)",
    ),
    only(AppliesTo::Replace, refused(&[(66, "ListID")], NO_VALUES, "lists of orders")),
    refused(&[(128, "DeliverToCompID")], NO_VALUES, "orders are not forwarded to another firm"),
    // What can't change an execution.
    ignored(&[(58, "Text"), (354, "EncodedTextLen"), (355, "EncodedText")], "for people"),
    ignored(&[(21, "HandlInst")], "orders are executed without a person between, whatever it says"),
    ignored(&[(526, "SecondaryClOrdID"), (583, "ClOrdLinkID")], "your own names"),
    only(AppliesTo::Replace, ignored(&[(586, "OrigOrdModTime")], "when you changed it last")),
    ignored(
        &[
            (453, "NoPartyIDs"),
            (448, "PartyID"),
            (447, "PartyIDSource"),
            (452, "PartyRole"),
            (802, "NoPartySubIDs"),
            (523, "PartySubID"),
            (803, "PartySubIDType"),
        ],
        "who has to do with it; whose it is says 1",
    ),
    ignored(
        &[
            (528, "OrderCapacity"),
            (529, "OrderRestrictions"),
            (582, "CustOrderCapacity"),
            (660, "AcctIDSource"),
            (581, "AccountType"),
            (376, "ComplianceID"),
            (377, "SolicitedFlag"),
        ],
        "in which role you trade, for your reports",
    ),
    ignored(
        &[
            (229, "TradeOriginationDate"),
            (75, "TradeDate"),
            (70, "AllocID"),
            (589, "DayBookingInst"),
            (590, "BookingUnit"),
            (591, "PreallocMethod"),
            (427, "GTBookingInst"),
            (635, "ClearingFeeIndicator"),
        ],
        "what you do with the trade afterwards",
    ),
    only(AppliesTo::NewOrder, ignored(&[(81, "ProcessCode")], "what you do with the trade afterwards")),
    only(AppliesTo::NewOrder, ignored(&[(140, "PrevClosePx")], "a price of yesterday")),
    ignored(
        &[(12, "Commission"), (13, "CommType"), (479, "CommCurrency"), (497, "FundRenewWaiv")],
        "charges are the platform's, whatever you write here",
    ),
    ignored(
        &[(480, "CancellationRights"), (481, "MoneyLaunderingStatus"), (513, "RegistID"), (494, "Designation")],
        "for registers of funds",
    ),
    ignored(
        &[
            (47, "Rule80A"),
            (76, "ExecBroker"),
            (109, "ClientID"),
            (204, "CustomerOrFirm"),
            (439, "ClearingFirm"),
            (440, "ClearingAccount"),
        ],
        "what 453 and 528 were in older versions of FIX",
    ),
];
