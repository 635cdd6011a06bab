//! Describes a factorization and its arrays.

use super::Element;

/// A kind of matrix factorization, or of a computation that uses the result of a factorization.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorizationKind {
    /// LU factorization. It overwrites `a` with the factors, and writes the pivots.
    Lu,
    /// Solution of a linear system with LU factors. It overwrites `b` with the solution.
    LuSolve {
        /// Whether to solve the system with the transposed matrix.
        transposed: bool,
    },
    /// LU factorization of a batch of small matrices.
    LuOfMany,
    /// Solution of a batch of linear systems with LU factors.
    LuSolveOfMany {
        /// Whether to solve with the transposed matrices.
        transposed: bool,
    },
    /// Cholesky factorization. It overwrites `a` with the factor.
    Cholesky {
        /// Whether the lower triangle is read and written, instead of the upper one.
        lower: bool,
    },
    /// Cholesky factorization of a batch of small matrices.
    CholeskyOfMany {
        /// Whether the lower triangles are read and written, instead of the upper ones.
        lower: bool,
    },
    /// QR factorization. It overwrites `a` with the triangular factor and with reflectors, which represent the
    /// orthonormal factor.
    Qr,
    /// Conversion of the reflectors of a QR factorization to orthonormal columns.
    QrVectors,
    /// Eigenvalues of a symmetric matrix. If eigenvectors are computed, they overwrite `a`.
    Eigh {
        /// Whether the lower triangle is read, instead of the upper one.
        lower: bool,
        /// Whether to compute eigenvectors.
        vectors: bool,
    },
    /// Eigenvalues of a batch of symmetric matrices.
    EighOfMany {
        /// Whether the lower triangles are read, instead of the upper ones.
        lower: bool,
        /// Whether to compute eigenvectors.
        vectors: bool,
    },
    /// Singular values and vectors by the Jacobi method.
    Svd {
        /// Whether to compute singular vectors.
        vectors: bool,
        /// Whether to compute as many left vectors as rows and as many right vectors as columns (full bases), instead
        /// of one vector per singular value.
        full: bool,
    },
    /// Singular values of a batch of small matrices, with full bases.
    SvdOfMany {
        /// Whether to compute singular vectors.
        vectors: bool,
    },
    /// Singular values by reduction to a bidiagonal matrix. The right vectors are stored as conjugated rows. The matrix
    /// must have at least as many rows as columns.
    SvdByQr {
        /// Whether to compute singular vectors.
        vectors: bool,
        /// Whether to compute as many left vectors as rows and as many right vectors as columns (full bases), instead
        /// of one vector per singular value.
        full: bool,
    },
    /// Complex eigenvalues and right eigenvectors of a general matrix. For a real matrix, the vectors of a pair of
    /// conjugate eigenvalues are stored in LAPACK's form: the real part of the first vector, then its imaginary part.
    Eig {
        /// Whether to compute eigenvectors.
        vectors: bool,
    },
}

impl FactorizationKind {
    /// Returns the kind of factorization that has the given name. `first` and `second` are the kind's options, in the
    /// order of the variant's fields.
    pub fn named(name: &str, first: bool, second: bool) -> Option<Self> {
        Some(match name {
            "lu" => Self::Lu,
            "lu_solve" => Self::LuSolve { transposed: first },
            "lu_of_many" => Self::LuOfMany,
            "lu_solve_of_many" => Self::LuSolveOfMany { transposed: first },
            "cholesky" => Self::Cholesky { lower: first },
            "cholesky_of_many" => Self::CholeskyOfMany { lower: first },
            "qr" => Self::Qr,
            "qr_vectors" => Self::QrVectors,
            "eigh" => Self::Eigh { lower: first, vectors: second },
            "eigh_of_many" => Self::EighOfMany { lower: first, vectors: second },
            "svd" => Self::Svd { vectors: first, full: second },
            "svd_of_many" => Self::SvdOfMany { vectors: first },
            "svd_by_qr" => Self::SvdByQr { vectors: first, full: second },
            "eig" => Self::Eig { vectors: first },
            _ => return None,
        })
    }

    /// Returns whether the function belongs to the BLAS library instead of the solver library.
    pub const fn is_of_blas(self) -> bool {
        matches!(self, Self::LuOfMany | Self::LuSolveOfMany { .. })
    }

    /// Returns whether the library's function waits for the device. Such a wait invalidates an active capture.
    pub const fn waits(self) -> bool {
        use FactorizationKind::{Eig, Eigh, EighOfMany, Svd, SvdByQr, SvdOfMany};
        matches!(self, Eig { .. } | Eigh { .. } | EighOfMany { .. } | Svd { .. } | SvdByQr { .. } | SvdOfMany { .. })
    }
}

