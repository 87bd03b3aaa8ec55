use std::time::Duration;

use access::{AccessCredentials, UserRole};
use tokio::time::Instant;

use crate::access_fixture::{AccessFixture, ELSEWHERE, HERE, RIGHT, request};

#[tokio::test]
async fn the_right_password_of_a_user_opens_and_nothing_else_does() {
    let fixture = AccessFixture::with_anna();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    for (user, password) in [("anna", "wrong horse"), ("bert", RIGHT), ("anna", ""), ("Anna", RIGHT), ("a:b", RIGHT)] {
        assert_eq!(fixture.login(user, password).await, "wrong-credentials", "{user}");
    }
    assert_eq!(fixture.login("anna", &"x".repeat(1_025)).await, "wrong-credentials");
}

#[tokio::test]
async fn a_user_has_the_role_of_the_stored_row() {
    let fixture = AccessFixture::open();
    fixture.add("momentum", UserRole::Strategy("MOMENTUM".into()), RIGHT).unwrap();
    assert_eq!(fixture.login("momentum", RIGHT).await, "momentum strategy MOMENTUM");
    fixture.replace("momentum", UserRole::Viewer, RIGHT).unwrap();
    assert_eq!(fixture.login("momentum", RIGHT).await, "momentum viewer");
}

#[tokio::test]
async fn a_new_password_or_a_removal_counts_at_once() {
    let fixture = AccessFixture::with_anna();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    fixture.replace("anna", UserRole::Trader, "battery staple").unwrap();
    assert_eq!(fixture.login("anna", RIGHT).await, "wrong-credentials");
    assert_eq!(fixture.login("anna", "battery staple").await, "anna trader");
    fixture.remove("anna").unwrap();
    assert_eq!(fixture.login("anna", "battery staple").await, "wrong-credentials");
}

/// The time of the test stands still unless an attempt is delayed, and then it jumps.
#[tokio::test(start_paused = true)]
async fn failed_logins_are_delayed_longer_and_longer_and_never_locked_out() {
    let fixture = AccessFixture::with_anna();
    let mut waits = Vec::new();
    for guess in 0..9 {
        let begun = Instant::now();
        assert_eq!(fixture.login("anna", &format!("guess number {guess}")).await, "wrong-credentials");
        waits.push(begun.elapsed());
    }
    let millis = [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
    assert_eq!(waits, millis.map(Duration::from_millis));
    let begun = Instant::now();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader", "the owner waits and comes in");
    assert_eq!(begun.elapsed(), Duration::from_secs(15));
    let elsewhere = AccessCredentials::login("anna", RIGHT.into());
    let begun = Instant::now();
    assert_eq!(fixture.attempt(elsewhere, ELSEWHERE).await, "anna trader");
    assert_eq!(begun.elapsed(), Duration::ZERO, "her name is clear again");
}

#[tokio::test(start_paused = true)]
async fn what_a_stranger_guesses_elsewhere_does_not_slow_the_owner() {
    let fixture = AccessFixture::with_anna();
    for guess in 0..20 {
        let guessed = AccessCredentials::login("anna", format!("guess number {guess}").into());
        assert_eq!(fixture.attempt(guessed, ELSEWHERE).await, "wrong-credentials");
    }
    let begun = Instant::now();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_kept_elsewhere_is_guarded_like_a_password() {
    let fixture = AccessFixture::open();
    let mut waits = Vec::new();
    for _ in 0..9 {
        let begun = Instant::now();
        let denied = fixture.access.check_secret("FIX A->B", &request(ELSEWHERE), || false).await.unwrap_err();
        assert_eq!(denied.code(), "wrong-credentials");
        waits.push(begun.elapsed());
    }
    let millis = [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
    assert_eq!(waits, millis.map(Duration::from_millis));
    let begun = Instant::now();
    fixture.access.check_secret("FIX A->B", &request(HERE), || true).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(
        fixture.audit(),
        "1 at 0s - REST 192.168.1.5 [GET /rest/account] wrong-credentials: the user, the password or the token \
         is wrong, or the token has expired (9x, last 0s)\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_password_that_was_right_a_moment_ago_is_not_held() {
    let fixture = AccessFixture::with_anna();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    for guess in 0..9 {
        assert_eq!(fixture.login("anna", &format!("guess number {guess}")).await, "wrong-credentials");
    }
    let begun = Instant::now();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    fixture.advance(300);
    let begun = Instant::now();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    assert_eq!(begun.elapsed(), Duration::from_secs(15), "five minutes later it has to be proven again");
}

#[tokio::test(start_paused = true)]
async fn a_neighbour_behind_the_same_proxy_who_guesses_does_not_slow_who_has_come_in_before() {
    let fixture = AccessFixture::with_anna();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    fixture.access.check_secret("FIX A->B", &request(HERE), || true).await.unwrap();
    for guess in 0..9 {
        assert_eq!(fixture.login("bert", &format!("guess number {guess}")).await, "wrong-credentials");
    }
    // Her password has to be proven again.
    fixture.advance(300);
    let begun = Instant::now();
    assert_eq!(fixture.login("anna", RIGHT).await, "anna trader");
    fixture.access.check_secret("FIX A->B", &request(HERE), || true).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    fixture.access.check_secret("FIX A->C", &request(HERE), || true).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(15), "one who was never here waits");
}

#[tokio::test(start_paused = true)]
async fn a_program_with_many_connections_proves_its_password_once() {
    let fixture = AccessFixture::with_anna();
    let begun = Instant::now();
    let all = (0..64).map(|_| fixture.login("anna", RIGHT));
    for (number, answer) in join(all).await.into_iter().enumerate() {
        assert_eq!(answer, "anna trader", "{number}");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_guesses_from_one_peer_is_refused() {
    let fixture = AccessFixture::with_anna();
    let guesses: Vec<_> = (0..12).map(|guess| format!("guess number {guess}")).collect();
    let answers = join(
        guesses.iter().map(|guess| fixture.attempt(AccessCredentials::login("anna", guess.as_str().into()), HERE)),
    );
    let refused = answers.await.into_iter().filter(|answer| answer == "too-many-attempts").count();
    assert_eq!(refused, 4);
}

/// All at once, in the order in which they were given.
async fn join<F: Future<Output = String>>(all: impl Iterator<Item = F>) -> Vec<String> {
    let mut waiting: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (one, answer) in &mut waiting {
            if answer.is_none()
                && let std::task::Poll::Ready(ready) = one.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
        let all_done = waiting.iter().all(|(_, answer)| answer.is_some());
        if all_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, answer)| answer).collect()
}
