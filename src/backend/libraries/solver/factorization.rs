//! Description of a task and its memory.

use super::Element;

/// Kind of factorisation, or of a computation with its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorizationKind {
    /// Overwrites `a` with its LU factors, and writes pivots.
    Lu,
    /// Overwrites `b` with the solution, using the factors of a matrix.
    LuSolve {
        /// Whether to solve with the transpose.
        transposed: bool,
    },
    /// Batched LU factorisation.
    LuOfMany,
    /// Batched solution with LU factors.
    LuSolveOfMany {
        /// Whether to solve with the transposes.
        transposed: bool,
    },
    /// Overwrites `a` with its Cholesky factor.
    Cholesky {
        /// Whether the lower triangle is read and written.
        lower: bool,
    },
    /// Batched Cholesky factorisation of small matrices.
    CholeskyOfMany {
        /// Whether the lower triangles are read and written.
        lower: bool,
    },
    /// Overwrites `a` with its triangular factor and reflectors.
    Qr,
    /// Converts reflectors to orthonormal columns.
    QrVectors,
    /// Computes eigenvalues, and overwrites `a` with the eigenvectors.
    Eigh {
        /// Whether the lower triangle is read.
        lower: bool,
        /// Whether to compute vectors.
        vectors: bool,
    },
    /// Batched symmetric eigenvalues of small matrices.
    EighOfMany {
        /// Whether the lower triangles are read.
        lower: bool,
        /// Whether to compute vectors.
        vectors: bool,
    },
    /// Computes singular values and vectors with the Jacobi method.
    Svd {
        /// Whether to compute vectors.
        vectors: bool,
        /// Whether to compute full bases.
        full: bool,
    },
    /// Batched singular values of small matrices, with full bases.
    SvdOfMany {
        /// Whether to compute vectors.
        vectors: bool,
    },
    /// Computes singular values through a bidiagonal matrix. The right vectors are conjugated rows; the matrix must
    /// have at least as many rows as columns.
    SvdByQr {
        /// Whether to compute vectors.
        vectors: bool,
        /// Whether to compute full bases.
        full: bool,
    },
    /// Eigenvalues and right eigenvectors of a general matrix, all complex.
    Eig {
        /// Whether to compute vectors.
        vectors: bool,
    },
}

impl FactorizationKind {
    /// Returns the task kind of a name; the meaning of the two options depends on it.
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

    /// Returns whether the library waits for the device inside the call, which would break a capture.
    pub const fn waits(self) -> bool {
        use FactorizationKind::{Eig, Eigh, EighOfMany, Svd, SvdByQr, SvdOfMany};
        matches!(self, Eig { .. } | Eigh { .. } | EighOfMany { .. } | Svd { .. } | SvdByQr { .. } | SvdOfMany { .. })
    }
}

/// Content of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayRole {
    /// Elements of the matrices' type.
    Elements,
    /// Real numbers of the matching precision.
    Reals,
    /// 32-bit integers.
    Integers,
    /// Addresses.
    Addresses,
}

/// Array of a task: its content, its length per matrix, and whether it is read only.
pub type ArraySpec = (ArrayRole, usize, bool);

/// Factorisation of a batch of consecutive column-major matrices.
#[derive(Clone, Copy, Debug)]
pub struct Factorization {
    /// Kind of factorisation.
    pub what: FactorizationKind,
    /// Element type.
    pub element: Element,
    /// Number of matrices.
    pub batch: usize,
    /// Rows of the first array's matrices.
    pub m: usize,
    /// Columns of the first array's matrices.
    pub n: usize,
    /// Columns of right-hand sides, or number of reflectors.
    pub k: usize,
    /// Addresses of the arrays, in the order of `parts`.
    pub addresses: [usize; Self::PARTS],
}

impl Factorization {
    /// Maximum number of arrays.
    pub const PARTS: usize = 6;

    /// Number of singular values.
    pub fn few(&self) -> usize {
        self.m.min(self.n)
    }

    /// Columns of the left and right vectors of the singular value decompositions.
    pub fn sides(&self) -> [usize; 2] {
        let is_whole = match self.what {
            FactorizationKind::Svd { full, .. } | FactorizationKind::SvdByQr { full, .. } => full,
            _ => true,
        };
        if is_whole { [self.m, self.n] } else { [self.few(); 2] }
    }

    /// Returns the arrays of the task.
    pub fn parts(&self) -> Vec<ArraySpec> {
        use ArrayRole::{Addresses, Elements, Integers, Reals};
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
            FactorizationKind::Eig { .. } => vec![a, (Elements, n, false), (Elements, n * n, false), info],
        }
    }

    /// Returns whether the dimensions are consistent and fit the library's integer types.
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
                FactorizationKind::Eig { .. } => is_square && self.element.is_complex(),
                _ => is_square,
            }
    }
}
