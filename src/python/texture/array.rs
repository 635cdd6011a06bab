//! Defines the class `TextureArray`, an array in the driver's private memory layout for textures.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::enum_names;
use crate::array::class::{GpuArray, new_exact};
use crate::atexit::Detached;
use crate::convert::dtype as dtypes;
use crate::convert::shape as shapes;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::device::{self, PyDevice};
use crate::runtime::stream as streams;
use pygpu_array::Array;
use pygpu_backend::{ArrayBox, ArrayCopy, ArrayShape, LAYERED, SURFACE};
use pygpu_base::error::Error;
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{Dims, MemoryOrder, tuple_text};
use pygpu_memory::texture::DriverArray;

/// Array on a device in the driver's private layout for textures: a CUDA array.
///
/// Parameters
/// ----------
/// shape : int or tuple of int
///     ``(width,)``, ``(height, width)`` or ``(depth, height, width)``; with `layered`, the first axis counts layers.
/// dtype : data-type, optional
///     Type of a channel: an integer of 8, 16 or 32 bits, float16 or float32.
/// channels : int, optional
///     Channels of an element: 1, 2 or 4. If there is more than one channel, the channels are the last axis of the
///     arrays that are copied from and to the TextureArray.
/// layered : bool, optional
///     Whether the array is a sequence of layers, which have one or two axes, along its first axis. Textures do not
///     interpolate between layers.
/// surface : bool, optional
///     Whether kernels can write to the array, through a `Surface`.
/// device : Device, int or str, optional
///     The current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a shape or a dtype that textures do not support.
/// OutOfMemoryError
///     If the device does not have enough memory.
///
/// Notes
/// -----
/// A texture or surface keeps its array alive; a launch with a texture or surface keeps both objects alive. Copies and
/// launches that use the array on different streams wait for each other, as for a GPUArray.
///
/// Examples
/// --------
/// >>> import numpy, PyGPU
/// >>> image = PyGPU.TextureArray((2, 3))
/// >>> image.set(numpy.arange(6, dtype='float32').reshape(2, 3))
/// >>> image.get()
/// array([[0., 1., 2.],
///        [3., 4., 5.]], dtype=float32)
#[pyclass(frozen, weakref, name = "TextureArray", module = "PyGPU")]
pub(crate) struct TextureArray {
    array: Detached<DriverArray>,
}

impl TextureArray {
    pub(crate) fn array(&self) -> &DriverArray {
        &self.array
    }

    /// Returns the lengths of the axes, without the channels.
    fn axes(&self) -> Dims {
        let shape = self.array.shape();
        let mut axes = Dims::new();
        for (length, exists) in [(shape.depth, shape.depth > 0), (shape.height, shape.height > 0), (shape.width, true)]
        {
            if exists {
                axes.push(length as i64);
            }
        }
        axes
    }

    /// Returns the shape that arrays must have to be copied from and to this array. The shape consists of the axes of
    /// this array, and, if there is more than one channel, an axis of channels.
    fn transfer_shape(&self) -> Dims {
        let mut axes = self.axes();
        if self.array.shape().texel.channels > 1 {
            axes.push(self.array.shape().texel.channels.into());
        }
        axes
    }

    fn full_box(&self) -> ArrayBox {
        let shape = self.array.shape();
        let extent = [shape.width * shape.texel.bytes(), shape.height.max(1), shape.depth.max(1)];
        ArrayBox { at: [0; 3], extent }
    }

    fn check_compatible(&self, other: &Array) -> PyResult<()> {
        let (transfer_shape, dtype) = (self.transfer_shape(), enum_names::dtype_of(self.array.shape().texel.format));
        if !other.layout().shape().eq(transfer_shape.iter().copied()) {
            return Err(PyValueError::new_err(format!(
                "an array of shape {} cannot be copied into a TextureArray, which takes {}",
                tuple_text(other.layout().shape()),
                tuple_text(transfer_shape.iter())
            )));
        }
        if other.dtype() != dtype {
            return Err(PyValueError::new_err(format!(
                "an array of {} cannot be copied into a TextureArray of {}; convert it by astype()",
                other.dtype().name(),
                dtype.name()
            )));
        }
        check_device(other, &self.array)
    }

    /// Copies the elements to a new array in ordinary device memory.
    fn read(&self, stream: &Stream) -> Result<Array, Error> {
        let dtype = enum_names::dtype_of(self.array.shape().texel.format);
        let linear = Array::empty(&self.transfer_shape(), dtype, MemoryOrder::C, stream.clone())?;
        self.copy_whole(&linear, ArrayCopy::Read, stream)?;
        Ok(linear)
    }

    /// Copies all elements between this array and `linear`, a contiguous array in ordinary device memory with the same
    /// shape and dtype.
    fn copy_whole(&self, linear: &Array, direction: ArrayCopy, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the caller passes a linear array that has the texture array's shape, element type and device.
        unsafe { self.array.copy(&self.full_box(), (linear.allocation(), linear.address()), direction, stream) }
    }
}

