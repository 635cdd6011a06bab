//! Links device code with the linker in the CUDA driver.

use super::super::driver::Cuda;
use super::super::modules::Jit;
use super::super::sys::{CUjitInputType as Kind, CUlinkState};
use crate::cuda_and_hip::Driver;
use crate::error_codes::SUCCESS;
use crate::{Compiled, LinkInput, LinkKind, LoadOptions};
use pygpu_base::error::{Error, Result};

fn kind_of(kind: LinkKind) -> Kind {
    match kind {
        LinkKind::Cubin => Kind::CU_JIT_INPUT_CUBIN,
        LinkKind::Ptx => Kind::CU_JIT_INPUT_PTX,
        LinkKind::Fatbinary => Kind::CU_JIT_INPUT_FATBINARY,
        LinkKind::Object => Kind::CU_JIT_INPUT_OBJECT,
        LinkKind::Library => Kind::CU_JIT_INPUT_LIBRARY,
    }
}

/// Links the inputs (cubins, PTX, object files) into one module image.
pub fn link(driver: &Driver<Cuda>, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
    const OPERATION: &str = "cuLinkCreate";
    let api = &driver.api;
    let (Some(create), Some(add), Some(complete), Some(destroy)) =
        (api.cuLinkCreate_v2, api.cuLinkAddData_v2, api.cuLinkComplete, api.cuLinkDestroy)
    else {
        return Err(Error::not_supported("the driver has no linker (cuLinkCreate)"));
    };
    let _current = driver.enter(device, OPERATION)?;
    // The log buffers are declared before the link state, so that they are dropped after it: the driver writes into
    // them until the state is destroyed.
    let mut jit = Jit::new(options);
    let mut state: CUlinkState = std::ptr::null_mut();
    // SAFETY: there are as many options as values; the log buffers have the given sizes and live until the state is
    // destroyed.
    let code =
        unsafe { create(jit.options.len() as u32, jit.options.as_mut_ptr(), jit.values.as_mut_ptr(), &mut state) };
    if code != SUCCESS {
        return Err(driver.refusal(code, OPERATION, Some(device), jit.complaints()));
    }
    let none = std::ptr::null_mut;
    let parts = inputs.iter().try_for_each(|input| {
        // The driver expects a zero byte at the end of PTX, and the size that is passed to the driver includes this
        // byte.
        let data = if input.kind == LinkKind::Ptx { [input.data, &[0]].concat() } else { input.data.to_vec() };
        // SAFETY: the link state is alive; the driver copies the given number of bytes; the name is a C string.
        let code = unsafe {
            let bytes = data.as_ptr().cast_mut().cast();
            add(state, kind_of(input.kind), bytes, data.len(), input.name.as_ptr(), 0, none(), none().cast())
        };
        if code == SUCCESS { Ok(()) } else { Err(("cuLinkAddData", code, format!("{:?}", input.name))) }
    });
    let linked = parts.and_then(|()| {
        let (mut image, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the link state is alive, and the out-parameters are writable.
        match unsafe { complete(state, &mut image, &mut bytes) } {
            // SAFETY: the image has `bytes` bytes, which stay valid until the link state is destroyed; they are copied
            // before.
            SUCCESS => Ok(unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) }.to_vec()),
            code => Err(("cuLinkComplete", code, format!("{} parts", inputs.len()))),
        }
    });
    // SAFETY: the link state is alive, and is not used after this call.
    unsafe { destroy(state) };
    match linked {
        Ok(image) => Ok(Compiled { image, log: jit.remarks(), lowered: Vec::new(), read: None }),
        Err((operation, code, what)) => {
            let detail = format!("{what}{}", jit.complaints());
            Err(driver.refusal(code, operation, Some(device), detail))
        }
    }
}
