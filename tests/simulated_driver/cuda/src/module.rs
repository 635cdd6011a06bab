//! Images, kernels and launches. An image is what the simulated NVRTC makes: a shared library of the host.

use std::ffi::{CStr, c_char, c_void};

use simulated_core::Outcome;
use simulated_core::code::{INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NOT_FOUND};
use simulated_core::kernel::engine::Shape;

use crate::entry::{Call, In, Out, export};

const SHARED_ON_REQUEST: i32 = 227 << 10;

/// The bytes of an image, which end where its own header says.
fn bytes(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    if magic != *b"\x7fELF" {
        return Err(INVALID_IMAGE);
    }
    let header: [u8; 64] = image.cast().get()?;
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    // The table of sections stands at the end of what a linker writes.
    let length = number(40, 8).checked_add(number(58, 2) * number(60, 2)).ok_or(INVALID_IMAGE)?;
    (0..length as usize).map(|position| image.at(position)).collect()
}

fn load(on: &Call, module: Out<u64>, image: In<u8>) -> Outcome<()> {
    module.check()?;
    let device = on.device()?;
    module.put(on.driver.load_module(device, &bytes(image)?)?)
}

fn name_of(name: *const c_char) -> Outcome<String> {
    if name.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller of the C function promises a C string.
    unsafe { CStr::from_ptr(name) }.to_str().map(str::to_owned).map_err(|_| NOT_FOUND)
}

fn launch(on: &Call, function: u64, shape: Shape, stream: u64, arguments: In<*const c_void>) -> Outcome<()> {
    let device = on.device()?;
    let function = on.driver.function_of(function)?;
    let values = function.kernel.parameters.iter().enumerate().map(|(position, &(bytes, _))| {
        let value = arguments.at(position)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller of the C function promises as many bytes as the parameter has.
        Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec())
    });
    let values = values.collect::<Outcome<Vec<_>>>()?;
    on.driver.launch(on.name, device, function, shape, values, stream)
}

fn shape(grid: [u32; 3], block: [u32; 3], shared: u32, cooperative: bool) -> Outcome<Shape> {
    if shared > SHARED_ON_REQUEST as u32 {
        return Err(INVALID_VALUE);
    }
    Ok(Shape { grid, block, shared: shared.into(), cooperative })
}

fn attribute(number: u32, max_threads: u32) -> Outcome<i32> {
    Ok(match number {
        0 => {
            if max_threads == 0 {
                1024
            } else {
                max_threads as i32
            }
        }
        4 => 32,     // registers
        5 | 6 => 90, // versions
        8 => SHARED_ON_REQUEST,
        9 => -1, // carveout
        1..=3 | 7 => 0,
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
        on.device()?;
        on.driver.unload_module(module)
    }

    fn cuModuleGetFunction(on, function: Out<u64>, module: u64, name: *const c_char) {
        on.device()?;
        function.put(on.driver.function(module, &name_of(name)?)?)
    }

    fn cuModuleGetGlobal_v2(on, address: Out<u64>, bytes: Out<usize>, module: u64, name: *const c_char) {
        on.device()?;
        let (start, length) = on.driver.global(module, &name_of(name)?)?;
        address.put_if_wanted(start);
        bytes.put_if_wanted(length as usize);
        Ok(())
    }

    fn cuFuncGetAttribute(on, value: Out<i32>, which: u32, function: u64) {
        value.put(attribute(which, on.driver.function_of(function)?.kernel.max_threads)?)
    }

    fn cuFuncSetAttribute(on, function: u64, which: u32, value: i32) {
        on.driver.function_of(function)?;
        match (which, value) {
            (8, 0..=SHARED_ON_REQUEST) | (9, -1..=100) => Ok(()),
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

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(on, blocks: Out<i32>, function: u64, threads: i32, _shared: usize) {
        on.driver.function_of(function)?;
        blocks.put(if threads > 0 { (2048 / threads).min(32) } else { return Err(INVALID_VALUE) })
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
        let most = attribute(0, on.driver.function_of(function)?.kernel.max_threads)?;
        let best = if limit > 0 { most.min(limit) } else { most };
        threads.put(best)?;
        grid.put(132 * (2048 / best))
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
        // Arguments as one buffer: nobody here asks for that.
        if extra != 0 {
            return Err(INVALID_HANDLE);
        }
        let shape = shape([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, false)?;
        launch(on, function, shape, stream, arguments)
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
        launch(on, function, shape, stream, arguments)
    }
}
