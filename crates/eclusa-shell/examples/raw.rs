//! Raw tree.
fn main() {
    for s in std::env::args().skip(1) {
        let s = s.replace("\\n", "\n");
        println!("=== {s:?}");
        let mut p = tree_sitter::Parser::new();
        p.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
        let t = p.parse(&s, None).unwrap();
        fn show(n: tree_sitter::Node, s: &str, d: usize) {
            println!(
                "{}{}{} {:?} {:?}",
                "  ".repeat(d),
                n.kind(),
                if n.is_missing() { " MISSING" } else { "" },
                n.byte_range(),
                &s[n.byte_range()]
            );
            for i in 0..n.child_count() {
                show(n.child(i as u32).unwrap(), s, d + 1);
            }
        }
        show(t.root_node(), &s, 0);
    }
}
