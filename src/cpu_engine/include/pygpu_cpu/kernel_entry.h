// Entry of a kernel that is launched by its name. The launching thread passes pointers to the arguments, whose values
// are copied once. Every thread calls the kernel with these copies.
#ifndef PYGPU_CPU_ENTRY_H
#define PYGPU_CPU_ENTRY_H

namespace pygpu_cpu {

// Limit of static shared memory of a block, on devices with the warp size of this compilation.
constexpr size_t static_shared_bytes = PYGPU_CPU_WARP_SIZE == 64 ? 65536 : 49152;

template <unsigned... I> struct indices {};
template <unsigned N, unsigned... I> struct count_to : count_to<N - 1, N - 1, I...> {};
template <unsigned... I> struct count_to<0, I...> { using type = indices<I...>; };

template <class T> constexpr char kind_of() {
    if constexpr (__is_class(T) || __is_union(T)) return 's';
    else if constexpr (__is_enum(T)) return 'i';
    else if constexpr (one_of<T, float, double, long double>) return 'f';
    else if constexpr (is<T, bool>) return 'b';
    else return T(-1) < T(0) ? 'i' : 'u';
}
template <class T> struct kind { static constexpr char value = kind_of<T>(); };
template <class T> struct kind<T *> { static constexpr char value = 'p'; };

template <class... A> struct parameters {
    static constexpr unsigned count = sizeof...(A);
    // The array has one extra entry, because C++ has no empty arrays.
    static constexpr pygpu_cpu_parameter table[count + 1] = {{sizeof(A), alignof(A), kind<A>::value}..., {0, 1, 0}};
    static constexpr unsigned offset(unsigned index) {
        unsigned end = 0;
        for (unsigned i = 0;; i++) {
            unsigned start = (end + table[i].alignment - 1) / table[i].alignment * table[i].alignment;
            if (i == index) return start;
            end = start + table[i].bytes;
        }
    }
    static constexpr unsigned alignment() {
        unsigned most = 1;
        for (auto &parameter : table) most = parameter.alignment > most ? parameter.alignment : most;
        return most;
    }
};

template <auto kernel, bool is_whole> struct entry;

template <class... A, void (*kernel)(A...), bool is_whole> struct entry<kernel, is_whole> {
    using all = parameters<A...>;

    template <unsigned... I> static void call(const unsigned char *values, indices<I...>) {
        kernel(*reinterpret_cast<A *>(const_cast<unsigned char *>(values) + all::offset(I))...);
    }
    static void run(const void *values) {
        call(static_cast<const unsigned char *>(values), typename count_to<sizeof...(A)>::type());
    }
    static int launch(const char *name, const pygpu_cpu_launch *shape, void *const *arguments) {
        alignas(all::alignment()) unsigned char values[all::offset(all::count) + 1];
        for (unsigned i = 0; i < all::count; i++) __builtin_memcpy(values + all::offset(i), arguments[i], all::table[i].bytes);
        pygpu_cpu_task task = {name, run, values, is_whole};
        return pygpu_cpu_run(&task, shape);
    }
};

// Returns the address of a kernel. The argument is the kernel itself or a pointer to it, because a name expression may
// begin with & or not.
template <class F> constexpr F *address_of(F &function) { return &function; }
template <class F> constexpr F *address_of(F *function) { return function; }

struct at_start {
    explicit at_start(void (*set)(void *)) { pygpu_cpu_at_start(set); }
};

}

#endif
