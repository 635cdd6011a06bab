//! Defines HIP's functions for arrays, textures and surfaces.

use crate::entry::export;

simulated_core::export_textures! {
    export: hipArray3DCreate hipArrayDestroy hipTexObjectCreate hipTexObjectDestroy
    hipCreateSurfaceObject hipDestroySurfaceObject
}
