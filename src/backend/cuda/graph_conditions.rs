//! Implements conditional nodes in CUDA graphs: loops and selections that are decided while the graph runs.

use std::ptr;

use super::current_context::current as context;
use super::driver::Cuda;
use super::sys::{
    CUDA_CONDITIONAL_NODE_PARAMS, CUgraph, CUgraphConditionalNodeType as Type, CUgraphNode, CUgraphNodeParams,
    CUgraphNodeType, CUstreamCaptureMode as Mode,
};
use crate::cuda_and_hip::graphs::VendorConditions;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw};
use crate::{Branching, CaptureMode, ConditionHandle, GraphHandle, StreamHandle};
use pygpu_base::error::{Error, Result};

/// Driver flag: each launch of the graph shall reset the condition to its default value.
const ASSIGN_DEFAULT: u32 = 1;
/// Driver flag: the stream's next operation shall depend only on the nodes that the caller passes to the driver.
const SET_DEPENDENCIES: u32 = 1;

#[cold]
fn lacks(function: &str) -> Error {
    Error::not_supported(format!(
        "the driver has no {function}: conditional nodes of graphs need a driver of CUDA 12.4 or newer; update it, or decide on the \
         host which graph to launch"
    ))
}

/// Returns the graph that a stream captures, and the nodes on which its next operation depends.
///
/// # Safety
/// The stream is alive. The returned list of nodes is valid until the next call that concerns the capture.
unsafe fn captured(
    driver: &Driver<Cuda>,
    device: i32,
    stream: StreamHandle,
) -> Result<(CUgraph, *const CUgraphNode, usize)> {
    let (mut status, mut graph, mut nodes, mut count) = (0u32, CUgraph::NONE, ptr::null(), 0usize);
    driver.call(
        device,
        "cuStreamGetCaptureInfo_v2",
        // SAFETY: the caller guarantees that the stream is alive; the out-parameters are writable and as wide as the
        // driver's types.
        |on| unsafe {
            let status = (&raw mut status).cast();
            (on.symbols.capture_info)(Raw::of(stream.0), status, ptr::null_mut(), &mut graph, &mut nodes, &mut count)
        },
        || format!("stream {:#x}", stream.0),
    )?;
    match status {
        1 => Ok((graph, nodes, count)),
        _ => Err(Error::value("conditions are of a graph that is being captured, and the stream captures none")),
    }
}

impl VendorConditions for Cuda {
    fn mode_of(mode: CaptureMode) -> Mode {
        match mode {
            CaptureMode::Global => Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            CaptureMode::ThreadLocal => Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            CaptureMode::Relaxed => Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }

    unsafe fn create_condition(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        default: Option<u32>,
    ) -> Result<ConditionHandle> {
        let name = "cuGraphConditionalHandleCreate";
        let make = driver.api.cuGraphConditionalHandleCreate.ok_or_else(|| lacks(name))?;
        // SAFETY: the caller guarantees the conditions of `captured`.
        let (graph, _, _) = unsafe { captured(driver, device, stream) }?;
        let mut handle = 0;
        let flags = if default.is_some() { ASSIGN_DEFAULT } else { 0 };
        // SAFETY: the graph belongs to an active capture; the out-parameter is writable.
        let make = |on: &CurrentDeviceGuard<'_, Self>| unsafe {
            make(&mut handle, graph, context(on), default.unwrap_or_default(), flags)
        };
        driver.call(device, name, make, || format!("default {default:?}"))?;
        Ok(ConditionHandle(handle))
    }

    unsafe fn put_conditional(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let (add_name, follow_name) = ("cuGraphAddNode_v2", "cuStreamUpdateCaptureDependencies_v2");
        let add = driver.api.cuGraphAddNode_v2.ok_or_else(|| lacks(add_name))?;
        let follow = driver.api.cuStreamUpdateCaptureDependencies_v2.ok_or_else(|| lacks(follow_name))?;
        // SAFETY: the caller guarantees the conditions of `captured`.
        let (graph, after, count) = unsafe { captured(driver, device, stream) }?;
        let mut node = CUgraphNode::NONE;
        let mut made: *mut CUgraph = ptr::null_mut();
        let add = |on: &CurrentDeviceGuard<'_, Self>| {
            // SAFETY: the structure contains only numbers and null pointers, for which zero is valid.
            let mut parameters: CUgraphNodeParams = unsafe { std::mem::zeroed() };
            parameters.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
            parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
                handle: condition.0,
                type_: match branching {
                    Branching::If => Type::CU_GRAPH_COND_TYPE_IF,
                    Branching::While => Type::CU_GRAPH_COND_TYPE_WHILE,
                    Branching::Switch => Type::CU_GRAPH_COND_TYPE_SWITCH,
                },
                size: bodies as u32,
                phGraph_out: ptr::null_mut(),
                ctx: context(on),
            };
            // SAFETY: the graph belongs to an active capture; the list of dependencies has the given length; the array
            // of edge data may be null.
            let code = unsafe { add(&mut node, graph, after, ptr::null(), count, &mut parameters) };
            // SAFETY: the conditional field of the union was written above; the driver has stored the address of the
            // bodies in it.
            made = unsafe { parameters.__bindgen_anon_1.conditional.phGraph_out };
            code
        };
        driver.call(device, add_name, add, || {
            format!("{branching:?} with {bodies} bodies; an else and a switch need a driver of CUDA 12.8 or newer")
        })?;
        // SAFETY: the node belongs to the graph that the stream captures.
        let follow = |_: &CurrentDeviceGuard<'_, Self>| unsafe {
            follow(Raw::of(stream.0), &mut node, ptr::null(), 1, SET_DEPENDENCIES)
        };
        driver.call(device, follow_name, follow, || format!("stream {:#x}", stream.0))?;
        // SAFETY: the driver stored this many bodies at the address, and keeps them as long as the node exists.
        Ok((0..bodies).map(|place| GraphHandle(unsafe { *made.add(place) }.number())).collect())
    }

    unsafe fn begin_body(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        let name = "cuStreamBeginCaptureToGraph";
        let begin = driver.api.cuStreamBeginCaptureToGraph.ok_or_else(|| lacks(name))?;
        driver.call(
            device,
            name,
            // SAFETY: the caller guarantees that stream and body are alive; the first operation has no dependencies, so
            // the arrays may be null.
            |_| unsafe { begin(Raw::of(stream.0), Raw::of(body.0), ptr::null(), ptr::null(), 0, Self::mode_of(mode)) },
            || format!("stream {:#x}", stream.0),
        )
    }
}
