//! Defines the classes `Texture` and `Surface`, which kernels receive as `cudaTextureObject_t` and
//! `cudaSurfaceObject_t`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::array::TextureArray;
use super::enum_names;
use crate::array::class::GpuArray;
use crate::atexit::Detached;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::runtime::device::PyDevice;
use pygpu_array::Array;
use pygpu_backend::{BackendKind, Resource, Sampling, Texel};
use pygpu_device::stream;
use pygpu_memory::texture::{KernelObject, Texels};

/// Texture object: reads an array in a kernel with the texture hardware.
///
/// Parameters
/// ----------
/// source : TextureArray or GPUArray
///     Array to read. Kernels read a GPUArray of one axis with `tex1Dfetch`, and a GPUArray of two axes with `tex2D`.
///     The rows of a GPUArray of two axes may have any distance.
/// address_mode : str or sequence of str, optional
///     Values beyond the edges: ``'clamp'`` repeats the edge element, ``'border'`` returns the border colour,
///     ``'wrap'`` repeats the array, ``'mirror'`` repeats the array mirrored. The argument is one mode for all axes, or
///     a mode for each of x, y, z. Without normalised coordinates ``'wrap'`` and ``'mirror'`` act like ``'clamp'``, as
///     in CUDA.
/// filter_mode : str, optional
///     ``'point'`` reads the nearest element. ``'linear'`` interpolates, which requires floats.
/// read_mode : str, optional
///     ``'element'`` returns the elements unchanged. ``'normalized_float'`` converts integers of 8 and 16 bits to
///     floats from 0 to 1 (unsigned) or -1 to 1 (signed).
/// normalized_coords : bool, optional
///     Whether coordinates go from 0 to 1, instead of from 0 to the number of elements.
/// border_color : float or sequence of float, optional
///     Border colour for ``'border'``.
/// channels : int, optional
///     Channels of a GPUArray. If there is more than one channel, the channels are the last axis of the GPUArray.
///
/// Raises
/// ------
/// TypeError
///     If `source` is not an array.
/// ValueError
///     For an array or an option that textures do not support.
///
/// Notes
/// -----
/// The texture keeps its source alive, and a launch keeps the texture alive. The address of a GPUArray of two axes must
/// be a multiple of the device's `TEXTURE_ALIGNMENT`, and the distance of its rows a multiple of
/// `TEXTURE_PITCH_ALIGNMENT`. Memory from `driver.mem_alloc_pitch` fulfils both conditions.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> source = '''__global__ void sample(cudaTextureObject_t t, float *out) {
/// ...     out[threadIdx.x] = tex1D<float>(t, threadIdx.x + 1.0f);
/// ... }'''
/// >>> line = PyGPU.TextureArray(3)
/// >>> line.set(PyGPU.arange(3, dtype='float32'))
/// >>> out = PyGPU.empty(2, 'float32')
/// >>> PyGPU.Kernel(source)[1, 2](PyGPU.Texture(line, filter_mode='linear'), out)
/// >>> out.tolist()
/// [0.5, 1.5]
#[pyclass(frozen, weakref, name = "Texture", module = "PyGPU")]
pub(crate) struct Texture {
    object: Detached<KernelObject>,
    source: Py<PyAny>,
}

