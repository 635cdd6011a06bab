! f2py makes arguments of NumPy's arrays only: memory of a device comes as an address, an integer, and becomes a c_ptr here.
subroutine total(address, down, right, rows, columns, stream, sum, error)
  use, intrinsic :: iso_c_binding
  implicit none
  integer(8), intent(in) :: address, down, right, rows, columns, stream
  real(8), intent(out) :: sum
  integer(4), intent(out) :: error
  integer(c_int64_t) :: strides(2), lengths(2)

  interface
    integer(c_int) function heat_total(values, strides, lengths, total, stream) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_double
      type(c_ptr), value :: values, stream
      integer(c_int64_t), intent(in) :: strides(2), lengths(2)
      real(c_double), intent(out) :: total
    end function heat_total
  end interface

  strides = [down, right]
  lengths = [rows, columns]
  error = heat_total(transfer(address, c_null_ptr), strides, lengths, sum, transfer(stream, c_null_ptr))
end subroutine total
