/* Views of Python objects, by DLPack's C exchange table. Part of array_view.h. */
#ifndef PYGPU_DETAIL_FROM_PYTHON_H
#define PYGPU_DETAIL_FROM_PYTHON_H

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack's structures under separate names, so that a program may include dlpack.h too. */
typedef struct pygpu_dl_tensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} pygpu_dl_tensor;

typedef struct pygpu_dl_managed {
    uint32_t major;
    uint32_t minor;
    void *context;
    void (*deleter)(struct pygpu_dl_managed *);
    uint64_t flags;
    pygpu_dl_tensor tensor;
} pygpu_dl_managed;

typedef struct pygpu_dl_table {
    uint32_t major;
    uint32_t minor;
    struct pygpu_dl_table *previous;
    void *allocate;
    int (*export_managed)(void *, pygpu_dl_managed **);
    int (*import_managed)(pygpu_dl_managed *, void **);
    int (*lend)(void *, pygpu_dl_tensor *);
    int (*current_stream)(int32_t, int32_t, void **);
} pygpu_dl_table;

typedef struct pygpu_c_api {
    uint32_t version;
    int (*is_readonly)(void *);
} pygpu_c_api;

/* Cached metadata of a Python type. The cache keeps the type alive, so that no other type gets its address. */
typedef struct pygpu_known_type {
    PyTypeObject *type;
    const pygpu_dl_table *table;
    const pygpu_c_api *api; /* NULL for types of other libraries */
} pygpu_known_type;

#ifdef __cplusplus
}
#endif

static inline void *pygpu_capsule_of_type(PyTypeObject *type, const char *attribute, const char *name) {
    void *found = NULL;
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, attribute);
    if (capsule == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return NULL;
    }
    if (PyCapsule_IsValid(capsule, name)) found = PyCapsule_GetPointer(capsule, name);
    Py_DECREF(capsule);
    return found;
}

static inline void pygpu_look_up_type(PyTypeObject *type, pygpu_known_type *known) {
    pygpu_dl_table *table =
        (pygpu_dl_table *)pygpu_capsule_of_type(type, "__dlpack_c_exchange_api__", "dlpack_exchange_api");
    while (table != NULL && table->major != 1) table = table->previous;
    known->type = type;
    known->table = table != NULL && table->lend != NULL ? table : NULL;
    known->api = (const pygpu_c_api *)pygpu_capsule_of_type(type, "__pygpu_c_api__", "pygpu_c_api");
}

/* Returns the metadata of the object's type from a cache of 8 types, which the GIL protects. If the cache is full, fills and
 * returns `scratch`. */
static inline const pygpu_known_type *pygpu_type_of(PyObject *object, pygpu_known_type *scratch) {
    enum { PYGPU_TYPES = 8 };
    static pygpu_known_type types[PYGPU_TYPES];
    PyTypeObject *type = Py_TYPE(object);
    if (types[0].type == type) return &types[0];
    for (int i = 1; i < PYGPU_TYPES && types[i].type != NULL; i++)
        if (types[i].type == type) return &types[i];
    pygpu_look_up_type(type, scratch);
    if (scratch->table != NULL && !PyErr_Occurred())
        for (int i = 0; i < PYGPU_TYPES; i++)
            if (types[i].type == NULL) {
                Py_INCREF((PyObject *)type);
                types[i] = *scratch;
                return &types[i];
            }
    return scratch;
}

static inline const char *pygpu_dtype_name(int dtype, char *buffer, size_t size) {
    static const char *const kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    int code = dtype / 256, bits = dtype % 256;
    if (dtype == PYGPU_ANY_DTYPE) return "any dtype";
    if (dtype == PYGPU_BOOL) return "bool";
    if (code < 7) snprintf(buffer, size, "%s%d", kinds[code], bits);
    else snprintf(buffer, size, "an element of DLPack's type code %d with %d bits", code, bits);
    return buffer;
}

static inline const char *pygpu_device_name(const pygpu_array_view *view, char *buffer, size_t size) {
    if (pygpu_is_on_host(view) && view->device_type != PYGPU_CUDA_MANAGED) return "cpu";
    snprintf(buffer, size, "%s:%d", view->device_type == PYGPU_ROCM ? "hip" : "cuda", (int)view->device_id);
    return buffer;
}

/* Raises an exception that describes the requirement and the argument; returns -1. */
static inline int pygpu_refuse(PyObject *kind, const char *name, const char *needed, PyObject *object,
                               const pygpu_array_view *view) {
    char dtype[64], device[32], dimensions[2][160];
    const int64_t *lists[2];
    lists[0] = view->shape;
    lists[1] = view->strides;
    for (int list = 0; list < 2; list++) {
        size_t used = 0;
        dimensions[list][0] = 0;
        for (int axis = 0; axis < view->ndim && used + 24 < sizeof dimensions[list]; axis++)
            used += (size_t)snprintf(dimensions[list] + used, sizeof dimensions[list] - used, axis ? ", %lld" : "%lld",
                                     (long long)lists[list][axis]);
    }
    PyErr_Format(kind, "%s: %s is needed; given is a %s of %s, shape (%s), strides (%s) in elements, on %s", name, needed,
                 Py_TYPE(object)->tp_name, pygpu_dtype_name(view->dtype, dtype, sizeof dtype), dimensions[0],
                 dimensions[1], pygpu_device_name(view, device, sizeof device));
    return -1;
}

