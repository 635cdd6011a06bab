//! What a texture or a surface is to a kernel on the CPU: the number that stands for it is the address of one of these.
//!
//! The declaration is that of `src/cpu_engine/include/pygpu_cpu/textures.h`, which reads and writes through it. The
//! numbers are those that CUDA and HIP have.

/// Elements of one to three axes in memory, and how they are read.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Image {
    /// The first byte.
    pub data: u64,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from plane to plane, or from layer to layer.
    pub plane_pitch: u64,
    /// Elements of a row; of linear memory, all.
    pub width: u64,
    /// Rows; 1 where there is no such axis.
    pub height: u32,
    /// Planes or layers; 1 where there is no such axis.
    pub depth: u32,
    /// What a channel is.
    pub format: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    /// What lies beyond the edges along x, y, z.
    pub address: [u32; 3],
    /// Whether there is interpolation.
    pub linear: u32,
    /// Whether coordinates go from 0 to 1.
    pub normalized: u32,
    /// Whether integers stay integers.
    pub as_integer: u32,
    /// What lies beyond an edge that asks for it.
    pub border: [f32; 4],
}

impl Image {
    /// An array whose rows and planes follow each other; an axis of 0 is not there.
    pub fn of_array(data: u64, (width, height, depth): (u64, u64, u64), (format, channels): (u32, u32)) -> Self {
        let size = match format {
            1 | 8 => 1,
            2 | 9 | 16 => 2,
            _ => 4,
        };
        let row_pitch = width * size * u64::from(channels);
        let (height, depth) = (height.max(1), depth.max(1));
        let plane_pitch = row_pitch * height;
        let (height, depth) = (height as u32, depth as u32);
        Self { data, row_pitch, plane_pitch, width, height, depth, format, channels, ..Self::default() }
    }
}
