mod transposing {
    use super::super::*;

    #[test]
    fn negative_axes_count_from_the_end() {
        let layout = fresh(&[2, 3, 4]);
        assert_eq!(shape(&layout.transpose(Some(&[-1, 0, -2])).unwrap()), [4, 2, 3]);
        assert_eq!(strides(&layout.transpose(None).unwrap()), [4, 16, 48]);
        assert_eq!(shape(&layout.swap_axes(0, -1).unwrap()), [4, 3, 2]);
        assert_eq!(shape(&layout.move_axis(&[0], &[-1]).unwrap()), [3, 4, 2]);
        assert_eq!(shape(&layout.move_axis(&[0, 1], &[-1, 0]).unwrap()), [3, 4, 2]);
    }

    #[test]
    fn transpose_rejects_wrong_axes() {
        let layout = fresh(&[3, 4]);
        value_error(layout.transpose(Some(&[0])), "axes don't match array");
        value_error(layout.transpose(Some(&[1, -1])), "repeated axis in transpose");
        axis_error(layout.transpose(Some(&[0, 2])), "axis 2 is out of bounds for array of dimension 2");
        axis_error(
            layout.transpose(Some(&[0, i64::MIN])),
            &format!("axis {} is out of bounds for array of dimension 2", i64::MIN),
        );
        axis_error(layout.swap_axes(0, 2), "axis2: axis 2 is out of bounds for array of dimension 2");
        axis_error(layout.swap_axes(-3, 0), "axis1: axis -3 is out of bounds for array of dimension 2");
    }

    #[test]
    fn move_axis_rejects_invalid_axes_with_numpy_message() {
        let layout = fresh(&[3, 4]);
        value_error(layout.move_axis(&[0, -2], &[0, 1]), "repeated axis in `source` argument");
        value_error(layout.move_axis(&[0, 1], &[0, 0]), "repeated axis in `destination` argument");
        value_error(
            layout.move_axis(&[0, 1], &[0]),
            "`source` and `destination` arguments must have the same number of elements",
        );
        axis_error(layout.move_axis(&[2], &[0]), "source: axis 2 is out of bounds for array of dimension 2");
        axis_error(layout.move_axis(&[0], &[2]), "destination: axis 2 is out of bounds for array of dimension 2");
    }

    #[test]
    fn squeeze_accepts_only_axes_of_length_1() {
        let layout = fresh(&[1, 3, 1]);
        assert_eq!(shape(&layout.squeeze(None).unwrap()), [3]);
        assert_eq!(shape(&layout.squeeze(Some(&[-1])).unwrap()), [1, 3]);
        assert_eq!(shape(&layout.squeeze(Some(&[])).unwrap()), [1, 3, 1]);
        value_error(layout.squeeze(Some(&[1])), "cannot select an axis to squeeze out which has size not equal to one");
        value_error(layout.squeeze(Some(&[0, -3])), "duplicate value in 'axis'");
        axis_error(layout.squeeze(Some(&[3])), "axis 3 is out of bounds for array of dimension 3");
        assert!(fresh(&[]).squeeze(Some(&[0])).is_ok() && fresh(&[]).squeeze(Some(&[1])).is_err());
    }

    #[test]
    fn expand_dims_has_numpy_strides() {
        let layout = fresh(&[3, 4]);
        assert_eq!(strides(&layout.expand_dims(&[0, -1]).unwrap()), [48, 16, 4, 4]);
        value_error(layout.expand_dims(&[0, -4]), "repeated axis");
        axis_error(layout.expand_dims(&[3]), "axis 3 is out of bounds for array of dimension 3");
        value_error(
            fresh(&[1; 64]).expand_dims(&[0]),
            "maximum supported dimension for an ndarray is currently 64, found 65",
        );
    }

    #[test]
    fn flip_negates_strides_and_starts_at_last_element() {
        let layout = fresh(&[3, 4]);
        let view = layout.flip(None).unwrap();
        assert_eq!((strides(&view), view.offset()), (vec![-16, -4], 44));
        assert_eq!(fresh(&[4, 0]).flip(None).unwrap().offset(), 0);
        assert_eq!(strides(&fresh(&[1; 64]).flip(None).unwrap()), [-4; 64]);
        value_error(layout.flip(Some(&[0, -2])), "repeated axis");
    }

    #[test]
    fn diagonal_adds_strides_of_both_axes() {
        let layout = fresh(&[2, 3, 4]);
        let view = layout.diagonal(1, -1, 0).unwrap();
        assert_eq!((shape(&view), strides(&view), view.offset()), (vec![3, 1], vec![16, 52], 48));
        for (offset, len) in [(0, 2), (3, 1), (4, 0), (-2, 0), (i64::MAX, 0), (i64::MIN, 0)] {
            let view = layout.diagonal(offset, 0, 2).unwrap();
            assert_eq!(shape(&view), [3, len], "offset {offset}");
            assert!(len > 0 || view.offset() == 0);
        }
        value_error(layout.diagonal(0, 0, -3), "axis1 and axis2 cannot be the same");
        value_error(fresh(&[3]).diagonal(0, 0, 1), "diag requires an array of at least two dimensions");
        axis_error(layout.diagonal(0, 0, 3), "axis2: axis 3 is out of bounds for array of dimension 3");
    }
}

mod broadcasting {
    use super::super::*;

    #[test]
    fn broadcast_elements_have_stride_0() {
        let layout = fresh(&[3, 1]);
        assert_eq!(strides(&layout.broadcast_to(&[2, 3, 4]).unwrap()), [0, 4, 0]);
        assert_eq!(shape(&layout.broadcast_to(&[3, 0]).unwrap()), [3, 0]);
    }

    #[test]
    fn broadcast_to_rejects_incompatible_shape() {
        let layout = fresh(&[3, 4]);
        value_error(
            layout.broadcast_to(&[3, 5]),
            "operands could not be broadcast together with remapped shapes [original->remapped]: (3,4)  and \
             requested shape (3,5)",
        );
        value_error(layout.broadcast_to(&[4]), "input operand has more dimensions than allowed by the axis remapping");
        value_error(layout.broadcast_to(&[]), "cannot broadcast a non-scalar to a scalar array");
        value_error(layout.broadcast_to(&[-1, 4]), "all elements of broadcast shape must be non-negative");
        assert!(fresh(&[]).broadcast_to(&[1 << 62]).is_err(), "its bytes overflow");
        assert!(fresh(&[]).broadcast_to(&[0, 1 << 62]).is_err());
        assert!(fresh(&[]).broadcast_to(&[1 << 60]).is_ok());
    }

    #[test]
    fn broadcast_shapes_match_numpy() {
        assert_eq!(broadcast_shapes(&[&[2, 3], &[3], &[4, 1, 1]]).unwrap()[..], [4, 2, 3]);
        assert_eq!(broadcast_shapes(&[&[0, 3], &[1]]).unwrap()[..], [0, 3]);
        assert_eq!(broadcast_shapes(&[]).unwrap()[..], [0i64; 0]);
        value_error(
            broadcast_shapes(&[&[3, 4], &[2]]),
            "operands could not be broadcast together with shapes (3,4) (2,)",
        );
        assert!(broadcast_shapes(&[&[0, 3], &[2, 1]]).is_err());
        assert!(broadcast_shapes(&[&[-1], &[1]]).is_err());
    }
}
