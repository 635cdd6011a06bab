//! Defines CUDA's functions for arrays, textures and surfaces.

use crate::entry::export;

simulated_core::export_textures! {
    export: cuArray3DCreate_v2 cuArrayDestroy cuTexObjectCreate cuTexObjectDestroy
    cuSurfObjectCreate cuSurfObjectDestroy
}
