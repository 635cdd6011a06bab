//! How a reduction goes: which elements a thread takes, how many share a place, and whether a second launch joins them.

use crate::codegen::access::{Record, Span};
use crate::codegen::store::Key;
use crate::error::Result;
use crate::kernel::Arguments;
use crate::layout::{Layout, Rules, Walk};

/// The places of the arrays in a walk.
pub const INPUT: usize = 0;
/// Where the results go.
pub const OUT: usize = 1;
/// Which elements count.
pub const MASK: usize = 2;

/// Elements that a thread reads before it joins them, so that it waits for memory once.
pub const EACH: u32 = 8;

/// The threads of a launch, as far as a kernel is compiled for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Places that a block has.
    pub places: u32,
    /// Threads of each of them.
    pub lanes: u32,
    /// Whether threads beside each other have one place, and not places beside each other.
    pub along: bool,
}

/// How a reduction goes.
#[derive(Clone, Debug)]
pub struct Plan {
    walk: Walk,
    span: Span,
    sides: usize,
    /// Results.
    pub places: i64,
    /// Elements of each.
    pub count: i64,
    /// The threads of a block.
    pub block: Block,
    /// Blocks that share their places, one behind the other: more than one need a second launch.
    pub splits: u32,
}

/// What a device runs at once.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks on the device.
    pub blocks: u32,
}

/// Plans a reduction of an array over the axes whose bits are set, the first one as the lowest, into an array that does not move
/// along them; where there is a mask it has the array's shape.
///
/// # Errors
/// As [`Walk::plan`].
pub fn plan(sides: &[&Layout], reduced: u64, in_order: bool, room: Room) -> Result<Plan> {
    let lead = if in_order { None } else { Some(INPUT) };
    let walk = Walk::plan(sides, Rules { lead, reduced })?;
    let kept = walk.kept();
    let count: i64 = walk.lens().skip(kept).product();
    let places: i64 = walk.lens().take(kept).product();
    let inner = |mut strides: Box<dyn Iterator<Item = i64> + '_>| strides.next().map(i64::unsigned_abs);
    let along_reduced = inner(Box::new(walk.strides(INPUT).skip(kept).rev()));
    let along_kept = inner(Box::new(walk.strides(INPUT).take(kept).rev()));
    let along = match (along_kept, along_reduced) {
        (Some(kept), Some(reduced)) => reduced <= kept,
        (kept, _) => kept.is_none(),
    };
    let block = if along { block_along(count, room) } else { block_across(places, room) };
    let blocks = (places as u64).div_ceil(u64::from(block.places));
    // A second launch costs more than a few turns.
    let most = count as u64 / u64::from(4 * block.lanes * EACH);
    let splits = (u64::from(room.blocks) / blocks).clamp(1, most.max(1)) as u32;
    let span = Span::of(&walk, 0..sides.len());
    Ok(Plan { walk, span, sides: sides.len(), places, count, block, splits })
}

/// The threads where the elements of a place lie side by side.
fn block_along(count: i64, room: Room) -> Block {
    // Few elements are a thread's alone: the cache has what it leaves for its neighbours.
    let wanted = (count as u64).div_ceil(u64::from(EACH)).min(u64::from(room.threads)) as u32;
    let lanes = if count <= 2 * i64::from(EACH) { 1 } else { wanted.next_power_of_two() };
    Block { places: room.threads / lanes, lanes, along: true }
}

/// The threads where places lie side by side.
fn block_across(places: i64, room: Room) -> Block {
    let places = (places as u64).min(u64::from(room.threads)) as u32;
    let places = places.next_power_of_two();
    Block { places, lanes: room.threads / places, along: false }
}

impl Plan {
    /// The threads of the second launch, to which the parts of a place are elements that lie a row apart.
    pub fn second_block(&self, room: Room) -> Block {
        block_across(self.places, room)
    }

