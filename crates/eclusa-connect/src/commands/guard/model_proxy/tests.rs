//! Which paths of a service a guarded agent may ask for with the person's key.

use super::is_of_service;

#[test]
fn no_path_leaves_the_services_own() {
    for path in ["/v1/messages", "/v1/models?after=..a", "/v1/a..b/c", "/v1/%20x"] {
        assert!(is_of_service(path), "{path}");
    }
    for path in [
        "/../admin",
        "/.%2e/admin",
        "/%2e./admin",
        "/%2E%2e/admin",
        "/v1/..%2fadmin",
        "/v1%2f..%2f..",
        "/v1/%2e%2e%5cadmin",
        "/v1\\..\\admin",
        "//other.example/v1",
        "v1",
        "/v1/..?x",
    ] {
        assert!(!is_of_service(path), "{path}");
    }
}
