# find_package(PyGPU CONFIG): the target PyGPU::headers. Give CMake the folder that `python -m PyGPU --cmakedir` prints.
get_filename_component(PyGPU_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
set(PyGPU_INCLUDE_DIRS "${PyGPU_INCLUDE_DIR}")
if(NOT TARGET PyGPU::headers)
  add_library(PyGPU::headers INTERFACE IMPORTED)
  set_target_properties(PyGPU::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PyGPU_INCLUDE_DIR}")
endif()
