/* Pointer object that PybindGPU's bindings pass to C++. The object owns its memory only if `create` allocated the memory.
 *
 * This is an independent implementation of PybindGPU's ptr_wrapper interface, for C++11 and later, without Python. With
 * pybind11, include <pygpu/pybind11.h>: a function with a parameter `ptr_wrapper<float>` then accepts objects of the class
 * `ptr_wrapper_float32`, arrays and addresses.
 */
#ifndef PYGPU_PTR_WRAPPER_H
#define PYGPU_PTR_WRAPPER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>

template <class T>
class ptr_wrapper {
public:
    ptr_wrapper() = default;
    ptr_wrapper(T *pointer, bool is_safe = false) : pointer_(pointer), is_safe_(is_safe) {}

    /* Returns the raw pointer; on a GPU only kernels and the driver dereference it. */
    T *get() const { return pointer_; }
    operator T *() const { return pointer_; }
    T &operator*() const { return *pointer_; }
    T *operator->() const { return pointer_; }
    T &operator[](std::size_t index) const { return pointer_[index]; }

    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(pointer_); }

    /* Tests whether the host may dereference the pointer. */
    bool is_safe() const { return is_safe_; }

    /* Allocates host memory for `count` elements. The caller destroys an earlier allocation. */
    void create(std::size_t count) {
        pointer_ = new T[count];
        is_safe_ = is_created_ = true;
    }

    /* Frees memory that `create` allocated, but no other memory, and becomes null. Copies of the pointer become invalid. */
    void destroy() {
        if (!is_created_) return;
        delete[] pointer_;
        *this = ptr_wrapper();
    }

    void print_address() const { std::printf("Address of ptr is 0x%zx\n", static_cast<std::size_t>(address())); }

private:
    T *pointer_ = nullptr;
    bool is_safe_ = false;
    bool is_created_ = false;
};

#endif
