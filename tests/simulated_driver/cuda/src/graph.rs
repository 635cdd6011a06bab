//! Captures and graphs.

use crate::entry::{Call, export};
use simulated_core::code::GRAPH_UPDATE_FAILURE;

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
    }
}
