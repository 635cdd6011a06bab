//! Computes which bytes an operation accesses. A region consists of planes, and each plane of rows, with a pitch
//! between rows and between planes.

/// Size of a region: the bytes of a row, the rows of a plane, and the number of planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Bytes of a row.
    pub width: u64,
    /// Number of rows in each plane.
    pub height: u64,
    /// Number of planes in the region.
    pub depth: u64,
}

impl Extent {
    /// Returns the extent of a contiguous range.
    pub fn line(bytes: u64) -> Self {
        Self { width: bytes, height: 1, depth: 1 }
    }

    /// Returns whether the extent contains no bytes.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// Bytes that an operation reads or writes through one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Address of the first byte.
    pub start: u64,
    /// Distance between the starts of two rows in bytes.
    pub row_pitch: u64,
    /// Distance between the starts of two planes in bytes.
    pub plane_pitch: u64,
    /// Bytes of a row, rows of a plane, and number of planes.
    pub extent: Extent,
}

/// Maximum number of rows for which the overlap of two regions is checked row by row. For larger regions the check may
/// miss an overlap, but never reports an overlap of regions that share no byte.
const MOST_ROWS: u64 = 1 << 16;

impl Region {
    /// Creates a region, or returns `None` if it exceeds the address space. With a single row or a single plane, the
    /// pitch is ignored.
    pub fn new(start: u64, row_pitch: u64, plane_pitch: u64, extent: Extent) -> Option<Self> {
        let row_pitch = if extent.height > 1 { row_pitch } else { 0 };
        let plane_pitch = if extent.depth > 1 { plane_pitch } else { 0 };
        let rows = extent.height.saturating_sub(1).checked_mul(row_pitch)?;
        let planes = extent.depth.saturating_sub(1).checked_mul(plane_pitch)?;
        start.checked_add(rows)?.checked_add(planes)?.checked_add(extent.width)?;
        let region = Self { start, row_pitch, plane_pitch, extent };
        Some(region.without_gaps())
    }

    /// Creates a contiguous range, or returns `None` if it exceeds the address space.
    pub fn line(start: u64, bytes: u64) -> Option<Self> {
        Self::new(start, 0, 0, Extent::line(bytes))
    }

    /// Merges rows without gaps between them into one long row.
    fn without_gaps(mut self) -> Self {
        if self.extent.height > 1 && self.row_pitch == self.extent.width {
            self.extent.width *= self.extent.height;
            (self.extent.height, self.row_pitch) = (1, 0);
        }
        if self.extent.height == 1 && self.extent.depth > 1 {
            (self.extent.height, self.row_pitch) = (self.extent.depth, self.plane_pitch);
            (self.extent.depth, self.plane_pitch) = (1, 0);
            return self.without_gaps();
        }
        self
    }

    /// Returns the address after the last byte.
    pub fn end(&self) -> u64 {
        self.start
            + (self.extent.height - 1) * self.row_pitch
            + (self.extent.depth - 1) * self.plane_pitch
            + self.extent.width
    }

    /// Returns whether the region is one contiguous range.
    pub fn is_line(&self) -> bool {
        self.extent.height == 1 && self.extent.depth == 1
    }

    /// Returns the start of each row.
    pub fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.extent.depth).flat_map(move |z| {
            (0..self.extent.height).map(move |y| self.start + z * self.plane_pitch + y * self.row_pitch)
        })
    }

    /// Returns whether the region contains any byte of `from .. to`.
    fn touches(&self, from: u64, to: u64) -> bool {
        (0..self.extent.depth).any(|z| {
            let start = self.start + z * self.plane_pitch;
            if start >= to {
                return false;
            }
            if self.row_pitch == 0 {
                return start + self.extent.width > from;
            }
            // Only the last row that begins before `to` must be checked, because it ends at the greatest address of all
            // rows that begin before `to`.
            let row = ((to - 1 - start) / self.row_pitch).min(self.extent.height - 1);
            start + row * self.row_pitch + self.extent.width > from
        })
    }

    /// Returns whether two regions share a byte.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.start >= other.end() || other.start >= self.end() {
            return false;
        }
        let rows = |region: &Self| region.extent.height * region.extent.depth;
        let (few, many) = if rows(self) <= rows(other) { (self, other) } else { (other, self) };
        if rows(few).saturating_mul(many.extent.depth) > MOST_ROWS {
            return false;
        }
        few.rows().any(|row| many.touches(row, row + few.extent.width))
    }

    /// Returns whether this region certainly contains every byte of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        self == other || (self.is_line() && self.start <= other.start && other.end() <= self.end())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    fn rows(start: u64, pitch: u64, width: u64, height: u64) -> Region {
        Region::new(start, pitch, 0, Extent { width, height, depth: 1 }).unwrap()
    }

    #[test]
    fn adjacent_columns_do_not_overlap() {
        assert!(!rows(0, 16, 8, 4).overlaps(&rows(8, 16, 8, 4)));
        assert!(rows(0, 16, 9, 4).overlaps(&rows(8, 16, 8, 4)));
        assert!(!rows(0, 16, 8, 4).overlaps(&Region::line(24, 8).unwrap()));
        assert!(rows(0, 16, 8, 4).overlaps(&Region::line(24, 9).unwrap()));
    }

    #[test]
    fn region_overlap_matches_common_bytes() {
        let bytes = |region: &Region| -> std::collections::BTreeSet<u64> {
            region.rows().flat_map(|row| row..row + region.extent.width).collect()
        };
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..20_000 {
            let mut one = || {
                let extent = Extent { width: 1 + random(5), height: 1 + random(4), depth: 1 + random(3) };
                let row_pitch = extent.width + random(5);
                let plane_pitch = row_pitch * extent.height + random(9);
                Region::new(random(60), row_pitch, plane_pitch, extent).unwrap()
            };
            let (a, b) = (one(), one());
            assert_eq!(a.overlaps(&b), !bytes(&a).is_disjoint(&bytes(&b)), "{a:?} {b:?}");
            assert_eq!(bytes(&a).last().unwrap() + 1, a.end(), "{a:?}");
        }
    }

    #[test]
    fn region_beyond_address_space_is_rejected() {
        assert_eq!(Region::line(u64::MAX, 2), None);
        assert_eq!(Region::new(8, u64::MAX / 2, 0, Extent { width: 1, height: 4, depth: 1 }), None);
    }
}
