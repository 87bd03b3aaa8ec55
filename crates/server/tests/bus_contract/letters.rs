//! What only a network needs: both ends of one build, a command that is sent twice, a command that comes too late.

use domain::command::{CancelOrder, GenericEvent, Phase};
use domain::{Command, EventClass, Timestamp};
use runtime::strategies::protocol::{Message, Request, Resume};

use crate::desk::Desk;
use crate::roads::OpenBroker;
use crate::writer::{Writer, hello, refused, say};

#[test]
fn a_strategy_of_another_build_is_refused() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.write(Request::Hello { build: "0.0.1/1".into(), resume: None, takes_over: false });
    let Message::Unwelcome { code, text } = writer.answer() else { panic!("it was let in") };
    assert_eq!(&*code, "build-mismatch");
    assert!(text.contains("the strategy is build 0.0.1/1: build both alike"), "{text}");
}

#[test]
fn who_did_not_say_hello_is_refused() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.write(Request::Alive { heard: 0 });
    assert_eq!(refused(&writer.answer()), Some("not-attached".into()));
}

#[test]
fn a_command_that_is_sent_twice_takes_effect_once_and_is_answered_twice() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let mut said = desk.bus.feed.listen(&[EventClass::Generic], 8);
    let later = (desk.clock)().plus_seconds(60);
    for _ in 0..2 {
        writer.write(say(1, later));
        assert_eq!(refused(&writer.answer()), None);
    }
    writer.write(say(2, later));
    assert_eq!(refused(&writer.answer()), None);
    assert_eq!(std::iter::from_fn(|| said.poll()).count(), 2);
}

#[test]
fn a_command_after_its_deadline_has_no_effect() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let mut said = desk.bus.feed.listen(&[EventClass::Generic], 8);
    writer.write(say(1, Timestamp(1)));
    assert_eq!(refused(&writer.answer()), Some("deadline-passed".into()));
    assert!(said.poll().is_none());
}

#[test]
fn a_strategy_cannot_speak_for_another() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let event = GenericEvent { strategy: crate::desk::OTHER, name: "forged".into(), body: "{}".into() };
    let later = (desk.clock)().plus_seconds(60);
    // Of the second it does not say that the order is its own.
    let cancel = CancelOrder::of("theirs".parse().unwrap());
    for (key, command) in [(1, Command::Publish(event)), (2, Command::Cancel(cancel))] {
        writer.write(Request::Command { key, expires: later, command: Box::new(command) });
        assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
    }
}

#[test]
fn a_command_that_never_came_or_came_too_late_is_told_of_in_the_diary() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let later = (desk.clock)().plus_seconds(60);
    // The second comes too late; the third and the fourth were given up on the way.
    for (key, expires) in [(1, later), (2, Timestamp(1)), (5, later)] {
        writer.write(say(key, expires));
        writer.answer();
    }
    assert_eq!(desk.leaves.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[test]
fn nobody_writes_in_the_diary_of_another() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    writer.write(Request::Diary { key: 1, leaf: b"not mine".to_vec() });
    assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
    assert_eq!(desk.leaves.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[test]
fn a_second_process_is_refused_while_the_first_is_well_and_hears_nothing_of_what_is_for_it() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut first = Writer::at(&broker);
    first.hello();
    let mut second = Writer::living_at(&broker, "elsewhere");
    second.write(hello(false));
    assert_eq!(refused(&second.answer()), Some("strategy-lives".into()));
    first.write(say(1, (desk.clock)().plus_seconds(60)));
    assert_eq!(refused(&first.answer()), None);
    second.write(hello(true));
    assert!(matches!(second.answer(), Message::Welcome { is_resumed: false, .. }));
}

#[test]
fn one_that_is_cut_off_in_a_phase_comes_back_and_is_told_of_the_phase_again() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut before = Writer::at(&broker);
    before.write(hello(false));
    let Message::Welcome { run, .. } = before.answer() else { panic!("it was not let in") };
    let init =
        |writer: &mut Writer| writer.until(|message| matches!(message, Message::Enter { phase: Phase::Init, .. }));
    init(&mut before);
    drop(before);
    let mut after = Writer::at(&broker);
    after.epoch = 2;
    let Request::Hello { build, takes_over, .. } = hello(false) else { panic!("a hello") };
    after.write(Request::Hello { build, resume: Some(Resume { run, heard: 0 }), takes_over });
    assert!(matches!(after.answer(), Message::Welcome { is_resumed: true, .. }));
    init(&mut after);
}