/// The kind of values in an array that a factorization reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayRole {
    /// The array contains numbers of the matrices' element type.
    Elements,
    /// The array contains real numbers of the same precision as the matrices.
    Reals,
    /// The array contains complex numbers of the same precision as the matrices.
    Complexes,
    /// The array contains 32-bit integers.
    Integers,
    /// The array contains addresses in device memory.
    Addresses,
}

/// An array that a factorization reads or writes: its contents, its number of elements per matrix, and whether it is
/// only read.
pub type ArraySpec = (ArrayRole, usize, bool);

/// A factorization of a batch of column-major matrices, stored consecutively.
#[derive(Clone, Copy, Debug)]
pub struct Factorization {
    /// The kind of factorization to compute.
    pub what: FactorizationKind,
    /// Element type of the matrices.
    pub element: Element,
    /// Number of matrices.
    pub batch: usize,
    /// Number of rows of each matrix in the first array.
    pub m: usize,
    /// Number of columns of each matrix in the first array.
    pub n: usize,
    /// Number of columns of the right-hand sides, or number of reflectors, depending on `kind`.
    pub k: usize,
    /// Device addresses of the arrays, in the order of `parts`.
    pub addresses: [usize; Self::PARTS],
}

impl Factorization {
    /// Maximum number of arrays that one factorization reads or writes.
    pub const PARTS: usize = 6;

    /// Returns the number of singular values of each matrix.
    pub fn few(&self) -> usize {
        self.m.min(self.n)
    }

    /// Returns the number of left and of right singular vectors that are computed.
    pub fn sides(&self) -> [usize; 2] {
        let is_whole = match self.what {
            FactorizationKind::Svd { full, .. } | FactorizationKind::SvdByQr { full, .. } => full,
            _ => true,
        };
        if is_whole { [self.m, self.n] } else { [self.few(); 2] }
    }

    /// Returns a description of each array that the factorization reads or writes.
    pub fn parts(&self) -> Vec<ArraySpec> {
        use ArrayRole::{Addresses, Complexes, Elements, Integers, Reals};
        let &Self { m, n, k, .. } = self;
        let [left, right] = self.sides();
        let a = (Elements, m * n, false);
        let info = (Integers, 1, false);
        match self.what {
            FactorizationKind::Lu => vec![a, (Integers, n, false), info],
            FactorizationKind::LuSolve { .. } => {
                vec![(Elements, n * n, true), (Integers, n, true), (Elements, n * k, false), info]
            }
            FactorizationKind::LuOfMany => vec![a, (Addresses, 1, true), (Integers, n, false), info],
            FactorizationKind::LuSolveOfMany { .. } => vec![
                (Elements, n * n, true),
                (Addresses, 1, true),
                (Integers, n, true),
                (Elements, n * k, false),
                (Addresses, 1, true),
            ],
            FactorizationKind::Cholesky { .. } => vec![a, info],
            FactorizationKind::CholeskyOfMany { .. } => vec![a, (Addresses, 1, true), info],
            FactorizationKind::Qr => vec![a, (Elements, self.few(), false), info],
            FactorizationKind::QrVectors => vec![a, (Elements, k, true), info],
            FactorizationKind::Eigh { .. } | FactorizationKind::EighOfMany { .. } => vec![a, (Reals, n, false), info],
            FactorizationKind::Svd { .. } | FactorizationKind::SvdOfMany { .. } | FactorizationKind::SvdByQr { .. } => {
                vec![a, (Reals, self.few(), false), (Elements, m * left, false), (Elements, n * right, false), info]
            }
            FactorizationKind::Eig { .. } => vec![a, (Complexes, n, false), (Elements, n * n, false), info],
        }
    }

    /// Returns whether the sizes of the factorization are consistent and fit the library's integer types.
    pub fn is_sound(&self) -> bool {
        let fits = |number: usize| i32::try_from(number).is_ok();
        let is_square = self.m == self.n;
        [self.batch, self.m, self.n, self.k].into_iter().all(fits)
            && self.batch > 0
            && self.n > 0
            && self.m > 0
            && match self.what {
                FactorizationKind::Qr | FactorizationKind::Svd { .. } | FactorizationKind::SvdOfMany { .. } => true,
                FactorizationKind::SvdByQr { .. } => self.m >= self.n,
                FactorizationKind::QrVectors => self.m >= self.n && self.n >= self.k && self.k > 0,
                FactorizationKind::LuSolve { .. } | FactorizationKind::LuSolveOfMany { .. } => is_square && self.k > 0,
                _ => is_square,
            }
    }
}
