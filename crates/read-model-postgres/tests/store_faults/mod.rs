//! Databases that are lost, emptied, changed or brought back from a backup: what is answered is complete, or said to be behind.

use super::*;

#[test]
fn a_server_that_is_lost_and_back_during_the_replay_of_a_start_lacks_nothing() {
    let mut fixture = PostgresFixture::new();
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let model = postgres(&fixture.server.url())(folder.path(), INPUTS);
    // Connected, and behind.
    model.wait_behind().unwrap();
    assert_eq!(model.replay_after(), u64::MAX, "a start does not wait for a database");
    fixture.server.stop();
    wait_for("the reason", || model.failure());
    story[..100].iter().for_each(|(sequence, events)| model.append(*sequence, events));
    fixture.server.start();
    model.wait_behind().unwrap();
    story[100..].iter().for_each(|(sequence, events)| model.append(*sequence, events));
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    assert_eq!(answers(&model, INPUTS), conforms(&sqlite));
}
