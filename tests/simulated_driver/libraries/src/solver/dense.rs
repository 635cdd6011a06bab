//! Contains textbook algorithms for dense complex column-major matrices. The results for real matrices are real.

use super::complex::C;

/// A dense complex column-major matrix.
#[derive(Clone)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub of: Vec<C>,
}

impl Matrix {
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, of: vec![C::ZERO; rows * columns] }
    }

    pub fn identity(rows: usize, columns: usize) -> Self {
        let mut made = Self::zeros(rows, columns);
        (0..rows.min(columns)).for_each(|place| *made.at(place, place) = C::ONE);
        made
    }

    pub fn at(&mut self, row: usize, column: usize) -> &mut C {
        &mut self.of[column * self.rows + row]
    }

    pub fn get(&self, row: usize, column: usize) -> C {
        self.of[column * self.rows + row]
    }

    pub fn column(&self, column: usize) -> &[C] {
        &self.of[column * self.rows..(column + 1) * self.rows]
    }

    pub fn adjoint(&self) -> Self {
        let mut made = Self::zeros(self.columns, self.rows);
        for column in 0..self.columns {
            for row in 0..self.rows {
                *made.at(column, row) = self.get(row, column).conj();
            }
        }
        made
    }

    pub fn times(&self, other: &Self) -> Self {
        let mut made = Self::zeros(self.rows, other.columns);
        for column in 0..other.columns {
            for row in 0..self.rows {
                *made.at(row, column) = (0..self.columns).map(|k| self.get(row, k) * other.get(k, column)).sum();
            }
        }
        made
    }

    fn swap_rows(&mut self, one: usize, other: usize) {
        (0..self.columns).for_each(|column| self.of.swap(column * self.rows + one, column * self.rows + other));
    }

    /// Multiplies columns p and q by a 2x2 unitary matrix: `(c p - s d q, s p + c d q)`.
    fn turn(&mut self, p: usize, q: usize, (c, s, d): (f64, f64, C)) {
        for row in 0..self.rows {
            let (one, other) = (self.get(row, p), self.get(row, q) * d);
            *self.at(row, p) = one * c - other * s;
            *self.at(row, q) = one * s + other * c;
        }
    }
}

/// Returns the rotation that makes the element `pq` of a Hermitian matrix zero.
fn rotation(pp: f64, qq: f64, pq: C) -> (f64, f64, C) {
    let size = pq.abs();
    let tau = (qq - pp) / (2.0 * size);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    (c, t * c, pq.conj() * (1.0 / size))
}

/// Computes the LU factorization with partial pivoting in place. Returns the pivots, counted from 1, and the position
/// of the first zero on the diagonal, counted from 1, or 0 if there is none.
pub fn lu(a: &mut Matrix) -> (Vec<i32>, i32) {
    let (mut pivots, mut info) = (Vec::new(), 0);
    for k in 0..a.rows.min(a.columns) {
        let best =
            (k..a.rows).max_by(|&one, &other| a.get(one, k).abs().total_cmp(&a.get(other, k).abs())).unwrap_or(k);
        pivots.push(best as i32 + 1);
        a.swap_rows(k, best);
        if a.get(k, k) == C::ZERO {
            info = if info == 0 { k as i32 + 1 } else { info };
            continue;
        }
        for row in k + 1..a.rows {
            *a.at(row, k) = a.get(row, k) / a.get(k, k);
            for column in k + 1..a.columns {
                let less = a.get(row, k) * a.get(k, column);
                *a.at(row, column) = a.get(row, column) - less;
            }
        }
    }
    (pivots, info)
}

fn substitute(a: &Matrix, b: &mut Matrix, is_lower: bool, is_unit: bool) {
    let n = a.rows;
    for column in 0..b.columns {
        for step in 0..n {
            let row = if is_lower { step } else { n - 1 - step };
            let others = if is_lower { 0..row } else { row + 1..n };
            let less: C = others.map(|k| a.get(row, k) * b.get(k, column)).sum();
            let value = b.get(row, column) - less;
            *b.at(row, column) = if is_unit { value } else { value / a.get(row, row) };
        }
    }
}

