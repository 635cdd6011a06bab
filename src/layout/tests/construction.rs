mod building {
    use super::super::*;

    const TOO_BIG: &str = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.";

    #[test]
    fn new_array_has_numpy_strides() {
        assert_eq!(strides(&fresh(&[3, 1, 4])), [16, 16, 4]);
        assert_eq!(strides(&Layout::contiguous(&[3, 1, 4], 4, MemoryOrder::F).unwrap()), [4, 12, 12]);
        assert_eq!(strides(&fresh(&[])), [0i64; 0]);
    }

    #[test]
    fn new_empty_array_has_zero_strides() {
        assert_eq!(strides(&fresh(&[3, 0, 4])), [0, 0, 0]);
    }

    #[test]
    fn layout_rejects_negative_length_even_if_empty() {
        value_error(Layout::contiguous(&[0, -1], 4, MemoryOrder::C), "negative dimensions are not allowed");
    }

    #[test]
    fn layout_rejects_size_overflow_regardless_of_zero_lengths() {
        let huge = 1 << 62;
        for shape in [&[huge, huge][..], &[0, huge, huge], &[huge, 0, huge], &[0, huge]] {
            value_error(Layout::contiguous(shape, 8, MemoryOrder::C), TOO_BIG);
        }
        assert!(Layout::contiguous(&[0, i64::MAX], 1, MemoryOrder::C).is_ok());
        assert!(Layout::contiguous(&[i64::MAX], 1, MemoryOrder::F).is_ok());
        value_error(Layout::contiguous(&[i64::MAX], 2, MemoryOrder::F), TOO_BIG);
    }

    #[test]
    fn layout_rejects_rank_above_64() {
        assert!(Layout::contiguous(&[1; 64], 4, MemoryOrder::C).is_ok());
        value_error(
            Layout::contiguous(&[1; 65], 4, MemoryOrder::C),
            "maximum supported dimension for an ndarray is currently 64, found 65",
        );
    }

    #[test]
    fn layout_rejects_itemsize_below_1() {
        value_error(Layout::contiguous(&[2], 0, MemoryOrder::C), "itemsize must be at least 1 byte, not 0");
    }

    #[test]
    fn layout_rejects_strides_whose_extent_overflows() {
        let huge = 1 << 62;
        value_error(
            Layout::strided(&[2, 2], &[huge, huge], 0, 1),
            "shape (2,2) with strides (4611686018427387904,4611686018427387904) at byte offset 0 reaches addresses \
             beyond 64 bits",
        );
        assert!(Layout::strided(&[2, 2], &[huge, -huge], 0, 1).is_err(), "the ends are 2**63 bytes apart");
        assert!(Layout::strided(&[2, 2], &[huge, 1 - huge], 0, 1).is_err());
        assert!(Layout::strided(&[2, 2], &[huge, 2 - huge], 0, 1).is_ok());
        assert!(Layout::strided(&[3], &[i64::MIN], 0, 1).is_err());
        assert!(Layout::strided(&[1, 0], &[i64::MIN, i64::MAX], 0, 1).is_ok());
        assert!(fresh(&[3]).with_offset(i64::MAX - 11).is_err());
        assert_eq!(fresh(&[3]).with_offset(i64::MAX - 12).unwrap().extent(), Some((i64::MAX - 12, i64::MAX)));
        value_error(
            Layout::strided(&[2, 2], &[4], 0, 4),
            "strides must be the same length as shape: 1 strides for 2 axes",
        );
    }

    #[test]
    fn extent_includes_negative_strides_and_last_element() {
        let layout = Layout::strided(&[3, 2], &[-8, 4], 100, 4).unwrap();
        assert_eq!(layout.extent(), Some((84, 108)));
        assert_eq!(fresh(&[]).extent(), Some((0, 4)));
        assert_eq!(fresh(&[2, 0]).extent(), None);
    }

    #[test]
    fn layout_of_rank_8_uses_no_heap_memory() {
        assert!(!fresh(&[1, 2, 1, 2, 1, 2, 1, 2]).axes.spilled());
    }
}

mod contiguity {
    use super::super::*;

    #[test]
    fn axes_of_length_1_do_not_affect_contiguity() {
        let layout = Layout::strided(&[1, 3, 1, 4], &[7, 16, -3, 4], 0, 4).unwrap();
        assert!(layout.is_c_contiguous() && !layout.is_f_contiguous());
    }

    #[test]
    fn empty_and_0d_layouts_are_c_and_f_contiguous() {
        for layout in [Layout::strided(&[2, 0, 3], &[9, 9, 9], 0, 4).unwrap(), fresh(&[])] {
            assert!(layout.is_c_contiguous() && layout.is_f_contiguous());
        }
    }

    #[test]
    fn reversed_or_broadcast_axis_is_not_contiguous() {
        for stride in [-4, 0] {
            let layout = Layout::strided(&[3], &[stride], 8, 4).unwrap();
            assert!(!layout.is_c_contiguous() && !layout.is_f_contiguous());
        }
    }
}
