//! Defines CUDA's functions for stream captures and graphs.

use crate::entry::{Call, export};
use simulated_core::error_codes::{GRAPH_UPDATE_FAILURE, INVALID_VALUE};

simulated_core::export_graphs! {
    export, Call::device:
    cuStreamBeginCapture_v2 cuStreamEndCapture cuStreamIsCapturing cuStreamGetCaptureInfo_v2
    cuThreadExchangeStreamCaptureMode cuGraphInstantiateWithFlags
    cuGraphLaunch cuGraphUpload cuGraphGetNodes cuGraphExecDestroy cuGraphDestroy
    cuGraphNodeGetType
    cuGraphKernelNodeGetParams_v2 cuGraphExecKernelNodeSetParams_v2 0
    cuGraphMemcpyNodeGetParams cuGraphExecMemcpyNodeSetParams 1
    cuGraphMemsetNodeGetParams cuGraphExecMemsetNodeSetParams 2
    {
        fn cuGraphExecUpdate_v2(on, executable: u64, graph: u64, information: Out<u32>) {
            information.check()?;
            let reason = on.driver.update_graph(on.name, executable, graph)?;
            information.put(reason)?;
            if reason == 0 { Ok(()) } else { Err(GRAPH_UPDATE_FAILURE) }
        }

        fn cuGraphConditionalHandleCreate(on, handle: Out<u64>, graph: u64, _context: u64, default: u32, flags: u32) {
            on.device()?;
            handle.check()?;
            if flags > 1 {
                return Err(INVALID_VALUE);
            }
            handle.put(on.driver.create_condition(on.name, graph, (flags == 1).then_some(default))?)
        }

        fn cuGraphAddNode_v2(
            on,
            node: Out<u64>,
            graph: u64,
            _dependencies: usize,
            _edges: usize,
            _count: usize,
            parameters: Out<u64>,
        ) {
            const CONDITIONAL: u32 = 13;
            on.device()?;
            node.check()?;
            // SAFETY: the caller of the C function guarantees a readable structure of node parameters, which has more
            // than four 64-bit words.
            let words = unsafe { [parameters.read()?, parameters.at(2).read()?, parameters.at(3).read()?] };
            if words[0] as u32 != CONDITIONAL {
                return Err(INVALID_VALUE);
            }
            let (kind, size) = (words[2] as u32, (words[2] >> 32) as u32);
            let (made, bodies) = on.driver.add_conditional(graph, words[1], kind, size)?;
            // SAFETY: the caller of the C function guarantees a writable structure of node parameters, which has more
            // than four 64-bit words.
            unsafe { parameters.at(4) }.put(bodies.as_ptr().expose_provenance() as u64)?;
            node.put(made)
        }

        fn cuStreamUpdateCaptureDependencies_v2(
            on,
            stream: u64,
            nodes: Out<u64>,
            _edges: usize,
            count: usize,
            flags: u32,
        ) {
            if (count, flags) != (1, 1) {
                return Err(INVALID_VALUE);
            }
            // SAFETY: the caller of the C function guarantees that `nodes` refers to a node.
            let node = unsafe { nodes.read()? };
            on.driver.follow(on.name, on.device()?, stream, node)
        }

        fn cuStreamBeginCaptureToGraph(
            on,
            stream: u64,
            graph: u64,
            _dependencies: usize,
            _edges: usize,
            _count: usize,
            kind: u32,
        ) {
            on.driver.begin_body(on.name, on.device()?, stream, graph, simulated_core::capture::mode(kind)?)
        }
    }
}
