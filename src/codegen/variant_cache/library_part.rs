//! Lists the parts of PyGPU that compile kernels.

/// The parts of PyGPU that have a group of compiled variants.
#[derive(Clone, Copy, Debug)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum LibraryPart {
    Copies,
    FftColumns,
    Joining,
    LowerTriangles,
    Products,
    Random,
    Reduceat,
    Reductions,
    Scans,
    Selection,
    SmallMatrices,
    SmallRefinement,
    Sorting,
    Triangles,
    UfuncAt,
}
