//! Selects the driver calls for a pitched copy. Such a copy moves a box: a 3-D region of memory that consists of planes
//! of rows, possibly with gaps between rows and between planes. This file only computes, and calls no driver.

use crate::{Address, Extent, Pitched};

/// The driver calls that copy a 3-D region of memory. Several calls are necessary if one call of the driver cannot
/// express the distances between rows or planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PitchedCopyKind {
    /// No driver call, because the region is empty.
    Nothing,
    /// One copy of a contiguous range. The field is the number of bytes.
    Line(usize),
    /// One 2-D copy, which moves a single plane.
    Plane(PitchedBox),
    /// One 3-D copy, which moves several planes.
    Box(PitchedBox),
    /// One 2-D copy per plane. Used if the distance between planes is not a multiple of the pitch, because the driver's
    /// 3-D copy takes this distance as a number of rows.
    EachPlane(PitchedBox),
    /// One copy per row, because the pitch exceeds the driver's limit. Such rows are gigabytes apart, so there are few
    /// rows.
    EachRow(PitchedBox),
}

/// The size of a 3-D region, and its addresses and pitches in the source and in the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PitchedBox {
    pub target: Pitched,
    pub source: Pitched,
    pub extent: Extent,
}

impl PitchedBox {
    /// Returns the addresses of a row in the target and in the source.
    pub fn row(&self, plane: usize, row: usize) -> (Address, Address) {
        let begin = |side: &Pitched| side.address + plane * side.plane_pitch + row * side.row_pitch;
        (begin(&self.target), begin(&self.source))
    }

    /// Returns one plane as a separate region.
    pub fn plane(&self, plane: usize) -> Self {
        let (target, source) = self.row(plane, 0);
        Self {
            target: Pitched { address: target, ..self.target },
            source: Pitched { address: source, ..self.source },
            extent: Extent { depth: 1, ..self.extent },
        }
    }

    fn both(&self, condition: impl Fn(&Pitched) -> bool) -> bool {
        condition(&self.target) && condition(&self.source)
    }

    /// Returns a region with a single plane. Row `i` of this plane consists of the first `width` bytes of plane `i` of
    /// this region.
    fn planes_as_rows(&self, width: usize) -> Self {
        let side = |side: &Pitched| Pitched { row_pitch: side.plane_pitch, ..*side };
        let extent = Extent { width, height: self.extent.depth, depth: 1 };
        Self { target: side(&self.target), source: side(&self.source), extent }
    }

    /// Returns a region of the same bytes with fewer dimensions if rows or planes are contiguous, otherwise the
    /// unchanged region. Returns `None` if a length overflows.
    fn collapsed(self) -> Option<Self> {
        let Extent { width, height, depth } = self.extent;
        if depth == 1 {
            return Some(self);
        }
        if height == 1 {
            return Some(self.planes_as_rows(width));
        }
        if self.both(|side| side.row_pitch == width) {
            return Some(self.planes_as_rows(width.checked_mul(height)?));
        }
        if self.both(|side| side.row_pitch.checked_mul(height) == Some(side.plane_pitch)) {
            let extent = Extent { width, height: height.checked_mul(depth)?, depth: 1 };
            return Some(Self { extent, ..self });
        }
        Some(self)
    }

    /// Returns whether the last row of the region ends inside the address space, so that no address in the region
    /// overflows.
    fn fits(&self) -> bool {
        let Extent { width, height, depth } = self.extent;
        self.both(|side| {
            let planes = if depth > 1 { (depth - 1).checked_mul(side.plane_pitch) } else { Some(0) };
            let rows = if height > 1 { (height - 1).checked_mul(side.row_pitch) } else { Some(0) };
            let end = planes.zip(rows).and_then(|(planes, rows)| planes.checked_add(rows)?.checked_add(width));
            end.and_then(|end| end.checked_add(side.address)).is_some()
        })
    }
}

