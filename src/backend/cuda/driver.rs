//! Supplies the vendor-independent code with the types of NVIDIA's driver.

use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;

use super::nvrtc::Nvrtc;
use super::sys;
use crate::cuda_and_hip::{Driver, Names, Types, Vendor};
use crate::{BackendKind, TensorMaps};

/// State of the backend for NVIDIA's driver.
#[derive(Default)]
pub struct Cuda {
    /// The compiler library, which is opened at the first compilation.
    pub nvrtc: OnceLock<Nvrtc>,
}

impl Types for Cuda {
    type Address = sys::CUdeviceptr;
    type Source = sys::CUdeviceptr;
    type Stream = sys::CUstream;
    type Event = sys::CUevent;
    type Pool = sys::CUmemoryPool;
    type Graph = sys::CUgraph;
    type Executable = sys::CUgraphExec;
    type GraphNode = sys::CUgraphNode;
    type Module = sys::CUmodule;
    type Function = sys::CUfunction;
    type Array = sys::CUarray;
    type Texture = sys::CUtexObject;
    type Surface = sys::CUsurfObject;
    type Peer = sys::CUcontext;
    type DeviceAttribute = sys::CUdevice_attribute;
    type FunctionAttribute = sys::CUfunction_attribute;
    type PoolAttribute = sys::CUmemPool_attribute;
    type CaptureMode = sys::CUstreamCaptureMode;
    type CaptureStatus = sys::CUstreamCaptureStatus;
    type NodeKind = sys::CUgraphNodeType;
    type PoolProperties = sys::CUmemPoolProps;
    type PoolAccess = sys::CUmemAccessDesc;
    type Uuid = sys::CUuuid;
    type IpcMemory = sys::CUipcMemHandle;
    type IpcEvent = sys::CUipcEventHandle;
    type ArrayDescriptor = sys::CUDA_ARRAY3D_DESCRIPTOR;
    type ResourceDescriptor = sys::CUDA_RESOURCE_DESC;
    type TextureDescriptor = sys::CUDA_TEXTURE_DESC;
    type ViewDescriptor = sys::CUDA_RESOURCE_VIEW_DESC;
    type SurfaceDescriptor = sys::CUDA_RESOURCE_DESC;
    type LaunchConfig = sys::CUlaunchConfig;
}

impl Vendor for Cuda {
    type Api = sys::Api;
    /// Handle of a device's primary context; null before the first use of the device and after a reset.
    type Slot = AtomicPtr<std::ffi::c_void>;
    const KIND: BackendKind = BackendKind::Cuda;
    const LIBRARY: &'static str = "driver";
    const SYMBOLS: &'static Names = &Names::CUDA;
    const NAMES: &'static Names = &Names { graph_instantiate: "cuGraphInstantiate", ..Names::CUDA.without_versions() };

    fn tensor_maps(driver: &Driver<Self>) -> Option<&dyn TensorMaps> {
        Some(driver)
    }
}
