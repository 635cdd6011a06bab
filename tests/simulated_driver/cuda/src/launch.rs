//! Defines CUDA's launches with attributes. The blocks of a cluster run like any other blocks.

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use simulated_core::Outcome;
use simulated_core::error_codes::{INVALID_HANDLE, INVALID_VALUE};
use simulated_core::module::{Config, active_blocks, launch, remember};

use crate::entry::{In, Out, export};
use crate::module::{MULTIPROCESSORS, SHARED_ON_REQUEST, shape};

const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const CARVEOUT: u32 = 14;
const INVALID_CLUSTER_SIZE: u32 = 912;

/// Handles of kernels for which the program has allowed cluster sizes above the portable maximum.
static LARGE: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

pub fn allow_large(function: u64, allowed: bool) {
    let mut known = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if allowed {
        known.insert(function)
    } else {
        known.remove(&function)
    };
}

pub fn allows_large(function: u64) -> bool {
    LARGE.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|known| known.contains(&function))
}

fn largest(function: u64) -> u32 {
    if allows_large(function) { 16 } else { 8 }
}

/// Returns the number of blocks per cluster, after checking that the cluster is valid.
fn cluster(config: &Config, function: u64) -> Outcome<u32> {
    let Some(cluster) = config.attributes()?.into_iter().find(|one| one.number == CLUSTER) else { return Ok(1) };
    let lengths = [0, 1, 2].map(|axis| cluster.value[axis].unsigned_abs());
    if lengths.contains(&0) || lengths.iter().zip(config.grid).any(|(length, blocks)| blocks % length != 0) {
        return Err(INVALID_VALUE);
    }
    let size = lengths.iter().product();
    if size > largest(function) { Err(INVALID_CLUSTER_SIZE) } else { Ok(size) }
}

export! {
    fn cuLaunchKernelEx(on, config: In<Config>, function: u64, arguments: In<*const c_void>, extra: usize) {
        // Kernel arguments that are packed in one buffer (`extra`) are not supported.
        if extra != 0 {
            return Err(INVALID_HANDLE);
        }
        let config = config.get()?;
        let attributes = config.attributes()?;
        if attributes.iter().any(|one| one.number == 0 || one.number > CARVEOUT) {
            return Err(INVALID_VALUE);
        }
        cluster(&config, function)?;
        let cooperative = attributes.iter().any(|one| one.number == COOPERATIVE && one.value[0] != 0);
        let shape = shape(config.grid, config.block, config.shared, cooperative)?;
        launch(on.driver, on.name, on.device()?, function, shape, config.stream, arguments)?;
        remember(on.name, &attributes);
        Ok(())
    }

    fn cuOccupancyMaxPotentialClusterSize(on, blocks: Out<i32>, function: u64, config: In<Config>) {
        on.driver.function_of(function)?;
        config.get()?;
        blocks.put(largest(function) as i32)
    }

    fn cuOccupancyMaxActiveClusters(on, clusters: Out<i32>, function: u64, config: In<Config>) {
        let known = on.driver.function_of(function)?;
        let config = config.get()?;
        let threads = config.block.iter().product::<u32>() as i32;
        let blocks = active_blocks(&known, threads, config.shared as usize, SHARED_ON_REQUEST)?;
        clusters.put(MULTIPROCESSORS * blocks / cluster(&config, function)? as i32)
    }
}
