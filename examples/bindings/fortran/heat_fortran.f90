! Fortran through iso_c_binding: it calls the library, and Python calls it, with addresses. On the host an address becomes an array
! by c_f_pointer; a GPU's address is only passed on, for example to a CUDA Fortran or OpenACC (deviceptr) kernel.
module heat_fortran
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

    subroutine heat_free(values) bind(c)
      import :: c_ptr
      type(c_ptr), value :: values
    end subroutine heat_free
  end interface

contains

  ! The library's functions for views with any strides, in elements.
  integer(c_int) function scale_view(values, count, stride, factor, stream) bind(c)
    type(c_ptr), value :: values, stream
    integer(c_int64_t), value :: count, stride
    real(c_float), value :: factor
    scale_view = heat_scale(values, count, stride, factor, stream)
  end function scale_view

  integer(c_int) function step_view(from, from_strides, to, to_strides, lengths, stream) bind(c)
    type(c_ptr), value :: from, to, stream
    integer(c_int64_t), intent(in) :: from_strides(2), to_strides(2), lengths(2)
    step_view = heat_step(from, from_strides, to, to_strides, lengths, stream)
  end function step_view

  integer(c_int) function total_view(values, strides, lengths, total, stream) bind(c)
    type(c_ptr), value :: values, stream
    integer(c_int64_t), intent(in) :: strides(2), lengths(2)
    real(c_double), intent(out) :: total
    total_view = heat_total(values, strides, lengths, total, stream)
  end function total_view

  ! Returns the address passed to Fortran.
  integer(c_intptr_t) function place(values) bind(c)
    type(c_ptr), value :: values
    place = transfer(values, place)
  end function place

  ! Computes a number of steps between two arrays in Fortran order; the result is in `a`.
  integer(c_int) function relax(a, b, rows, columns, pairs_of_steps, stream) bind(c)
    type(c_ptr), value :: a, b, stream
    integer(c_int64_t), value :: rows, columns, pairs_of_steps
    integer(c_int64_t) :: step, strides(2), lengths(2)
    strides = [1_c_int64_t, rows]
    lengths = [rows, columns]
    relax = 0
    do step = 1, pairs_of_steps
      relax = heat_step(a, strides, b, strides, lengths, stream)
      if (relax /= 0) return
      relax = heat_step(b, strides, a, strides, lengths, stream)
      if (relax /= 0) return
    end do
  end function relax

  ! Allocates and frees memory of the library: Python creates an array whose owner frees it.
  type(c_ptr) function create(count) bind(c)
    integer(c_int64_t), value :: count
    create = heat_new(count)
  end function create

  subroutine give_back(values) bind(c)
    type(c_ptr), value :: values
    call heat_free(values)
  end subroutine give_back

  ! On the host: the memory as a Fortran array.
  real(c_float) function corner(a, rows, columns) bind(c)
    type(c_ptr), value :: a
    integer(c_int64_t), value :: rows, columns
    real(c_float), pointer :: values(:, :)
    call c_f_pointer(a, values, [rows, columns])
    corner = values(rows, columns)
  end function corner

end module heat_fortran
