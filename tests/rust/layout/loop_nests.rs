//! Compares the elements that loop nests visit with plain indexing, for random sets of broadcast, reversed, strided and
//! repeated arrays. A release build tests one million sets. The environment variable `PYGPU_TEST_SEED` repeats a run;
//! `PYGPU_TEST_CASES` sets the number of cases.

#![allow(clippy::print_stderr)] // Prints the failing case.

use std::thread;
use std::time::SystemTime;

use pygpu::layout::{Layout, LoopNest, LoopNestRules, SharedAxis, StridePattern, fastest};

/// Number of cases. A build without optimisation tests fewer cases, because a million would take half a minute.
const CASES: u64 = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };

/// Generates random numbers by the algorithm SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

const ITEMSIZE: i64 = 4;

#[derive(Debug)]
struct Case {
    /// Common shape, to which all layouts broadcast.
    shape: Vec<i64>,
    sides: Vec<Layout>,
    rules: LoopNestRules,
}

impl Case {
    fn of(random: &mut Random) -> Self {
        let rank = [0, 1, 2, 2, 3, 3, 4, 5][random.below(8)];
        let mut shape: Vec<i64> = (0..rank).map(|_| [1, 2, 2, 3, 3, 4][random.below(6)]).collect();
        if rank > 0 && random.one_in(20) {
            shape[random.below(rank)] = 0;
        }
        let count = 1 + random.below(4);
        let mut sides: Vec<Layout> = (0..count).map(|_| side(random, &shape)).collect();
        if random.one_in(3) && count > 1 {
            sides[1] = sides[0].clone(); // Programs often pass one array as two operands.
        }
        let lead = (!random.one_in(4)).then(|| random.below(count));
        let common = common_shape(&sides);
        let reduced = if random.one_in(2) { random.next() & ((1 << common.len()) - 1) } else { 0 };
        Self { shape: common, sides, rules: LoopNestRules { lead, reduced } }
    }

    fn is_reduced(&self, axis: usize) -> bool {
        self.rules.reduced >> axis & 1 == 1
    }

