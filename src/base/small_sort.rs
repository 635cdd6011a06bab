//! Sorting lists of a few. The standard library's sort is code of three or four kilobytes for each type of elements, which the wheel would
//! carry more than twenty times, and is no quicker where there are ten.

/// Sorts by a key; what has the same key stays in order. The time grows with the square of the length.
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
    fn lists_are_sorted_and_equals_stay_in_order() {
        for length in 0..7 {
            for seed in 0..500usize {
                let mut list: Vec<(usize, usize)> =
                    (0..length).map(|at| (seed.wrapping_mul(at * 7 + 3) % 4, at)).collect();
                let mut wanted = list.clone();
                wanted.sort_by_key(|one| one.0);
                sort_by_key(&mut list, |one| one.0);
                assert_eq!(list, wanted);
            }
        }
    }
}
