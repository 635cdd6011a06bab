//! Captures and graphs.

use crate::entry::{Call, export};

simulated_core::export_graphs! {
    export, Call::device:
    cuStreamBeginCapture_v2 cuStreamEndCapture cuStreamIsCapturing cuStreamGetCaptureInfo_v2
    cuThreadExchangeStreamCaptureMode cuGraphInstantiateWithFlags
    cuGraphLaunch cuGraphUpload cuGraphGetNodes cuGraphExecDestroy cuGraphDestroy
}
