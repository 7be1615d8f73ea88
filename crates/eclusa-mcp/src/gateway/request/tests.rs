//! Tests of request.

use super::*;

#[test]
fn what_a_server_says_without_a_call_is_for_the_newest_of_one_conversation() {
    let in_flight = InFlightCalls::default();
    let begin = |number: u64, session: &str| {
        let (ask, session) = (mpsc::channel(1).0, session.to_owned());
        let request = Some(RequestId::Number(number.try_into().unwrap()));
        in_flight.all().push(InFlight { number, session, request, client: None, ask });
    };
    let about = |origin: Option<&RequestId>| in_flight.about(origin, |it| it.number);
    assert_eq!(about(None), None);
    begin(1, "a");
    begin(2, "a");
    assert_eq!(about(None), Some(2));
    begin(3, "b");
    // Somebody else's words could be for either.
    assert_eq!(about(None), None);
    assert_eq!(about(Some(&RequestId::Number(2))), Some(2));
    assert_eq!(about(Some(&RequestId::Number(9))), None);
    drop(InFlightGuard { in_flight: &in_flight, number: 3 });
    assert_eq!(about(None), Some(2));
}
