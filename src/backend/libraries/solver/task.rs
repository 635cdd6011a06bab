//! What is to be done, with which memory.

use super::Element;

/// A factorisation, or what is made of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// `a` becomes its factors, with pivots.
    Lu,
    /// `b` becomes the solution, by the factors of a matrix or of its transpose.
    LuSolve {
        /// Whether by that of the transpose.
        transposed: bool,
    },
    /// The factors of many matrices at once.
    LuOfMany,
    /// The solutions for many matrices at once.
    LuSolveOfMany {
        /// Whether by those of the transposes.
        transposed: bool,
    },
    /// `a` becomes its factor.
    Cholesky {
        /// Which triangle is read and written.
        lower: bool,
    },
    /// The same for many small matrices at once.
    CholeskyOfMany {
        /// Which triangle is read and written.
        lower: bool,
    },
    /// `a` becomes its triangular factor and reflectors.
    Qr,
    /// Reflectors become orthonormal columns.
    QrVectors,
    /// Eigenvalues, and `a` becomes the eigenvectors.
    Eigh {
        /// Which triangle is read.
        lower: bool,
        /// Whether there are to be vectors.
        vectors: bool,
    },
    /// The same for many small matrices at once.
    EighOfMany {
        /// Which triangle is read.
        lower: bool,
        /// Whether there are to be vectors.
        vectors: bool,
    },
    /// Singular values, and the vectors of both sides, by rotations.
    Svd {
        /// Whether there are to be vectors.
        vectors: bool,
        /// Whether these are a whole basis.
        full: bool,
    },
    /// The same for many small matrices at once, with whole bases.
    SvdOfMany {
        /// Whether there are to be vectors.
        vectors: bool,
    },
    /// The same by a bidiagonal matrix, whose right vectors are conjugated rows; there are as many rows as columns or more.
    SvdByQr {
        /// Whether there are to be vectors.
        vectors: bool,
        /// Whether these are a whole basis.
        full: bool,
    },
    /// Eigenvalues of any matrix and the vectors on its right, all of them complex.
    Eig {
        /// Whether there are to be vectors.
        vectors: bool,
    },
}

impl What {
    /// The one of a name; what the two choices mean depends on it.
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

    /// Whether the library of products has it, and not that of factorisations.
    pub const fn is_of_blas(self) -> bool {
        matches!(self, Self::LuOfMany | Self::LuSolveOfMany { .. })
    }

    /// Whether the library waits for the device within it, of which a capture would break.
    pub const fn waits(self) -> bool {
        use What::{Eig, Eigh, EighOfMany, Svd, SvdByQr, SvdOfMany};
        matches!(self, Eig { .. } | Eigh { .. } | EighOfMany { .. } | Svd { .. } | SvdByQr { .. } | SvdOfMany { .. })
    }
}

/// What an array holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Elements of the matrices' type.
    Elements,
    /// Real parts of such.
    Reals,
    /// Integers of 32 bits.
    Integers,
    /// Addresses.
    Addresses,
}

/// An array of a task: what it holds, how many for each matrix, and whether it is only read.
pub type Part = (Role, usize, bool);

/// A factorisation of matrices that lie one behind the other, each column by column.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Which.
    pub what: What,
    /// Of which elements.
    pub element: Element,
    /// How many matrices.
    pub batch: usize,
    /// Rows of the first array's matrices.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Columns of right sides, or reflectors.
    pub k: usize,
    /// Where the arrays are, in the order of `parts`.
    pub addresses: [usize; Self::PARTS],
}

impl Task {
    /// Arrays at most.
    pub const PARTS: usize = 6;

    /// Singular values.
    pub fn few(&self) -> usize {
        self.m.min(self.n)
    }

    /// Columns of the vectors on both sides of `Svd` and its kin.
    pub fn sides(&self) -> [usize; 2] {
        let is_whole = match self.what {
            What::Svd { full, .. } | What::SvdByQr { full, .. } => full,
            _ => true,
        };
        if is_whole { [self.m, self.n] } else { [self.few(); 2] }
    }

    /// The arrays.
    pub fn parts(&self) -> Vec<Part> {
        use Role::{Addresses, Elements, Integers, Reals};
        let &Self { m, n, k, .. } = self;
        let [left, right] = self.sides();
        let a = (Elements, m * n, false);
        let info = (Integers, 1, false);
        match self.what {
            What::Lu => vec![a, (Integers, n, false), info],
            What::LuSolve { .. } => vec![(Elements, n * n, true), (Integers, n, true), (Elements, n * k, false), info],
            What::LuOfMany => vec![a, (Addresses, 1, true), (Integers, n, false), info],
            What::LuSolveOfMany { .. } => vec![
                (Elements, n * n, true),
                (Addresses, 1, true),
                (Integers, n, true),
                (Elements, n * k, false),
                (Addresses, 1, true),
            ],
            What::Cholesky { .. } => vec![a, info],
            What::CholeskyOfMany { .. } => vec![a, (Addresses, 1, true), info],
            What::Qr => vec![a, (Elements, self.few(), false), info],
            What::QrVectors => vec![a, (Elements, k, true), info],
            What::Eigh { .. } | What::EighOfMany { .. } => vec![a, (Reals, n, false), info],
            What::Svd { .. } | What::SvdOfMany { .. } | What::SvdByQr { .. } => {
                vec![a, (Reals, self.few(), false), (Elements, m * left, false), (Elements, n * right, false), info]
            }
            What::Eig { .. } => vec![a, (Elements, n, false), (Elements, n * n, false), info],
        }
    }

    /// Whether the numbers fit together and into the library's.
    pub fn is_sound(&self) -> bool {
        let fits = |number: usize| i32::try_from(number).is_ok();
        let is_square = self.m == self.n;
        [self.batch, self.m, self.n, self.k].into_iter().all(fits)
            && self.batch > 0
            && self.n > 0
            && self.m > 0
            && match self.what {
                What::Qr | What::Svd { .. } | What::SvdOfMany { .. } => true,
                What::SvdByQr { .. } => self.m >= self.n,
                What::QrVectors => self.m >= self.n && self.n >= self.k && self.k > 0,
                What::LuSolve { .. } | What::LuSolveOfMany { .. } => is_square && self.k > 0,
                What::Eig { .. } => is_square && self.element.is_complex(),
                _ => is_square,
            }
    }
}
