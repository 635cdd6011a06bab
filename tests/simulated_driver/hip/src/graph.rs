//! Defines HIP's functions for stream captures and graphs.

use crate::entry::{Call, export};
use simulated_core::error_codes::GRAPH_UPDATE_FAILURE;

simulated_core::export_graphs! {
    export, Call::device:
    hipStreamBeginCapture hipStreamEndCapture hipStreamIsCapturing hipStreamGetCaptureInfo_v2
    hipThreadExchangeStreamCaptureMode hipGraphInstantiateWithFlags
    hipGraphLaunch hipGraphUpload hipGraphGetNodes hipGraphExecDestroy hipGraphDestroy
    hipGraphNodeGetType
    hipGraphKernelNodeGetParams hipGraphExecKernelNodeSetParams 0
    hipGraphMemcpyNodeGetParams hipGraphExecMemcpyNodeSetParams 1
    hipGraphMemsetNodeGetParams hipGraphExecMemsetNodeSetParams 2
    {
        fn hipGraphExecUpdate(on, executable: u64, graph: u64, node: Out<u64>, result: Out<u32>) {
            let reason = on.driver.update_graph(on.name, executable, graph)?;
            node.put(0)?;
            result.put(reason)?;
            if reason == 0 { Ok(()) } else { Err(GRAPH_UPDATE_FAILURE) }
        }
    }
}
