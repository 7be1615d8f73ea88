//! Tests of paths that are typed below the root.

use super::*;

#[test]
fn a_path_means_what_it_means_in_a_shell_there() {
    assert_eq!(joined("src/ui", "a.rs"), "src/ui/a.rs");
    assert_eq!(joined("src/ui", "./../b.rs"), "src/b.rs");
    assert_eq!(joined("src", ".."), ".");
    assert_eq!(joined("src", "../../etc"), "../../etc");
    assert_eq!(joined("src", "/etc/hosts"), "/etc/hosts");
    assert_eq!(joined("src", "~/x"), "~/x");
    assert_eq!(joined("src", "a/"), "src/a");
}