/// Returns the driver calls that copy the 3-D region of size `extent`. Returns `None` if the region exceeds the address
/// space.
pub fn plan(target: Pitched, source: Pitched, extent: Extent, max_pitch: usize) -> Option<PitchedCopyKind> {
    let sides = PitchedBox { target, source, extent };
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Some(PitchedCopyKind::Nothing);
    }
    if !sides.fits() {
        return None;
    }
    let sides = sides.collapsed()?;
    let Extent { width, height, depth } = sides.extent;
    if depth == 1 && (height == 1 || sides.both(|side| side.row_pitch == width)) {
        return width.checked_mul(height).map(PitchedCopyKind::Line);
    }
    let whole_rows =
        |side: &Pitched| side.plane_pitch.is_multiple_of(side.row_pitch) && side.plane_pitch / side.row_pitch >= height;
    // A pitch below the width of a row violates the contract of the trait, and division by a pitch of 0 would fail. A
    // copy row by row is correct even for such a pitch.
    Some(if !sides.both(|side| (width..=max_pitch).contains(&side.row_pitch)) {
        PitchedCopyKind::EachRow(sides)
    } else if depth == 1 {
        PitchedCopyKind::Plane(sides)
    } else if sides.both(whole_rows) {
        PitchedCopyKind::Box(sides)
    } else {
        PitchedCopyKind::EachPlane(sides)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    const MAX: usize = 1 << 20;

    fn side(row_pitch: usize, plane_pitch: usize) -> Pitched {
        Pitched { address: 4096, row_pitch, plane_pitch }
    }

    fn planned(target: (usize, usize), source: (usize, usize), extent: (usize, usize, usize)) -> PitchedCopyKind {
        let extent = Extent { width: extent.0, height: extent.1, depth: extent.2 };
        plan(side(target.0, target.1), side(source.0, source.1), extent, MAX).unwrap()
    }

    #[test]
    fn empty_boxes_need_no_copy_for_any_pitch() {
        for extent in [(0, 2, 2), (2, 0, 2), (2, 2, 0)] {
            assert_eq!(planned((usize::MAX, usize::MAX), (0, 0), extent), PitchedCopyKind::Nothing);
        }
    }

    #[test]
    fn rows_and_planes_without_gaps_are_one_contiguous_copy() {
        assert_eq!(planned((8, 0), (8, 0), (8, 5, 1)), PitchedCopyKind::Line(40));
        assert_eq!(planned((8, 40), (8, 40), (8, 5, 3)), PitchedCopyKind::Line(120));
        assert_eq!(planned((1, 1), (99, 99), (8, 1, 1)), PitchedCopyKind::Line(8));
        assert_eq!(planned((3, 8), (7, 8), (8, 1, 5)), PitchedCopyKind::Line(40));
    }

    #[test]
    fn box_with_one_gap_is_copied_as_one_plane() {
        let PitchedCopyKind::Plane(rows) = planned((16, 0), (8, 0), (8, 5, 1)) else { panic!() };
        assert_eq!(rows.extent, Extent { width: 8, height: 5, depth: 1 });
        let PitchedCopyKind::Plane(merged) = planned((16, 80), (12, 60), (8, 5, 3)) else { panic!() };
        assert_eq!(merged.extent, Extent { width: 8, height: 15, depth: 1 });
        let PitchedCopyKind::Plane(planes) = planned((8, 64), (8, 40), (8, 5, 3)) else { panic!() };
        assert_eq!((planes.extent, planes.target.row_pitch), (Extent { width: 40, height: 3, depth: 1 }, 64));
    }

    #[test]
    fn planes_apart_by_partial_rows_are_copied_individually() {
        assert!(matches!(planned((16, 96), (16, 80), (8, 5, 3)), PitchedCopyKind::Box(_)));
        assert!(matches!(planned((16, 100), (16, 80), (8, 5, 3)), PitchedCopyKind::EachPlane(_)));
        assert!(matches!(planned((16, 64), (16, 80), (8, 5, 3)), PitchedCopyKind::EachPlane(_)));
    }

    #[test]
    fn pitches_beyond_driver_limit_are_copied_row_by_row() {
        assert!(matches!(planned((MAX + 1, 0), (8, 0), (8, 5, 1)), PitchedCopyKind::EachRow(_)));
        assert!(matches!(planned((8, 0), (MAX + 1, 0), (8, 5, 1)), PitchedCopyKind::EachRow(_)));
        assert!(matches!(planned((MAX, 0), (8, 0), (8, 5, 1)), PitchedCopyKind::Plane(_)));
        assert!(matches!(planned((0, 8), (0, 9), (8, 5, 3)), PitchedCopyKind::EachRow(_)));
    }

    #[test]
    fn boxes_beyond_address_space_have_no_plan() {
        let extent = Extent { width: 8, height: 5, depth: 3 };
        assert_eq!(plan(side(usize::MAX / 2, 0), side(8, 40), extent, MAX), None);
        assert_eq!(plan(side(8, 40), side(8, usize::MAX / 2), extent, MAX), None);
    }
}
