//! Arrays, textures and surfaces.

use simulated_core::texture::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};

use crate::entry::{In, Out, export};

export! {
    fn hipArray3DCreate(on, array: Out<u64>, descriptor: In<ArrayDescriptor>) {
        array.check()?;
        array.put(on.driver.create_array(on.device()?, descriptor)?)
    }

    fn hipArrayDestroy(on, array: u64) {
        on.device()?;
        on.driver.destroy_array(on.name, array)
    }

    fn hipTexObjectCreate(
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

    fn hipTexObjectDestroy(on, texture: u64) {
        on.device()?;
        on.driver.destroy_object(texture, false)
    }

    fn hipCreateSurfaceObject(on, surface: Out<u64>, resource: In<[u64; 2]>) {
        on.device()?;
        surface.check()?;
        surface.put(on.driver.create_surface(resource)?)
    }

    fn hipDestroySurfaceObject(on, surface: u64) {
        on.device()?;
        on.driver.destroy_object(surface, true)
    }
}
