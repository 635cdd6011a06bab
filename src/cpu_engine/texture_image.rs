//! Describes a texture or surface that kernels on the CPU access. Its handle is the address of a [`TextureImage`].
//!
//! The declaration matches that in `src/cpu_engine/include/pygpu_cpu/textures.h`, whose functions read and write the
//! image. The numeric codes are those of CUDA and HIP.

/// An image in memory with one to three axes, and the modes by which a texture reads it.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct TextureImage {
    /// Address of the image's first byte.
    pub data: u64,
    /// Distance between rows in bytes.
    pub row_pitch: u64,
    /// Distance between planes or layers in bytes.
    pub plane_pitch: u64,
    /// Number of elements in a row; for linear memory, the number of all elements.
    pub width: u64,
    /// Number of rows; 1 if the image has one axis.
    pub height: u32,
    /// Number of planes or layers; 1 if the image has none.
    pub depth: u32,
    /// Code of the format of each channel of an element.
    pub format: u32,
    /// Number of channels: 1, 2 or 4.
    pub channels: u32,
    /// Address mode along x, y, z: the code of the rule for coordinates beyond the edges.
    pub address: [u32; 3],
    /// Whether reads interpolate linearly between elements.
    pub linear: u32,
    /// Whether coordinates are normalized, i.e. those from 0 to 1 cover the image. Otherwise coordinates are element
    /// indices.
    pub normalized: u32,
    /// Whether integers are read as integers. Otherwise they are read as floats from 0 or -1 to 1.
    pub as_integer: u32,
    /// Border colour, which the border address mode returns for coordinates beyond the edges.
    pub border: [f32; 4],
}

impl TextureImage {
    /// Creates the description of an array with contiguous rows and planes. A length of 0 means that the array lacks
    /// that axis.
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
