//! Tests each supported language feature of kernels.

use std::sync::OnceLock;

use super::*;

const INSTANCES: [&str; 3] = ["cube<float>", "&cube<long long>", "deep::convert<int, double>"];

fn features() -> &'static Loaded {
    static FEATURES: OnceLock<Loaded> = OnceLock::new();
    FEATURES.get_or_init(|| Loaded::with(include_str!("features.cu"), &[], &INSTANCES))
}

#[test]
fn every_thread_of_three_dimensions_runs_once_with_its_indices() {
    let mut out = vec![0u32; 24 * 60];
    features().run("where", [2, 3, 4], [3, 4, 5], &mut out);
    let expected: Vec<u32> = (0..24).flat_map(|block| (0..60).map(move |thread| block * 1000 + thread)).collect();
    assert_eq!(out, expected);
}

#[test]
fn block_reduces_through_shuffles_and_shared_memory() {
    let mut values: Vec<f32> = (0..256).map(|value| value as f32).collect();
    features().run("reduce", 1, 256, &mut values);
    assert_eq!(values[0], 255.0 * 128.0);
}

#[test]
fn kernel_attributes_report_launch_bounds() {
    // SAFETY: the function belongs to a module that stays loaded.
    let attributes = unsafe { cpu().function_attributes(0, features().function("reduce")).unwrap() };
    assert_eq!(attributes.max_threads_per_block, 256);
}

#[test]
fn barrier_does_not_wait_for_ended_threads() {
    let mut out = vec![0i32; 64];
    features().run("early_exit", 1, 63, &mut out);
    for (t, &value) in out.iter().enumerate().take(63) {
        let other = if t % 3 == 1 { t + 1 } else { t - usize::from(t > 0) };
        // The expected numbers are those below 10 that are not divisible by 3: 1, 2, 4, 5, 7 and 8.
        let expected = if t % 3 == 0 { -1 } else { 110_000 + 600 + other as i32 };
        assert_eq!(value, expected, "thread {t}");
    }
}

#[test]
fn lanes_of_a_warp_vote_shuffle_and_match() {
    let mut out = vec![0u32; 448];
    features().run("warps", 1, 64, &mut out);
    for t in 0..64 {
        let lane = t % 32;
        assert_eq!(out[t], 0xaaaa_aaaa);
        assert_eq!(out[64 + t] as usize, if t % 8 == 0 { t } else { t - 1 });
        assert_eq!(out[128 + t] as usize, t / 16 * 16 + 3);
        assert_eq!(out[192 + t], if t < 32 { 31 + 1000 } else { 63 + 2000 });
        assert_eq!(out[256 + t], 0x1111_1111 << (t % 4));
        let expected = match lane {
            0..4 => (t ^ 1) as u32,
            4..7 => t as u32 + 1,
            7 => t as u32,
            8..12 => 0xf00,
            _ => 7,
        };
        assert_eq!(out[320 + t], expected, "thread {t}");
        assert_eq!(out[384 + t], 2 * (t as u32 / 32 * 32 + 5));
    }
}

#[test]
fn atomics_lose_no_update_and_lock_is_handed_over() {
    let mut out = vec![0u32; 16];
    out[2] = 1000;
    features().run("atomics", 3, 100, &mut out);
    assert_eq!(out[..6], [3 * 4950, 99, 0, 0, 0, u32::MAX]);
    assert_eq!(f32::from_bits(out[6]), 150.0);
    // The source defines its own atomic addition of doubles, which adds twice the value.
    assert!(f64::from_bits(u64::from(out[8]) | u64::from(out[9]) << 32) > 0.0);
    assert_eq!(out[10..13], [600, 0, 300]);
}

#[test]
fn thread_may_wait_for_later_thread_without_barrier() {
    let mut out = vec![0i32; 2];
    features().run("signals", 1, 64, &mut out);
    assert_eq!(out, [42, 1]);
}

