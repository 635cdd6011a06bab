! f2py supports NumPy arrays only: device memory is passed as an integer address and converted to a c_ptr.
module library
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function heat_scale(values, count, stride, factor, stream) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_float
      type(c_ptr), value :: values, stream
      integer(c_int64_t), value :: count, stride
      real(c_float), value :: factor
    end function heat_scale

    integer(c_int) function heat_step(from, from_strides, to, to_strides, lengths, stream) bind(c)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: from, to, stream
      integer(c_int64_t), intent(in) :: from_strides(2), to_strides(2), lengths(2)
    end function heat_step

    integer(c_int) function heat_total(values, strides, lengths, total, stream) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_double
      type(c_ptr), value :: values, stream
      integer(c_int64_t), intent(in) :: strides(2), lengths(2)
      real(c_double), intent(out) :: total
    end function heat_total

    type(c_ptr) function heat_new(count) bind(c)
      import :: c_ptr, c_int64_t
      integer(c_int64_t), value :: count
    end function heat_new
  end interface
end module library

subroutine scale(address, count, stride, factor, stream, error)
  use library
  implicit none
  integer(8), intent(in) :: address, count, stride, stream
  real(4), intent(in) :: factor
  integer(4), intent(out) :: error
  error = heat_scale(transfer(address, c_null_ptr), count, stride, factor, transfer(stream, c_null_ptr))
end subroutine scale

subroutine step(from, from_strides, to, to_strides, lengths, stream, error)
  use library
  implicit none
  integer(8), intent(in) :: from, to, stream, from_strides(2), to_strides(2), lengths(2)
  integer(4), intent(out) :: error
  error = heat_step(transfer(from, c_null_ptr), from_strides, transfer(to, c_null_ptr), to_strides, lengths, &
                    transfer(stream, c_null_ptr))
end subroutine step

subroutine total(address, strides, lengths, stream, sum, error)
  use library
  implicit none
  integer(8), intent(in) :: address, stream, strides(2), lengths(2)
  real(8), intent(out) :: sum
  integer(4), intent(out) :: error
  error = heat_total(transfer(address, c_null_ptr), strides, lengths, sum, transfer(stream, c_null_ptr))
end subroutine total

! Returns the address passed to C.
subroutine place(address, seen)
  use, intrinsic :: iso_c_binding
  implicit none
  integer(8), intent(in) :: address
  integer(8), intent(out) :: seen
  type(c_ptr) :: values
  values = transfer(address, c_null_ptr)
  seen = transfer(values, seen)
end subroutine place

subroutine create(count, address)
  use library
  implicit none
  integer(8), intent(in) :: count
  integer(8), intent(out) :: address
  address = transfer(heat_new(count), address)
end subroutine create