/// Solves a linear system by the factors from `lu`, for the matrix or its transpose.
pub fn lu_solve(a: &Matrix, pivots: &[i32], b: &mut Matrix, is_transposed: bool) {
    if is_transposed {
        let mut turned = a.adjoint();
        turned.of.iter_mut().for_each(|one| *one = one.conj());
        substitute(&turned, b, true, false);
        substitute(&turned, b, false, true);
        (0..a.rows).rev().for_each(|row| b.swap_rows(row, pivots[row] as usize - 1));
    } else {
        (0..a.rows).for_each(|row| b.swap_rows(row, pivots[row] as usize - 1));
        substitute(a, b, true, true);
        substitute(a, b, false, false);
    }
}

/// Computes the lower Cholesky factor from the lower triangle in place. Returns the number of the first column at which
/// the factorization fails, counted from 1, or 0 if it succeeds.
pub fn cholesky(a: &mut Matrix) -> i32 {
    for k in 0..a.rows {
        let pivot = a.get(k, k).0 - (0..k).map(|j| a.get(k, j).abs().powi(2)).sum::<f64>();
        if pivot <= 0.0 || pivot.is_nan() {
            return k as i32 + 1;
        }
        *a.at(k, k) = C(pivot.sqrt(), 0.0);
        for row in k + 1..a.rows {
            let less: C = (0..k).map(|j| a.get(row, j) * a.get(k, j).conj()).sum();
            *a.at(row, k) = (a.get(row, k) - less) * (1.0 / pivot.sqrt());
        }
    }
    0
}

/// Applies a reflector, `1 - factor v v*`, to columns. The vector v is 1 at index `k`, followed by the values that
/// column `k` of `of` stores below the diagonal.
fn reflect(of: &Matrix, k: usize, factor: C, onto: &mut Matrix, columns: std::ops::Range<usize>) {
    let v = |row: usize| if row == k { C::ONE } else { of.get(row, k) };
    for column in columns {
        let along: C = (k..of.rows).map(|row| v(row).conj() * onto.get(row, column)).sum();
        for row in k..of.rows {
            let less = factor * v(row) * along;
            *onto.at(row, column) = onto.get(row, column) - less;
        }
    }
}

/// Computes a QR factorization in place: the upper triangle contains R, and the reflectors are stored below it, as in
/// LAPACK. Returns the factors of the reflectors.
pub fn qr(a: &mut Matrix) -> Vec<C> {
    let mut factors = Vec::new();
    for k in 0..a.rows.min(a.columns) {
        let (first, below) = (a.get(k, k), (k + 1..a.rows).map(|row| a.get(row, k).abs().powi(2)).sum::<f64>());
        if below == 0.0 && first.1 == 0.0 {
            factors.push(C::ZERO);
            continue;
        }
        let beta = -(below + first.abs().powi(2)).sqrt().copysign(first.0);
        let factor = C((beta - first.0) / beta, -first.1 / beta);
        for row in k + 1..a.rows {
            *a.at(row, k) = a.get(row, k) / (first - C(beta, 0.0));
        }
        *a.at(k, k) = C(beta, 0.0);
        let of = a.clone();
        reflect(&of, k, factor.conj(), a, k + 1..of.columns);
        factors.push(factor);
    }
    factors
}

/// Returns the first columns of Q, the product of the reflectors.
pub fn qr_vectors(a: &Matrix, factors: &[C], columns: usize) -> Matrix {
    let mut made = Matrix::identity(a.rows, columns);
    for k in (0..factors.len()).rev() {
        reflect(a, k, factors[k], &mut made, 0..columns);
    }
    made
}

const SWEEPS: usize = 60;