/// Describes the memory of a GPUArray for a texture that reads it.
fn memory_resource(array: &Array, channels: u32) -> PyResult<Resource> {
    let texel = enum_names::texel(array.dtype(), channels)?;
    let layout = array.layout();
    let (mut shape, mut strides): (Vec<i64>, Vec<i64>) = (layout.shape().collect(), layout.strides().collect());
    let item = layout.itemsize();
    let unsupported = |what: &str| {
        let (shape, strides): (Vec<i64>, Vec<i64>) = (layout.shape().collect(), layout.strides().collect());
        PyValueError::new_err(format!(
            "a GPUArray of shape {shape:?} and strides {strides:?} cannot be a texture: {what}; copy it into a TextureArray"
        ))
    };
    if channels > 1 && (shape.pop() != Some(channels.into()) || strides.pop() != Some(item)) {
        return Err(unsupported(&format!("its last axis is not {channels} channels that follow each other")));
    }
    let step = texel.bytes() as i64;
    if shape.contains(&0) {
        return Err(unsupported("it has no elements"));
    }
    let address = array.address();
    match (shape.as_slice(), strides.as_slice()) {
        ([count], [stride]) if *stride == step || *count == 1 => {
            Ok(Resource::Linear(address, texel, *count as usize * texel.bytes()))
        }
        ([height, width], [pitch, stride])
            if (*stride == step || *width == 1) && (*pitch >= *width * step || *height == 1) =>
        {
            let pitch = if *height == 1 { *width * step } else { *pitch };
            let (width, height, pitch) = (*width as usize, *height as usize, pitch as usize);
            Ok(Resource::Pitched { address, texel, width, height, pitch })
        }
        ([_] | [_, _], _) => Err(unsupported("the elements of a row do not follow each other, or the rows overlap")),
        _ => Err(unsupported("it has not one axis (linear memory) or two (rows)")),
    }
}

fn check_reading(texel: Texel, sampling: &Sampling) -> PyResult<()> {
    let is_wide = texel.format.bytes() == 4;
    if texel.format.is_integer() && is_wide && !sampling.as_integer {
        return Err(PyValueError::new_err("read_mode='normalized_float' is for integers of 8 and 16 bits, not of 32"));
    }
    if sampling.linear && texel.format.is_integer() && sampling.as_integer {
        return Err(PyValueError::new_err(
            "filter_mode='linear' computes with floats: give read_mode='normalized_float', or an array of floats",
        ));
    }
    Ok(())
}

/// Adds the alignment rules to the driver's error for the memory of a texture, because the driver's text reports only
/// an invalid value.
fn explain(error: PyErr, resource: Option<&Resource>, kind: BackendKind, py: Python<'_>) -> PyErr {
    match resource {
        Some(Resource::Linear(..) | Resource::Pitched { .. }) if kind != BackendKind::Cpu => {
            let text = format!(
                "{}; the memory of a texture begins at an address that the device's TEXTURE_ALIGNMENT divides, and its rows \
                 are a multiple of TEXTURE_PITCH_ALIGNMENT apart: take driver.mem_alloc_pitch, or a TextureArray",
                error.value(py)
            );
            PyErr::from_type(py.get_type::<PyValueError>(), text)
        }
        _ => error,
    }
}

#[pymethods]
impl Texture {
    #[new]
    #[pyo3(
        signature = (
            source: "TextureArray | GPUArray", *, address_mode: "str | Sequence[str]" = None,
            filter_mode: "str" = "point", read_mode: "str" = "element", normalized_coords: "bool" = false,
            border_color: "float | Sequence[float]" = None, channels: "int" = 1
        ) -> "Self",
        text_signature = "(source, *, address_mode='clamp', filter_mode='point', read_mode='element', \
                             normalized_coords=False, border_color=0.0, channels=1)"
    )]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn py_new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        address_mode: Option<&Bound<'_, PyAny>>,
        filter_mode: &str,
        read_mode: &str,
        normalized_coords: bool,
        border_color: Option<&Bound<'_, PyAny>>,
        channels: u32,
    ) -> PyResult<Self> {
        let sampling = Sampling {
            address: address_mode.map_or(Ok(Sampling::default().address), enum_names::address_modes)?,
            linear: enum_names::is_second(filter_mode, "filter_mode", ["point", "linear"])?,
            as_integer: !enum_names::is_second(read_mode, "read_mode", ["element", "normalized_float"])?,
            normalized: normalized_coords,
            border: border_color.map_or(Ok([0.0; 4]), enum_names::border)?,
        };
        let object = if let Ok(array) = source.cast::<TextureArray>() {
            let array = array.get().array();
            check_reading(array.shape().texel, &sampling)?;
            let stream = stream::current(array.device());
            // SAFETY: the resource describes an array that the driver created, and the `KernelObject` keeps this array
            // alive.
            py.without_gil(|| unsafe { KernelObject::texture(&Texels::Array(array), &sampling, &stream) })?
        } else if let Ok(array) = source.cast::<GpuArray>() {
            let array = array.get().array(py)?;
            let resource = memory_resource(array, channels)?;
            check_reading(enum_names::texel(array.dtype(), channels)?, &sampling)?;
            let stream = stream::current(array.device());
            let texels = Texels::Memory(array.allocation(), resource);
            // SAFETY: the resource describes elements of a GPUArray. All of them lie in `array.allocation()`, which the
            // `KernelObject` keeps alive.
            let created = py.without_gil(|| unsafe { KernelObject::texture(&texels, &sampling, &stream) });
            created.map_err(|error| explain(error.into(), Some(&resource), array.device().kind(), py))?
        } else {
            let class = source.get_type().fully_qualified_name()?;
            return Err(PyTypeError::new_err(format!("a texture reads a TextureArray or a GPUArray, not {class}")));
        };
        Ok(Self { object: Detached::new(object), source: source.clone().unbind() })
    }

    /// Handle for kernels: `cudaTextureObject_t`, `hipTextureObject_t`.
    #[getter]
    fn handle(&self) -> u64 {
        self.object.number()
    }

    /// Array that the texture reads.
    #[getter]
    // stub: -> TextureArray | GPUArray
    fn source(&self, py: Python<'_>) -> Py<PyAny> {
        self.source.clone_ref(py)
    }

    /// Device of the texture.
    #[getter]
    fn device(&self) -> PyDevice {
        self.object.device().into()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let source = self.source.bind(py);
        Ok(format!("<PyGPU.Texture of {} on {}>", source.get_type().name()?, self.object.device()))
    }
}

