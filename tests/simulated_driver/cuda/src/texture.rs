//! Arrays, textures and surfaces.

use simulated_core::texture::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};

use crate::entry::{In, Out, export};

export! {
    fn cuArray3DCreate_v2(on, array: Out<u64>, descriptor: In<ArrayDescriptor>) {
        array.check()?;
        array.put(on.driver.create_array(on.device()?, descriptor)?)
    }

    fn cuArrayDestroy(on, array: u64) {
        on.device()?;
        on.driver.destroy_array(on.name, array)
    }

    fn cuTexObjectCreate(
        on,
        texture: Out<u64>,
        resource: In<ResourceDescriptor>,
        sampling: In<TextureDescriptor>,
        _view: usize,
    ) {
        on.device()?;
        texture.check()?;
        texture.put(on.driver.create_texture(resource, sampling)?)
    }

    fn cuTexObjectDestroy(on, texture: u64) {
        on.device()?;
        on.driver.destroy_object(texture, false)
    }

    fn cuSurfObjectCreate(on, surface: Out<u64>, resource: In<[u64; 2]>) {
        on.device()?;
        surface.check()?;
        surface.put(on.driver.create_surface(resource)?)
    }

    fn cuSurfObjectDestroy(on, surface: u64) {
        on.device()?;
        on.driver.destroy_object(surface, true)
    }
}
