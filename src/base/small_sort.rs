//! Sorts short lists. The standard library's sort compiles to three or four kilobytes per element type, and the wheel
//! sorts lists of more than twenty types. For ten elements the standard sort is no faster than this one.

/// Sorts a list by a key. Elements with equal keys keep their order. The time of the sort grows with the square of the
/// list's length.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    for from in 1..list.len() {
        let mut at = from;
        while at > 0 && key(&list[at - 1]) > key(&list[at]) {
            list.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sort_is_stable() {
        for length in 0..7 {
            for seed in 0..500usize {
                let mut list: Vec<(usize, usize)> =
                    (0..length).map(|at| (seed.wrapping_mul(at * 7 + 3) % 4, at)).collect();
                let mut expected = list.clone();
                expected.sort_by_key(|one| one.0);
                sort_by_key(&mut list, |one| one.0);
                assert_eq!(list, expected);
            }
        }
    }
}
