//! Tests of resources.

use super::*;

#[test]
fn an_address_fits_a_template_when_its_fixed_parts_are_there() {
    assert!(fits("test://template/{id}/data", "test://template/123/data"));
    assert!(!fits("test://template/{id}/data", "test://template/123/other"));
    assert!(!fits("test://template/{id}/data", "test://template/123/data/more"));
    assert!(fits("file:///{+path}", "file:///a/b"));
    assert!(!fits("{+anything}", "file:///a/b"));
}
