//! Layers against a plain set.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn layers_are_a_set(adds in prop::collection::vec(prop::collection::vec(0u8..60, 0..8), 0..80)) {
        let (mut layers, mut set) = (Layers::default(), BTreeSet::new());
        let mut copies = Vec::new();
        for add in adds {
            let paths: Vec<PathBuf> = add.iter().map(|it| format!("p{it}").into()).collect();
            layers.add(paths.iter().map(PathBuf::as_path));
            set.extend(paths);
            prop_assert_eq!(layers.len(), set.len());
            prop_assert!(set.iter().all(|it| layers.has(it)) && !layers.has(Path::new("q")));
            prop_assert!(layers.0.is_sorted_by(|a, b| a.len() > b.len()));
            copies.push((layers.clone(), set.len()));
        }
        for (copy, len) in copies {
            prop_assert_eq!(copy.len(), len);
        }
    }
}
