//! Message queues.

use super::*;
use crate::destination::Destination;
use crate::headers::Headers;

fn message(id: u64) -> Arc<StompMessage> {
    Arc::new(StompMessage::new(id, &Destination::parse("/queue/work").unwrap(), &Headers::default(), b""))
}

fn with_messages(ids: impl IntoIterator<Item = u64>) -> MessageQueues<char> {
    let mut queues = MessageQueues::default();
    ids.into_iter().for_each(|id| queues.send("work", message(id), 1).unwrap());
    queues
}

/// Everything that can be delivered now: consumer, message, and `!` where it is a redelivery.
fn deliveries(queues: &mut MessageQueues<char>) -> String {
    let mut lines = Vec::new();
    while let Some(delivery) = queues.next_delivery("work", |_| true) {
        let again = if delivery.redelivered { "!" } else { "" };
        lines.push(format!("{}{}{again}", delivery.consumer, delivery.message.id()));
    }
    lines.join(" ")
}

#[test]
fn consumers_take_turns_up_to_their_prefetch() {
    let mut queues = with_messages(1..=6);
    assert_eq!(deliveries(&mut queues), "");
    queues.add_consumer("work", 'a', 2).unwrap();
    queues.add_consumer("work", 'b', 1).unwrap();
    assert_eq!(deliveries(&mut queues), "a1 b2 a3");
    queues.acknowledge("work", 'b', &[DeliveryToken(2)]);
    assert_eq!(deliveries(&mut queues), "b4");
    queues.acknowledge("work", 'a', &[DeliveryToken(1), DeliveryToken(3)]);
    assert_eq!(deliveries(&mut queues), "a5 a6");
}

#[test]
fn a_connection_that_takes_no_more_is_passed_over() {
    let mut queues = with_messages(1..=2);
    queues.add_consumer("work", 'a', 9).unwrap();
    queues.add_consumer("work", 'b', 9).unwrap();
    assert_eq!(queues.next_delivery("work", |consumer| consumer == 'b').map(|delivery| delivery.consumer), Some('b'));
    assert_eq!(queues.next_delivery("work", |_| false), None);
    assert_eq!(deliveries(&mut queues), "a2");
}

#[test]
fn what_a_lost_consumer_had_goes_to_the_next_in_order() {
    let mut queues = with_messages(1..=3);
    queues.add_consumer("work", 'a', 2).unwrap();
    assert_eq!(deliveries(&mut queues), "a1 a2");
    queues.remove_consumer("work", 'a');
    queues.add_consumer("work", 'b', 9).unwrap();
    assert_eq!(deliveries(&mut queues), "b1! b2! b3");
}

#[test]
fn a_message_is_given_back_by_its_own_consumer_only() {
    let mut queues = with_messages(1..=1);
    queues.add_consumer("work", 'a', 1).unwrap();
    queues.add_consumer("work", 'b', 1).unwrap();
    assert_eq!(deliveries(&mut queues), "a1");
    queues.requeue("work", 'b', &[DeliveryToken(1)]);
    queues.acknowledge("work", 'b', &[DeliveryToken(1)]);
    assert_eq!(deliveries(&mut queues), "");
    queues.requeue("work", 'a', &[DeliveryToken(1)]);
    assert_eq!(deliveries(&mut queues), "b1!");
}

#[test]
fn a_message_that_is_never_acknowledged_becomes_a_dead_letter() {
    let mut queues = with_messages(1..=1);
    queues.add_consumer("work", 'a', 1).unwrap();
    for _ in 0..DELIVERIES_MAX {
        assert!(deliveries(&mut queues).starts_with("a1"));
        queues.requeue("work", 'a', &[DeliveryToken(1)]);
    }
    assert_eq!(deliveries(&mut queues), "");
    queues.add_consumer(DEAD_LETTERS, 'd', 1).unwrap();
    let letter = queues.next_delivery(DEAD_LETTERS, |_| true).unwrap();
    assert_eq!((letter.consumer, letter.message.id(), letter.redelivered), ('d', 1, false));
    queues.acknowledge(DEAD_LETTERS, 'd', &[letter.token]);
    assert_eq!(queues.bytes(), 0);
}

#[test]
fn a_dead_letter_stays_a_dead_letter() {
    let mut queues: MessageQueues<char> = MessageQueues::default();
    queues.send(DEAD_LETTERS, message(1), 1).unwrap();
    queues.add_consumer(DEAD_LETTERS, 'd', 1).unwrap();
    for _ in 0..DELIVERIES_MAX + 2 {
        let letter = queues.next_delivery(DEAD_LETTERS, |_| true).unwrap();
        queues.requeue(DEAD_LETTERS, 'd', &[letter.token]);
    }
    assert_eq!(queues.bytes(), 1);
}

#[test]
fn the_oldest_dead_letter_is_evicted() {
    let mut queues = with_messages([77]);
    (0..QUEUE_MESSAGES_MAX).for_each(|_| queues.send(DEAD_LETTERS, message(1), 1).unwrap());
    queues.add_consumer("work", 'a', 1).unwrap();
    for _ in 0..DELIVERIES_MAX {
        deliveries(&mut queues);
        queues.requeue("work", 'a', &[DeliveryToken(1)]);
    }
    assert_eq!((queues.dead_letters_dropped(), queues.bytes()), (1, QUEUE_MESSAGES_MAX));
}

#[test]
fn a_full_queue_refuses_and_changes_nothing() {
    let mut queues = with_messages(1..=QUEUE_MESSAGES_MAX as u64);
    assert_eq!(queues.send("work", message(0), 1), Err(QueueFull::Messages { limit: QUEUE_MESSAGES_MAX }));
    let transaction = [("other", 1), ("work", 1)];
    assert_eq!(queues.check(transaction), Err(QueueFull::Messages { limit: QUEUE_MESSAGES_MAX }));
    let bytes = QueueFull::Bytes { limit: QUEUES_BYTES_MAX };
    assert_eq!(queues.send("other", message(0), QUEUES_BYTES_MAX), Err(bytes));
    assert_eq!(queues.len(), 1);
}

#[test]
fn the_number_of_queues_is_bounded_and_idle_ones_vanish() {
    let mut queues: MessageQueues<char> = MessageQueues::default();
    (0..QUEUES_MAX).for_each(|name| queues.add_consumer(&name.to_string(), 'a', 1).unwrap());
    assert_eq!(queues.add_consumer("more", 'a', 1), Err(QueueFull::Queues { limit: QUEUES_MAX }));
    assert_eq!(queues.send("more", message(1), 1), Err(QueueFull::Queues { limit: QUEUES_MAX }));
    (0..QUEUES_MAX).for_each(|name| queues.remove_consumer(&name.to_string(), 'a'));
    assert!(queues.is_empty());
}