/// Surface object: reads and writes single elements of a TextureArray in a kernel.
///
/// Parameters
/// ----------
/// array : TextureArray
///     Array created with ``surface=True``.
///
/// Raises
/// ------
/// ValueError
///     For an array created without ``surface=True``.
///
/// Notes
/// -----
/// The first coordinate of functions such as `surf2Dread` is in bytes. A launch with a surface argument counts as a
/// write to the array.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> source = '''__global__ void fill(cudaSurfaceObject_t s) {
/// ...     surf1Dwrite(float(threadIdx.x), s, 4 * int(threadIdx.x));
/// ... }'''
/// >>> line = PyGPU.TextureArray(3, surface=True)
/// >>> PyGPU.Kernel(source)[1, 3](PyGPU.Surface(line))
/// >>> line.get()
/// array([0., 1., 2.], dtype=float32)
#[pyclass(frozen, weakref, name = "Surface", module = "PyGPU")]
pub(crate) struct Surface {
    object: Detached<KernelObject>,
    array: Py<TextureArray>,
}

#[pymethods]
impl Surface {
    #[new]
    #[pyo3(signature = (array: "TextureArray") -> "Self")]
    fn py_new(array: &Bound<'_, TextureArray>) -> PyResult<Self> {
        let py = array.py();
        let driver_array = array.get().array();
        let stream = stream::current(driver_array.device());
        let object = py.without_gil(|| KernelObject::surface(driver_array, &stream))?;
        Ok(Self { object: Detached::new(object), array: array.clone().unbind() })
    }

    /// Handle for kernels: `cudaSurfaceObject_t`, `hipSurfaceObject_t`.
    #[getter]
    fn handle(&self) -> u64 {
        self.object.number()
    }

    /// Array that the surface reads and writes.
    #[getter]
    fn source(&self, py: Python<'_>) -> Py<TextureArray> {
        self.array.clone_ref(py)
    }

    /// Device of the surface.
    #[getter]
    fn device(&self) -> PyDevice {
        self.object.device().into()
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.Surface on {}>", self.object.device())
    }
}

/// Returns the driver object of a `Texture` or `Surface`, and whether it is a surface. Returns `None` for any other
/// Python object.
pub(crate) fn from_python<'a>(value: &'a Bound<'_, PyAny>) -> Option<(&'a KernelObject, bool)> {
    if let Ok(texture) = value.cast::<Texture>() {
        return Some((&texture.get().object, false));
    }
    value.cast::<Surface>().ok().map(|surface| (&*surface.get().object, true))
}

names! {
    classes "Kernels": Texture, Surface;
}
