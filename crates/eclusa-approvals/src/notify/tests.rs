//! Signatures as others make and check them.

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "C2FVsBQIhrscChlQIMV+b5sSYspob7oD7mRk2IyXBvY=";

/// The example that the libraries of Standard Webhooks are tested with.
#[test]
fn a_signature_is_that_of_standard_webhooks() {
    let secrets = WebhookSecrets::parse(SECRET).unwrap();
    let signature =
        secrets.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn only_the_same_message_under_a_shared_secret_is_signed() {
    let ours = WebhookSecrets::parse(SECRET).unwrap();
    let both = WebhookSecrets::parse(&format!("{OTHER} {SECRET}")).unwrap();
    let signature = both.sign("m1", "100", b"{}");
    assert_eq!(signature.split(' ').count(), 2, "one for each secret");
    assert!(ours.verify("m1", "100", b"{}", &signature));
    assert!(both.verify("m1", "100", b"{}", &ours.sign("m1", "100", b"{}")));
    for (id, time, body) in [("m2", "100", "{}"), ("m1", "101", "{}"), ("m1", "100", "[]")] {
        assert!(!ours.verify(id, time, body.as_bytes(), &signature), "{id} {time} {body}");
    }
    let stranger = WebhookSecrets::parse(OTHER).unwrap();
    assert!(!stranger.verify("m1", "100", b"{}", &ours.sign("m1", "100", b"{}")));
    for bad in ["", "v1,", "v1,AAAA", "v2,AAAA", "v1a,x", &signature.replace("v1", "v9")] {
        assert!(!ours.verify("m1", "100", b"{}", bad), "{bad}");
    }
    for bad in ["", " ", "whsec_", "not base64!", "c2hvcnQ="] {
        let why = WebhookSecrets::parse(bad).unwrap_err();
        assert!(!why.contains("c2hvcnQ="), "{why}");
    }
    assert_eq!(format!("{both:?}"), "WebhookSecrets(2)", "no secret is printed");
}