/// Returns the eigenvalues in ascending order and the eigenvectors of the Hermitian matrix with the lower triangle
/// `lower`, and whether the iteration converged.
pub fn eigh(lower: &Matrix) -> (Vec<f64>, Matrix, bool) {
    let n = lower.rows;
    let mut a = lower.clone();
    for column in 0..n {
        *a.at(column, column) = C(lower.get(column, column).0, 0.0);
        (0..column).for_each(|row| *a.at(row, column) = lower.get(column, row).conj());
    }
    let mut vectors = Matrix::identity(n, n);
    let mut is_done = a.of.iter().all(|one| one.is_finite());
    for _ in 0..if is_done { SWEEPS } else { 0 } {
        is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                let pq = a.get(p, q);
                if pq.abs() <= 1e-300 + 1e-17 * (a.get(p, p).abs() + a.get(q, q).abs()) {
                    continue;
                }
                is_done = false;
                let turn = rotation(a.get(p, p).0, a.get(q, q).0, pq);
                a.turn(p, q, turn);
                let mut turned = a.adjoint();
                turned.turn(p, q, turn);
                a = turned.adjoint();
                vectors.turn(p, q, turn);
            }
        }
        if is_done {
            break;
        }
    }
    let values: Vec<f64> = (0..n).map(|place| a.get(place, place).0).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let of = order.iter().flat_map(|&place| vectors.column(place).to_vec()).collect();
    (order.iter().map(|&place| values[place]).collect(), Matrix { rows: n, columns: n, of }, is_done)
}

/// Appends orthonormal columns to the matrix `of`, until it has `columns` columns.
fn completed(rows: usize, mut of: Vec<C>, columns: usize) -> Matrix {
    let mut next = 0;
    while of.len() < columns * rows && next < rows {
        let mut one = vec![C::ZERO; rows];
        one[next] = C::ONE;
        next += 1;
        for _ in 0..2 {
            for known in of.chunks(rows) {
                let along: C = known.iter().zip(&one).map(|(k, o)| k.conj() * *o).sum();
                one.iter_mut().zip(known).for_each(|(o, k)| *o = *o - along * *k);
            }
        }
        let size = one.iter().map(|o| o.abs().powi(2)).sum::<f64>().sqrt();
        if size > 1e-3 / rows as f64 {
            of.extend(one.iter().map(|o| *o * (1.0 / size)));
        }
    }
    Matrix { rows, columns, of }
}

/// Returns the left singular vectors, the singular values in descending order, the right singular vectors, and whether
/// the iteration converged. The vectors form full bases.
pub fn svd(matrix: &Matrix) -> (Matrix, Vec<f64>, Matrix, bool) {
    if matrix.rows < matrix.columns {
        let (left, values, right, is_done) = svd(&matrix.adjoint());
        return (right, values, left, is_done);
    }
    let (m, n) = (matrix.rows, matrix.columns);
    let (mut a, mut right) = (matrix.clone(), Matrix::identity(n, n));
    let square = |a: &Matrix, column: usize| a.column(column).iter().map(|one| one.abs().powi(2)).sum::<f64>();
    let mut is_done = a.of.iter().all(|one| one.is_finite());
    for _ in 0..if is_done { SWEEPS } else { 0 } {
        is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                let (pp, qq) = (square(&a, p), square(&a, q));
                let pq: C = a.column(p).iter().zip(a.column(q)).map(|(one, other)| one.conj() * *other).sum();
                if pq.abs() <= 1e-300 + 1e-15 * (pp * qq).sqrt() {
                    continue;
                }
                is_done = false;
                let turn = rotation(pp, qq, pq);
                a.turn(p, q, turn);
                right.turn(p, q, turn);
            }
        }
        if is_done {
            break;
        }
    }
    let values: Vec<f64> = (0..n).map(|column| square(&a, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&one, &other| values[other].total_cmp(&values[one]));
    let greatest = order.first().map_or(0.0, |&place| values[place]);
    let kept = order.iter().filter(|&&place| values[place] > 1e-15 * greatest);
    let left =
        kept.flat_map(|&place| a.column(place).iter().map(|one| *one * (1.0 / values[place])).collect::<Vec<_>>());
    let left = completed(m, left.collect(), m);
    let of = order.iter().flat_map(|&place| right.column(place).to_vec()).collect();
    (left, order.iter().map(|&place| values[place]).collect(), Matrix { rows: n, columns: n, of }, is_done)
}

