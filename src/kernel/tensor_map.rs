//! Encodes tensor maps of arrays. The driver's requirements on address, strides and boxes are checked here before the
//! driver call, for precise error messages.

use pygpu_array::Array;
use pygpu_backend::{BackendKind, MAX_RANK, TensorElement, TensorMapBytes, TensorMapRequest};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_layout::tuple_text;

/// The boxes (parts of an array) that a tensor map copies, and the modes of the copy, each as its number in the
/// driver's enumeration.
#[derive(Clone, Debug)]
pub struct BoxSpec {
    /// Number of elements in a box along each axis of the array.
    pub extent: Vec<u32>,
    /// Step between the copied elements along each axis, in elements.
    pub steps: Vec<u32>,
    /// Interleave mode: 0 for none, 1 for 16 bytes, 2 for 32 bytes.
    pub interleave: u32,
    /// Swizzle mode: 0 for none, 1 to 3 for swizzling within 32, 64 or 128 bytes, 4 to 6 for further variants within
    /// 128 bytes.
    pub swizzle: u32,
    /// Size to which reads from memory into the second-level cache are enlarged: 0 for none, 1 to 3 for 64, 128 or 256
    /// bytes.
    pub l2_promotion: u32,
    /// Whether elements outside of the array are read as NaN instead of zero.
    pub fills_nan: bool,
}

const LONGEST_BOX: u32 = 256;
const LARGEST_STEP: u32 = 8;
const MOST_ELEMENTS: u64 = 1 << 32;
const LARGEST_STRIDE: i64 = 1 << 40;
const INTERLEAVE_32: u32 = 2;
/// The lowest compute capability with a tensor memory accelerator.
const CAPABILITY: (i32, i32) = (9, 0);

fn element_of(dtype: DType) -> Result<TensorElement> {
    Ok(match dtype.kind() {
        ScalarType::UInt16 | ScalarType::Int16 => TensorElement::UInt16,
        ScalarType::UInt32 => TensorElement::UInt32,
        ScalarType::Int32 => TensorElement::Int32,
        ScalarType::UInt64 => TensorElement::UInt64,
        ScalarType::Int64 => TensorElement::Int64,
        ScalarType::Float16 => TensorElement::Float16,
        ScalarType::BFloat16 => TensorElement::BFloat16,
        ScalarType::Float32 => TensorElement::Float32,
        ScalarType::Float64 => TensorElement::Float64,
        kind if dtype.itemsize() == 1 && kind != ScalarType::Opaque => TensorElement::UInt8,
        _ => {
            return Err(Error::type_error(format!(
                "a tensor map has elements of 8, 16, 32 or 64 bits that are integers or floats, not {}; view it as some of as many \
                 bytes, such as a.view('uint64')",
                dtype.name()
            )));
        }
    })
}