    /// Returns, for each index of the common shape in C order, the elements that a loop nest must visit.
    fn places(&self) -> Vec<Place> {
        let size: i64 = self.shape.iter().product();
        let mut places = Vec::with_capacity(size as usize);
        let mut index = vec![0i64; self.shape.len()];
        for _ in 0..size {
            let mut place = Place::default();
            for (side, at) in self.sides.iter().zip(&mut place.at) {
                let first = self.shape.len() - side.ndim();
                *at = side.offset();
                for (axis, own) in side.axes().iter().enumerate() {
                    *at += if own.len == 1 { 0 } else { index[first + axis] * own.stride };
                }
            }
            for (axis, number) in index.iter().enumerate().filter(|(axis, _)| !self.is_reduced(*axis)) {
                place.kept = place.kept * self.shape[axis] + number;
            }
            places.push(place);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < self.shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        places
    }
}

/// Offsets of the elements of all arrays at one index. `kept` is the position of this index in C order along the axes
/// that are not reduced.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, PartialOrd, Ord)]
struct Place {
    kept: i64,
    at: [i64; 4],
}

fn common_shape(sides: &[Layout]) -> Vec<i64> {
    let rank = sides.iter().map(Layout::ndim).max().unwrap_or(0);
    let mut shape = vec![1; rank];
    for side in sides {
        for (common, len) in shape.iter_mut().rev().zip(side.shape().rev()) {
            if len != 1 {
                *common = len;
            }
        }
    }
    shape
}

/// Returns a random layout that broadcasts to a shape. Axes may be permuted, reversed or repeated, and elements may
/// have gaps.
fn side(random: &mut Random, shape: &[i64]) -> Layout {
    let dropped = if random.one_in(4) { random.below(shape.len() + 1) } else { 0 };
    let mut own: Vec<i64> = shape[dropped..].to_vec();
    let is_broadcast = random.one_in(3);
    own.iter_mut().for_each(|len| *len = if is_broadcast && random.one_in(2) { 1 } else { *len });
    let mut order: Vec<usize> = (0..own.len()).rev().collect();
    if random.one_in(2) {
        (1..order.len()).for_each(|place| order.swap(place, random.below(place + 1)));
    }
    let mut strides = vec![0; own.len()];
    let (has_gaps, is_turned, repeats) = (random.one_in(2), random.one_in(2), random.one_in(8));
    let mut stride = ITEMSIZE;
    for axis in order {
        stride *= if has_gaps { 1 + random.below(3) as i64 } else { 1 };
        strides[axis] = match own[axis] {
            1 if random.one_in(2) => random.next() as i64 >> 8, // The stride of an axis of length 1 has no effect.
            _ if repeats && random.one_in(2) => 0,
            _ if is_turned && random.one_in(2) => -stride,
            _ => stride,
        };
        stride *= own[axis].max(1);
    }
    // Any start offset is valid, because the test reads no element.
    Layout::strided(&own, &strides, random.below(1000) as i64 * ITEMSIZE, ITEMSIZE).unwrap()
}

/// Returns the elements that a loop nest visits, in the order of the visits.
fn visited(walk: &LoopNest) -> Vec<Place> {
    let axes = walk.axes::<4>();
    let mut first = Place::default();
    (0..walk.sides()).for_each(|side| first.at[side] = walk.offset(side));
    let mut places = Vec::with_capacity(walk.size() as usize);
    for number in 0..walk.size() {
        let mut place = first;
        let (mut rest, mut kept_places) = (number, 1);
        for (position, SharedAxis { len, strides }) in axes.iter().enumerate().rev() {
            let index = rest % len;
            rest /= len;
            (0..4).for_each(|side| place.at[side] += index * strides[side]);
            if position < walk.unreduced_rank() {
                place.kept += index * kept_places;
                kept_places *= len;
            }
        }
        places.push(place);
    }
    places
}

/// Returns a hash of the elements that does not depend on their order.
fn bag(places: &[Place], with_kept: bool) -> u64 {
    let hash = |place: &Place| {
        place.at.iter().fold(if with_kept { place.kept as u64 } else { 0 }, |hash, at| mixed(hash ^ *at as u64))
    };
    places.iter().fold(0, |sum, place| sum.wrapping_add(mixed(hash(place))))
}

fn check(case: &Case) {
    let sides: Vec<&Layout> = case.sides.iter().collect();
    let walk = LoopNest::plan(&sides, case.rules).unwrap();
    let (expected, found) = (case.places(), visited(&walk));
    assert_eq!(walk.size(), expected.len() as i64);
    match case.rules.lead {
        None if case.rules.reduced == 0 => assert!(
            found.iter().map(|place| place.at).eq(expected.iter().map(|place| place.at)),
            "{found:?} in C order"
        ),
        None => {
            // In C order, the loop nest visits the indices of the axes that are not reduced. For each of these indices,
            // it visits the indices of the reduced axes in C order.
            let mut sorted = expected.clone();
            sorted.sort_by_key(|place| place.kept); // A stable sort: elements with equal `kept` stay in C order.
            assert_eq!(found, sorted);
        }
        Some(_) => assert_eq!(bag(&found, false), bag(&expected, false), "{found:?}"),
    }
    if walk.size() == 0 {
        assert_eq!(walk.lens().collect::<Vec<_>>(), [0]);
        return;
    }
    check_axes(case, &walk, &expected);
    check_forms(case, &walk, &found);
}

/// Checks that no axis can be dropped or merged, and that the strides of the first array are sorted and not negative.
fn check_axes(case: &Case, walk: &LoopNest, expected: &[Place]) {
    let axes = walk.axes::<4>();
    assert!(axes.iter().all(|axis| axis.len > 1));
    let kept_len: i64 = axes[..walk.unreduced_rank()].iter().map(|axis| axis.len).product();
    let outputs = expected.iter().map(|place| place.kept).max().unwrap_or(0) + 1;
    assert_eq!(kept_len, outputs, "the kept axes are others");
    for group in [&axes[..walk.unreduced_rank()], &axes[walk.unreduced_rank()..]] {
        for pair in group.windows(2) {
            let is_even = (0..walk.sides()).all(|side| pair[0].strides[side] == pair[1].len * pair[1].strides[side]);
            assert!(!is_even, "{axes:?} can be merged");
        }
        if let Some(lead) = case.rules.lead {
            assert!(group.iter().all(|axis| axis.strides[lead] >= 0), "{axes:?} leads down");
            assert!(group.is_sorted_by(|a, b| a.strides[lead] >= b.strides[lead]), "{axes:?} is not sorted");
        }
    }
    // With a leading array, the loop nest may visit the output elements in any order. Each output element must still be
    // computed from the same set of input elements as in the model.
    if case.rules.lead.is_some() {
        let mut groups = Vec::new();
        for places in [expected, &visited(walk)] {
            let mut sums = vec![0u64; outputs as usize];
            for place in places {
                let sum = &mut sums[place.kept as usize];
                *sum = sum.wrapping_add(bag(&[*place], false));
            }
            sums.sort_unstable();
            groups.push(sums);
        }
        assert_eq!(groups[0], groups[1], "an output got other elements");
    }
}

fn check_forms(case: &Case, walk: &LoopNest, found: &[Place]) {
    for side in 0..case.sides.len() {
        let first = found[0].at[side];
        let mut steps = found.iter().zip(0..).map(|(place, number)| (place.at[side] - first, number * ITEMSIZE));
        let is_flat = steps.clone().all(|(step, expected)| step == expected);
        let is_repeated = steps.all(|(step, _)| step == 0);
        let form = match (is_flat, is_repeated) {
            (true, _) => StridePattern::Contiguous,
            (_, true) => StridePattern::Broadcast,
            _ => StridePattern::Strided,
        };
        assert_eq!(walk.form(side, ITEMSIZE), form);
        let axes = walk.axes::<4>();
        let least = axes.iter().map(|axis| axis.strides[side].unsigned_abs()).filter(|stride| *stride != 0).min();
        assert_eq!(fastest(&axes, side).map(|place| axes[place].strides[side].unsigned_abs()), least);
    }
}

#[test]
fn random_loop_nests_match_plain_indexing() {
    let seed = setting("PYGPU_TEST_SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
    });
    let cases = setting("PYGPU_TEST_CASES").unwrap_or(CASES);
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    thread::scope(|scope| {
        for part in 0..threads {
            scope.spawn(move || {
                for number in (part..cases).step_by(threads as usize) {
                    let case = Case::of(&mut Random(mixed(seed ^ number)));
                    let report = ReportOnPanic { seed, number, case: &case };
                    check(&case);
                    drop(report);
                }
            });
        }
    });
}

