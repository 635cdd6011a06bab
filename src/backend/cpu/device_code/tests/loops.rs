//! Tests that kernels converted to loops over the threads of a block compute the same results as before the conversion.
//! `src/cpu_engine/tests` tests which kernels are converted.

use std::sync::OnceLock;

use super::*;

const INSTANCES: [&str; 2] = ["doubled<int, 3>", "doubled<double, 2>"];

fn loops() -> &'static Loaded {
    static LOOPS: OnceLock<Loaded> = OnceLock::new();
    LOOPS.get_or_init(|| Loaded::with(include_str!("../../../../cpu_engine/tests/loops.cu"), &[], &INSTANCES))
}

#[test]
fn converted_kernel_runs_all_threads_on_one_stack() {
    let mut out = vec![0u64; 8];
    loops().run("addresses", 1, 8, &mut out);
    assert!(out.iter().all(|&address| address == out[0] && address != 0), "{out:x?}");
}

#[test]
fn tree_reduction_adds_every_value_once() {
    let x: Vec<f32> = (0..1000).map(|value| value as f32).collect();
    let mut out = vec![0f32; 4];
    let shape = shape(4, 256);
    loops()
        .try_run(
            "tree",
            shape,
            &mut [argument(&mut x.as_ptr()), argument(&mut out.as_mut_ptr()), argument(&mut 1000i32)],
        )
        .unwrap();
    assert_eq!(out.iter().sum::<f32>(), 499_500.0);
}

#[test]
fn product_tiles_are_separated_by_barriers() {
    let n = 19usize;
    let a: Vec<f32> = (0..n * n).map(|value| (value % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|value| (value % 5) as f32).collect();
    let mut c = vec![0f32; n * n];
    loops()
        .try_run(
            "product",
            shape([3, 3, 1], [8, 8, 1]),
            &mut [
                argument(&mut a.as_ptr()),
                argument(&mut b.as_ptr()),
                argument(&mut c.as_mut_ptr()),
                argument(&mut (n as i32)),
            ],
        )
        .unwrap();
    for row in 0..n {
        for column in 0..n {
            let expected: f32 = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
            assert_eq!(c[row * n + column], expected, "{row}, {column}");
        }
    }
}

#[test]
fn variables_keep_their_values_across_barriers() {
    const THREADS: usize = 6;
    const ROUNDS: usize = 5;
    let mut out = vec![0i32; THREADS];
    let shape = LaunchShape { shared: 4 * THREADS as u32, ..shape(1, THREADS as u32) };
    loops().try_run("kept", shape, &mut [argument(&mut out.as_mut_ptr()), argument(&mut (ROUNDS as i32))]).unwrap();
    // The expected result is computed on the host, with all threads of the block in lockstep.
    let mut numbers = [[1i32, 2, 3]; THREADS];
    let mut bare: Vec<i32> = (0..THREADS).map(|me| if me % 2 == 1 { 10 } else { 20 }).collect();
    for outer in 0..ROUNDS {
        let mut exchange: Vec<i32> = (0..THREADS).map(|me| numbers[me][outer % 3] + me as i32).collect();
        for inner in 0..=outer {
            let values: Vec<i32> = (0..THREADS).map(|me| exchange[(me + inner) % THREADS]).collect();
            exchange = values.iter().map(|value| value + 1).collect();
            (0..THREADS).for_each(|me| bare[me] += values[me]);
        }
        (0..THREADS).for_each(|me| numbers[me][outer % 3] += exchange[me]);
    }
    let last = |me: usize| numbers[me][0] + numbers[me][1] * 3 + numbers[me][2] * 7 + bare[me] + me as i32 + 16;
    assert_eq!(out, (0..THREADS).map(last).collect::<Vec<_>>());
}

#[test]
fn each_thread_has_own_parameters_and_indices_in_callees() {
    #[repr(C)]
    struct Pair(i32, f64);
    let mut out = vec![-1i32; 8];
    loops()
        .try_run(
            "own_parameter",
            shape(1, 8),
            &mut [argument(&mut out.as_mut_ptr()), argument(&mut 9i32), argument(&mut Pair(1, 0.0))],
        )
        .unwrap();
    assert_eq!(out, [-1, 9, -1, 7, -1, 5, -1, 3]);
    loops().run("asked", 1, [4, 2, 1], &mut out);
    assert_eq!(out, [0, 1, 2, 3, 100, 101, 102, 103]);
}

#[test]
fn shared_memory_atomics_and_template_instances_compute_correctly() {
    let x: Vec<i32> = (0..1000).map(|value| value * value).collect();
    let mut out = vec![0i32; 16];
    loops()
        .try_run(
            "histogram",
            shape(1, 64),
            &mut [argument(&mut x.as_ptr()), argument(&mut out.as_mut_ptr()), argument(&mut 1000i32)],
        )
        .unwrap();
    let count = |bin: i32| x.iter().filter(|&&value| value & 15 == bin).count() as i32;
    assert_eq!(out, (0..16).map(count).collect::<Vec<_>>());
    let mut whole = vec![1i32, 2, 3, 4];
    loops().run("doubled<int, 3>", 1, 4, &mut whole);
    assert_eq!(whole, [20; 4]);
    let mut real = vec![1f64, 2.0, 3.0, 4.0];
    loops().run("doubled<double, 2>", 1, 4, &mut real);
    assert_eq!(real, [10.0; 4]);
}

#[test]
fn barrier_does_not_wait_for_threads_that_left_loop() {
    let mut out = vec![0i32; 5];
    loops().run("uneven", 1, 5, &mut out);
    assert_eq!(out, [0, 1, 2, 3, 4]);
}
