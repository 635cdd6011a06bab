mod indexing {
    use super::super::*;
    use Index::{Ellipsis, Integer, NewAxis};

    #[test]
    fn reversed_slice_keeps_negative_stride() {
        let view = fresh(&[3, 4]).index(&[slice(None, None, -1), slice(None, None, -2)]).unwrap();
        assert_eq!((shape(&view), strides(&view), view.offset()), (vec![3, 2], vec![-16, -8], 44));
    }

    #[test]
    fn slice_of_length_0_keeps_stride_and_offset() {
        let layout = fresh(&[3, 4]);
        for empty in [slice(5, 2, None), slice(1, 1, 7), slice(0, 5, -3)] {
            let view = layout.index(&[empty, slice(None, None, 2)]).unwrap();
            assert_eq!((shape(&view), strides(&view), view.offset()), (vec![0, 2], vec![16, 8], 0));
        }
        let view = layout.index(&[Integer(2), slice(4, None, None)]).unwrap();
        assert_eq!((shape(&view), view.offset()), (vec![0], 0));
        let view = fresh(&[0, 4]).index(&[Ellipsis, Integer(3)]).unwrap();
        assert_eq!((shape(&view), view.offset()), (vec![0], 0));
    }

    #[test]
    fn extreme_slice_values_are_clipped_as_in_python() {
        let layout = fresh(&[5]);
        for (start, stop, step, expected) in [
            (None, None, Some(i64::MAX), (1, 0)),
            (None, None, Some(i64::MIN), (1, 16)),
            (Some(i64::MIN), Some(i64::MAX), None, (5, 0)),
            (Some(i64::MAX), Some(i64::MIN), Some(-1), (5, 16)),
            (Some(i64::MAX), None, None, (0, 0)),
            (Some(-2), Some(-1), None, (1, 12)),
            (Some(1), Some(4), Some(1 << 62), (1, 4)),
        ] {
            let view = layout.index(&[slice(start, stop, step)]).unwrap();
            assert_eq!((view.size(), view.offset()), expected, "[{start:?}:{stop:?}:{step:?}]");
        }
    }

    #[test]
    fn ellipsis_and_newaxis_position_remaining_axes() {
        let layout = fresh(&[2, 3, 4]);
        let view = layout.index(&[NewAxis, Integer(1), Ellipsis, NewAxis, slice(1, 3, None)]).unwrap();
        assert_eq!((shape(&view), strides(&view), view.offset()), (vec![1, 3, 1, 2], vec![0, 16, 0, 4], 52));
        assert_eq!(layout.index(&[]).unwrap(), layout);
        assert_eq!(layout.index(&[Ellipsis]).unwrap(), layout);
        assert_eq!(shape(&layout.index(&[Integer(-1), Integer(-1), Integer(-1)]).unwrap()), [0i64; 0]);
    }

    #[test]
    fn slice_clipped_rejects_slice_that_leaves_axis() {
        let layout = fresh(&[5]);
        let take = |start, step, len| {
            let mut view = Layout::scalar(1);
            let mut indexer = Indexer::new(&layout, &mut view, 1, false);
            indexer.slice_clipped(start, step, len)?;
            indexer.finish().map(|()| view)
        };
        let view = take(4, -2, 3).unwrap();
        assert_eq!((shape(&view), strides(&view), view.offset()), (vec![3], vec![-8], 16));
        assert_eq!(take(9, 3, 0).unwrap().size(), 0);
        index_error(take(4, -2, 4), "a slice of 4 elements from 4 in steps of -2 leaves axis 0 with size 5");
        for (start, step, len) in [(5, 1, 1), (-1, 1, 1), (0, i64::MAX, 3), (0, 1, -1), (0, 1, i64::MIN)] {
            assert!(take(start, step, len).is_err());
        }
    }

    #[test]
    fn indexing_errors_match_numpy_messages() {
        let layout = fresh(&[3, 4]);
        index_error(layout.index(&[Integer(5)]), "index 5 is out of bounds for axis 0 with size 3");
        index_error(layout.index(&[Ellipsis, Integer(-5)]), "index -5 is out of bounds for axis 1 with size 4");
        index_error(
            layout.index(&[Integer(i64::MIN)]),
            &format!("index {} is out of bounds for axis 0 with size 3", i64::MIN),
        );
        index_error(
            layout.index(&[Integer(9), Ellipsis, Integer(0), Integer(0)]),
            "too many indices for array: array is 2-dimensional, but 3 were indexed",
        );
        index_error(layout.index(&[Ellipsis, Ellipsis]), "an index can only have a single ellipsis ('...')");
        value_error(layout.index(&[slice(None, None, 0)]), "slice step cannot be zero");
        index_error(
            fresh(&[1; 63]).index(&[NewAxis, NewAxis, NewAxis]),
            "number of dimensions must be within [0, 64], indexing result would have 66",
        );
        assert_eq!(fresh(&[1; 64]).index(&[Integer(0), NewAxis]).unwrap().ndim(), 64);
    }
}

mod reshaping {
    use super::super::*;

    fn view(layout: &Layout, shape: &[i64]) -> Vec<i64> {
        strides(&layout.reshape(shape, MemoryOrder::C).unwrap().unwrap())
    }

