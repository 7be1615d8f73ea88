//! Tests of examples.

use eclusa::{Blocked, registry::check_lazy_schema};

use super::*;

#[test]
fn the_schema_of_every_example_can_be_used_when_its_first_call_comes() {
    let place = tempfile::tempdir().unwrap();
    let registry = Registry::default();
    add(&registry, Files::open(place.path(), Blocked::default()).unwrap()).unwrap();
    for tool in registry.list() {
        assert_eq!(check_lazy_schema(tool.schema()), Ok(()), "{}", tool.name());
    }
    assert_eq!(registry.count(), 3);
}