static inline int pygpu_refuse_object(const char *name, PyObject *object) {
    const char *remedy = ", whose type has no DLPack C exchange table (PyGPU.asarray makes an array of it)";
    if (PyErr_Occurred()) return -1;
    if (object == Py_None) remedy = "";
    if (PyLong_Check(object)) remedy = ": pass the array itself, not a number or its address";
    PyErr_Format(PyExc_TypeError, "%s: an array is needed; given is a %s%s", name, Py_TYPE(object)->tp_name, remedy);
    return -1;
}

/* Tests whether an array is read-only: returns 1 or 0, or -1 with an exception. */
static inline int pygpu_is_readonly(PyObject *object, const pygpu_known_type *known) {
    pygpu_dl_managed *managed = NULL;
    int readonly;
    if (known->api != NULL) return known->api->is_readonly(object);
    /* A borrowed tensor has no read-only flag. Therefore the array is exported as a managed tensor, which has the flag. */
    if (known->table->export_managed == NULL) return 0;
    if (known->table->export_managed(object, &managed) != 0) return -1;
    readonly = (int)(managed->flags & 1);
    if (managed->deleter != NULL) managed->deleter(managed);
    return readonly;
}

static inline int pygpu_is_aligned(const pygpu_array_view *view) {
    int64_t size = pygpu_itemsize(view);
    if (view->dtype / 256 == 5) size /= 2;
    return size <= 1 || (uintptr_t)view->data % (uintptr_t)size == 0;
}

/* Checks dtype, rank, layout, device and alignment. Returns 0, or -1 with an exception that describes the mismatch. */
static inline int pygpu_check(PyObject *object, const char *name, int dtype, int ndim, int flags,
                              const pygpu_array_view *view) {
    char text[96], known[64];
    if (dtype != PYGPU_ANY_DTYPE && view->dtype != dtype)
        return pygpu_refuse(PyExc_TypeError, name, pygpu_dtype_name(dtype, known, sizeof known), object, view);
    if (ndim != PYGPU_ANY_NDIM && view->ndim != ndim) {
        snprintf(text, sizeof text, "an array of %d dimension%s", ndim, ndim == 1 ? "" : "s");
        return pygpu_refuse(PyExc_ValueError, name, text, object, view);
    }
    if ((flags & PYGPU_C_CONTIGUOUS) && !pygpu_is_c_contiguous(view))
        return pygpu_refuse(PyExc_ValueError, name, "a C-contiguous array, such as x.copy(\"C\"),", object, view);
    if ((flags & PYGPU_F_CONTIGUOUS) && !pygpu_is_f_contiguous(view))
        return pygpu_refuse(PyExc_ValueError, name, "an F-contiguous array, such as x.copy(\"F\"),", object, view);
    if ((flags & PYGPU_ON_HOST) && !pygpu_is_on_host(view))
        return pygpu_refuse(PyExc_ValueError, name, "memory that the host can read", object, view);
    if ((flags & PYGPU_ON_GPU) && !pygpu_is_on_gpu(view))
        return pygpu_refuse(PyExc_ValueError, name, "memory of a GPU", object, view);
    if (!pygpu_is_aligned(view))
        return pygpu_refuse(PyExc_ValueError, name, "memory that is aligned to its elements", object, view);
    return 0;
}

/* Creates a checked view. Returns -1 with a Python exception that names the parameter: TypeError for a non-array or another
 * dtype, ValueError for another rank, layout or device, and for read-only memory; or the array's own exception. */
static inline int pygpu_view(PyObject *object, const char *name, int dtype, int ndim, int flags,
                             pygpu_array_view *view) {
    pygpu_known_type scratch;
    pygpu_dl_tensor tensor;
    const pygpu_known_type *known;
    int readonly;
    if (object == NULL) {
        PyErr_Format(PyExc_TypeError, "%s: an array is needed; given is a null pointer", name);
        return -1;
    }
    known = pygpu_type_of(object, &scratch);
    if (known->table == NULL) return pygpu_refuse_object(name, object);
    if (known->table->lend(object, &tensor) != 0) return -1;
    view->data = tensor.data == NULL ? NULL : (char *)tensor.data + tensor.byte_offset;
    view->shape = tensor.shape;
    view->strides = tensor.strides;
    view->ndim = tensor.ndim;
    view->dtype = PYGPU_DTYPE(tensor.code, tensor.bits);
    view->device_type = tensor.device_type;
    view->device_id = tensor.device_id;
    view->table = known->table;
    if (tensor.lanes != 1 || (tensor.ndim > 0 && tensor.strides == NULL)) {
        PyErr_Format(PyExc_BufferError, "%s: the tensor has %d lanes%s", name, (int)tensor.lanes,
                     tensor.strides == NULL ? " and no strides" : "");
        return -1;
    }
    if (pygpu_check(object, name, dtype, ndim, flags, view) < 0) return -1;
    if (flags & PYGPU_WRITE) {
        readonly = pygpu_is_readonly(object, known);
        if (readonly < 0) return -1;
        if (readonly) return pygpu_refuse(PyExc_ValueError, name, "an array that is not read-only", object, view);
    }
    return 0;
}

/* Stores the current stream of the array's library, a CUstream or hipStream_t, for work on the array. The stream is null for
 * arrays on the host and for the default stream. Requires the GIL. Returns 0, or -1 with a Python exception. */
static inline int pygpu_current_stream(const pygpu_array_view *view, void **stream) {
    const pygpu_dl_table *table = (const pygpu_dl_table *)view->table;
    *stream = NULL;
    if (view->device_type == PYGPU_CPU || table->current_stream == NULL) return 0;
    return table->current_stream(view->device_type, view->device_id, stream) == 0 ? 0 : -1;
}

#endif
