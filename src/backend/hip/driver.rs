//! Supplies the vendor-independent code with the types of AMD's runtime.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::hiprtc::Hiprtc;
use super::sys;
use crate::cuda_and_hip::{Names, Types, Vendor};
use crate::{BackendKind, ModuleHandle};

/// State of the backend for AMD's runtime.
#[derive(Default)]
pub struct Hip {
    /// The loaded module images.
    pub images: Images,
    /// The compiler library, which is opened at the first compilation.
    pub hiprtc: OnceLock<Hiprtc>,
}

/// Copies of the loaded module images. AMD's runtime makes no copy of an image, and reads the image's bytes again
/// whenever a kernel is requested for the first time.
#[derive(Default)]
pub struct Images(Mutex<HashMap<ModuleHandle, Box<[u8]>>>);

impl Images {
    pub fn with<T>(&self, work: impl FnOnce(&mut HashMap<ModuleHandle, Box<[u8]>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Types for Hip {
    type Address = sys::hipDeviceptr_t;
    type Source = *const c_void;
    type Stream = sys::hipStream_t;
    type Event = sys::hipEvent_t;
    type Pool = sys::hipMemPool_t;
    type Graph = sys::hipGraph_t;
    type Executable = sys::hipGraphExec_t;
    type GraphNode = sys::hipGraphNode_t;
    type Module = sys::hipModule_t;
    type Function = sys::hipFunction_t;
    type Array = sys::hipArray_t;
    type Texture = sys::hipTextureObject_t;
    type Surface = sys::hipSurfaceObject_t;
    type Peer = c_int;
    type DeviceAttribute = sys::hipDeviceAttribute_t;
    type FunctionAttribute = sys::hipFunction_attribute;
    type PoolAttribute = sys::hipMemPoolAttr;
    type CaptureMode = sys::hipStreamCaptureMode;
    type CaptureStatus = sys::hipStreamCaptureStatus;
    type NodeKind = sys::hipGraphNodeType;
    type PoolProperties = sys::hipMemPoolProps;
    type PoolAccess = sys::hipMemAccessDesc;
    type Uuid = sys::hipUUID;
    type IpcMemory = sys::hipIpcMemHandle_t;
    type IpcEvent = sys::hipIpcEventHandle_t;
    type ArrayDescriptor = sys::HIP_ARRAY3D_DESCRIPTOR;
    type ResourceDescriptor = sys::HIP_RESOURCE_DESC;
    type TextureDescriptor = sys::HIP_TEXTURE_DESC;
    type ViewDescriptor = sys::HIP_RESOURCE_VIEW_DESC;
    type SurfaceDescriptor = sys::hipResourceDesc;
    type LaunchConfig = sys::HIP_LAUNCH_CONFIG;
}

impl Vendor for Hip {
    type Api = sys::Api;
    type Slot = ();
    const KIND: BackendKind = BackendKind::Hip;
    const LIBRARY: &'static str = "runtime";
    const SYMBOLS: &'static Names = &Names::HIP;
    const NAMES: &'static Names = &Names::HIP;
}
