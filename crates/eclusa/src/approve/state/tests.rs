//! The whole table of transitions, and the clock.

use super::*;

const TIMES: QuestionTimes = QuestionTimes { expires: 100, decided: Some(50), valid: 20 };

#[test]
fn only_the_table_changes_a_state() {
    let events = [
        QuestionEvent::Yes,
        QuestionEvent::No,
        QuestionEvent::Withdraw,
        QuestionEvent::Take { holder: true },
        QuestionEvent::Take { holder: false },
        QuestionEvent::Revoke,
    ];
    let mut ways = Vec::new();
    for from in QuestionState::ALL {
        for event in events {
            if let Some(to) = from.after(event) {
                ways.push(format!("{from} {event:?} {to}"));
            }
        }
    }
    assert_eq!(
        ways,
        [
            "pending Yes approved",
            "pending No rejected",
            "pending Withdraw withdrawn",
            "approved Take { holder: true } taken",
            "approved Revoke revoked",
        ]
    );
}

#[test]
fn time_ends_what_waits_and_nothing_else() {
    assert_eq!(QuestionState::Pending.at(99, TIMES), QuestionState::Pending);
    assert_eq!(QuestionState::Pending.at(100, TIMES), QuestionState::Expired);
    assert_eq!(QuestionState::Approved.at(69, TIMES), QuestionState::Approved);
    assert_eq!(QuestionState::Approved.at(70, TIMES), QuestionState::Expired);
    let undated = QuestionTimes { decided: None, ..TIMES };
    assert_eq!(QuestionState::Approved.at(0, undated), QuestionState::Expired);
    for over in QuestionState::ALL.into_iter().filter(|it| !it.is_open()) {
        assert_eq!(over.at(u64::MAX, TIMES), over);
    }
}

#[test]
fn words_lead_back_to_their_states() {
    for state in QuestionState::ALL {
        assert_eq!(state.as_str().parse(), Ok(state));
    }
    assert!("opened".parse::<QuestionState>().is_err());
}
