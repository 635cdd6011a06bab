//! Defines HIP's functions for images, kernels and launches.

use std::ffi::{c_char, c_void};

use simulated_core::Outcome;
use simulated_core::error_codes::{INVALID_HANDLE, INVALID_VALUE};
use simulated_core::kernel::Function;
use simulated_core::kernel::engine::Shape;
use simulated_core::module::{active_blocks, bytes, fits_at_once, launch, max_threads, suggested_shape};

use crate::entry::{Call, In, Out, export};

const INVALID_DEVICE_FUNCTION: u32 = 98;
pub const MULTIPROCESSORS: i32 = 304;
const SHARED_ON_REQUEST: i32 = 64 << 10;

fn load(on: &Call, module: Out<u64>, image: In<u8>) -> Outcome<()> {
    module.check()?;
    let device = on.device()?;
    module.put(on.driver.load_module(device, &bytes(image)?)?)
}

pub fn shape(grid: [u32; 3], block: [u32; 3], shared: u32, cooperative: bool) -> Outcome<Shape> {
    if shared > SHARED_ON_REQUEST as u32 {
        return Err(INVALID_VALUE);
    }
    let shape = Shape { grid, block, shared: shared.into(), cooperative };
    fits_at_once(&shape, MULTIPROCESSORS)?;
    Ok(shape)
}

fn attribute(number: u32, function: &Function) -> Outcome<i32> {
    Ok(match number {
        0 => max_threads(function),
        1 => function.kernel.shared_bytes as i32,
        2 => function.kernel.constant_bytes as i32,
        4 => 32,     // registers per thread
        5 | 6 => 94, // code version and binary version
        8 => SHARED_ON_REQUEST,
        9 => -1, // preferred shared memory carveout: default
        3 | 7 => 0,
        _ => return Err(INVALID_VALUE),
    })
}

export! {
    fn hipModuleLoadData(on, module: Out<u64>, image: In<u8>) {
        load(on, module, image)
    }

    fn hipModuleLoadDataEx(on, module: Out<u64>, image: In<u8>, _count: u32, _options: usize, _values: usize) {
        load(on, module, image)
    }

    fn hipModuleUnload(on, module: u64) {
        on.driver.unload_module(on.device()?, module)
    }

    fn hipModuleGetFunction(on, function: Out<u64>, module: u64, name: In<c_char>) {
        on.device()?;
        function.put(on.driver.function(module, &name.name()?)?)
    }

    fn hipModuleGetGlobal(on, address: Out<u64>, bytes: Out<usize>, module: u64, name: In<c_char>) {
        on.device()?;
        let (start, length) = on.driver.global(module, &name.name()?)?;
        address.put_if_wanted(start);
        bytes.put_if_wanted(length as usize);
        Ok(())
    }

    fn hipFuncGetAttribute(on, value: Out<i32>, which: u32, function: u64) {
        value.put(attribute(which, &on.driver.function_of(function)?)?)
    }

    // Both functions require the host address of a kernel that is compiled into the program; a kernel of a module has
    // no host address.
    fn hipFuncSetAttribute(_on, _kernel: u64, _which: u32, _value: i32) {
        Err(INVALID_DEVICE_FUNCTION)
    }

    fn hipFuncSetCacheConfig(_on, _kernel: u64, _preference: u32) {
        Err(INVALID_DEVICE_FUNCTION)
    }

    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(on, blocks: Out<i32>, function: u64, threads: i32, shared: usize) {
        let function = on.driver.function_of(function)?;
        blocks.put(active_blocks(&function, threads, shared, SHARED_ON_REQUEST)?)
    }

    fn hipModuleOccupancyMaxPotentialBlockSize(
        on,
        grid: Out<i32>,
        threads: Out<i32>,
        function: u64,
        _shared: usize,
        limit: i32,
    ) {
        let (blocks, best) = suggested_shape(&on.driver.function_of(function)?, MULTIPROCESSORS, limit);
        threads.put(best)?;
        grid.put(blocks)
    }

    fn hipModuleLaunchKernel(
        on,
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        arguments: In<*const c_void>,
        extra: usize,
    ) {
        // Kernel arguments that are packed in one buffer (`extra`) are not supported.
        if extra != 0 {
            return Err(INVALID_HANDLE);
        }
        let shape = shape([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, false)?;
        launch(on.driver, on.name, on.device()?, function, shape, stream, arguments)
    }

    fn hipModuleLaunchCooperativeKernel(
        on,
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        arguments: In<*const c_void>,
    ) {
        let shape = shape([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, true)?;
        launch(on.driver, on.name, on.device()?, function, shape, stream, arguments)
    }
}
