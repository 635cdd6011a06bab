//! Texture or surface of a kernel on the CPU: its handle is the address of an [`TextureImage`].
//!
//! The declaration matches `src/cpu_engine/include/pygpu_cpu/textures.h`, which reads and writes through it. The
//! constants are those of CUDA and HIP.

/// Image with one to three axes in memory, and its sampling mode.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct TextureImage {
    /// Address of the first byte.
    pub data: u64,
    /// Distance between rows in bytes.
    pub row_pitch: u64,
    /// Distance between planes or layers in bytes.
    pub plane_pitch: u64,
    /// Elements per row; for linear memory, all elements.
    pub width: u64,
    /// Number of rows; 1 without this axis.
    pub height: u32,
    /// Number of planes or layers; 1 without this axis.
    pub depth: u32,
    /// Format of a channel.
    pub format: u32,
    /// Number of channels: 1, 2 or 4.
    pub channels: u32,
    /// Address mode beyond the edges along x, y, z.
    pub address: [u32; 3],
    /// Whether reads interpolate linearly.
    pub linear: u32,
    /// Whether coordinates are normalized to 0 to 1.
    pub normalized: u32,
    /// Whether integers are returned as integers.
    pub as_integer: u32,
    /// Border colour, for the address mode that uses it.
    pub border: [f32; 4],
}

impl TextureImage {
    /// Describes an array with contiguous rows and planes; a length of 0 means that the axis is absent.
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
