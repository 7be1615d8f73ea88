//! Who makes room for whom.

use super::*;

#[tokio::test]
async fn the_oldest_unfinished_request_makes_room_and_a_whole_one_stays() {
    let all = Connections::new(2);
    let whole = all.admit().await.unwrap();
    whole.received();
    let slow = all.admit().await.unwrap();
    let closing = slow.closing.clone();
    let ends = tokio::spawn(async move { slow.closing.cancelled().await });
    let next = all.admit().await.unwrap();
    ends.await.unwrap();
    assert!(closing.is_cancelled());
    assert!(!whole.closing.is_cancelled());
    // One that is answered is as young as its next request.
    next.received();
    whole.begin();
    next.begin();
    let closing = whole.closing.clone();
    drop(tokio::spawn(async move { whole.closing.cancelled().await }));
    all.admit().await.unwrap();
    assert!(closing.is_cancelled());
    assert!(!next.closing.is_cancelled());
}
