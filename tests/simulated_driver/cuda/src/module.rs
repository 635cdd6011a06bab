//! Defines CUDA's functions for images, kernels and launches.

use std::ffi::{CString, c_char, c_void};

use simulated_core::Outcome;
use simulated_core::error_codes::{INVALID_HANDLE, INVALID_VALUE};
use simulated_core::kernel::Function;
use simulated_core::kernel::engine::Shape;
use simulated_core::module::{active_blocks, bytes, fits_at_once, launch, max_threads, suggested_shape};

use crate::entry::{Call, In, Out, export};
use crate::launch::{allow_large, allows_large};

pub const MULTIPROCESSORS: i32 = 132;
pub const SHARED_ON_REQUEST: i32 = 227 << 10;

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
        5 | 6 => 90, // PTX version and binary version
        8 => SHARED_ON_REQUEST,
        9 => -1, // preferred shared memory carveout: default
        3 | 7 => 0,
        _ => return Err(INVALID_VALUE),
    })
}

export! {
    fn cuModuleLoadData(on, module: Out<u64>, image: In<u8>) {
        load(on, module, image)
    }

    fn cuModuleLoadDataEx(on, module: Out<u64>, image: In<u8>, _count: u32, _options: usize, _values: usize) {
        load(on, module, image)
    }

    fn cuModuleUnload(on, module: u64) {
        on.driver.unload_module(on.device()?, module)
    }

    fn cuModuleGetFunction(on, function: Out<u64>, module: u64, name: In<c_char>) {
        on.device()?;
        function.put(on.driver.function(module, &name.name()?)?)
    }

    fn cuModuleGetFunctionCount(on, count: Out<u32>, module: u64) {
        on.device()?;
        count.put(on.driver.functions(module)?.len() as u32)
    }

    fn cuModuleEnumerateFunctions(on, functions: Out<u64>, count: u32, module: u64) {
        on.device()?;
        let found = on.driver.functions(module)?;
        // SAFETY: the caller of the C function guarantees that the list has `count` elements.
        found.iter().take(count as usize).enumerate().try_for_each(|(at, one)| unsafe { functions.at(at) }.put(*one))
    }

    fn cuFuncGetName(on, name: Out<*const c_char>, function: u64) {
        let known = on.driver.function_of(function)?;
        // The string with the kernel's name is never freed, because the program may read it at any later time.
        name.put(CString::new(known.kernel.name).map_err(|_| INVALID_VALUE)?.into_raw())
    }

    fn cuModuleGetGlobal_v2(on, address: Out<u64>, bytes: Out<usize>, module: u64, name: In<c_char>) {
        on.device()?;
        let (start, length) = on.driver.global(module, &name.name()?)?;
        address.put_if_wanted(start);
        bytes.put_if_wanted(length as usize);
        Ok(())
    }

    fn cuFuncGetAttribute(on, value: Out<i32>, which: u32, function: u64) {
        let known = on.driver.function_of(function)?;
        match which {
            10..=13 | 15 => value.put(0), // The kernel requires no cluster size and no scheduling policy.
            14 => value.put(allows_large(function).into()),
            _ => value.put(attribute(which, &known)?),
        }
    }

    fn cuFuncSetAttribute(on, function: u64, which: u32, value: i32) {
        on.driver.function_of(function)?;
        match (which, value) {
            (8, 0..=SHARED_ON_REQUEST) | (9, -1..=100) => Ok(()),
            (14, 0 | 1) => {
                allow_large(function, value == 1);
                Ok(())
            }
            _ => Err(INVALID_VALUE),
        }
    }

    fn cuFuncSetCacheConfig(on, function: u64, preference: u32) {
        on.driver.function_of(function)?;
        if preference <= 3 { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn cuFuncGetParamInfo(on, function: u64, index: usize, offset: Out<usize>, size: Out<usize>) {
        let function = on.driver.function_of(function)?;
        let mut end = 0usize;
        for (position, &(bytes, alignment)) in function.kernel.parameters.iter().enumerate() {
            let start = end.next_multiple_of(alignment);
            if position == index {
                size.put_if_wanted(bytes);
                return offset.put(start);
            }
            end = start + bytes;
        }
        Err(INVALID_VALUE)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(on, blocks: Out<i32>, function: u64, threads: i32, shared: usize) {
        let function = on.driver.function_of(function)?;
        blocks.put(active_blocks(&function, threads, shared, SHARED_ON_REQUEST)?)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        on,
        grid: Out<i32>,
        threads: Out<i32>,
        function: u64,
        _shared_of_threads: usize,
        _shared: usize,
        limit: i32,
    ) {
        let (blocks, best) = suggested_shape(&on.driver.function_of(function)?, MULTIPROCESSORS, limit);
        threads.put(best)?;
        grid.put(blocks)
    }

    fn cuLaunchKernel(
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

    fn cuLaunchCooperativeKernel(
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