#[test]
fn blocks_of_a_cooperative_launch_may_wait_for_one_another() {
    let mut out = vec![0i32; 9];
    let shape = LaunchShape { cooperative: true, ..shape(8, 32) };
    features().try_run("blocks_wait", shape, &mut [argument(&mut out.as_mut_ptr())]).unwrap();
    assert_eq!(out, [8, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn dynamic_shared_memory_can_be_declared_in_every_form() {
    let mut out = vec![0f32; 64];
    let shape = LaunchShape { shared: 256, ..shape(1, 64) };
    features().try_run("dynamic", shape, &mut [argument(&mut out.as_mut_ptr())]).unwrap();
    for (t, &value) in out.iter().enumerate() {
        assert_eq!(value, (t / 4 * 4 + 3 - t % 4) as f32 + 1000.0 * (63 - t) as f32);
    }
}

#[test]
fn module_variables_are_found_by_name_and_used_by_kernels() {
    let module = Loaded::of(
        "__constant__ float table[4]; static __device__ int counter = 5; namespace a { __device__ double d[3]; } extern \"C\" __device__ short lone;
        extern \"C\" __global__ void k(float *o) { o[threadIdx.x] = table[threadIdx.x] + counter; }",
    );
    // SAFETY: the module is loaded.
    let global = |name: &str| unsafe { cpu().global(0, module.0, &CString::new(name).unwrap()) };
    let (address, bytes) = global("table").unwrap();
    assert_eq!((bytes, global("counter").unwrap().1, global("a::d").unwrap().1), (16, 4, 24));
    // SAFETY: the address is that of the module's variable, which has this many bytes in host memory; no kernel is
    // running.
    unsafe { std::slice::from_raw_parts_mut(address as *mut f32, 4) }.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    let mut out = vec![0f32; 4];
    module.run("k", 1, 4, &mut out);
    assert_eq!(out, [6.0, 7.0, 8.0, 9.0]);
    assert_eq!(global("lone").unwrap().1, 2);
    assert_eq!(global("absent").unwrap_err().code(), Some(NOT_FOUND));
    // SAFETY: the module is not used afterwards.
    unsafe { cpu().unload(0, module.0).unwrap() };
}

#[test]
fn math_functions_match_tables() {
    let expected: [f64; 34] = [
        0.5,
        0.476936276204469,
        -1.8213863677,
        0.841344746068542,
        1.959963984540054,
        1.0,
        -1.0,
        std::f64::consts::E,
        0.5,
        0.2,
        0.018795888861416,
        1.266065877752008,
        3.0,
        100.0,
        2.5,
        1.0,
        10.0,
        1.0,
        24.0,
        7.0,
        8.0,
        31.0,
        4.0,
        2147483648.0,
        3.0,
        2147483647.0,
        1065353216.0,
        -2.0,
        117_768_961.0,
        2.0,
        1.0,
        3.0,
        3.0,
        1_099_511_627_776.0,
    ];
    let mut out = vec![0f64; 34];
    features().run("mathematics", 1, 1, &mut out);
    for (number, (got, expected_value)) in out.iter().zip(expected).enumerate() {
        assert!(
            (got - expected_value).abs() <= 2e-7 * expected_value.abs(),
            "number {number}: {got} instead of {expected_value}"
        );
    }
}

#[test]
fn structures_and_vectors_are_passed_by_value() {
    #[repr(C)]
    struct Big(i8, [f64; 3], i16);
    let function = features().function("by_value");
    // SAFETY: the function belongs to a module that stays loaded.
    let places = unsafe { cpu().parameters(0, function).unwrap().unwrap() };
    let places: Vec<_> = places.iter().map(|place| (place.offset, place.size)).collect();
    assert_eq!(places, [(0, 40), (48, 16), (64, 1), (72, 8), (80, 8)]);
    let (mut big, mut vector, mut byte, number, mut out) =
        (Big(1, [1.0, 2.0, 3.0], 40), [0f32, 0.0, 0.0, 500.0], 7i8, 1000i32, 0f64);
    features()
        .try_run(
            "by_value",
            shape(1, 1),
            &mut [
                argument(&mut big),
                argument(&mut vector),
                argument(&mut byte),
                argument(&mut &raw const number),
                argument(&mut &raw mut out),
            ],
        )
        .unwrap();
    assert_eq!(out, 1550.0);
}

#[test]
fn template_instances_and_macro_generated_kernels_can_be_launched() {
    let mut floats = [2f32, 3.0];
    features().run("cube<float>", 1, 2, &mut floats);
    assert_eq!(floats, [8.0, 27.0]);
    let mut integers = [2i64, 3];
    features().run("&cube<long long>", 1, 2, &mut integers);
    features().run("add_i64", 1, 2, &mut integers);
    assert_eq!(integers, [8, 28]);
    let mut sizes = [0i32];
    features()
        .try_run(
            "deep::convert<int, double>",
            shape(1, 1),
            &mut [argument(&mut sizes.as_mut_ptr()), argument(&mut 0usize)],
        )
        .unwrap();
    assert_eq!(sizes, [8]);
    features().run("deep::plain", 1, 1, &mut sizes);
    assert_eq!(sizes, [3]);
    for absent in ["left_out", "nor_is_this", "not_a_kernel", "cube"] {
        // SAFETY: the module stays loaded.
        let error = unsafe { cpu().function(0, features().0, &CString::new(absent).unwrap()) }.unwrap_err();
        assert_eq!(error.code(), Some(NOT_FOUND), "{absent}");
    }
}

#[test]
fn function_of_source_takes_precedence_over_header_function() {
    let mut out = [0f64; 2];
    features().run("own_function", 1, 1, &mut out);
    assert_eq!((out[0], f32::from_bits(out[1].to_bits() as u32)), (2.0, 1.0));
}

#[test]
fn each_of_many_parallel_blocks_runs_once() {
    let module = Loaded::of(
        "__global__ void k(unsigned *o) { __shared__ unsigned s; if (threadIdx.x == 0) s = blockIdx.x; __syncthreads();
         for (volatile int i = 0; i < 300; i++) {} if (s != blockIdx.x) o[0] = ~0u; else atomicAdd(&o[s], 1u); }",
    );
    let mut out = vec![0u32; 3000];
    module.run("k", 3000, 64, &mut out);
    assert!(out.iter().all(|&value| value == 64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let handle = module.0;
            std::thread::spawn(move || {
                let mut out = vec![0u32; 500];
                Loaded(handle).run("k", 500, 96, &mut out);
                out.iter().all(|&value| value == 96)
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