/// Returns the eigenvalues and eigenvectors of a square matrix, and whether the iteration converged. The function uses
/// shifted QR steps.
pub fn eig(matrix: &Matrix) -> (Vec<C>, Matrix, bool) {
    let n = matrix.rows;
    let (mut t, mut basis) = (matrix.clone(), Matrix::identity(n, n));
    let mut last = n.saturating_sub(1);
    let mut is_done = t.of.iter().all(|one| one.is_finite());
    let mut steps = 0;
    while is_done && last > 0 {
        let below: f64 = (0..last).map(|column| t.get(last, column).abs()).sum();
        if below <= 1e-15 * t.of.iter().map(|one| one.abs()).fold(0.0, f64::max) {
            (0..last).for_each(|column| *t.at(last, column) = C::ZERO);
            last -= 1;
            continue;
        }
        steps += 1;
        is_done = steps < 1000 * n;
        // An exceptional shift in every tenth step breaks cycles of the iteration.
        let shift = t.get(last, last) + if steps % 10 == 0 { C(below, below) } else { C::ZERO };
        let mut shifted = t.clone();
        (0..n).for_each(|place| *shifted.at(place, place) = t.get(place, place) - shift);
        // The last rows have already converged, so this step changes only the rows before them.
        for row in 0..n {
            for column in 0..n {
                if row > last || column > last {
                    *shifted.at(row, column) = if row == column { C::ONE } else { C::ZERO };
                }
            }
        }
        let factors = qr(&mut shifted);
        let q = qr_vectors(&shifted, &factors, n);
        t = q.adjoint().times(&t).times(&q);
        basis = basis.times(&q);
    }
    let values: Vec<C> = (0..n).map(|place| t.get(place, place)).collect();
    let mut vectors = Matrix::zeros(n, n);
    for (k, &value) in values.iter().enumerate() {
        *vectors.at(k, k) = C::ONE;
        for row in (0..k).rev() {
            let along: C = (row + 1..=k).map(|j| t.get(row, j) * vectors.get(j, k)).sum();
            let gap = t.get(row, row) - value;
            let gap = if gap.abs() < 1e-300 { C(1e-16, 0.0) } else { gap };
            *vectors.at(row, k) = C::ZERO - along / gap;
        }
    }
    let mut vectors = basis.times(&vectors);
    for k in 0..n {
        let size = vectors.column(k).iter().map(|one| one.abs().powi(2)).sum::<f64>().sqrt();
        (0..n).for_each(|row| *vectors.at(row, k) = vectors.get(row, k) * (1.0 / size));
    }
    (values, vectors, is_done)
}

/// Converts the eigenvalues and eigenvectors of a real matrix to LAPACK's form: real eigenvalues have real
/// eigenvectors; the complex eigenvalues of a pair are exact conjugates, first the eigenvalue with the positive
/// imaginary part. The two vectors stored for a pair are the real part and the imaginary part of the first eigenvector.
pub fn eig_of_real(values: &[C], vectors: &Matrix) -> (Vec<C>, Matrix) {
    let n = values.len();
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let (mut ordered, mut packed) = (Vec::with_capacity(n), Matrix::zeros(n, n));
    for (k, &value) in values.iter().enumerate() {
        let is_real = value.1.abs() <= 1e-10 * largest;
        if !is_real && value.1 < 0.0 {
            continue;
        }
        let top = vectors.column(k).iter().fold(C::ZERO, |top, one| if one.abs() > top.abs() { *one } else { top });
        let turn = top.conj() * (1.0 / top.abs());
        let column = ordered.len();
        for row in 0..n {
            let part = vectors.get(row, k) * turn;
            *packed.at(row, column) = C(part.0, 0.0);
            if !is_real && column + 1 < n {
                *packed.at(row, column + 1) = C(part.1, 0.0);
            }
        }
        if is_real {
            ordered.push(C(value.0, 0.0));
        } else {
            ordered.extend([value, value.conj()]);
        }
    }
    ordered.resize(n, C(f64::NAN, 0.0));
    (ordered, packed)
}