fn check_device(linear: &Array, array: &DriverArray) -> PyResult<()> {
    if linear.device() == array.device() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the memory is on {}, and the TextureArray on {}",
        linear.device(),
        array.device()
    )))
}

/// Returns the array if it is contiguous, otherwise a contiguous copy.
fn dense(array: &Array, stream: &Stream) -> Result<Array, Error> {
    if array.layout().is_c_contiguous() { Ok(array.clone()) } else { copy::duplicate(array, MemoryOrder::C, stream) }
}

#[pymethods]
impl TextureArray {
    #[new]
    #[pyo3(
        signature = (
            shape: "ShapeLike", dtype: "DTypeLike" = None, channels: "int" = 1, *, layered: "bool" = false,
            surface: "bool" = false, device: "DeviceLike" = None
        ) -> "Self",
        text_signature = "(shape, dtype='float32', channels=1, *, layered=False, surface=False, device=None)"
    )]
    fn py_new(
        shape: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        channels: u32,
        layered: bool,
        surface: bool,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = shape.py();
        let dtype = match dtype {
            Some(dtype) => dtypes::from_python(dtype)?,
            None => pygpu_base::dtype::DType::new(pygpu_base::dtype::ScalarType::Float32),
        };
        let texel = enum_names::texel(dtype, channels)?;
        let axes = shapes::from_python(shape)?;
        let lengths: Vec<usize> = axes.iter().filter_map(|length| usize::try_from(*length).ok()).collect();
        let (width, height, depth) = match (layered, lengths.as_slice()) {
            _ if lengths.len() != axes.len() || lengths.contains(&0) => (0, 0, 0),
            (false, [width]) => (*width, 0, 0),
            (false, [height, width]) => (*width, *height, 0),
            (true, [layers, width]) => (*width, 0, *layers),
            (_, [depth, height, width]) => (*width, *height, *depth),
            _ => (0, 0, 0),
        };
        if width == 0 {
            let expected = if layered {
                "(layers, width) or (layers, height, width)"
            } else {
                "(width,), (height, width) or (depth, height, width)"
            };
            return Err(PyValueError::new_err(format!(
                "the shape of a TextureArray is {expected}, of lengths from 1 on; not {}",
                tuple_text(axes.iter())
            )));
        }
        let flags = if layered { LAYERED } else { 0 } | if surface { SURFACE } else { 0 };
        let device = device::from_argument(py, device)?;
        let stream = stream::current(device);
        let shape = ArrayShape { width, height, depth, texel, flags };
        let array = py.without_gil(|| DriverArray::new(shape, &stream))?;
        Ok(Self { array: Detached::new(array) })
    }

    /// Copies elements into this array.
    ///
    /// Parameters
    /// ----------
    /// source : array_like or GPUArray
    ///     The elements, with the shape and dtype of this TextureArray and any strides. If there is more than one
    ///     channel, the channels are the last axis.
    /// stream : Stream, object with `__cuda_stream__` or int, optional
    ///     The current stream by default.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another shape, dtype or device.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> line = PyGPU.TextureArray(3, 'uint8')
    /// >>> line.set(PyGPU.arange(3, dtype='uint8')[::-1])
    /// >>> line.get()
    /// array([2, 1, 0], dtype=uint8)
    #[pyo3(signature = (source: "ArrayLike | GPUArray", stream: "StreamLike" = None) -> "None")]
    fn set(&self, source: &Bound<'_, PyAny>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let py = source.py();
        let copy_stream = streams::from_argument(py, stream, self.array.device())?;
        let linear = match source.cast::<GpuArray>() {
            Ok(array) => array.get().array(py)?.clone(),
            Err(_) => self.upload(source, stream)?,
        };
        self.check_compatible(&linear)?;
        py.without_gil(|| self.copy_whole(&dense(&linear, &copy_stream)?, ArrayCopy::Write, &copy_stream))?;
        Ok(())
    }

    /// Copies the elements to the host and waits for the copy.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, object with `__cuda_stream__` or int, optional
    ///     The current stream by default.
    ///
    /// Returns
    /// -------
    /// ndarray
    ///
    /// Examples
    /// --------
    /// >>> import numpy, PyGPU
    /// >>> line = PyGPU.TextureArray(2, channels=2)
    /// >>> line.set(numpy.ones((2, 2), 'float32'))
    /// >>> line.get().sum()
    /// np.float32(4.0)
    #[pyo3(signature = (stream: "StreamLike" = None) -> "NDArray[Any]")]
    fn get<'py>(&self, py: Python<'py>, stream: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let linear = self.to_gpu(py, stream)?;
        let keywords = PyDict::new(py);
        keywords.set_item("stream", stream)?;
        linear.call_method(intern!(py, "get"), (), Some(&keywords))
    }

    /// Copies the elements into a new GPUArray.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, object with `__cuda_stream__` or int, optional
    ///     The current stream by default.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.TextureArray((4, 5), 'int16').to_gpu().shape
    /// (4, 5)
    #[pyo3(signature = (stream: "StreamLike" = None) -> "GPUArray")]
    fn to_gpu<'py>(&self, py: Python<'py>, stream: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, GpuArray>> {
        let copy_stream = streams::from_argument(py, stream, self.array.device())?;
        let linear = py.without_gil(|| self.read(&copy_stream))?;
        new_exact(py, GpuArray::from_array(linear))
    }

    /// Copies bytes between a part of this array and ordinary device memory. `driver.Memcpy3D` calls this method.
    ///
    /// Parameters
    /// ----------
    /// memory : GPUArray
    ///     Contiguous bytes with three axes: planes, rows and bytes.
    /// at : tuple of int
    ///     Start of the part: its first byte in a row, its first row and its first plane.
    /// written : bool
    ///     True copies `memory` to the array, False copies the array to `memory`.
    /// stream : Stream, object with `__cuda_stream__` or int, optional
    ///     The current stream by default.
    #[pyo3(signature = (
        memory: "GPUArray", at: "tuple[int, int, int]", written: "bool", stream: "StreamLike" = None
    ) -> "None")]
    fn _copy_box(
        &self,
        memory: &Bound<'_, GpuArray>,
        at: [usize; 3],
        written: bool,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = memory.py();
        let linear = memory.get().array(py)?;
        check_device(linear, &self.array)?;
        let axes: Vec<usize> = linear.layout().shape().filter_map(|length| usize::try_from(length).ok()).collect();
        let [depth, height, width] = axes.as_slice() else {
            return Err(PyValueError::new_err("the memory has three axes: planes, rows, bytes"));
        };
        if linear.layout().itemsize() != 1 || !linear.layout().is_c_contiguous() {
            return Err(PyValueError::new_err("the memory is bytes that follow each other"));
        }
        let part = ArrayBox { at, extent: [*width, *height, *depth] };
        let direction = if written {
            ArrayCopy::Write
        } else {
            memory.get().check_writable("_copy_box")?;
            ArrayCopy::Read
        };
        let copy_stream = streams::from_argument(py, stream, self.array.device())?;
        py.without_gil(|| {
            // SAFETY: the checks above ensure that `linear` is contiguous, has the part's extent in bytes, and is on
            // the texture array's device.
            unsafe { self.array.copy(&part, (linear.allocation(), linear.address()), direction, &copy_stream) }
        })?;
        Ok(())
    }

    /// Lengths of the axes, without the channels.
    #[getter]
    // stub: -> tuple[int, ...]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.axes())
    }

    /// Dtype of a channel.
    #[getter]
    // stub: -> numpy.dtype[Any]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtypes::to_python(py, enum_names::dtype_of(self.array.shape().texel.format))
    }

    /// Number of channels of an element.
    #[getter]
    fn channels(&self) -> u32 {
        self.array.shape().texel.channels
    }

    /// Whether the first axis counts layers.
    #[getter]
    fn layered(&self) -> bool {
        self.array.shape().is_layered()
    }

    /// Whether kernels can write to the array through a `Surface`.
    #[getter]
    fn surface(&self) -> bool {
        self.array.shape().flags & SURFACE != 0
    }

    /// Size of the elements in bytes; the driver may use more.
    #[getter]
    fn nbytes(&self) -> usize {
        self.array.shape().bytes().unwrap_or(0)
    }

    /// Driver handle: `CUarray`, `hipArray_t`.
    #[getter]
    fn handle(&self) -> usize {
        self.array.handle().0
    }

    /// Device of the array.
    #[getter]
    fn device(&self) -> PyDevice {
        self.array.device().into()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dtype = enum_names::dtype_of(self.array.shape().texel.format);
        let channels = self.channels();
        let channels = if channels > 1 { format!(", channels={channels}") } else { String::new() };
        let layered = if self.layered() { ", layered=True" } else { "" };
        let surface = if self.surface() { ", surface=True" } else { "" };
        let shape = self.shape(py)?.repr()?;
        Ok(format!("TextureArray({shape}, '{}'{channels}{layered}{surface}) on {}", dtype.name(), self.array.device()))
    }
}

impl TextureArray {
    /// Copies elements in host memory to a new array in ordinary device memory.
    fn upload(&self, source: &Bound<'_, PyAny>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<Array> {
        let py = source.py();
        let host = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (source,))?;
        let host = host.cast_into::<PyUntypedArray>()?;
        let dtype = host.getattr(intern!(py, "dtype"))?;
        let shape = shapes::from_python(&host.getattr(intern!(py, "shape"))?)?;
        let copy_stream = streams::from_argument(py, stream, self.array.device())?;
        let (dtype, axes) = (dtypes::from_python(&dtype)?, shape);
        let linear = py.without_gil(|| Array::empty(&axes, dtype, MemoryOrder::C, copy_stream))?;
        self.check_compatible(&linear)?;
        let linear = new_exact(py, GpuArray::from_array(linear))?;
        let keywords = PyDict::new(py);
        keywords.set_item("stream", stream)?;
        linear.call_method(intern!(py, "set"), (host,), Some(&keywords))?;
        Ok(linear.get().array(py)?.clone())
    }
}

names! {
    classes "Kernels": TextureArray;
}