    /// What a kernel for it is compiled for, beside the types.
    pub fn key(&self) -> Key {
        let Block { places, lanes, along } = self.block;
        let (kept, rank) = (self.walk.kept() as u8, self.walk.rank() as u8);
        Key::from_slice(&[
            kept,
            rank,
            self.span as u8,
            self.sides as u8,
            places.ilog2() as u8,
            lanes.ilog2() as u8,
            along.into(),
        ])
    }

    /// The type of the walk along the axes that are kept; none where there are none.
    pub fn kept_type(&self) -> Option<String> {
        let kept = self.walk.kept();
        (kept > 0).then(|| self.span.type_of(kept, self.sides))
    }

    /// That along those that are reduced.
    pub fn reduced_type(&self) -> Option<String> {
        let reduced = self.walk.rank() - self.walk.kept();
        (reduced > 0).then(|| self.span.type_of(reduced, self.sides))
    }

    /// Where the first element of an array is, from the start of its allocation.
    pub fn offset(&self, side: usize) -> i64 {
        self.walk.offset(side)
    }

    /// Adds the walks to the arguments of a launch, as their types say.
    pub fn push(&self, arguments: &mut Arguments, with_reduced: bool) {
        let (kept, rank) = (self.walk.kept(), self.walk.rank());
        let sides = 0..self.sides;
        if kept > 0 {
            let mut record = Record::new();
            let steps = sides.clone().map(|side| self.walk.strides(side).take(kept));
            record.push_walk(self.span, self.walk.lens().take(kept), steps);
            record.pass(arguments);
        }
        if rank > kept && with_reduced {
            let mut record = Record::new();
            let steps = sides.map(|side| self.walk.strides(side).skip(kept));
            record.push_walk(self.span, self.walk.lens().skip(kept), steps);
            record.pass(arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;
    use crate::layout::Order;

    const H200: Room = Room { threads: 256, blocks: 1056 };

    fn planned(shape: &[i64], reduced: &[usize]) -> Plan {
        let input = Layout::contiguous(shape, 4, Order::C).unwrap();
        let kept: Vec<i64> =
            (0..shape.len()).map(|axis| if reduced.contains(&axis) { 1 } else { shape[axis] }).collect();
        let out = Layout::contiguous(&kept, 4, Order::C).unwrap().broadcast_to(shape).unwrap();
        plan(&[&input, &out], reduced.iter().map(|axis| 1 << axis).sum(), false, H200).unwrap()
    }

    #[test]
    fn what_lies_side_by_side_is_read_so() {
        let block = |shape: &[i64], reduced: &[usize]| planned(shape, reduced).block;
        assert_eq!(block(&[1 << 14, 1 << 14], &[1]), Block { places: 1, lanes: 256, along: true });
        assert_eq!(block(&[1 << 14, 1 << 14], &[0]), Block { places: 256, lanes: 1, along: false });
        assert_eq!(block(&[1 << 20, 4], &[1]), Block { places: 256, lanes: 1, along: true });
        assert_eq!(block(&[1 << 20, 5], &[0]), Block { places: 8, lanes: 32, along: false });
        assert_eq!(block(&[64, 64, 64], &[0, 1, 2]), Block { places: 1, lanes: 256, along: true });
    }

    #[test]
    fn few_places_are_shared_by_blocks_and_many_are_not() {
        assert_eq!(planned(&[1 << 28], &[0]).splits, 1056);
        assert_eq!(planned(&[1 << 14, 1 << 14], &[0]).splits, 16);
        assert_eq!(planned(&[1 << 14, 1 << 14], &[1]).splits, 1);
        assert_eq!(planned(&[16], &[0]).splits, 1);
        assert_eq!(planned(&[4, 1 << 20], &[0]).splits, 1);
    }

    #[test]
    fn places_and_counts_are_those_of_the_axes() {
        let plan = planned(&[3, 4, 5, 6], &[1, 3]);
        assert_eq!((plan.places, plan.count), (15, 24));
        let plan = planned(&[3, 1], &[1]);
        assert_eq!((plan.places, plan.count), (3, 1));
        assert!(plan.reduced_type().is_none());
        assert!(planned(&[7], &[0]).kept_type().is_none());
    }
}