    #[test]
    fn reshaped_views_have_numpy_strides() {
        let layout = fresh(&[3, 4]);
        let every_other = layout.index(&[slice(None, None, 2)]).unwrap();
        let column = layout.index(&[slice(None, None, None), slice(None, 1, None)]).unwrap();
        assert_eq!(view(&layout, &[1, 3, 1, 4, 1]), [48, 16, 16, 4, 4]);
        assert_eq!(view(&every_other, &[1, 2, 1, 2, 2]), [64, 32, 16, 8, 4]);
        assert_eq!(view(&column, &[1, 1, 3]), [48, 48, 16]);
        assert_eq!(view(&column, &[3, 1, 1]), [16, 16, 16]);
        assert_eq!(view(&fresh(&[0, 4]), &[3, 0, 2]), [8, 8, 4]);
        let f = Layout::contiguous(&[4, 3], 4, MemoryOrder::F).unwrap();
        assert_eq!(view(&f, &[2, 2, 3]), [8, 4, 16]);
        let split = f.reshape(&[1, 6, 1, 2, 1], MemoryOrder::F).unwrap().unwrap();
        assert_eq!(strides(&split), [4, 4, 24, 24, 48]);
    }

    #[test]
    fn reshape_requires_copy_if_numpy_copies() {
        let layout = fresh(&[3, 4]);
        assert_eq!(layout.reshape(&[12], MemoryOrder::F).unwrap(), None);
        let every_other = layout.index(&[slice(None, None, None), slice(None, None, 2)]).unwrap();
        assert!(
            every_other.ravel(MemoryOrder::C).unwrap().is_some(),
            "rows are 16 bytes apart, elements 8: an even run"
        );
        let part = layout.index(&[slice(None, None, None), slice(None, 3, None)]).unwrap();
        assert_eq!(part.ravel(MemoryOrder::C).unwrap(), None);
    }

    #[test]
    fn reshape_infers_single_negative_length() {
        assert_eq!(resolve_shape(12, &[-2, 3]).unwrap()[..], [4, 3]);
        assert_eq!(resolve_shape(0, &[-1, 5]).unwrap()[..], [0, 5]);
        assert_eq!(resolve_shape(1, &[]).unwrap()[..], [0i64; 0]);
    }

    #[test]
    fn reshape_errors_match_numpy_messages() {
        let huge = 1 << 62;
        for (size, shape, text) in [
            (6, &[4][..], "(4,)"),
            (12, &[], "()"),
            (12, &[5, -1], "(5,newaxis)"),
            (12, &[-1, 5], "(5)"),
            (0, &[0, -1], "(0,newaxis)"),
            (0, &[huge, huge, 0], "(4611686018427387904,4611686018427387904,0)"),
            (12, &[huge, 4, 12], "(4611686018427387904,4,12)"),
        ] {
            value_error(resolve_shape(size, shape), &format!("cannot reshape array of size {size} into shape {text}"));
        }
        value_error(resolve_shape(12, &[-1, 3, -1]), "can only specify one unknown dimension");
        assert!(fresh(&[0]).reshape(&[0, huge, huge], MemoryOrder::C).is_err());
    }
}

mod views_as_another_dtype {
    use super::super::*;

    const LAST: &str = "To change to a dtype of a different size, the last axis must be contiguous";

    #[test]
    fn view_dtype_divides_last_axis() {
        let layout = fresh(&[3, 4]);
        let check = |layout: &Layout, itemsize, expected_shape: &[i64], expected_strides: &[i64]| {
            let view = layout.view_dtype(itemsize).unwrap();
            assert_eq!((&shape(&view)[..], &strides(&view)[..]), (expected_shape, expected_strides));
            assert_eq!(view.itemsize(), itemsize);
        };
        check(&layout, 1, &[3, 16], &[16, 1]);
        check(&layout, 8, &[3, 2], &[16, 8]);
        check(&layout, 16, &[3, 1], &[16, 16]);
        let column = layout.index(&[slice(None, None, None), slice(None, None, 4)]).unwrap();
        check(&column, 1, &[3, 4], &[16, 1]);
        check(&fresh(&[0, 4]).transpose(None).unwrap(), 5, &[4, 0], &[0, 5]);
    }

    #[test]
    fn view_dtype_rejects_indivisible_axis_with_numpy_message() {
        let layout = fresh(&[3, 4]);
        let transposed = layout.transpose(None).unwrap();
        value_error(transposed.view_dtype(2), LAST);
        value_error(layout.flip(None).unwrap().view_dtype(8), LAST);
        assert_eq!(transposed.view_dtype(4).unwrap(), transposed);
        value_error(
            layout.view_dtype(3),
            "When changing to a smaller dtype, its size must be a divisor of the size of original dtype",
        );
        value_error(
            layout.view_dtype(12),
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis \
             of the array.",
        );
        value_error(
            fresh(&[]).view_dtype(2),
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
        );
        value_error(layout.view_dtype(0), "itemsize must be at least 1 byte, not 0");
        assert!(
            Layout::contiguous(&[1 << 61, 0], 1, MemoryOrder::C).unwrap().view_dtype(8).is_err(),
            "its bytes overflow"
        );
    }
}
