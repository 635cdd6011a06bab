//! Captures and graphs.

use crate::entry::{Call, export};

simulated_core::export_graphs! {
    export, Call::device:
    hipStreamBeginCapture hipStreamEndCapture hipStreamIsCapturing hipStreamGetCaptureInfo_v2
    hipThreadExchangeStreamCaptureMode hipGraphInstantiateWithFlags
    hipGraphLaunch hipGraphUpload hipGraphGetNodes hipGraphExecDestroy hipGraphDestroy
}