/// Converts an array and boxes to the driver's parameters.
///
/// # Errors
/// `TypeError` and `ValueError` for unsupported arrays or boxes.
fn request_of(array: &Array, boxes: &BoxSpec) -> Result<TensorMapRequest> {
    let layout = array.layout();
    let (shape, strides): (Vec<i64>, Vec<i64>) = (layout.shape().collect(), layout.strides().collect());
    let layout_text = || format!("shape {}, strides {}", tuple_text(layout.shape()), tuple_text(layout.strides()));
    let (rank, item) = (shape.len(), layout.itemsize());
    let element = element_of(array.dtype())?;
    let least_rank = if boxes.interleave == 0 { 1 } else { 3 };
    if !(least_rank..=MAX_RANK).contains(&rank) {
        return Err(Error::value(format!(
            "a tensor map has {least_rank} to {MAX_RANK} axes{}, and the array {rank} ({})",
            if least_rank == 1 { "" } else { " with interleave" },
            layout_text()
        )));
    }
    if layout.is_empty() {
        return Err(Error::value(format!("an array without elements has no tensor map ({})", layout_text())));
    }
    for (name, list) in [("box", &boxes.extent), ("element_strides", &boxes.steps)] {
        if list.len() != rank {
            return Err(Error::value(format!(
                "{name} has {} numbers and the array {rank} axes ({})",
                list.len(),
                layout_text()
            )));
        }
    }
    check_boxes(boxes, element, item, array.dtype().name())?;
    let divisor = if boxes.interleave == INTERLEAVE_32 { 32 } else { 16 };
    let address = array.address();
    if !address.is_multiple_of(divisor as usize) {
        return Err(Error::value(format!(
            "the array's first element is at {address:#x}, and a tensor map wants a multiple of {divisor} bytes: a new array \
             (a.copy()) begins at one"
        )));
    }
    if strides[rank - 1] != item && shape[rank - 1] != 1 {
        return Err(Error::value(format!(
            "the elements of the last axis do not follow each other ({}): pass a.T of an array in Fortran's order, or a copy()",
            layout_text()
        )));
    }
    let mut request = TensorMapRequest {
        address,
        element,
        rank,
        lengths: [1; MAX_RANK],
        strides: [0; MAX_RANK],
        extent: [1; MAX_RANK],
        steps: [1; MAX_RANK],
        interleave: boxes.interleave,
        swizzle: boxes.swizzle,
        l2_promotion: boxes.l2_promotion,
        fills_nan: boxes.fills_nan,
    };
    // The driver counts axes from the innermost, NumPy from the outermost.
    let mut dense = item;
    for (place, axis) in (0..rank).rev().enumerate() {
        let (length, stride) = (shape[axis] as u64, strides[axis]);
        if length > MOST_ELEMENTS {
            return Err(Error::value(format!(
                "axis {axis} has {length} elements; a tensor map has at most {MOST_ELEMENTS}"
            )));
        }
        // The stride of an axis of length one has no effect, so the stride of a dense array replaces it.
        let stride = if length == 1 { dense } else { stride };
        if place > 0 && (stride < 0 || stride % divisor != 0 || stride >= LARGEST_STRIDE) {
            return Err(Error::value(format!(
                "axis {axis} has a stride of {stride} bytes ({}); a tensor map wants a multiple of {divisor} from 0 to 2**40: pad the \
                 rows, or copy into an array whose rows are so long",
                layout_text()
            )));
        }
        request.lengths[place] = length;
        request.strides[place] = stride as u64;
        request.extent[place] = boxes.extent[axis];
        request.steps[place] = boxes.steps[axis];
        dense = (stride.max(item).saturating_mul(shape[axis])).saturating_add(divisor - 1) / divisor * divisor;
    }
    Ok(request)
}

fn check_boxes(boxes: &BoxSpec, element: TensorElement, item: i64, name: &str) -> Result<()> {
    let BoxSpec { extent, steps, interleave, swizzle, fills_nan, .. } = boxes;
    for (name, list, most) in [("box", extent, LONGEST_BOX), ("element_strides", steps, LARGEST_STEP)] {
        if let Some((axis, number)) = list.iter().enumerate().find(|(_, number)| !(1..=most).contains(*number)) {
            return Err(Error::value(format!("{name} has {number} along axis {axis}; it takes 1 to {most}")));
        }
    }
    let row = i64::from(extent.last().copied().unwrap_or(0)) * item;
    if *interleave == 0 && row % 16 != 0 {
        return Err(Error::value(format!(
            "a row of the box has {row} bytes ({} elements of {item}); a multiple of 16 is wanted",
            row / item
        )));
    }
    let most = [i64::MAX, 32, 64, 128].get(*swizzle as usize).copied().unwrap_or(128);
    if *interleave == 0 && row > most {
        return Err(Error::value(format!(
            "a row of the box has {row} bytes, and swizzle='{most}B' takes at most {most}: a narrower box, or a wider swizzle"
        )));
    }
    if *interleave == INTERLEAVE_32 && *swizzle != 1 {
        return Err(Error::value("interleave='32B' goes with swizzle='32B' only"));
    }
    let is_float = matches!(
        element,
        TensorElement::Float16 | TensorElement::BFloat16 | TensorElement::Float32 | TensorElement::Float64
    );
    match *fills_nan && !is_float {
        true => Err(Error::value(format!("oob_fill='nan' is for floats, and the array is {name}"))),
        false => Ok(()),
    }
}

/// Encodes the tensor map of an array.
///
/// # Errors
/// `NotSupported` if the device or the driver has no tensor maps; `TypeError` and `ValueError` for unsupported arrays
/// or boxes; driver errors.
pub fn encode(array: &Array, boxes: &BoxSpec) -> Result<TensorMapBytes> {
    let device = array.device();
    let maps = device.backend().tensor_maps()?;
    if device.kind() == BackendKind::Cuda {
        let (major, minor) = device.properties()?.compute_capability;
        if (major, minor) < CAPABILITY {
            return Err(Error::not_supported(format!(
                "{device} has compute capability {major}.{minor}, and tensor maps begin with 9.0 (Hopper); copy the tile in the kernel \
                 by its threads there"
            )));
        }
    }
    maps.encode_tensor_map(device.index(), &request_of(array, boxes)?)
}