/// Guard that prints its test case if the guard is dropped during a panic.
struct ReportOnPanic<'a> {
    seed: u64,
    number: u64,
    case: &'a Case,
}

impl Drop for ReportOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("PYGPU_TEST_SEED={}, case {}: {:?}", self.seed, self.number, self.case);
        }
    }
}

#[test]
fn loop_nest_rejects_incompatible_shapes_with_numpy_message() {
    let of = |shape: &[i64]| Layout::strided(shape, &vec![0; shape.len()], 0, 1).unwrap();
    let refused = |sides: &[&Layout]| LoopNest::plan(sides, LoopNestRules::default()).unwrap_err().to_string();
    let text = refused(&[&of(&[2, 3]), &of(&[4])]);
    assert!(text.contains("operands could not be broadcast together with shapes (2,3) (4,)"), "{text}");
    let (tall, wide) = (of(&[1 << 40, 1]), of(&[1 << 40]));
    assert!(refused(&[&tall, &wide]).contains("array is too big"));
    // Shapes of arrays without elements must be compatible, too.
    assert!(refused(&[&of(&[0, 3]), &of(&[0, 4])]).contains("could not be broadcast"));
    assert_eq!(LoopNest::plan(&[&of(&[0, 3]), &of(&[1, 3])], LoopNestRules::default()).unwrap().size(), 0);
}

#[test]
fn loop_nest_supports_15_axes_and_41_arrays() {
    let deep = Layout::strided(&[2; 15], &[0; 15], 8, 4).unwrap();
    let shape: Vec<i64> = vec![2; 15];
    let strides: Vec<i64> = (0..15).map(|axis| 3 << (2 * axis)).collect();
    let odd = Layout::strided(&shape, &strides, 0, 4).unwrap();
    let sides: Vec<&Layout> = std::iter::repeat_n(&deep, 40).chain([&odd]).collect();
    let walk = LoopNest::plan(&sides, LoopNestRules { lead: Some(40), reduced: 0 }).unwrap();
    assert_eq!((walk.rank(), walk.sides(), walk.size()), (15, 41, 1 << 15));
    assert!(walk.strides(40).eq(strides.iter().rev().copied()) && walk.has_short_strides(40));
    assert_eq!((walk.form(3, 4), walk.offset(3)), (StridePattern::Broadcast, 8));
    let far = Layout::strided(&[2, 2], &[1 << 31, 4], 0, 4).unwrap();
    assert!(!LoopNest::c_order(&far).has_short_strides(0));
}

#[test]
fn axis_of_length_1_does_not_prevent_merge_of_adjacent_axes() {
    let row = Layout::strided(&[3, 1, 4], &[16, 0, 4], 0, 4).unwrap();
    let walk = LoopNest::plan(&[&row, &Layout::scalar(4)], LoopNestRules { lead: Some(0), reduced: 0b010 }).unwrap();
    assert_eq!((walk.rank(), walk.unreduced_rank(), walk.size()), (1, 1, 12));
    assert_eq!((walk.form(0, 4), walk.form(1, 4)), (StridePattern::Contiguous, StridePattern::Broadcast));
}
